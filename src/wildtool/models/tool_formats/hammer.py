"""Hammer: the reply is a fenced JSON list of calls; an empty list says that no tool fits."""

from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, call_list, function_list, plain_results
from wildtool.models.tool_formats.scanner import Scanner, ToolCall
from wildtool.types import Tool


def _system(tools: Sequence[Tool]) -> str:
    return (
        "[BEGIN OF TASK INSTRUCTION]\nHelp the user, with the tools below where they serve.\n"
        "[END OF TASK INSTRUCTION]\n\n"
        f"[BEGIN OF AVAILABLE_TOOLS]\n{function_list(tools)}\n[END OF AVAILABLE_TOOLS]\n\n"
        "[BEGIN OF TASK INSTRUCTION]\nTo call tools, reply with nothing but a fenced JSON list of all calls that can "
        'be made now:\n```\n[\n    {"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}\n]\n```\n'
        f"{NO_CALL_TEXT}\n[END OF TASK INSTRUCTION]"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    return f"```\n{call_list(calls)}\n```"


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    find_bare_calls(reading, "arguments")
    reading.expect_nothing_else()
    reading.repairs = [name for name in reading.repairs if name != "code-fence"]


HAMMER = CallFormat(
    name="hammer",
    about='Hammer 2: the reply is a fenced list ```[{"name": …, "arguments": …}]```',
    source="chat template and model card of MadeAgents/Hammer2.1-7b",
    system=_system,
    write_calls=_write_calls,
    write_results=plain_results,
    find=_find,
)
