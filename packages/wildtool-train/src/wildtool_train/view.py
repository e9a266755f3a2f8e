"""What a policy without a model sees of an episode, and how it says something."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.episode import written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.types import Message, Tool
from wildtool_train.core import Observation

CLAIM = "It is done."
MOST_CHARACTERS, MOST_CALLS = 20_000, 50
"""That a policy copies into one message: who copies all, its own copies too, would double its message with each step."""


@dataclass(slots=True)
class View:
    """What a policy sees at one step: all messages and tools, and what it does itself."""

    messages: list[Message] = field(default_factory=list[Message])
    tools: list[Tool] = field(default_factory=list[Tool])
    step: int = 0
    draw: random.Random = field(default_factory=random.Random)

    def add(self, observation: Observation, own: Message | None = None) -> None:
        self.messages = [] if observation.replaces else [*self.messages, *([own] if own else [])]
        self.messages += observation.messages
        self.tools = self.tools if observation.tools is None else observation.tools

    def last(self, role: str) -> str:
        """The last text of a role."""
        texts = (written_text(message) for message in reversed(self.messages) if message.get("role") == role)
        return next((text for text in texts if text), "")[:MOST_CHARACTERS]

    @property
    def earlier_calls(self) -> list[dict[str, Any]]:
        """All calls that are shown, as name and arguments."""
        calls = [call for message in self.messages for call in as_objects(message.get("tool_calls"))]
        return [as_object(call.get("function")) for call in calls]


Policy = Callable[[View], Message]


def say(text: str) -> Message:
    """A message of a text alone."""
    return {"role": "assistant", "content": text}


def make_calls(calls: Sequence[tuple[str, Any]], content: str | None = None) -> Message:
    """A message with calls; arguments as a value, or as the text that is sent. Without a tool it says nothing."""
    entries = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": value if isinstance(value, str) else json.dumps(value)},
        }
        for number, (name, value) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": entries} if entries else say(CLAIM)


def name_of_tool(tool: Tool) -> str:
    return str(as_object(tool.get("function")).get("name"))


def call_each(tools: Sequence[Tool], arguments: Callable[[Tool], Any], content: str | None = None) -> Message:
    """A message that calls each of the tools."""
    return make_calls([(name_of_tool(tool), arguments(tool)) for tool in tools], content)
