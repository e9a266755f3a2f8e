"""Forms in which a right reply stays right. Wrong replies take them as often, so that no form is a sign."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, cast

from wildtool.json_codec import as_objects
from wildtool.judges.candidate import GOLD_FORM
from wildtool.judges.trajectories import arguments_of, with_arguments
from wildtool.judges.words import own_sentence
from wildtool.types import Message

FormChange = Callable[[Message, str, Random], Message | None]
"""Gives a reply in another form, in a language; None where that changes nothing."""


def _each_call(
    reply: Message,
    change: Callable[[dict[str, Any]], Any],
    *,
    indent: int | None = None,
    escaped: bool = False,
) -> Message | None:
    """A reply with the arguments of all calls changed or written otherwise; None where none of them can be read."""
    calls = as_objects(reply.get("tool_calls"))
    result = list[dict[str, Any]]()
    for call in calls:
        arguments = arguments_of(call)
        if arguments is None:
            return None
        result.append(with_arguments(call, change(arguments), indent=indent, escaped=escaped))
    return {**reply, "tool_calls": result} if result and result != calls else None


def _other_json(reply: Message, *, indent: int | None = None, escaped: bool = False) -> Message | None:
    """A text that is JSON, written otherwise."""
    text = reply.get("content")
    if reply.get("tool_calls") or not isinstance(text, str) or not text.startswith(("{", "[")):
        return None
    try:
        result = json.dumps(json.loads(text), ensure_ascii=escaped, indent=indent)
    except ValueError:
        return None
    return {**reply, "content": result} if result != text else None


def _same(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def _reordered(reply: Message, lang: str, draw: Random) -> Message | None:
    return _each_call(reply, lambda arguments: dict(reversed(arguments.items())))


def _indented(reply: Message, lang: str, draw: Random) -> Message | None:
    return _each_call(reply, _same, indent=2) or _other_json(reply, indent=2)


def _escaped(reply: Message, lang: str, draw: Random) -> Message | None:
    return _each_call(reply, _same, escaped=True) or _other_json(reply, escaped=True)


def _with_words(reply: Message, lang: str, draw: Random) -> Message | None:
    if not reply.get("tool_calls") or reply.get("content"):
        return None
    return {**reply, "content": own_sentence("before calls", lang, draw)}


def _naming_a_value(reply: Message, lang: str, draw: Random) -> Message | None:
    values = [
        (key, value)
        for call in as_objects(reply.get("tool_calls"))
        for key, value in (arguments_of(call) or {}).items()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    ]
    if not values or reply.get("content"):
        return None
    key, value = draw.choice(values)
    return naming(reply, key, value, lang)


def naming(reply: Message, key: str, value: Any, lang: str) -> Message:
    """A reply whose words say with which value a call is made."""
    words = f"{key} 用 {value}。" if lang.startswith("zh") else f"Using {value} for {key.replace('_', ' ')}."
    return {**reply, "content": words}


def _closing(reply: Message, lang: str, draw: Random) -> Message | None:
    text = reply.get("content")
    if reply.get("tool_calls") or not isinstance(text, str) or not re.search(r"[.!。！]$", text.strip()):
        return None
    return {**reply, "content": f"{text}{own_sentence('closing', lang, draw)}"}


def _spaced(reply: Message, lang: str, draw: Random) -> Message | None:
    text = reply.get("content")
    if reply.get("tool_calls") or not isinstance(text, str) or not text.strip():
        return None
    if _closing(reply, lang, draw):
        return None
    return {**reply, "content": f"\n{text}\n"}


SAFE_FORMS: Mapping[str, FormChange] = {
    "keys reordered": _reordered,
    "JSON indented": _indented,
    "non-ASCII escaped": _escaped,
    "words beside calls": _with_words,
    "words that name a value": _naming_a_value,
    "closing line": _closing,
    "blank lines around": _spaced,
}
"""Safe everywhere, and asked of the rules all the same."""


def _calls_reversed(reply: Message, lang: str, draw: Random) -> Message | None:
    calls = as_objects(reply.get("tool_calls"))
    return {**reply, "tool_calls": calls[::-1]} if calls != calls[::-1] else None


def _lists_reversed(reply: Message, lang: str, draw: Random) -> Message | None:
    return _each_call(
        reply,
        lambda arguments: {
            key: cast(list[Any], value)[::-1] if isinstance(value, list) else value
            for key, value in arguments.items()
        },
    )


CHECKED_FORMS: Mapping[str, FormChange] = {
    "calls reversed": _calls_reversed,
    "lists reversed": _lists_reversed,
}
"""Right only where the rules accept them and nothing that the model was shown names an order."""


def formed(
    replies: Sequence[Message], step: int, form: str, lang: str, draw: Random
) -> tuple[Message, ...] | None:
    """Replies with one of them in another form; None where it has no such form."""
    if form == GOLD_FORM:
        return (*replies,)
    change = SAFE_FORMS.get(form) or CHECKED_FORMS[form]
    result = change(replies[step], lang, draw)
    return None if result is None else (*replies[:step], result, *replies[step + 1 :])
