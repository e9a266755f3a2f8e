"""How every format reads a reply that breaks off anywhere, or lacks one of its signs."""

from collections.abc import Iterator
from itertools import groupby

import pytest

from golden_files import same_as_golden
from wildtool.json_codec import dumps
from wildtool.tool_formats import CALL_FORMATS, CallFormat, ToolCall
from wildtool.types import Tool

CALLS = [ToolCall("f", {"a": "x y", "b": [1, True]}), ToolCall("g", {"c": None})]
TOOLS: list[Tool] = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {"properties": {"a": {"type": "string"}, "b": {"type": "array"}}},
        },
    },
    {"type": "function", "function": {"name": "g", "parameters": {"properties": {"c": {"type": "null"}}}}},
]


def alike(text: str, other: str) -> int:
    """Characters with which both begin."""
    both = zip(text, other, strict=False)
    return next((place for place, (a, b) in enumerate(both) if a != b), min(len(text), len(other)))


def kept(text: str, whole: str) -> str:
    """A text by the places in the whole text that it begins and ends with: `[:3] + 'x' + [57:]`."""
    first = alike(text, whole)
    last = alike(text[first:][::-1], whole[first:][::-1])
    between = text[first : len(text) - last]
    ends = f"[:{first}]" if first else "", f"[{len(whole) - last}:]" if last else ""
    return " + ".join(filter(None, (ends[0], repr(between) if between else "", ends[1])))


def reading(format: CallFormat, text: str) -> str:
    """What a format makes of a text; = for a text that is left as it is."""
    read = format.read(text, TOOLS)
    calls = " ".join(f"{call.name}{dumps(call.arguments).decode()}" for call in read.calls) or "-"
    beside = "=" if read.text == text else kept(read.text, text)
    return " | ".join([calls, beside, " ".join(read.repairs)]).rstrip(" |")


def cuts(format: CallFormat, text: str) -> Iterator[str]:
    """The readings of the beginnings of a text, those that are alike together."""
    readings = ((end, reading(format, text[:end])) for end in range(1, len(text) + 1))
    for result, group in groupby(readings, key=lambda entry: entry[1]):
        ends = [end for end, _ in group]
        yield f"{text[: ends[-1]][-12:]!r} ({len(ends)}): {result}"


def without_signs(format: CallFormat, text: str) -> Iterator[str]:
    """The readings of a text without one of its signs, where that matters."""
    whole = reading(format, text)
    for place, sign in enumerate(text):
        if not sign.isalnum() and (result := reading(format, text[:place] + text[place + 1 :])) != whole:
            yield f"{text[max(0, place - 6) : place]!r} {sign!r}: {result}"


@pytest.mark.parametrize("name", CALL_FORMATS)
def test_a_damaged_reply_is_read_as_before(name: str):
    format = CALL_FORMATS[name]
    text = format.write("Hi.", CALLS)
    lines = [*cuts(format, text), "", *without_signs(format, text)]
    same_as_golden(f"damaged/{name}.txt", "\n".join(lines) + "\n")
