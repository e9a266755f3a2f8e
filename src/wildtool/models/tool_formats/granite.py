"""Granite 3: `<|tool_call|>` and a JSON list of calls; Phi-4-mini writes so too."""

import re
from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, call_list, plain_results, tool_lines
from wildtool.models.tool_formats.scanner import Scanner
from wildtool.types import Tool

MARK = "<|tool_call|>"
_OPENS = re.compile(r"<\|tool_call\|>|<tool_call>")


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These tools can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        "To call tools, reply with the mark and one JSON list of all calls that can be made now:\n"
        f'{MARK}[{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}]\n\n'
        f"{NO_CALL_TEXT}"
    )


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = ("<|/tool_call|>", "</tool_call>", "<|end_of_text|>", "<|end|>")
    if not _OPENS.search(reading.text):
        find_bare_calls(reading, "arguments")
        reading.repairs += ["missing-open-tag"] if reading.calls else []
        return
    while found := _OPENS.search(reading.text, reading.at):
        reading.add_text(found.start())
        reading.at = found.end()
        try:
            value = reading.value()
        except UnreadableValueError:
            value = None
        if not reading.add_calls(value, "arguments"):
            after = _OPENS.search(reading.text, found.end())
            reading.at = found.start()
            reading.add_unreadable(after.start() if after else len(reading.text))
    reading.add_rest()


GRANITE = CallFormat(
    name="granite",
    about='Granite 3, Phi-4-mini: <|tool_call|>[{"name": …, "arguments": …}]',
    source="vLLM's parser granite; chat templates of ibm-granite/granite-3.3-8b-instruct and "
    "microsoft/Phi-4-mini-instruct",
    system=_system,
    write_calls=lambda calls: f"{MARK}{call_list(calls)}",
    write_results=plain_results,
    find=_find,
)
