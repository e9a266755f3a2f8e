"""Finds calls that a reply writes as text, in whatever format: those that a reader of `CALL_FORMATS` takes, and others.

Only calls that a reply makes count, none that it mentions within a sentence, quotes, shows in a program, or refuses.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wildtool.tool_formats import CALL_FORMATS
from wildtool.tool_formats.lenient_json import UnreadableValueError
from wildtool.tool_formats.loose_calls import (
    OfferedTools,
    bracket_call,
    calls_of_value,
    declares_tool,
    is_plain_call,
    tagged_call,
)
from wildtool.tool_formats.quoting import is_made, is_marked_call
from wildtool.tool_formats.scanner import ParsedReply, Scanner, ToolCall, split_reasoning
from wildtool.types import Tool

_MARK = re.compile(
    r"<tool_call>|<function=|<invoke name=|<minimax:tool_call>|\]<\]minimax\[>\[|\[TOOL_CALLS\]"
    r"|<\|tool_call(?:\|>|>|_start\|>)|<start_function_call>|<｜tool▁calls?▁begin｜>|<\|tool_calls?_(?:section_)?begin\|>|<｜DSML｜|<<function>>"
    r"|<\|python_tag\|>|<\|START_ACTION\|>|<\|(?:start|channel)\|>[^<]*\bto=|\Aassistant to=functions\."
)
"""Marks with which formats begin their calls."""
_MAY_CALL = re.compile(
    rf"{_MARK.pattern}|<[a-zA-Z_]|[{{\[]\s*+[{{\"']|\{{\s*+\w|[\w\-.]\(|\w \(\s*+\w++\s*+[=:]|\bAction\s*+[:：]"
)
"""What every text with a call has; most replies have none of it."""
_UNMARKED = ("llama3-json", "pythonic", "json-list", "hammer", "react", "command-r")
"""Formats that need no mark; others read what these read, and GLM any word above an object."""
_PROGRAM = re.compile(
    r"^[ \t]*(?:def|class|import|from|for|while|if|with|try|async|const|let|var|function|public|private|#include)\b",
    re.MULTILINE,
)
"""Lines of an example, which fences of calls do not have."""
_NAME = r"(?<![A-Za-z0-9_.$@/\-])(?:{odd}[A-Za-z_][A-Za-z0-9_.:/\-]*+)"
_PLACES = (
    r"(?P<fence>```)"
    r"|(?P<json>\[\s*+\{{|\{{\s*+[\"'}}a-z])"
    r"|\bAction\s*+[:：][*_ \t]*+(?P<action>[^\n:]{{1,100}}?)"
    r"(?:[\s*_]*+(?P<input>Action Input\s*+[:：][\s*_]*+)|[ \t]*+$)"
    r"|<(?:(?:function|tool|tool_call|call|invoke)(?:\s*+=\s*+|\s++name\s*+=\s*+))?[\"']?(?P<tag>[A-Za-z_][\w.\-]*+)[\"']?\s*+>"
    r"|(?P<call>{name}) ?\("
)
_ONLY_FENCE = re.compile(r"\s*+```\w*+((?:[^`]++|`{1,2}(?!`))*+)```\s*+")
_BETWEEN = re.compile(r"\s*+[,;]?\s*+")
_OPENS = re.compile(r"[\[(]\s*+\Z")
_NAMED = re.compile(r"(?<![\w.:/\-])([A-Za-z_][A-Za-z0-9_.:/\-]*+)[:：]?\s*+\Z")
"""A name before an object."""
_FOREIGN = frozenset(["missing-open-tag", "arguments-key", "json-in-tag", "list-of-calls", "code-fence"])
"""Repairs of calls that are in another format than the one that reads them."""
_MOST_PLACES = 20_000
"""Places of one text that are tried."""


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call that a reply writes as text."""

    name: str
    """The tool as the reply names it, perhaps with a prefix."""
    arguments: Any
    """By parameter; a text where they could not be read. Values by position get the declared names, or their places."""
    format: str
    """What `--tool-format` would have to be for the call to be read; empty where no format reads it."""


def calls_in_text(text: str, tools: Sequence[Tool] = ()) -> tuple[TextCall, ...]:
    """The calls that a reply makes in its text, in order. Never raises; takes time in proportion to the text.

    Args:
        tools: what the request offered. A call of another tool counts where it is the whole reply, or behind a mark.
    """
    if not _MAY_CALL.search(text):
        return ()
    offered = OfferedTools(tools)
    names = CALL_FORMATS if _MARK.search(text) else _UNMARKED
    reads = {name: CALL_FORMATS[name].read(text, tools) for name in names}
    calls = _whole_reply(reads, offered) or _marked(_unfenced(split_reasoning(text)[1]), tools, offered)
    formats: dict[str, str] = {}
    for name, read in sorted(reads.items(), key=lambda entry: strangeness(entry[1])):
        for call in read.calls:
            formats.setdefault(repr(call), name)
    return tuple(TextCall(call.name, call.arguments, formats.get(repr(call), "")) for call in calls)


def strangeness(read: ParsedReply) -> tuple[int, int]:
    """How far a reply is from the format that read it: least where it has all of its marks and keys, then where the least
    text is left."""
    return len(_FOREIGN.intersection(read.repairs)), len(read.text.strip())


