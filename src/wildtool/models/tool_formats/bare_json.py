"""Calls as JSON without marks around them: the reply is the calls, or they stand somewhere in it."""

import re
from typing import Any, cast

from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.scanner import Scanner

_START = re.compile(r"\[\s*+\{|\{\s*+[\"'}a-z]")
_LIKE_A_CALL = re.compile(r"[\[{\s]{0,20}+[\"']?(?:name|tool_calls|function)[\"']?\s*+:")
_NEXT = re.compile(r"\s*+[;,]?\s*+(?=[\[{]|\Z)")
_NOTHING = re.compile(r"\s*+(?:```\w*\s*+)?\[\s*+\]\s*+(?:```)?\s*+")


def find_bare_calls(reading: Scanner, key: str, *, single: bool = False) -> None:
    """Takes every JSON object that is a call, or list of them, out of the rest of the text.

    Args:
        key: what the format calls the arguments.
        single: whether the format has one object after another, so that a list is mended.
    """
    if _NOTHING.fullmatch(reading.text, reading.at):
        reading.repairs.append("empty-list")
        reading.at = len(reading.text)
        return
    start = reading.at
    # An object with nothing but a name is a call only where it is the whole reply.
    whole = (len(reading.text) - len(reading.text.lstrip()), len(reading.text.rstrip()))
    while candidate := _START.search(reading.text, start):
        try:
            value, end, repairs = reading.value_at(candidate.start())
        except UnreadableValueError:
            if not _LIKE_A_CALL.match(reading.text, candidate.start()):
                start = candidate.end()
            elif candidate[0].startswith("["):
                # Calls of a list that breaks off may still be whole.
                start = candidate.end() - 1
            else:
                reading.add_unreadable(len(reading.text))
                return
            continue
        start, found = end, len(reading.calls)
        _take(reading, value, key, candidate.start(), end, (candidate.start(), end) == whole)
        if len(reading.calls) > found:
            reading.repairs += [*repairs, *(["list-of-calls"] if single and isinstance(value, list) else [])]
    reading.add_rest()


def _take(reading: Scanner, value: Any, key: str, start: int, end: int, alone: bool) -> None:
    """Takes the calls that a value stands for, with the fence around it; any other value stays text."""
    wrapped = cast("dict[str, Any]", value).get("tool_calls") if isinstance(value, dict) else None
    if not reading.add_calls(value if wrapped is None else wrapped, key, needs_arguments=not alone):
        if _LIKE_A_CALL.match(reading.text, start):
            reading.repairs.append("unreadable-call")
        return
    reading.add_text(start)
    reading.at = end
    if reading.unfence():
        reading.repairs.append("code-fence")
    if following := _NEXT.match(reading.text, reading.at):
        reading.at = following.end()
