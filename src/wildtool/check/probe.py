"""One request of `wildtool check`, and what requests are made of."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.types import Message, Tool

RequestedCall = tuple[str, Mapping[str, Any]]
"""Name and arguments."""
WHOLE, STREAMED = False, True
REPEATS = 3
PADDING = " ".join(f"remark{number}" for number in range(60))
"""A text of well over a hundred tokens, whose presence in a prompt shows in its token count."""
TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
"""Schemas of parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One request, and how often and in which forms it is sent."""

    name: str
    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    calls: Sequence[RequestedCall] = ()
    """The calls that it requests; none where a text is expected."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """More fields of the body."""
    forms: Sequence[bool] = (WHOLE, STREAMED)
    """Whether streamed, each."""
    repeats: int = REPEATS
    """Per form; with --quick at most one."""
    group: str = "plain"
    """`load` probes are sent all at once, `serial` ones one at a time, `long` ones after the plain ones."""
    quick: bool = True
    """Whether --quick sends it, too."""
    as_run: bool = False
    """Sent as a run sends it by default: with no other fields than messages and tools."""

    def body(self, streamed: bool, *, forced: bool) -> dict[str, Any]:
        """The fields of the body, without the model.

        Args: forced: whether calls are demanded by `tool_choice`, since the model makes none of its own accord.
        """
        fields: dict[str, Any] = {"messages": list(self.messages)}
        if not self.as_run:
            fields |= {"temperature": 0, "max_tokens": 1024}
        if self.tools:
            fields["tools"] = list(self.tools)
        if forced and self.calls:
            fields["tool_choice"] = "required"
        stream = {"stream": True, "stream_options": {"include_usage": True}} if streamed else {}
        return {**fields, **self.settings, **stream}


def tool(name: str, properties: Mapping[str, Any], *required: str, **more: Any) -> Tool:
    """A tool definition; all parameters are required unless some are named."""
    schema = {"type": "object", "properties": properties, "required": list(required or properties), **more}
    return function_tool(name, schema)


def function_tool(name: str, schema: Mapping[str, Any]) -> Tool:
    """A tool definition with a whole schema."""
    text = f"Runs {name} once."
    return {"type": "function", "function": {"name": name, "description": text, "parameters": schema}}


def instruction(*calls: RequestedCall) -> str:
    """A sentence that requests these calls."""
    texts = [
        f"{name} with arguments {json.dumps(values, ensure_ascii=False)}"
        if values
        else f"{name} without arguments"
        for name, values in calls
    ]
    if len(texts) == 1:
        return f"Call the tool {texts[0]}. Copy the values exactly. Do not answer in text."
    steps = "; ".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
    return f"Make these {len(texts)} tool calls together in one reply, in this order: {steps}. Copy the values exactly."


def user(text: str) -> Message:
    """A message of the user."""
    return {"role": "user", "content": text}


def call_probe(name: str, tools: Sequence[Tool], *calls: RequestedCall, **more: Any) -> Probe:
    """A probe that requests calls."""
    return Probe(name=name, messages=[user(instruction(*calls))], tools=tools, calls=calls, **more)
