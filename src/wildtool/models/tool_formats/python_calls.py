"""Calls as Python text, `f(a='x', b=[1])`: written, and read without evaluating anything.

Names need not be Python's: tools are called `get-weather` or `Market Trends API` too. An argument that no keyword can
name stands in `**{'max price': 5}`.
"""

import re
from collections.abc import Sequence
from typing import Any, cast

from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.scanner import Scanner, ToolCall

_NAME = r"[^\s()\[\]{}'\"=,;<>]"
_ARGUMENTS = rf"\(\s*+(?:\)|\*\*|{_NAME}++\s*+=)"
_LISTED = re.compile(rf"\s*+({_NAME}(?:[^()\[\]{{}}'\"=,;<>\n]*{_NAME})?)\s*(?=\()")
_IN_LIST = re.compile(rf"\[\s*+(?={_NAME}[^()\[\]{{}}'\"=,;<>\n]*+{_ARGUMENTS})")
_ALONE = re.compile(rf"\s*+(?={_NAME}++{_ARGUMENTS})")
_KEYWORD = re.compile(rf"\s*+({_NAME}++)\s*+=(?!=)")
_PLAIN = re.compile(r"[\w.-]+")
"""Arguments that are written as keywords."""
_BETWEEN = re.compile(r"\s*+[,;]?\s*+")
_PYTHON = frozenset({"single-quotes", "python-literal", "trailing-comma"})
"""What is no fault in Python text."""


def write_call(call: ToolCall) -> str:
    """A call as Python text."""
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return f"{call.name}({arguments!r})"
    arguments = cast("dict[str, Any]", arguments)
    plain = [f"{key}={value!r}" for key, value in arguments.items() if _PLAIN.fullmatch(key)]
    other = {key: value for key, value in arguments.items() if not _PLAIN.fullmatch(key)}
    return f"{call.name}({', '.join([*plain, *([f'**{other!r}'] if other else [])])})"


def write_list(calls: Sequence[ToolCall]) -> str:
    """Calls as a Python list of them."""
    return f"[{', '.join(map(write_call, calls))}]"


def find_lists(reading: Scanner) -> None:
    """Takes every bracketed list of calls out of the text, or the whole text where it is calls without brackets."""
    if find_alone(reading, reading.at):
        reading.repairs.append("missing-open-tag")
    while found := _IN_LIST.search(reading.text, reading.at):
        reading.add_text(found.start())
        if not _take(reading, found.end(), "]"):
            # Where a call breaks off, nothing tells what comes after it from its arguments.
            return
    reading.add_rest()


def find_alone(reading: Scanner, start: int) -> bool:
    """Takes the calls that stand there one after another without brackets; False where none can be taken."""
    return _ALONE.match(reading.text, start) is not None and _take(reading, start, "")


def _take(reading: Scanner, start: int, closing: str) -> bool:
    try:
        calls, repairs, end = _calls(reading, start, closing)
    except UnreadableValueError:
        reading.add_unreadable(len(reading.text))
        return False
    reading.calls += calls
    reading.repairs += repairs
    reading.at = end
    if reading.unfence():
        reading.repairs.append("code-fence")
    return True


def _calls(reading: Scanner, at: int, closing: str) -> tuple[list[ToolCall], list[str], int]:
    """The calls from here up to the bracket after the last of them, or to the last one where there is none."""
    calls: list[ToolCall] = []
    repairs: list[str] = []
    text = reading.text
    while found := _LISTED.match(text, at):
        arguments, at, mended = _arguments(reading, found.end() + 1)
        repairs += mended
        calls.append(ToolCall(found[1], arguments))
        between = _BETWEEN.match(text, at)
        following = between.end() if between else at
        if closing and text.startswith(closing, following):
            return calls, repairs, following + len(closing)
        if not closing and not _ALONE.match(text, following):
            return calls, repairs, at
        at = following
    if not closing or text[at:].strip() or not calls:
        raise UnreadableValueError
    return calls, [*repairs, "missing-bracket"], len(text)


def _arguments(reading: Scanner, at: int) -> tuple[dict[str, Any], int, list[str]]:
    """The keyword arguments up to the closing bracket."""
    arguments: dict[str, Any] = {}
    repairs: set[str] = set()
    loose = reading.lenient
    while True:
        at = loose.after_space(at)
        if reading.text.startswith(")", at):
            return arguments, at + 1, sorted(repairs - _PYTHON)
        if reading.text.startswith("**", at):
            value, at, mended = loose.repaired_value(at + 2)
            if not isinstance(value, dict):
                raise UnreadableValueError
            arguments |= cast("dict[str, Any]", value)
        elif keyword := _KEYWORD.match(reading.text, at):
            arguments[keyword[1]], at, mended = loose.repaired_value(keyword.end())
        elif at >= len(reading.text) and arguments:
            return arguments, at, sorted(repairs - _PYTHON | {"missing-bracket"})
        else:
            raise UnreadableValueError
        repairs.update(mended)
        at = loose.after_space(at)
        if reading.text.startswith(",", at):
            at += 1
        elif at < len(reading.text) and not reading.text.startswith(")", at):
            raise UnreadableValueError
