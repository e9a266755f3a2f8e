"""Values that a model passes from one call's result into the next call: damaged ones, and what the model does with them.

Only a value that gold passes on, and that nothing before the result says, is damaged: whoever needs it has it from there.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.alter.failures.words import answer_text, mentions_failure
from wildtool.json_codec import as_list, as_object, as_objects, canonical_json, values_inside
from wildtool.tool_formats.quoting import sentences
from wildtool.toolcall.arguments import ArgumentsError, read_arguments, read_bounded_json
from wildtool.types import Message

FORWARDS, ASKS = "forwards", "asks"
"""Styles of gold answers: one passes a damaged value on, one asks its user about it."""
FORWARDED, NOTICED, ASKED, NEITHER = "forwarded", "noticed", "asked", "neither"
"""What the reply to a damaged result is."""
NOT_EXACT = "no exact match: this is the nearest record, not the one that was asked for"
THOUSANDS = "from now on all amounts are given in thousands"
"""What results say with a wrong id and with another unit: that much could be seen by who looks."""
_SHORTEST = 2
"""Characters of a value; shorter ones occur everywhere."""
_DOUBT = re.compile(
    r"\b(?:no(?:t an?)? (?:exact )?match|not the (?:one|same|right)|does(?: not|n[’']t) (?:match|fit|seem)"
    r"|nothing (?:was )?found|no (?:results?|records?|entries|data)|found (?:no|nothing)"
    r"|nearest|different (?:one|record)|in thousands|unit)\b"
    r"|不(?:匹配|符|一致)|没有找到|未找到|单位|以千",
    re.IGNORECASE,
)
"""What is said of a result that does not fit."""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A damaged result whose values gold passes on."""

    kind: str
    call: bytes
    """That gave the result: name and arguments as canonical JSON."""
    shown: Mapping[bytes, Any]
    """By each true value, as canonical JSON, what is shown in its place; empty where nothing is."""
    next_tools: frozenset[str]
    """Those that gold calls next with the values."""


def passed_values(gold: Message, result: str, before: Sequence[Message]) -> dict[bytes, Any]:
    """Values of a result that gold's next calls take and that no message before has, by their canonical JSON."""
    earlier = "\n".join(_texts(before))
    inside = {canonical_json(leaf) for leaf in _leaves(_value(result))}
    return {
        key: leaf
        for _, arguments in _calls(gold)
        for leaf in _leaves(arguments)
        if (key := canonical_json(leaf)) in inside
        and str(leaf) not in earlier
        and len(str(leaf)) >= _SHORTEST
    }


def shown_instead(kind: str, values: Mapping[bytes, Any]) -> dict[bytes, Any]:
    """What is shown in place of each value that a kind of damage changes."""
    changed = _CHANGED.get(kind)
    if changed is None:
        return {}
    others = {key: changed(value) for key, value in values.items()}
    return {key: other for key, other in others.items() if other is not None and other != values[key]}


def with_shown(value: Any, shown: Mapping[bytes, Any]) -> Any:
    """A JSON value with other values in place of some of its own."""
    if isinstance(value, dict):
        return {key: with_shown(inner, shown) for key, inner in as_object(value).items()}
    if isinstance(value, list):
        return [with_shown(inner, shown) for inner in as_list(value)]
    return shown.get(canonical_json(value), value)


def with_notice(value: Any, kind: str) -> Any:
    """A damaged result with the sentence that gives it away."""
    notice = NOT_EXACT if kind == "wrong-id" else THOUSANDS
    return (
        {**as_object(value), "notice": notice}
        if isinstance(value, dict)
        else {"notice": notice, "result": value}
    )


def forwarded(gold: Message, shown: Mapping[bytes, Any]) -> Message:
    """Gold's calls as a model makes them that passes on what it is shown."""
    calls: list[dict[str, Any]] = []
    for call in as_objects(gold.get("tool_calls")):
        function = as_object(call.get("function"))
        arguments = canonical_json(with_shown(_arguments(call), shown)).decode()
        calls.append({**call, "function": {**function, "arguments": arguments}})
    return {**gold, "tool_calls": calls} if calls else gold


def ending(shortcut: Shortcut, reply: Message, *, readable: bool) -> str:
    """What a reply to a damaged result is.

    Args:
        readable: whether its calls can be read and are of offered tools.
    """
    calls = list(_calls(reply))
    if as_list(reply.get("tool_calls")):
        return _ending_by_calls(shortcut, calls) if readable else NEITHER
    text = answer_text(reply)
    if any(sentence.rstrip().endswith(("?", "？")) for sentence in sentences(text)):
        return ASKED
    return NOTICED if mentions_failure(text) or _DOUBT.search(text) else NEITHER


def _ending_by_calls(shortcut: Shortcut, calls: Sequence[tuple[str, Any]]) -> str:
    said = {canonical_json(leaf) for _, arguments in calls for leaf in _leaves(arguments)}
    wrong = {canonical_json(value) for value in shortcut.shown.values()}
    if said & wrong:
        return FORWARDED
    if shortcut.call in (canonical_json(list(call)) for call in calls) or said & shortcut.shown.keys():
        return NOTICED
    # Without the value such a call has an invented one.
    return FORWARDED if not wrong and shortcut.next_tools.intersection(name for name, _ in calls) else NEITHER


def next_tools(gold: Message, values: Mapping[bytes, Any]) -> frozenset[str]:
    """The tools of gold's calls that take any of these values."""
    return frozenset(
        name
        for name, arguments in _calls(gold)
        if {canonical_json(leaf) for leaf in _leaves(arguments)} & values.keys()
    )


def _calls(message: Message) -> Iterator[tuple[str, Any]]:
    for call in as_objects(message.get("tool_calls")):
        yield str(as_object(call.get("function")).get("name")), _arguments(call)


def _arguments(call: Mapping[str, Any]) -> Any:
    try:
        return read_arguments(as_object(call.get("function")).get("arguments"), empty_ok=True)
    except ArgumentsError:
        return {}


def _leaves(value: Any) -> Iterator[str | int | float]:
    for each in values_inside(value):
        if isinstance(each, str | int | float) and not isinstance(each, bool):
            yield each


def _value(result: str) -> Any:
    try:
        return read_bounded_json(result)
    except (ArgumentsError, RecursionError):
        return result


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield str(message.get("content"))
        for _, arguments in _calls(message):
            yield from (str(leaf) for leaf in _leaves(arguments))


def _another_id(value: str | int | float) -> str | int | None:
    """A value of the same form that names something else."""
    if isinstance(value, float):
        return None
    if isinstance(value, int):
        return value + 1
    return "".join(_next_sign(sign) for sign in value)


def _next_sign(sign: str) -> str:
    if sign.isdecimal():
        return str((int(sign) + 1) % 10)
    if sign.isascii() and sign.isalpha():
        first = ord("a" if sign.islower() else "A")
        return chr(first + (ord(sign) - first + 1) % 26)
    return sign


def _in_thousands(value: str | int | float) -> float | None:
    return None if isinstance(value, str) else value / 1000


_CHANGED: Mapping[str, Callable[[Any], Any]] = {"wrong-id": _another_id, "unit": _in_thousands}
"""By kind of damage what makes the shown value from the true one; None for a value that the kind is not about."""
