"""A conversation in the form of scripts: what a model sees in place of calls and results of the benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.alter.expose.code.signatures import ToolFunctions
from wildtool.alter.expose.code.tool import RunCode, run_code_message, sent_calls
from wildtool.alter.expose.code.values import json_value, result_value
from wildtool.episode import fields_with_calls
from wildtool.json_codec import as_object, as_objects
from wildtool.shapes import call_names, tool_name
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.types import Message


@dataclass(slots=True)
class ScriptTurn:
    """One reply of the model with the scripts in it."""

    reply: Message
    scripts: list[RunCode]
    outputs: list[str] = field(default_factory=list[str])
    """What the model reads of those that ended, in order."""
    is_begun: bool = False
    """Whether the next script has begun."""

    @property
    def next(self) -> RunCode | None:
        """The script that runs, or comes next; None once all have ended."""
        return self.scripts[len(self.outputs)] if len(self.outputs) < len(self.scripts) else None

    def end(self, output: str) -> None:
        """The next script has ended."""
        self.outputs.append(output)
        self.is_begun = False

    def messages(self) -> Iterator[Message]:
        """The turn as the model sees it afterwards."""
        yield {
            "role": "assistant",
            "content": self.reply.get("content"),
            "tool_calls": sent_calls(self.reply, self.scripts),
            **fields_with_calls(self.reply),
        }
        for script, output in zip(self.scripts, self.outputs, strict=False):
            yield {"role": "tool", "tool_call_id": script.id, "content": output}


@dataclass(frozen=True, slots=True)
class Block:
    """One reply that the benchmark read, and what the model sees in its place."""

    reply: Message
    turns: Sequence[ScriptTurn]
    """Before it, or instead of it."""
    said: Message | None
    """What the model said where it made no script; None where the reply comes of a script."""


def messages_in_scripts(
    messages: Sequence[Message],
    first: int,
    blocks: Sequence[Block],
    open_turns: Sequence[ScriptTurn],
    functions: ToolFunctions,
) -> list[Message]:
    """The messages of a request of the benchmark in the form of scripts.

    Args:
        first: messages of the unit's first request, which come before its replies.
        blocks: its replies so far.
        open_turns: since the last of them.
    """
    places = _places(messages, first, blocks)
    shown: list[Message] = []
    is_left_out = False
    """Whether results belong to calls that a script made."""
    for place, message in enumerate(messages):
        block = places.get(place)
        if block is not None:
            for turn in block.turns:
                shown += turn.messages()
            is_left_out = block.said is None
            if block.said is not None:
                calls = {"tool_calls": block.said["tool_calls"]} if message.get("tool_calls") else {}
                shown.append({**message, **calls})
        elif message.get("role") != "tool":
            is_left_out = False
            written = _as_script(message, messages[place + 1 :], functions)
            is_left_out = bool(written)
            shown += written or [message]
        elif not is_left_out:
            shown.append(message)
    for turn in open_turns:
        shown += turn.messages()
    return shown


def _places(messages: Sequence[Message], first: int, blocks: Sequence[Block]) -> Mapping[int, Block]:
    """Where the benchmark shows each of its replies, found from the last one on; it may have dropped some."""
    places: dict[int, Block] = {}
    end = len(messages)
    for block in reversed(blocks):
        for place in reversed(range(min(first, end), end)):
            message = messages[place]
            if message.get("role") == "assistant" and call_names(message) == call_names(block.reply):
                places[place] = block
                end = place
                break
    return places


def _as_script(message: Message, following: Sequence[Message], functions: ToolFunctions) -> list[Message]:
    """An earlier message with calls, such as the gold one of an earlier task, as a script with its output; nothing for
    any other message."""
    calls = as_objects(message.get("tool_calls"))
    code = script_of_calls(calls, functions) if calls else None
    if code is None:
        return []
    results: list[Any] = []
    for each in following:
        if each.get("role") != "tool":
            break
        results.append(result_value(each.get("content")))
    id_ = calls[0].get("id")
    asked = run_code_message(code, id_ if isinstance(id_, str) and id_ else "run_code")
    output = "\n".join(map(str, results))
    return [
        {**message, "tool_calls": asked["tool_calls"]},
        {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": output},
    ]


def script_of_calls(calls: Sequence[Mapping[str, Any]], functions: ToolFunctions) -> str | None:
    """A script that makes these calls and prints what they return; None where one is of no function, or has arguments
    that Python cannot write."""
    lines: list[str] = []
    for number, call in enumerate(calls):
        function = functions.of_tool(tool_name(call))
        given = as_object(call.get("function")).get("arguments")
        try:
            arguments = json_value(given if isinstance(given, dict) else read_arguments(given))
        except (ArgumentsError, TypeError, ValueError, RecursionError):
            return None
        if function is None:
            return None
        names = {name: shown for shown, name in function.parameters.items()}
        written = [f"{names[key]}={value!r}" for key, value in arguments.items() if key in names]
        others = {key: value for key, value in arguments.items() if key not in names}
        written += [f"**{others!r}"] if others else []
        lines.append(f"r{number} = {function.name}({', '.join(written)})")
    return "\n".join([*lines, *(f"print(r{number})" for number in range(len(calls)))])
