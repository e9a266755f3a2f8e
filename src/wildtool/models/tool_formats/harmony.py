"""Harmony, as gpt-oss writes: messages in channels; a call is a message to `functions.name`, reasoning is `analysis`."""

import re
from collections.abc import Sequence
from typing import Any

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, tool_lines
from wildtool.models.tool_formats.scanner import Scanner, ToolCall, ToolResult
from wildtool.types import Tool

START, CHANNEL, MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
CALL, END, RETURN = "<|call|>", "<|end|>", "<|return|>"
_HEADER = re.compile(
    r"(?:<\|start\|>([^<]*+)|\A(?=\s*+(?:assistant)?+\s*+(?:to=|<))([^<]*+))?+"
    r"<\|channel\|>([^<]*+)(?:<\|constrain\|>([^<]*+))?+<\|message\|>"
)
"""A message's header. A reply begins within one, since templates end in `<|start|>assistant`."""
_RECIPIENT = re.compile(r"\bto=(\S++)")
_OPENS_CALL = re.compile(
    r"(?:<\|(?:start|channel)\|>|\A(?=\s*+(?:assistant\s++)?+to=functions\.))[^<]*?\bto="
)
_TOOLS = "functions."


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"# Tools\n\n## functions\n\nThese can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        "To call one, write a message to it in the channel commentary, with its arguments as one JSON object:\n"
        f'{CHANNEL}commentary to=functions.NAME <|constrain|>json{MESSAGE}{{"ARGUMENT": "VALUE"}}{CALL}\n\n'
        f"Further calls that do not wait for it follow after {START}assistant. What the user is told stands in the "
        f"channel final. {NO_CALL_TEXT}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    told = [
        f"{CHANNEL}commentary to={_TOOLS}{call.name} <|constrain|>json{MESSAGE}{json_text(call.arguments)}{CALL}"
        for call in calls
    ]
    return f"{START}assistant".join(told)


def _write_results(results: Sequence[ToolResult]) -> str:
    return "\n".join(
        f"{START}{_TOOLS}{one.name} to=assistant{CHANNEL}commentary{MESSAGE}{one.text}{END}"
        for one in results
    )


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = (f"{START}assistant", END, RETURN, CALL)
    thoughts: list[str] = []
    said: list[str] = []
    seen = False
    while header := _HEADER.search(reading.text, reading.at):
        reading.add_text(header.start())
        reading.at = header.end()
        seen = True
        if recipient := _RECIPIENT.search(header[3]) or _RECIPIENT.search(header[1] or header[2] or ""):
            _take_call(reading, recipient[1].removeprefix(_TOOLS))
            continue
        text = reading.read_until(END, RETURN, CALL, START, CHANNEL).strip()
        (thoughts if header[3].split()[:1] == ["analysis"] else said).append(text)
    if _OPENS_CALL.search(reading.text, reading.at):
        reading.add_unreadable(len(reading.text))
    reading.add_rest()
    if seen:
        reading.reasoning = "\n".join(thoughts) if thoughts else None
        reading.content = "\n".join(text for text in (reading.plain_text, *said) if text)


def _take_call(reading: Scanner, name: str) -> None:
    try:
        reading.calls.append(ToolCall(name, reading.value()))
    except UnreadableValueError:
        text = reading.read_until(CALL, END, RETURN, START).strip()
        reading.repairs.append("unreadable-arguments" if text else "missing-arguments")
        reading.calls.append(ToolCall(name, text or dict[str, Any]()))
    # A server leaves out the mark that ends a reply.
    if reading.text[reading.at :].strip():
        reading.expect_close(CALL)


HARMONY = CallFormat(
    name="harmony",
    about="gpt-oss: <|channel|>commentary to=functions.NAME and JSON arguments; reasoning in the channel analysis",
    source="openai/harmony, docs/format.md",
    system=_system,
    write_calls=_write_calls,
    write_results=_write_results,
    find=_find,
)
