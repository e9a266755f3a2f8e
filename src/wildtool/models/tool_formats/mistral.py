"""Mistral: `[TOOL_CALLS]` and a JSON list of calls; newer tokenizers write `[TOOL_CALLS]name[ARGS]{…}`."""

import re
from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, call_list, json_text, tool_lines
from wildtool.models.tool_formats.scanner import Scanner, ToolCall, ToolResult
from wildtool.types import Tool

MARK = "[TOOL_CALLS]"
_NAMED = re.compile(r"\s*+([^\s\[\]{}]++)\s*+(?:\[CALL_ID\]\w*+)?(?:\[ARGS\])?\s*+(?=\{)")
"""What stands before the arguments since version 11 of the tokenizer."""


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"[AVAILABLE_TOOLS]\n{tool_lines(tools)}\n[/AVAILABLE_TOOLS]\n\n"
        "To call tools, reply with the mark and one JSON list of all calls that can be made now:\n"
        f'{MARK} [{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}]\n\n'
        "Results come back between [TOOL_RESULTS] and [/TOOL_RESULTS]. "
        f"{NO_CALL_TEXT}"
    )


def _write_results(results: Sequence[ToolResult]) -> str:
    lines = [json_text({"name": result.name, "content": result.text}) for result in results]
    return "\n".join(f"[TOOL_RESULTS] {line} [/TOOL_RESULTS]" for line in lines)


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = ("</s>",)
    if MARK not in reading.text:
        find_bare_calls(reading, "arguments")
        if reading.calls:
            reading.repairs.append("missing-open-tag")
        return
    while reading.skip_to(MARK):
        _take(reading, reading.at - len(MARK))


def _take(reading: Scanner, start: int) -> None:
    named = _NAMED.match(reading.text, reading.at)
    if named:
        reading.at = named.end()
    try:
        value = reading.value()
    except UnreadableValueError:
        value = None
    if named and value is None:
        reading.calls.append(ToolCall(named[1], reading.read_until(MARK).strip()))
        reading.repairs.append("unreadable-arguments")
    elif named:
        reading.calls.append(ToolCall(named[1], value))
    elif not reading.add_calls(value, "arguments"):
        reading.read_until(MARK)
        end, reading.at = reading.at, start
        reading.add_unreadable(end)


MISTRAL = CallFormat(
    name="mistral",
    about='Mistral, Mixtral, Ministral: [TOOL_CALLS] [{"name": …, "arguments": …}]',
    source="mistralai/mistral-common, instruct tokenizers 3 and 11; vLLM's template for Mistral",
    system=_system,
    write_calls=lambda calls: f"{MARK} {call_list(calls)}",
    write_results=_write_results,
    find=_find,
)
