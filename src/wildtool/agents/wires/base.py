"""What every wire reads and writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

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
    namespaces: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name of a tool the namespace that calls to it must name, where it has one."""
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


class WireFormat(Protocol):
    """One protocol."""

    wire: Wire

    def read(self, body: Mapping[str, Any], path: str) -> Asked:
        """What a request asks. Raises ValueError for a body that is no request of this wire.

        Args:
            path: of the request after the address of the doors; Gemini's names the model and whether it streams.
        """
        ...

    def write(
        self, message: Message, question: Asked, usage: Mapping[str, Any], reason: str | None
    ) -> WireAnswer:
        """The answer that says a message, whole or as a stream, as `asked` wants it.

        Args:
            message: an assistant message in OpenAI's chat shape; its calls have the names by which the agent offers
                its tools, ids, and arguments as JSON text, which may be broken.
            usage: token counts (`prompt_tokens`, `completion_tokens`).
            reason: the model's finish reason, in any provider's word; None where it gave none.
        """
        ...

    def error(self, status: int, text: str) -> WireAnswer:
        """The answer that says that the model's endpoint failed."""
        ...