def _whole_reply(reads: dict[str, ParsedReply], offered: OfferedTools) -> Sequence[ToolCall]:
    """The calls of a reply that is nothing else in one of the formats."""
    complete = [
        read for read in reads.values() if read.calls and not read.text.strip() and _is_meant(read, offered)
    ]
    return min(complete, key=lambda read: len(read.repairs)).calls if complete else ()


def _is_meant(read: ParsedReply, offered: OfferedTools) -> bool:
    """Whether what a format reads as calls are some: neither a lone name nor the description of a tool is one."""
    guessed = not {"missing-arguments", "missing-open-tag"}.isdisjoint(read.repairs)
    return not any(
        declares_tool(call.arguments) or (guessed and call.name not in offered) for call in read.calls
    )


def _unfenced(text: str) -> str:
    """The text in a fence that is the whole reply."""
    fence = _ONLY_FENCE.fullmatch(text)
    return fence[1] if fence and not _PROGRAM.search(fence[1]) else text


def _marked(text: str, tools: Sequence[Tool], offered: OfferedTools) -> list[ToolCall]:
    """The calls behind a format's mark, and those beside them."""
    mark = _MARK.search(text)
    if mark is None or not is_marked_call(text, mark.start(), ""):
        return list(_loose(text, offered))
    reads = [format.read(text[mark.start() :], tools) for format in CALL_FORMATS.values()]
    best = max(reads, key=lambda read: (len(read.calls), -len(read.repairs)))
    before = list(_loose(text[: mark.start()], offered))
    if not best.calls:
        return [*before, *_loose(text[mark.start() :], offered)]
    calls = best.calls if is_marked_call(text, mark.start(), best.text) else ()
    return [*before, *calls, *_loose(best.text, offered)]


def _loose(text: str, offered: OfferedTools) -> Iterator[ToolCall]:
    """The calls of a text at places where it makes one, in any shape."""
    scanner, fenced = Scanner(text), False
    places = _places("".join(f"{re.escape(name)}(?=\\s?\\()|" for name in offered.odd_names))
    for _ in range(_MOST_PLACES):
        place = places.search(text, scanner.at)
        if place is None:
            return
        scanner.at = place.end()
        if place["fence"]:
            closing = text.find("```", place.end())
            fenced = not fenced and closing != -1
            if fenced and _PROGRAM.search(text, place.end(), closing):
                scanner.at, fenced = closing + 3, False
            continue
        start = _start(text, place, offered)
        calls, end = _calls_at(scanner, place, offered, fenced)
        if calls and is_made(text, start, end):
            yield from calls
        scanner.at = max(end, place.start() + 1)


def _start(text: str, place: re.Match[str], offered: OfferedTools) -> int:
    """Where the call at a place begins: with the bracket around it, or the name before its object."""
    before = _OPENS if place["call"] else _NAMED if place["json"] else None
    opening = before and before.search(text, place.start() - 200, place.start())
    if not opening or (place["json"] and opening[1] not in offered):
        return place.start()
    return opening.start()


@lru_cache(64)
def _places(odd: str) -> re.Pattern[str]:
    return re.compile(_PLACES.format(name=_NAME.format(odd=odd)), re.MULTILINE)


def _calls_at(
    scanner: Scanner, place: re.Match[str], offered: OfferedTools, fenced: bool
) -> tuple[Sequence[ToolCall], int]:
    """The calls at a place, and their end; the place's own end where there are none."""
    none = (), place.start() + 1 if place["json"] else place.end()
    if place["json"]:
        try:
            value, end, _ = scanner.value_at(place.start())
        except UnreadableValueError:
            return none
        before = scanner.text[_start(scanner.text, place, offered) : place.start()].rstrip(":： \t\n")
        if before and isinstance(value, dict):
            return [ToolCall(before, value)], end
        sure = not fenced and is_plain_call(value)
        return [call for call in calls_of_value(value, offered) if sure or call.name in offered], end
    if name := place["action"]:
        if name.strip() not in offered:
            return (), place.start("action")
        value: Any = scanner.try_value() if place["input"] else None
        return [ToolCall(name.strip(), value or dict[str, Any]())], scanner.at
    if name := place["tag"]:
        tagged = tagged_call(scanner, name, place.end()) if name in offered else None
        return ([tagged[0]], tagged[1]) if tagged else none
    return _bracket_calls(scanner, place, offered, fenced) or none


def _bracket_calls(
    scanner: Scanner, place: re.Match[str], offered: OfferedTools, fenced: bool
) -> tuple[Sequence[ToolCall], int] | None:
    """Calls with round brackets from a place on, one after another."""
    text = scanner.text
    if "//" in place["call"]:  # an address
        return None
    start = _start(text, place, offered)
    in_list, calls, plain = text.startswith("[", start), list[ToolCall](), True
    end, following = place.end(), place
    while (read := bracket_call(scanner, following["call"], following.end(), offered)) is not None:
        calls.append(read.call)
        end = read.end
        plain = plain and read.keywords
        between = _BETWEEN.match(text, end)
        next_place = following.re.match(text, between.end() if between else end)
        if next_place is None or not next_place["call"]:
            break
        following = next_place
    if not calls:
        return None
    while end < len(text) and text[end] in ")]":
        end += 1
    # Without brackets around it, a call of another tool is one only on a line that begins with it.
    alone = plain and not text[text.rfind("\n", 0, start) + 1 : start].strip()
    meant = any(call.name in offered for call in calls) or (not fenced and (in_list or alone))
    return (calls, end) if meant else None
