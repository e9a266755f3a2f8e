"""Hermes: each call a JSON object between `<tool_call>` and `</tool_call>`; Qwen 2.5 and 3 write so too."""

from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, call_json, tool_lines, wrap_results
from wildtool.models.tool_formats.scanner import Scanner, ToolCall
from wildtool.types import Tool

OPEN, CLOSE = "<tool_call>", "</tool_call>"


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These tools can be called, each described by one JSON object:\n<tools>\n{tool_lines(tools)}\n</tools>\n\n"
        "To call tools, write one such block for each call:\n"
        f'{OPEN}\n{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}\n{CLOSE}\n\n'
        "Calls of one reply are made at once; each result comes back between <tool_response> and </tool_response>. "
        f"{NO_CALL_TEXT}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{OPEN}\n{call_json(call)}\n{CLOSE}" for call in calls)


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    if OPEN not in reading.text:
        find_bare_calls(reading, "arguments", single=True)
        if reading.calls:
            reading.repairs.append("missing-open-tag")
        return
    while reading.skip_to(OPEN):
        start = reading.at - len(OPEN)
        try:
            value = reading.value()
        except UnreadableValueError:
            value = None
        if reading.add_calls(value, "arguments"):
            reading.repairs += ["list-of-calls"] if isinstance(value, list) else []
            reading.expect_close(CLOSE)
            continue
        reading.read_until(CLOSE, OPEN)
        reading.accept(CLOSE)
        end, reading.at = reading.at, start
        reading.add_unreadable(end)


HERMES = CallFormat(
    name="hermes",
    about="Hermes 2 Pro and 3, Qwen 2.5 and 3: JSON between <tool_call> and </tool_call>",
    source="chat templates of NousResearch/Hermes-2-Pro-Llama-3-8B and Qwen/Qwen2.5-7B-Instruct",
    system=_system,
    write_calls=_write_calls,
    write_results=lambda results: wrap_results("<tool_response>\n", "\n</tool_response>", results),
    find=_find,
)
