"""Gold answers with one mistake each, for the audit: what a good profile must judge wrong.

They are made from the corrected gold answer under every profile, so all profiles face the same mistakes; where a profile
refuses that gold answer itself, its mutants would say nothing and are left out. At most `MAX_MUTANTS_PER_KIND` mutants
of each kind are tried for a record with calls, evenly spread over all of that kind. For Special records: another message,
a name or value left out, wrong or in another place, everything listed, two things said at once.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from wildtool.benchmark import Mutant, accepts
from wildtool.benchmarks.acebench.audit.argument_mutants import argument_mutants, evenly_spaced
from wildtool.benchmarks.acebench.audit.episode_mutants import episode_mutants
from wildtool.benchmarks.acebench.corrections import corrected
from wildtool.benchmarks.acebench.data import AgentRecord, ItemData, NormalRecord, SpecialRecord
from wildtool.benchmarks.acebench.fixed.calls import is_blank
from wildtool.benchmarks.acebench.gold import gold_calls, gold_text
from wildtool.benchmarks.acebench.judge import AceBenchRules, Channel
from wildtool.benchmarks.acebench.prompts.own import INCORRECT_MESSAGE, LIMITATIONS_MESSAGE, MISSING_MESSAGE
from wildtool.toolcall.call_syntax import CallExpression
from wildtool.toolcall.schema import as_schema
from wildtool.types import Item, Message

MAX_MUTANTS_PER_KIND = 2
_NONSENSE = "zzyzx"
ReplyMutant = tuple[str, Message, str]
"""Kind, reply, what was changed."""


def mutants(rules: AceBenchRules, item: Item) -> Iterator[Mutant]:
    """All mutants of all units of an item, as replies in the mode of the rules."""
    case = cast(ItemData, item.data)
    for position, unit in enumerate(item.units):
        record = corrected(case.records[position])
        if isinstance(record, AgentRecord):
            yield from episode_mutants(item, unit, record, rules)
        elif accepts(rules, item, unit, [rules.channel.gold(cast(NormalRecord | SpecialRecord, record))]):
            for kind, reply, note in _of_record(record, rules.channel):
                yield Mutant(unit, kind, (reply,), note)


def _of_record(record: Any, channel: Channel) -> Iterator[ReplyMutant]:
    if isinstance(record, SpecialRecord):
        yield from _of_special(record, channel)
        return
    right = [_as_set(gold_calls(replace(record, candidates=(candidate,)))) for candidate in record.candidates]
    for kind, calls, note in evenly_spaced(_of_calls(record), MAX_MUTANTS_PER_KIND):
        if _as_set(calls) not in right:
            yield kind, channel.write(calls, record.functions), note
    yield from _of_prose(gold_text(record), channel)


def _say(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _as_set(calls: list[CallExpression]) -> list[str]:
    """Calls without their order, that of their arguments, and arguments that say nothing."""
    return sorted(
        repr((call.name, sorted((k, repr(v)) for k, v in call.arguments.items() if not is_blank(v))))
        for call in calls
    )


# Mistakes in calls -----------------------------------------------------------------------------------


def _of_calls(record: NormalRecord) -> Iterator[tuple[str, list[CallExpression], str]]:
    gold = gold_calls(record)
    offered = [str(function["name"]) for function in record.functions]
    parameters = {str(f["name"]): f.get("parameters", {}) for f in reversed(record.functions)}
    used = {call.name for call in gold}
    other = next((name for name in offered if name not in used), None)
    for number, call in enumerate(gold):

        def put(*mutated: CallExpression, number: int = number) -> list[CallExpression]:
            return [*gold[:number], *mutated, *gold[number + 1 :]]

        if other is not None:
            yield "other function", put(CallExpression(other, call.arguments)), f"{other} for {call.name}"
        yield "unknown function", put(CallExpression(f"{call.name}_v", call.arguments)), f"{call.name}_v"
        if len(gold) > 1:
            yield "call left out", put(), call.name
        yield "call doubled", put(call, call), call.name
        arguments: dict[str, Any] = {str(name): value for name, value in call.arguments.items()}
        for kind, variant, note in argument_mutants(arguments, parameters.get(call.name, {})):
            yield kind, put(CallExpression(call.name, {**variant})), f"{call.name}: {note}"
    if other is not None:
        yield "call added", [*gold, CallExpression(other, {})], other
    yield from _one_for_two(gold)


def _one_for_two(gold: list[CallExpression]) -> Iterator[tuple[str, list[CallExpression], str]]:
    """For two calls of one function: the first call twice, or a call with the texts of both and one of nonsense (Q30)."""
    for place, first in enumerate(gold):
        for right in range(place + 1, len(gold)):
            second = gold[right]
            if first.name != second.name or first.arguments == second.arguments:
                continue
            yield "one call for two", [*gold[:right], first, *gold[right + 1 :]], f"{first.name} twice alike"
            merged = _merged(first, second)
            if merged is not None:
                nonsense = CallExpression(
                    first.name,
                    {k: _NONSENSE if isinstance(v, str) else v for k, v in first.arguments.items()},
                )
                calls = [*gold[:place], merged, *gold[place + 1 : right], nonsense, *gold[right + 1 :]]
                yield "two calls in one", calls, f"{first.name} with the texts of both"


def _merged(first: CallExpression, second: CallExpression) -> CallExpression | None:
    """A call with the texts of both where they differ; None where they differ in anything else."""
    if first.arguments.keys() != second.arguments.keys():
        return None
    together: dict[str | None, Any] = {}
    for key, value in first.arguments.items():
        other = second.arguments[key]
        if value != other and not (isinstance(value, str) and isinstance(other, str)):
            return None
        together[key] = value if value == other else f"{value} {other}"
    return CallExpression(first.name, together)


def _of_prose(text: str, channel: Channel) -> Iterator[ReplyMutant]:
    yield "no calls", _say("I am sorry, I cannot help with that."), "prose"
    yield "empty reply", _say(""), "empty"
    if channel.native:
        yield "calls as text", _say(text), "the calls written as text"
    else:
        yield "prose around the calls", _say(f"Sure, I will do that: {text}"), "before"
        yield "prose around the calls", _say(f"{text} Let me know what else you need."), "after"


# Mistakes in messages ---------------------------------------------------------------------------------

TextMutant = tuple[str, str, str]
"""Kind, text, what was changed."""


def _of_special(record: SpecialRecord, channel: Channel) -> Iterator[tuple[str, Message, str]]:
    """All mutants of one record: kind, reply, what was changed."""
    of_category = {"special_incomplete": _incomplete, "special_error_param": _wrong_value}.get(
        record.category
    )
    for kind, text, note in (*_in_general(record), *(of_category(record) if of_category else ())):
        yield kind, _say(text), note
    name = str(record.functions[0]["name"]) if record.functions else "f"
    call = CallExpression(name, {"zz": 1})
    reply = channel.write([call], record.functions)
    other = json.dumps({"name": name, "arguments": call.arguments})
    yield "call in another format beside the message", _say(f"{gold_text(record)}\n{other}"), other
    if channel.native:
        yield "call instead of the message", reply, call.name
        yield "call beside the message", {**reply, "content": gold_text(record)}, call.name
    else:
        yield "call instead of the message", reply, reply["content"]
        yield "call beside the message", _say(f"{gold_text(record)}\n{reply['content']}"), reply["content"]


def _in_general(record: SpecialRecord) -> Iterator[TextMutant]:
    gold = gold_text(record)
    names = ", ".join(record.faults) or "key"
    parts = ", ".join(part for parts in record.faults.values() for part in parts) or "value"
    messages = {
        "special_incomplete": MISSING_MESSAGE.format(keys=parts, api=names),
        "special_error_param": INCORRECT_MESSAGE.format(values=parts, keys=names),
        "special_irrelevant": LIMITATIONS_MESSAGE,
    }
    foreign = [text for category, text in messages.items() if category != record.category]
    for other in foreign:
        yield "another message", other, other
    yield "all three messages", "\n".join([gold, *foreign]), "the right one first"
    yield "empty reply", "", "empty"
    yield "no message", "I am sorry, I cannot help with that.", "prose"


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
    if missing_keys := [name for name in every if name not in _said_with(record, api, missing)]:
        yield "all parameters listed", said(every, api), f"{missing_keys[0]} too"


def _wrong_value(record: SpecialRecord) -> Iterator[TextMutant]:
    values = [value for names_of_api in record.faults.values() for value in names_of_api]

    def sentence(found: list[str], names: list[str]) -> str:
        return INCORRECT_MESSAGE.format(values=", ".join(found), keys=", ".join(names))

    names = list(record.faults)
    for number, value in enumerate(values):
        before, after = values[:number], values[number + 1 :]
        yield "wrong value not named", sentence([*before, *after], names), value
        yield "other value", sentence([*before, "zzyzx", *after], names), f"zzyzx for {value}"
        yield "longer value", sentence([*before, f"{value}9", *after], names), f"{value}9 for {value}"
    for number, name in enumerate(names):
        rest = [*names[:number], *names[number + 1 :]]
        yield "parameter not named", sentence(values, rest), name
        yield "other parameter", sentence(values, [*rest, "zz_unknown"]), f"zz_unknown for {name}"
        beside = f"{sentence(values, [*rest, 'zz_unknown'])} {name}"
        yield "parameter only beside the message", beside, name
    yield "value and parameter exchanged", sentence(names, values), f"{values[0]} for {names[0]}"
    every = [name for function in record.functions for name in _keys(function.get("parameters"))]
    if any(name not in names for name in every):
        yield "all parameters listed", sentence(values, every), f"{len(every)} parameters"
    yield "whole request as the value", sentence([record.question], names), record.question[:60]


def _names_of(record: SpecialRecord, api: str) -> list[str]:
    """Every parameter of a function, those inside objects too, in order and once."""
    functions = (f for f in record.functions if str(f.get("name")).strip() == api.strip())
    return list(dict.fromkeys(name for function in functions for name in _keys(function.get("parameters"))))


def _keys(schema: Any) -> Iterator[str]:
    fields = as_schema(schema)
    for name, below in as_schema(fields.get("properties")).items():
        yield name
        yield from _keys(below)
    if "items" in fields:
        yield from _keys(fields["items"])


def _said_with(record: SpecialRecord, api: str, missing: Sequence[str]) -> set[str]:
    """The missing parameters, what is inside them, the objects around them, and what else the request lacks."""
    names = {name.strip() for name in missing}

    def related(schema: Any, inside: bool) -> set[str]:
        fields = as_schema(schema)
        keys: set[str] = related(fields["items"], inside) if "items" in fields else set()
        for name, below in as_schema(fields.get("properties")).items():
            deeper = related(below, inside or name in names)
            keys |= deeper | ({name} if inside or name in names or deeper else set())
        return keys

    functions = (f for f in record.functions if str(f.get("name")).strip() == api.strip())
    return {*record.may_name, *(name for f in functions for name in related(f.get("parameters"), False))}
