"""Special replies with one mistake each: another message, a name or value left out, wrong or in
another place, everything listed, two things said at once."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from wildtool.benchmarks.acebench.data import SpecialRecord
from wildtool.benchmarks.acebench.gold import gold_text
from wildtool.benchmarks.acebench.play import Channel
from wildtool.benchmarks.acebench.prompts.texts import (
    INCORRECT_MESSAGE,
    LIMITATIONS_MESSAGE,
    MISSING_MESSAGE,
)
from wildtool.toolcall.call_syntax import CallExpression
from wildtool.toolcall.schema import as_schema
from wildtool.types import Message

TextMutant = tuple[str, str, str]
"""Kind, text, what was changed."""


def special_mutants(record: SpecialRecord, channel: Channel) -> Iterator[tuple[str, Message, str]]:
    """All mutants of one record: kind, reply, what was changed."""
    for kind, text, note in (*_in_general(record), *_of_category(record)):
        yield kind, _say(text), note
    name = str(record.functions[0]["name"]) if record.functions else "f"
    call = CallExpression(name, {"zz": 1})
    made = channel.write([call], record.functions)
    other = json.dumps({"name": name, "arguments": call.arguments})
    yield "call in another format beside the message", _say(f"{gold_text(record)}\n{other}"), other
    if channel.native:
        yield "call instead of the message", made, call.name
        yield "call beside the message", {**made, "content": gold_text(record)}, call.name
    else:
        yield "call instead of the message", made, made["content"]
        yield "call beside the message", _say(f"{gold_text(record)}\n{made['content']}"), made["content"]


def _say(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _in_general(record: SpecialRecord) -> Iterator[TextMutant]:
    gold = gold_text(record)
    names = ", ".join(record.faults) or "key"
    parts = ", ".join(part for parts in record.faults.values() for part in parts) or "value"
    messages = {
        "special_incomplete": MISSING_MESSAGE.format(keys=parts, api=names),
        "special_error_param": INCORRECT_MESSAGE.format(values=parts, keys=names),
        "special_irrelevant": LIMITATIONS_MESSAGE,
    }
    others = [text for category, text in messages.items() if category != record.category]
    for other in others:
        yield "another message", other, other
    yield "all three messages", "\n".join([gold, *others]), "the right one first"
    yield "empty reply", "", "empty"
    yield "no message", "I am sorry, I cannot help with that.", "prose"


def _of_category(record: SpecialRecord) -> Iterator[TextMutant]:
    rules = {"special_incomplete": _incomplete, "special_error_param": _wrong_value}
    if record.category in rules:
        yield from rules[record.category](record)


def _incomplete(record: SpecialRecord) -> Iterator[TextMutant]:
    api, missing = next(iter(record.faults.items()))

    def said(keys: list[str], name: str) -> str:
        return MISSING_MESSAGE.format(keys=", ".join(keys), api=name)

    for number, key in enumerate(missing):
        rest = [*missing[:number], *missing[number + 1 :]]
        yield "missing name not named", said(rest, api), key
        longer = f"{key.strip()}_zz"
        yield "longer name for a missing one", said([*rest, longer], api), longer
    yield "missing name invented", said([*missing, "zz_unknown"], api), "zz_unknown"
    yield "function not named", said(missing, ""), api
    yield "longer function name", said(missing, f"{api.strip()}_zz"), f"{api.strip()}_zz"
    names = [str(function["name"]) for function in record.functions]
    other = next((name for name in names if name.strip() != api.strip()), None)
    if other is not None:
        yield "other function", said(missing, other), other
        yield "other function beside", said(missing, f"{api}, {other}"), other
    yield "name and function exchanged", said([api], ", ".join(missing)), api
    yield "name only beside the message", f"{said(['zz_unknown'], api)} {' '.join(missing)}", missing[0]
    every = _names_of(record, api)
    if given := [name for name in every if name not in _said_with(record, api, missing)]:
        yield "all parameters listed", said(every, api), f"{given[0]} too"


def _wrong_value(record: SpecialRecord) -> Iterator[TextMutant]:
    values = [value for found in record.faults.values() for value in found]

    def said(found: list[str], names: list[str]) -> str:
        return INCORRECT_MESSAGE.format(values=", ".join(found), keys=", ".join(names))

    names = list(record.faults)
    for number, value in enumerate(values):
        before, after = values[:number], values[number + 1 :]
        yield "wrong value not named", said([*before, *after], names), value
        yield "other value", said([*before, "zzyzx", *after], names), f"zzyzx for {value}"
        yield "longer value", said([*before, f"{value}9", *after], names), f"{value}9 for {value}"
    for number, name in enumerate(names):
        rest = [*names[:number], *names[number + 1 :]]
        yield "parameter not named", said(values, rest), name
        yield "other parameter", said(values, [*rest, "zz_unknown"]), f"zz_unknown for {name}"
        beside = f"{said(values, [*rest, 'zz_unknown'])} {name}"
        yield "parameter only beside the message", beside, name
    yield "value and parameter exchanged", said(names, values), f"{values[0]} for {names[0]}"
    every = [name for function in record.functions for name in _keys(function.get("parameters"))]
    if any(name not in names for name in every):
        yield "all parameters listed", said(values, every), f"{len(every)} parameters"
    yield "whole request as the value", said([record.question], names), record.question[:60]


def _names_of(record: SpecialRecord, api: str) -> list[str]:
    """Every parameter of a function, those inside objects too, in order and once."""
    same = (f for f in record.functions if str(f.get("name")).strip() == api.strip())
    return list(dict.fromkeys(name for function in same for name in _keys(function.get("parameters"))))


def _keys(schema: Any) -> Iterator[str]:
    known = as_schema(schema)
    for name, below in as_schema(known.get("properties")).items():
        yield name
        yield from _keys(below)
    if "items" in known:
        yield from _keys(known["items"])


def _said_with(record: SpecialRecord, api: str, missing: Sequence[str]) -> set[str]:
    """The missing parameters, what is inside them, the objects around them, and what else the request lacks."""
    named = {name.strip() for name in missing}

    def related(schema: Any, inside: bool) -> set[str]:
        known = as_schema(schema)
        found: set[str] = related(known["items"], inside) if "items" in known else set()
        for name, below in as_schema(known.get("properties")).items():
            deeper = related(below, inside or name in named)
            found |= deeper | ({name} if inside or name in named or deeper else set())
        return found

    same = (f for f in record.functions if str(f.get("name")).strip() == api.strip())
    return {*record.may_name, *(name for f in same for name in related(f.get("parameters"), False))}
