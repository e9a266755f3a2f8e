"""What happened in one unit, step by step, beside its gold answer: calls, a message, or the milestones of an episode."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from wildtool.benchmarks.acebench.data import AgentRecord, ItemData, NormalRecord, Record, SpecialRecord
from wildtool.benchmarks.acebench.gold import called_function, gold_text
from wildtool.benchmarks.acebench.judge import judge_item
from wildtool.benchmarks.acebench.play import new_episode, profile_record
from wildtool.benchmarks.acebench.trace_episode import trace_episode
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.schema import as_schema
from wildtool.trace import find_differences, mark_decisive, replay_steps
from wildtool.types import (
    GoldCall,
    GoldDifference,
    Item,
    Message,
    Tool,
    Trace,
    TraceStep,
    Transcript,
    Verdict,
)

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals

_NAMED = re.compile(r"argument (?P<name>.*?): ", re.DOTALL)


def trace(
    item: Item,
    unit: str,
    transcript: Transcript,
    profile: str,
    mode: str,
    originals: "Originals | None" = None,
) -> Trace:
    """A unit as it happened, as the rules of a profile saw it; pure, never raises, whatever the replies."""
    position = item.units.index(unit)
    record = profile_record(cast(ItemData, item.data), position, profile)
    verdict = judge_item(item, {unit: transcript}, profile, mode)[position]
    tools: Sequence[Tool] = [{"type": "function", "function": function} for function in record.functions]
    played = new_episode(item, position, profile, mode, recorded=transcript, originals=originals)
    if isinstance(record, AgentRecord):
        return trace_episode(cast(Any, played), record, unit, transcript, verdict, tools, profile)
    happened = list(replay_steps(played, transcript))
    reply = happened[0][2] if happened else None
    gold, differences = _gold_and_calls(record, reply, verdict, profile, mode)
    done = tuple(number for number, one in enumerate(gold) if one.status == "done")
    steps = tuple(
        TraceStep(role, seen, message, done if reply is message else (), verdict.reason)
        for role, seen, message in happened
    )
    return Trace(unit, tools, steps, gold, differences)


def _gold_and_calls(
    record: Record, reply: Message | None, verdict: Verdict, profile: str, mode: str
) -> tuple[tuple[GoldCall, ...], tuple[GoldDifference, ...]]:
    if isinstance(record, NormalRecord):
        return _calls(record, reply, verdict, profile, mode)
    expected = gold_text(cast(SpecialRecord, record))
    if verdict.outcome == "correct":
        return (GoldCall("message", expected, status="done"),), ()
    status = "missed" if reply is None else "wrong"
    found = (
        () if reply is None else (GoldDifference("message", expected, reply.get("content"), verdict.reason),)
    )
    return (GoldCall("message", expected, status=status),), found


# Normal ----------------------------------------------------------------------------------------------


def _calls(
    record: NormalRecord, reply: Message | None, verdict: Verdict, profile: str, mode: str
) -> tuple[tuple[GoldCall, ...], tuple[GoldDifference, ...]]:
    """Gold calls of the candidate that most calls of the reply fulfil, and where the others differ."""
    made = _parsed_calls(reply, record, profile, mode)
    rivals = [_paired(record, candidate, made, profile) for candidate in record.candidates]
    done = max(rivals, key=len, default=dict[str, int]())
    candidate = record.candidates[rivals.index(done)] if rivals else {}
    left = [call for at, call in enumerate(made) if at not in done.values()]
    offered = {function["name"] for function in record.functions}
    gold: list[GoldCall] = []
    differences: list[GoldDifference] = []
    for key, arguments in candidate.items():
        name = called_function(key, offered)
        found = next((call for call in left if call.name == name), None)
        if verdict.outcome == "correct" or key in done:
            gold.append(GoldCall(name, arguments, status="done"))
        elif found is None:
            gold.append(GoldCall(name, arguments))
        else:
            left.remove(found)
            gold.append(GoldCall(name, arguments, status="wrong"))
            differences += _differences(record, name, arguments, found, verdict.reason, profile)
    return tuple(gold), tuple(differences)


def _parsed_calls(
    reply: Message | None, record: NormalRecord, profile: str, mode: str
) -> list[CallExpression]:
    """The calls as the profile reads them; none where it cannot."""
    if reply is None:
        return []
    try:
        if mode == "fc":
            from wildtool.benchmarks.acebench.native import read_native_calls

            return list(read_native_calls(reply, record))
        if profile == "official":
            from wildtool.benchmarks.acebench.official.parse import decode

            content = reply.get("content")
            return list(decode(content)) if isinstance(content, str) else []
        from wildtool.benchmarks.acebench.episode.fixed_messages import message_text
        from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls

        return list(parse_reply_calls(message_text(reply)))
    except CallSyntaxError:
        # The verdict says so; there is nothing to pair.
        return []


def _paired(
    record: NormalRecord,
    candidate: Mapping[str, Mapping[str, Any]],
    made: Sequence[CallExpression],
    profile: str,
) -> dict[str, int]:
    """Gold calls, each with the position of a call that alone fulfils it."""
    from wildtool.benchmarks.acebench.fixed import calls as fixed_normal
    from wildtool.benchmarks.acebench.official import calls as official_normal

    check = official_normal.check_official_calls if profile == "official" else fixed_normal.check_fixed_calls
    offered = {function["name"] for function in record.functions}
    paired: dict[str, int] = {}
    for key, arguments in candidate.items():
        for at, call in enumerate(made):
            if (
                at not in paired.values()
                and call.name == called_function(key, offered)
                and check([call], record.functions, ({key: arguments},)).valid
            ):
                paired[key] = at
                break
    return paired


def _differences(
    record: NormalRecord, name: str, gold: Mapping[str, Any], call: CallExpression, reason: str, profile: str
) -> list[GoldDifference]:
    """Where a call differs from its gold call; the reason of the verdict stands at the argument it names."""
    if profile != "official":
        schema = next((f.get("parameters") for f in record.functions if f["name"] == name), None)
        found = compare_arguments(gold, cast(Mapping[str, Any], call.arguments), as_schema(schema))
        return [GoldDifference(f"{name}.{d.path}", d.gold, d.predicted, d.message) for d in found]
    different = find_differences(gold, call.arguments, name, reason)
    named = _NAMED.match(reason)
    if named is None:
        return different
    place = f"{name}.{named['name']}"
    return mark_decisive(different, lambda d: d.where.startswith(place))
