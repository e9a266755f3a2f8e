"""What every wire reads and writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.agents.agent import Wire
from wildtool.types import Message, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an agent asks a model, read from a request on any wire."""

    wire: Wire
    body: Mapping[str, Any]
    """The request, as it came."""
    raw: bytes = b""
    """Its bytes."""
    model: str
    """The model that it names."""
    messages: Sequence[Message]
    """In OpenAI's chat shape: system texts, what the user said, earlier replies with their calls and ids, results."""
    tools: Sequence[Tool]
    """In OpenAI's shape, under the names by which the agent offers them."""
    stream: bool
    """Whether it wants the answer as a stream of events."""
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it sets of how the model samples and thinks, under the wire's own names."""
    lost: Mapping[str, int] = field(default_factory=dict[str, int])
    """By name how often it holds something that the chat shape has no place for."""


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """An answer of the model door, in bytes."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200
    changes: tuple[str, ...] = ()
    """By name what the wire could not carry as the model said it, such as arguments that are no JSON."""
