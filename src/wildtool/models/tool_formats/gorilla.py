"""Gorilla OpenFunctions: `<<function>>` before each call, which is Python text."""

from collections.abc import Sequence

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, function_list, plain_results
from wildtool.models.tool_formats.python_calls import find_alone, write_call
from wildtool.models.tool_formats.scanner import Scanner
from wildtool.types import Tool

MARK = "<<function>>"


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These functions can be called:\n{MARK}{function_list(tools)}\n\n"
        "To call functions, reply with all calls that can be made now in Python's syntax, with every argument named "
        f"and the mark before each: {MARK}name(argument=value)\n\n"
        f"{NO_CALL_TEXT}"
    )


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    if MARK not in reading.text:
        if find_alone(reading, 0):
            reading.repairs.append("missing-open-tag")
        reading.add_rest()
        return
    while reading.skip_to(MARK):
        start = reading.at
        opening = reading.at = start - len(MARK)
        if find_alone(reading, start):
            reading.accept(",")
        elif reading.at == opening:
            # No call at all stands behind the mark.
            reading.add_unreadable(reading.find_mark(MARK, start))
    reading.expect_nothing_else()


GORILLA = CallFormat(
    name="gorilla",
    about="Gorilla OpenFunctions: <<function>>f(a='x')<<function>>g(b=1)",
    source="ShishirPatil/gorilla, openfunctions/README.md; model card of gorilla-llm/gorilla-openfunctions-v2",
    system=_system,
    write_calls=lambda calls: "".join(f"{MARK}{write_call(call)}" for call in calls),
    write_results=plain_results,
    find=_find,
)
