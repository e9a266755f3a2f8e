"""What an agent is to a run: it is started for a conversation, given what the user says, and ends its turns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from wildtool.types import Tool

Wire = Literal["chat", "responses", "messages", "gemini"]
"""A protocol in which agents ask models: chat completions, OpenAI's Responses, Anthropic's messages, Gemini's API."""
WIRES: tuple[Wire, ...] = ("chat", "responses", "messages", "gemini")
TurnEndKind = Literal["answer", "limit", "endpoint", "failed", "silent"]
"""How a turn of an agent ended: it answered; it met a limit of its own; its model's endpoint failed; the agent itself
failed; it ended without a word."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of an agent's turn."""

    kind: TurnEndKind
    text: str = ""
    """Its last text, which its user reads."""
    detail: str = ""
    """What it said about its end, such as an error."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the tool door answers to a call."""

    text: str
    is_error: bool = False


CallTool = Callable[[str, Any, str | None], Awaitable[ToolAnswer]]
"""The tool door in this process: takes a tool's name, its arguments (a dictionary, or the text that a model wrote) and
the id of the call, where the caller knows it."""


AnswersBy = Callable[[str, str], None]
"""Takes a tool of the agent's own and its argument for the answer, where the agent ends a turn by a call of it."""


def _by_text(tool: str, argument: str) -> None:
    """Most agents end a turn by a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What the doors must know of an agent."""

    asks_model: bool = True
    """Whether its model is asked at the model door. If not, only its calls and texts are seen."""
    empty_structure: bool = False
    """Whether results need an empty `structuredContent`, or the agent takes lists and numbers in them for errors."""
    read_only: bool = True
    """Whether tools are said to be read-only, so that it may call several at once and asks nobody for permission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an agent finds everything in one conversation."""

    folder: Path
    """A new folder for this conversation alone, with `home`, `work` and `tmp` in it."""
    base_url: str
    """The doors of this conversation, such as `http://127.0.0.1:4711/c/TOKEN`: `base_url + MODEL_PATHS[wire]` is what a
    client of a wire takes as its base URL, `base_url + "/mcp"` the tool server."""
    model: str
    """The name of the model to ask for."""
    instructions: str
    """The benchmark's system text; empty where it has none."""
    tools: Sequence[Tool]
    """The tools of the conversation, in OpenAI's shape."""
    call_tool: CallTool
    """The tool door, for agents in this process."""
    answers_by: AnswersBy = _by_text
    socket: Path | None = None
    """The doors as a Unix socket, for agents without a network; None where there is none."""
    date: datetime | None = None
    """When the conversation takes place, where it says so."""

    @property
    def mcp_url(self) -> str:
        return f"{self.base_url}/mcp"

    def model_url(self, wire: Wire) -> str:
        return self.base_url + MODEL_PATHS[wire]


MODEL_PATHS: Mapping[Wire, str] = {"chat": "/v1", "responses": "/v1", "messages": "", "gemini": ""}
"""By wire what follows the address of the doors in the base URL that its clients take."""


class AgentFailedError(Exception):
    """An agent could not be started, died, or does not keep to its protocol; the text names the agent and what it last
    said."""


class LiveAgent(Protocol):
    """An agent in one conversation."""

    async def turn(self, text: str) -> TurnEnd:
        """Gives it what the user says; ends with its turn. Raises AgentFailedError."""
        ...

    async def close(self) -> None:
        """Ends it and all that it started. May be called in the middle of a turn, and more than once."""
        ...


@runtime_checkable
class Agent(Protocol):
    """An agent as a user names it."""

    @property
    def name(self) -> str: ...

    @property
    def traits(self) -> Traits: ...

    def settings(self) -> Mapping[str, Any]:
        """What a reader needs to run it again: command or function, version, wire, how it is confined; never a key."""
        ...

    async def start(self, place: Place) -> LiveAgent:
        """Starts it for one conversation, ready for the first turn. Raises AgentFailedError."""
        ...
