"""xLAM: the reply is a JSON list of calls and nothing else."""

from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, call_list, plain_results, tool_lines
from wildtool.models.tool_formats.scanner import Scanner
from wildtool.types import Tool


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These tools can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        "To call tools, reply with nothing but one JSON list of all calls that can be made now:\n"
        '[{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}]\n\n'
        f"{NO_CALL_TEXT}"
    )


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    find_bare_calls(reading, "arguments")
    reading.expect_nothing_else()


JSON_LIST = CallFormat(
    name="json-list",
    about='xLAM: the reply is [{"name": …, "arguments": …}, …]; the older {"tool_calls": […]} is read too',
    source="chat template of Salesforce/Llama-xLAM-2-8b-fc-r; model card of Salesforce/xLAM-7b-fc-r",
    system=_system,
    write_calls=call_list,
    write_results=plain_results,
    find=_find,
)
