"""Llama 3: a call is the JSON object `{"name": …, "parameters": …}` and nothing else."""

from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import Format
from wildtool.models.tool_formats.prompt_text import OTHERWISE, call_json, plain_results, tool_lines
from wildtool.models.tool_formats.scanner import Reading, ToolCall
from wildtool.types import Tool

KEY = "parameters"


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These functions can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        'To call a function, reply with nothing but {"name": function name, "parameters": object of argument names '
        "and values}, written as JSON; for several calls write one object a line. Use values, no variables. "
        f"{OTHERWISE}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(call_json(call, KEY) for call in calls)


def _find(reading: Reading, tools: Sequence[Tool]) -> None:
    reading.ignored = ("<|python_tag|>", "<|eom_id|>", "<|eot_id|>")
    find_bare_calls(reading, KEY, single=True)
    reading.expect_nothing_else()


LLAMA3_JSON = Format(
    name="llama3-json",
    about='Llama 3.1, 3.2 and 3.3: the reply is {"name": …, "parameters": …}',
    source="chat template of meta-llama/Llama-3.1-8B-Instruct; Meta's page on prompt formats of Llama 3.1",
    system=_system,
    write_calls=_write_calls,
    write_results=plain_results,
    find=_find,
)
