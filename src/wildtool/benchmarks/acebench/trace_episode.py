"""An episode step by step: what agent and user saw, what the sandbox answered, which milestones were reached."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from wildtool.benchmark import Check
from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.base import AgentEpisode
from wildtool.benchmarks.acebench.episode.error_classes import executed_calls
from wildtool.benchmarks.acebench.episode.fixed_end_state import (
    MAX_COMPARED_CALLS,
    made_in_order,
    parse_calls,
)
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError
from wildtool.trace import GoldCall, GoldDifference, Trace, TraceStep, replay_steps
from wildtool.types import Episode, Message, Tool, Transcript

MAX_ANSWER = 300
"""Characters of a sandbox's answer in a note."""
_SENTENCES = (
    re.compile(
        r"class\((.*?)\) attributes\((.*?)\) wrong, \[expected: (.*?), real: (.*)\]\Z",
        re.DOTALL,
    ),
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
        spoken = [at for at, one in enumerate(episode.dialogue) if one.sender == "agent"]
        if step[0] == "agent" and spoken:
            places[spoken[-1]] = len(happened)
        happened.append(step)
    gold, reached = _milestones(record, episode.process, profile)
    done: dict[int, list[int]] = {}
    for milestone, message in reached.items():
        done.setdefault(sent[message], []).append(milestone)
    notes = _notes(episode, places)
    if happened:
        notes.setdefault(len(happened) - 1, []).append(judged.reason)
    steps = tuple(
        TraceStep(role, seen, reply, tuple(done.get(at, ())), "; ".join(notes.get(at, ())))
        for at, (role, seen, reply) in enumerate(happened)
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


def _by_text(texts: Sequence[Sequence[str]], process: Sequence[str]) -> list[_Way]:
    return [([_as_call(text) for text in listed], dict(_in_turn(listed, process))) for listed in texts]


def _by_calls(texts: Sequence[Sequence[str]], process: Sequence[str]) -> list[_Way]:
    made = [(at, call) for at, text in enumerate(process) for call in parse_calls([text])][
        :MAX_COMPARED_CALLS
    ]
    calls = [call for _, call in made]
    ways = [(gold := parse_calls(listed), made_in_order(gold, calls)) for listed in texts]
    return [(gold, {number: made[at][0] for number, at in reached.items()}) for gold, reached in ways]


_WAYS: Mapping[str, Callable[[Sequence[Sequence[str]], Sequence[str]], list[_Way]]] = {
    "official": _by_text,
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
        found = next((at for at, text in texts if text == milestone.strip()), None)
        if found is not None:
            yield number, found


# End state -------------------------------------------------------------------------------------------


def _end_state(judged: Check) -> Iterator[GoldDifference]:
    """What the judge says of the end state, taken apart into place, expected and found."""
    errors = cast(Sequence[Sequence[str]], judged.detail.get("end_state", ()))
    for sentence in dict.fromkeys(sentence for entry in errors for sentence in entry):
        found = next((match for form in _SENTENCES if (match := form.match(sentence))), None)
        if found is None:
            yield GoldDifference("end state", None, sentence, sentence)
        else:
            name, attribute, expected, real = cast(tuple[str, ...], found.groups())
            where = f"{name}.{attribute}" if attribute else name
            yield GoldDifference(where, expected, real, "the end state differs")
