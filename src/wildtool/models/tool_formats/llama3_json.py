"""Llama 3: a call is the JSON object `{"name": …, "parameters": …}` and nothing else."""

from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, call_json, plain_results, tool_lines
from wildtool.models.tool_formats.scanner import Scanner, ToolCall
from wildtool.types import Tool

ARGUMENTS_KEY = "parameters"


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These functions can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        'To call a function, reply with nothing but {"name": function name, "parameters": object of argument names '
        "and values}, written as JSON; for several calls write one object a line. Use values, no variables. "
        f"{NO_CALL_TEXT}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(call_json(call, ARGUMENTS_KEY) for call in calls)


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = ("<|python_tag|>", "<|eom_id|>", "<|eot_id|>")
    find_bare_calls(reading, ARGUMENTS_KEY, single=True)
    reading.expect_nothing_else()


LLAMA3_JSON = CallFormat(
    name="llama3-json",
    about='Llama 3.1, 3.2 and 3.3: the reply is {"name": …, "parameters": …}',
    source="chat template of meta-llama/Llama-3.1-8B-Instruct; Meta's page on prompt formats of Llama 3.1",
    system=_system,
    write_calls=_write_calls,
    write_results=plain_results,
    find=_find,
)
