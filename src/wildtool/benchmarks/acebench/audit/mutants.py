"""Gold answers with one mistake each, for the audit: what a good profile must judge wrong.

They are made from the corrected gold answer under every profile, so all profiles face the same mistakes; where a profile
refuses that gold answer itself, its mutants would say nothing and are left out. At most `MAX_MUTANTS_PER_KIND` mutants
of each kind are tried for a record, evenly spread over all of that kind.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from wildtool.benchmark import Mutant
from wildtool.benchmarks.acebench.audit.argument_mutants import argument_mutants, evenly_spaced, is_blank
from wildtool.benchmarks.acebench.audit.episode_mutants import episode_mutants
from wildtool.benchmarks.acebench.audit.special_mutants import special_mutants
from wildtool.benchmarks.acebench.corrections import corrected
from wildtool.benchmarks.acebench.data import AgentRecord, ItemData, NormalRecord, SpecialRecord
from wildtool.benchmarks.acebench.gold import gold_calls, gold_text
from wildtool.benchmarks.acebench.judge import AceBenchRules
from wildtool.benchmarks.acebench.play import Channel
from wildtool.toolcall.call_syntax import CallExpression
from wildtool.types import Item, Message

MAX_MUTANTS_PER_KIND = 2
_NONSENSE = "zzyzx"
ReplyMutant = tuple[str, Message, str]
"""Kind, reply, what was changed."""


def mutants(item: Item, rules: AceBenchRules) -> Iterator[Mutant]:
    """All mutants of all units of an item, as replies in the mode of the rules."""
    case = cast(ItemData, item.data)
    for position, unit in enumerate(item.units):
        record = corrected(case.records[position])
        if isinstance(record, AgentRecord):
            yield from episode_mutants(item, unit, record, rules)
        elif rules.accepts(item, unit, [_gold(record, rules.channel)]):
            for kind, reply, note in _of_record(record, rules.channel):
                yield Mutant(unit, kind, (reply,), note)


def _gold(record: Any, channel: Channel) -> Message:
    if isinstance(record, NormalRecord):
        return channel.write(gold_calls(record), record.functions)
    return _say(gold_text(record))


def _of_record(record: Any, channel: Channel) -> Iterator[ReplyMutant]:
    if isinstance(record, SpecialRecord):
        yield from special_mutants(record, channel)
        return
    right = [_as_set(gold_calls(replace(record, candidates=(one,)))) for one in record.candidates]
    for kind, calls, note in evenly_spaced(_of_calls(record), MAX_MUTANTS_PER_KIND):
        if _as_set(calls) not in right:
            yield kind, channel.write(calls, record.functions), note
    yield from _of_prose(gold_text(record), channel)


def _say(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _as_set(calls: list[CallExpression]) -> list[str]:
    """Calls without their order, that of their arguments, and arguments that say nothing."""
    return sorted(
        repr((call.name, sorted((k, repr(v)) for k, v in call.arguments.items() if k and not is_blank(v))))
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

        def put(*changed: CallExpression, number: int = number) -> list[CallExpression]:
            return [*gold[:number], *changed, *gold[number + 1 :]]

        if other is not None:
            yield "other function", put(CallExpression(other, call.arguments)), f"{other} for {call.name}"
        yield "unknown function", put(CallExpression(f"{call.name}_v", call.arguments)), f"{call.name}_v"
        if len(gold) > 1:
            yield "call left out", put(), call.name
        yield "call doubled", put(call, call), call.name
        arguments: dict[str, Any] = {str(name): value for name, value in call.arguments.items()}
        for kind, changed, note in argument_mutants(arguments, parameters.get(call.name, {})):
            yield kind, put(CallExpression(call.name, {**changed})), f"{call.name}: {note}"
    if other is not None:
        yield "call added", [*gold, CallExpression(other, {})], other
    yield from _one_for_two(gold)


def _one_for_two(gold: list[CallExpression]) -> Iterator[tuple[str, list[CallExpression], str]]:
    """For two calls of one function: the first call twice, or a call with the texts of both and one of nonsense (Q30)."""
    for left, first in enumerate(gold):
        for right in range(left + 1, len(gold)):
            second = gold[right]
            if first.name != second.name or first.arguments == second.arguments:
                continue
            yield "one call for two", [*gold[:right], first, *gold[right + 1 :]], f"{first.name} twice alike"
            merged = _merged(first, second)
            if merged is not None:
                nonsense = CallExpression(
                    first.name, {key: _nonsense(v) for key, v in first.arguments.items()}
                )
                calls = [*gold[:left], merged, *gold[left + 1 : right], nonsense, *gold[right + 1 :]]
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


def _nonsense(value: Any) -> Any:
    return _NONSENSE if isinstance(value, str) else value


def _of_prose(text: str, channel: Channel) -> Iterator[ReplyMutant]:
    yield "no calls", _say("I am sorry, I cannot help with that."), "prose"
    yield "empty reply", _say(""), "empty"
    if channel.native:
        yield "calls as text", _say(text), "the calls written as text"
    else:
        yield "prose around the calls", _say(f"Sure, I will do that: {text}"), "before"
        yield "prose around the calls", _say(f"{text} Let me know what else you need."), "after"
