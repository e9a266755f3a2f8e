"""What happened in one unit, step by step, next to its gold answer: calls, a message, or the milestones of an episode."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from wildtool.benchmark import Check
from wildtool.benchmarks.acebench.data import AgentRecord, NormalRecord, Record, SpecialRecord
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.gold import called_function, gold_text
from wildtool.benchmarks.acebench.judge import AceBenchRules, ProfileRules
from wildtool.benchmarks.acebench.native import read_native_calls
from wildtool.benchmarks.acebench.official.parse import decode
from wildtool.benchmarks.acebench.trace_episode import trace_episode
from wildtool.episode import incomplete_outcome, replay
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.schema import as_schema
from wildtool.trace import (
    GoldCall,
    GoldDifference,
    Trace,
    TraceStep,
    find_differences,
    mark_decisive,
    replay_steps,
)
from wildtool.types import Item, Message, Tool, Transcript

_NAMED = re.compile(r"argument (?P<name>.*?): ", re.DOTALL)


def trace(item: Item, unit: str, transcript: Transcript, rules: AceBenchRules) -> Trace:
    """What happened in a unit, as the rules saw it. Pure; never raises, even on malformed replies."""
    record = rules.record(item, unit)
    judged = _judged(item, unit, transcript, rules)
    tools: Sequence[Tool] = [{"type": "function", "function": function} for function in record.functions]
    episode = rules.recorded_episode(item, unit, transcript)
    if isinstance(record, AgentRecord):
        return trace_episode(cast(Any, episode), record, unit, transcript, judged, tools, rules.profile.name)
    happened = list(replay_steps(episode, transcript))
    reply = happened[0][2] if happened else None
    gold, differences = _gold_and_calls(record, reply, judged, rules)
    done = tuple(number for number, one in enumerate(gold) if one.status == "done")
    steps = tuple(
        TraceStep(role, seen, message, done if reply is message else (), judged.reason)
        for role, seen, message in happened
    )
    return Trace(unit, tools, steps, gold, differences)


def _judged(item: Item, unit: str, transcript: Transcript, rules: AceBenchRules) -> Check:
    """What the rules decide; of a unit whose record ends early, why it has no verdict."""
    episode = rules.recorded_episode(item, unit, transcript)
    if replay(episode, transcript):
        return rules.verdict(episode, item, unit)
    return Check(False, reason=incomplete_outcome(transcript)[1])


def _gold_and_calls(
    record: Record, reply: Message | None, judged: Check, rules: AceBenchRules
) -> tuple[tuple[GoldCall, ...], tuple[GoldDifference, ...]]:
    if isinstance(record, NormalRecord):
        return _calls(record, reply, judged, rules)
    expected = gold_text(cast(SpecialRecord, record))
    if judged.correct:
        return (GoldCall("message", expected, status="done"),), ()
    status = "missed" if reply is None else "wrong"
    found = (
        () if reply is None else (GoldDifference("message", expected, reply.get("content"), judged.reason),)
    )
    return (GoldCall("message", expected, status=status),), found


# Normal ----------------------------------------------------------------------------------------------


def _calls(
    record: NormalRecord, reply: Message | None, judged: Check, rules: AceBenchRules
) -> tuple[tuple[GoldCall, ...], tuple[GoldDifference, ...]]:
    """Gold calls of the candidate that most calls of the reply fulfil, and where the others differ."""
    made = parsed_calls(reply, record, rules)
    rivals = [_paired(record, candidate, made, rules.profile) for candidate in record.candidates]
    done = max(rivals, key=len, default=dict[str, int]())
    candidate = record.candidates[rivals.index(done)] if rivals else {}
    left = [call for at, call in enumerate(made) if at not in done.values()]
    offered = {function["name"] for function in record.functions}
    gold: list[GoldCall] = []
    differences: list[GoldDifference] = []
    for key, arguments in candidate.items():
        name = called_function(key, offered)
        found = next((call for call in left if call.name == name), None)
        if judged.correct or key in done:
            gold.append(GoldCall(name, arguments, status="done"))
        elif found is None:
            gold.append(GoldCall(name, arguments))
        else:
            left.remove(found)
            gold.append(GoldCall(name, arguments, status="wrong"))
            differences += _DIFFERENCES[rules.profile.name](record, name, arguments, found, judged.reason)
    return tuple(gold), tuple(differences)


def parsed_calls(reply: Message | None, record: NormalRecord, rules: AceBenchRules) -> list[CallExpression]:
    """The calls as the rules read them; none where they cannot."""
    if reply is None:
        return []
    try:
        if rules.channel.native:
            return list(read_native_calls(reply, record))
        return list(_READERS[rules.profile.name](rules.profile.text(reply)))
    except CallSyntaxError:
        # The verdict says so; there is nothing to pair.
        return []


_READERS: Mapping[str, Callable[[Any], Iterable[CallExpression]]] = {
    "official": lambda text: decode(text) if isinstance(text, str) else (),
    "fixed": parse_reply_calls,
}
"""How each profile reads calls from text."""


def _paired(
    record: NormalRecord,
    candidate: Mapping[str, Mapping[str, Any]],
    made: Sequence[CallExpression],
    profile: ProfileRules,
) -> dict[str, int]:
    """Gold calls, each with the position of a call that alone fulfils it."""
    offered = {function["name"] for function in record.functions}
    paired: dict[str, int] = {}
    for key, arguments in candidate.items():
        alone = replace(record, candidates=({key: arguments},))
        for at, call in enumerate(made):
            if (
                at not in paired.values()
                and call.name == called_function(key, offered)
                and profile.calls([call], alone).valid
            ):
                paired[key] = at
                break
    return paired


def _exact_differences(
    record: NormalRecord, name: str, gold: Mapping[str, Any], call: CallExpression, reason: str
) -> list[GoldDifference]:
    """Where a call differs from its gold call; the reason of the verdict is shown at the argument it names."""
    different = find_differences(gold, call.arguments, name, reason)
    named = _NAMED.match(reason)
    if named is None:
        return different
    place = f"{name}.{named['name']}"
    return mark_decisive(different, lambda d: d.where.startswith(place))


def _differences_in_meaning(
    record: NormalRecord, name: str, gold: Mapping[str, Any], call: CallExpression, reason: str
) -> list[GoldDifference]:
    schema = next((f.get("parameters") for f in record.functions if f["name"] == name), None)
    found = compare_arguments(gold, cast(Mapping[str, Any], call.arguments), as_schema(schema))
    return [GoldDifference(f"{name}.{d.path}", d.gold, d.predicted, d.message) for d in found]


_DIFFERENCES = {"official": _exact_differences, "fixed": _differences_in_meaning}
"""How each profile compares a call with its gold call."""
