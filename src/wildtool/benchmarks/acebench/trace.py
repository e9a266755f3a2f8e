"""What happened in one unit, step by step, next to its gold answer: calls, a message, or the milestones of an episode.

Of an episode: what agent and user saw, what the sandbox answered, which milestones were reached.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from wildtool.benchmark import Check
from wildtool.benchmarks.acebench.data import AgentRecord, NormalRecord, Record, SpecialRecord
from wildtool.benchmarks.acebench.episode.base import AgentEpisode
from wildtool.benchmarks.acebench.episode.end_state import MAX_COMPARED_CALLS, made_in_order, parse_calls
from wildtool.benchmarks.acebench.episode.error_classes import executed_calls
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.gold import called_function, gold_text
from wildtool.benchmarks.acebench.judge import AceBenchRules, ProfileRules
from wildtool.benchmarks.acebench.native import read_native_calls
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
from wildtool.types import Episode, Item, Message, Tool, Transcript

MAX_ANSWER = 300
"""Characters of a sandbox's answer in a note."""
_SENTENCES = (
    re.compile(r"class\((.*?)\) attributes\((.*?)\) wrong, \[expected: (.*?), real: (.*)\]\Z", re.DOTALL),
    re.compile(r"(.*?)(): expected (.*?), found (.*)\Z", re.DOTALL),
)
"""How the two judges of end states say that a value is wrong."""


def trace_episode(
    episode: AgentEpisode,
    record: AgentRecord,
    unit: str,
    transcript: Transcript,
    judged: Check,
    tools: Sequence[Tool],
    profile: str,
) -> Trace:
    """An episode, at its beginning, replayed from a transcript."""
    happened: list[tuple[str, list[Message], Message]] = []
    sent: list[int] = []
    """Step of each message that went to the sandbox."""
    places: dict[int, int] = {}
    """Step by place in the dialogue."""
    for step in replay_steps(cast(Episode, episode), transcript):
        sent += [len(happened)] * (len(episode.process) - len(sent))
        spoken = [at for at, turn in enumerate(episode.dialogue) if turn.sender == "agent"]
        if step[0] == "agent":
            places[spoken[-1]] = len(happened)
        happened.append(step)
    gold, reached = _milestones(record, episode.process, profile)
    fulfilled: dict[int, list[int]] = {}
    for milestone, message in reached.items():
        fulfilled.setdefault(sent[message], []).append(milestone)
    notes = _notes(episode, places)
    if happened:
        notes.setdefault(len(happened) - 1, []).append(judged.reason)
    steps = tuple(
        TraceStep(role, content, reply, tuple(fulfilled.get(at, ())), "; ".join(notes.get(at, ())))
        for at, (role, content, reply) in enumerate(happened)
    )
    return Trace(unit, tools, steps, gold, tuple(_end_state(judged)))


def _notes(episode: AgentEpisode, places: dict[int, int]) -> dict[int, list[str]]:
    """By step what the sandbox made of its calls."""
    notes: dict[int, list[str]] = {}
    for ran in executed_calls(episode):
        if ran.message in places:
            answer = str(ran.answer)
            short = answer if len(answer) <= MAX_ANSWER else f"{answer[:MAX_ANSWER]}…"
            notes.setdefault(places[ran.message], []).append(
                f"{ran.name or 'calls'}: {ran.outcome}, the sandbox says {short}"
            )
    return notes


# Milestones ------------------------------------------------------------------------------------------


def _milestones(
    record: AgentRecord, process: Sequence[str], profile: str
) -> tuple[tuple[GoldCall, ...], dict[int, int]]:
    """The gold messages (under `fixed` their calls), and for each one reached which message to the sandbox reached it."""
    ways = _WAYS[profile](record.milestone_lists, process)
    gold, reached = max(ways, key=lambda way: len(way[1]) / (len(way[0]) or 1))
    return tuple(
        GoldCall(
            call.name or "message",
            call.arguments if call.name else call.arguments.get("", ""),
            (at - 1,) if at else (),
            "done" if at in reached else "missed",
        )
        for at, call in enumerate(gold)
    ), reached


_Way = tuple[Sequence[CallExpression], dict[int, int]]
"""Gold messages of one alternative, and for each one reached the message that reached it."""


def _by_calls(texts: Sequence[Sequence[str]], process: Sequence[str]) -> list[_Way]:
    numbered = [(at, call) for at, text in enumerate(process) for call in parse_calls([text])][
        :MAX_COMPARED_CALLS
    ]
    calls = [call for _, call in numbered]
    ways: list[_Way] = []
    for texts_of_way in texts:
        gold = parse_calls(texts_of_way)
        reached = made_in_order(gold, calls)
        ways.append((gold, {number: numbered[at][0] for number, at in reached.items()}))
    return ways


def _by_texts(texts: Sequence[Sequence[str]], process: Sequence[str]) -> list[_Way]:
    return [
        ([_as_call(text) for text in gold_texts], dict(_in_turn(gold_texts, process))) for gold_texts in texts
    ]


_WAYS: Mapping[str, Callable[[Sequence[Sequence[str]], Sequence[str]], list[_Way]]] = {
    "official": _by_texts,
    "official-2025-08": _by_texts,
    "fixed": _by_calls,
}
"""How each profile finds milestones."""


