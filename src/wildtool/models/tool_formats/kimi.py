"""Kimi K2: `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>` in one section."""

import re
from collections.abc import Sequence

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, tool_lines
from wildtool.models.tool_formats.scanner import Scanner, ToolCall, ToolResult
from wildtool.types import Tool

ALL_OPEN, ALL_CLOSE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
OPEN, SEPARATOR, CLOSE = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
_ID = re.compile(r"(?:functions\.)?(.+?)(?::\d+)?", re.DOTALL)
"""A call's id is its tool's name and a running number."""


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"## Tools\nThese tools can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        "To call tools, end the reply with one section of all calls that can be made now, numbered from 0:\n"
        f'{ALL_OPEN}{OPEN}functions.NAME:0{SEPARATOR}{{"ARGUMENT": "VALUE"}}{CLOSE}{ALL_CLOSE}\n\n'
        f"Each result comes back below a line that names its call. {NO_CALL_TEXT}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    told = [
        f"{OPEN}functions.{call.name}:{number}{SEPARATOR}{json_text(call.arguments)}{CLOSE}"
        for number, call in enumerate(calls)
    ]
    return f"{ALL_OPEN}{''.join(told)}{ALL_CLOSE}"


def _write_results(results: Sequence[ToolResult]) -> str:
    told = [f"## Return of functions.{one.name}:{number}\n{one.text}" for number, one in enumerate(results)]
    return "\n".join(told)


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = (ALL_OPEN, ALL_CLOSE, "<|im_end|>")
    while reading.skip_to(OPEN):
        _take(reading, reading.at - len(OPEN))
    if reading.calls:
        reading.repairs += [] if ALL_OPEN in reading.text else ["missing-open-tag"]
        closed = ALL_CLOSE in reading.text or "missing-close-tag" in reading.repairs
        reading.repairs += [] if closed else ["missing-close-tag"]


def _take(reading: Scanner, start: int) -> None:
    id_ = reading.read_until(SEPARATOR, CLOSE, OPEN).strip()
    named = _ID.fullmatch(id_)
    if named is None or not reading.accept(SEPARATOR):
        end, reading.at = reading.at, start
        reading.add_unreadable(end)
        return
    try:
        reading.calls.append(ToolCall(named[1], reading.value()))
    except UnreadableValueError:
        reading.calls.append(ToolCall(named[1], reading.read_until(CLOSE, OPEN).strip()))
        reading.repairs.append("unreadable-arguments")
    reading.expect_close(CLOSE)


KIMI = CallFormat(
    name="kimi",
    about="Kimi K2: functions.NAME:0 and JSON arguments between marks of their own",
    source="MoonshotAI/Kimi-K2, docs/tool_call_guidance.md; chat template of moonshotai/Kimi-K2-Thinking",
    system=_system,
    write_calls=_write_calls,
    write_results=_write_results,
    find=_find,
)