def _as_call(text: str) -> CallExpression:
    """A milestone of one call as that call; any other as a call of nothing with its text."""
    try:
        calls = parse_reply_calls(text)
    except CallSyntaxError:
        calls = []
    return calls[0] if len(calls) == 1 else CallExpression("", {"": text})


def _in_turn(gold: Sequence[str], process: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Milestones found in one pass over the texts; the first one not found ends it (Q51)."""
    texts = enumerate(text.strip() for text in process)
    for number, milestone in enumerate(gold):
        place = next((at for at, text in texts if text == milestone.strip()), None)
        if place is not None:
            yield number, place


# End state -------------------------------------------------------------------------------------------


def _end_state(judged: Check) -> Iterator[GoldDifference]:
    """What the judge says of the end state, taken apart into place, expected and found."""
    errors = cast(Sequence[Sequence[str]], judged.detail.get("end_state", ()))
    for sentence in dict.fromkeys(sentence for entry in errors for sentence in entry):
        parts = next((match for form in _SENTENCES if (match := form.match(sentence))), None)
        if parts is None:
            yield GoldDifference("end state", None, sentence, sentence)
        else:
            name, attribute, expected, real = cast(tuple[str, ...], parts.groups())
            where = f"{name}.{attribute}" if attribute else name
            yield GoldDifference(where, expected, real, "the end state differs")


_NAMED = re.compile(r"argument (?P<name>.*?): ", re.DOTALL)


def trace(rules: AceBenchRules, item: Item, unit: str, transcript: Transcript) -> Trace:
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
    fulfilled = tuple(number for number, gold_call in enumerate(gold) if gold_call.status == "done")
    steps = tuple(
        TraceStep(role, content, message, fulfilled if reply is message else (), judged.reason)
        for role, content, message in happened
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
    pair = (
        () if reply is None else (GoldDifference("message", expected, reply.get("content"), judged.reason),)
    )
    return (GoldCall("message", expected, status=status),), pair


# Normal ----------------------------------------------------------------------------------------------


def _calls(
    record: NormalRecord, reply: Message | None, judged: Check, rules: AceBenchRules
) -> tuple[tuple[GoldCall, ...], tuple[GoldDifference, ...]]:
    """Gold calls of the candidate that most calls of the reply fulfil, and where the others differ."""
    parsed = parsed_calls(reply, record, rules)
    rivals = [_paired(record, candidate, parsed, rules.profile) for candidate in record.candidates]
    longest = max(rivals, key=len)
    candidate = record.candidates[rivals.index(longest)]
    unpaired = [call for at, call in enumerate(parsed) if at not in longest.values()]
    offered = {function["name"] for function in record.functions}
    gold: list[GoldCall] = []
    differences: list[GoldDifference] = []
    for key, arguments in candidate.items():
        name = called_function(key, offered)
        match = next((call for call in unpaired if call.name == name), None)
        if judged.correct or key in longest:
            gold.append(GoldCall(name, arguments, status="done"))
        elif match is None:
            gold.append(GoldCall(name, arguments))
        else:
            unpaired.remove(match)
            gold.append(GoldCall(name, arguments, status="wrong"))
            differences += _DIFFERENCES[rules.profile.name](record, name, arguments, match, judged.reason)
    return tuple(gold), tuple(differences)


def parsed_calls(reply: Message | None, record: NormalRecord, rules: AceBenchRules) -> list[CallExpression]:
    """The calls as the rules read them; none where they cannot."""
    if reply is None:
        return []
    try:
        if rules.channel.native:
            return list(read_native_calls(reply, record))
        text = rules.profile.text(reply)
        return list(rules.profile.read(text, record)) if isinstance(text, str) else []
    except CallSyntaxError:
        # The verdict says so; there is nothing to pair.
        return []


def _paired(
    record: NormalRecord,
    candidate: Mapping[str, Mapping[str, Any]],
    calls: Sequence[CallExpression],
    profile: ProfileRules,
) -> dict[str, int]:
    """Gold calls, each with the position of a call that alone fulfils it."""
    offered = {function["name"] for function in record.functions}
    paired: dict[str, int] = {}
    for key, arguments in candidate.items():
        alone = replace(record, candidates=({key: arguments},))
        for at, call in enumerate(calls):
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
    match = _NAMED.match(reason)
    if match is None:
        return different
    place = f"{name}.{match['name']}"
    return mark_decisive(different, lambda d: d.where.startswith(place))


def _differences_in_meaning(
    record: NormalRecord, name: str, gold: Mapping[str, Any], call: CallExpression, reason: str
) -> list[GoldDifference]:
    schema = next((f.get("parameters") for f in record.functions if f["name"] == name), None)
    differences = compare_arguments(gold, cast(Mapping[str, Any], call.arguments), as_schema(schema))
    return [GoldDifference(f"{name}.{d.path}", d.gold, d.predicted, d.message) for d in differences]


_DIFFERENCES = {
    "official": _exact_differences,
    "official-2025-08": _exact_differences,
    "fixed": _differences_in_meaning,
}
"""How each profile compares a call with its gold call."""
