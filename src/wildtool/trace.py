"""What the traces of all benchmarks share: who saw what before each reply, and where two JSON values differ."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Any, Literal, cast

from wildtool.episode import EMPTY_REPLY
from wildtool.json_codec import as_object, as_objects
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.types import Episode, Message, Tool, Transcript

MAX_TRACE_DIFFERENCES = 20
"""A value with thousands of differences is as wrong after the first twenty."""
MAX_TRACE_DEPTH = 64
"""Deeper values are shown as one."""
_ABSENT = object()
SaidCall = tuple[str, Any]
"""Name and arguments of a call that a reply makes; `message` and its text for a reply without one."""


@dataclass(frozen=True, slots=True)
class GoldCall:
    """One node of a unit's gold answer, for showing."""

    name: str
    arguments: Any
    """As JSON; a text for a gold answer that is no call."""
    deps: tuple[int, ...] = ()
    """Numbers of the gold calls that must come before it."""
    status: Literal["done", "missed", "wrong", "undecided"] = "missed"
    """Done by some step, never reached, tried and found wrong, or not reached before the record of the unit ended."""


@dataclass(frozen=True, slots=True)
class GoldDifference:
    """Where an argument or another value differs from gold."""

    where: str
    """Path, such as `book_flight.date` or `Finance.balance`."""
    expected: Any
    found: Any
    rule: str
    """The rule that decided, in words."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Something that happened around a reply and is no part of the conversation."""

    title: str
    text: str = ""
    """What a reader may unfold; empty where the title says all."""
    call: int | None = None
    """Number of the reply's call that it is about; None for the whole step."""
    after: bool = False
    """Whether it happened after the reply."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a unit as it happened."""

    role: str
    """Who answered."""
    seen: Sequence[Message]
    """Messages that it saw and that no earlier step of the unit showed to the same role; its own replies are not
    among them."""
    reply: Message
    fulfilled: tuple[int, ...] = ()
    """Gold calls that it fulfilled."""
    note: str = ""
    """What the rules made of it; empty where there is nothing to say."""
    asides: tuple[Aside, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """A unit step by step beside its gold answer: what a reader looks at to believe a verdict."""

    unit: str
    tools: Sequence[Tool]
    steps: tuple[TraceStep, ...]
    gold: tuple[GoldCall, ...]
    differences: tuple[GoldDifference, ...] = ()


def replay_steps(episode: Episode, transcript: Transcript) -> Iterator[tuple[str, list[Message], Message]]:
    """Replays a transcript: role, messages new to it, and its reply, each given after the episode has taken the reply.

    A role's own reply that comes back to it in the next request is not new.
    """
    messages_of: dict[str, Sequence[Message]] = {}
    last: dict[str, Message] = {}
    for reply in _replies(transcript):
        request = episode.request()
        if request is None:
            return
        new = _new(messages_of.get(request.role, ()), request.messages)
        if request.role in last:
            new = without_echo(new, last[request.role])
        messages_of[request.role], last[request.role] = request.messages, reply
        episode.advance(reply)
        yield request.role, new, reply


def without_echo(new: list[Message], reply: Message) -> list[Message]:
    """New messages without the first, if that is only the reply before them as its sender sees it."""
    return new[1:] if new and _echoes(new[0], reply) else new


def _replies(transcript: Transcript) -> Iterator[Message]:
    yield from (reply.message for reply in transcript.replies)
    # As judging does: a script says nothing past its end, and each episode ends after some empty replies.
    while transcript.scripted:
        yield EMPTY_REPLY


def _new(before: Sequence[Message], now: Sequence[Message]) -> list[Message]:
    """The messages from the first one on that was not there before."""
    shared = 0
    while shared < min(len(before), len(now)) and _equal(before[shared], now[shared]):
        shared += 1
    return list(now[shared:])


def _equal(value: Any, other: Any) -> bool:
    try:
        return value is other or bool(value == other)
    except RecursionError:
        return False


def _echoes(message: Message, reply: Message) -> bool:
    """Whether a message is only a reply as its sender sees it afterwards."""
    keys = ("content", "tool_calls")
    return message.get("role") == "assistant" and all(
        _equal(message.get(key) or None, reply.get(key) or None) for key in keys
    )


def find_differences(expected: Any, actual: Any, where: str, rule: str) -> list[GoldDifference]:
    """The places where two JSON values differ in any way, each under the same rule.

    Args:
        where: path of the values themselves.
    """
    return list(islice(_differing(expected, actual, where, rule, 0), MAX_TRACE_DIFFERENCES))


def mark_decisive(
    differences: Sequence[GoldDifference], decided: Callable[[GoldDifference], bool]
) -> list[GoldDifference]:
    """The differences, those that did not decide called so."""
    return [d if decided(d) else replace(d, rule="differs too, but is not what decided") for d in differences]


def _differing(expected: Any, actual: Any, where: str, rule: str, depth: int) -> Iterator[GoldDifference]:
    if expected is _ABSENT or actual is _ABSENT:
        gold = None if expected is _ABSENT else expected
        yield GoldDifference(where, gold, None if actual is _ABSENT else actual, rule)
    elif depth < MAX_TRACE_DEPTH and isinstance(expected, Mapping) and isinstance(actual, Mapping):
        gold_members, actual_members = cast(Mapping[Any, Any], expected), cast(Mapping[Any, Any], actual)
        for key in (*gold_members, *(key for key in actual_members if key not in gold_members)):
            below = gold_members.get(key, _ABSENT), actual_members.get(key, _ABSENT)
            yield from _differing(*below, f"{where}.{key}", rule, depth + 1)
    elif depth < MAX_TRACE_DEPTH and isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        lists = cast(Sequence[Any], expected), cast(Sequence[Any], actual)
        for position, (gold, actual_entry) in enumerate(zip_longest(*lists, fillvalue=_ABSENT)):
            yield from _differing(gold, actual_entry, f"{where}[{position}]", rule, depth + 1)
    elif type(cast(Any, expected)) is not type(actual) or not _equal(expected, actual):
        yield GoldDifference(where, expected, actual, rule)


# Any benchmark ---------------------------------------------------------------------------------------


def plain_trace(
    unit: str,
    episode: Episode,
    transcript: Transcript,
    tools: Sequence[Tool],
    gold: Sequence[Message],
    decide: Callable[[], tuple[bool, str]],
    said: Callable[[Message], Iterable[SaidCall]],
) -> Trace:
    """A unit next to its gold replies, compared by calls and texts alone.

    Args:
        episode: at its beginning.
        gold: the gold replies of the unit; empty where it has none.
        decide: whether the ended episode is correct, and why.
        said: gives the calls that a reply makes.
    """
    happened = list(replay_steps(episode, transcript))
    correct, reason = _decided(decide) if episode.done and happened else (False, "")
    gold_calls = [call for reply in gold for call in said(reply)]
    own_calls = [(at, *call) for at, (_, _, reply) in enumerate(happened) for call in said(reply)]
    matches = _matches(gold_calls, [(name, arguments) for _, name, arguments in own_calls])
    fulfilled: dict[int, list[int]] = {}
    calls: list[GoldCall] = []
    differences: list[GoldDifference] = []
    for number, (name, arguments) in enumerate(gold_calls):
        if number not in matches:
            calls.append(GoldCall(name, arguments, status="done" if correct else "missed"))
            continue
        at, _, own_arguments = own_calls[matches[number]]
        right = correct or _equal(own_arguments, arguments)
        calls.append(GoldCall(name, arguments, status="done" if right else "wrong"))
        if right:
            fulfilled.setdefault(at, []).append(number)
        else:
            differences += find_differences(arguments, own_arguments, name, reason)
    last = len(happened) - 1
    steps = tuple(
        TraceStep(role, messages, reply, tuple(fulfilled.get(at, ())), reason if at == last else "")
        for at, (role, messages, reply) in enumerate(happened)
    )
    return Trace(unit, tools, steps, tuple(calls), tuple(differences))


def _decided(decide: Callable[[], tuple[bool, str]]) -> tuple[bool, str]:
    try:
        return decide()
    except Exception as error:  # noqa: BLE001 - a page must show a unit that the judge fails on too
        return False, f"the judge failed: {type(error).__name__}: {error}"


def _matches(gold_calls: Sequence[tuple[str, Any]], calls: Sequence[tuple[str, Any]]) -> dict[int, int]:
    """For each gold call by number, the matching call: an equal one first, else one of the same name."""
    pairs: dict[int, int] = {}
    for fits in (_equal, _same_name):
        for number, gold in enumerate(gold_calls):
            if number not in pairs:
                free = (at for at, call in enumerate(calls) if at not in pairs.values() and fits(gold, call))
                pairs.update((number, at) for at in islice(free, 1))
    return pairs


def _same_name(gold: tuple[str, Any], call: tuple[str, Any]) -> bool:
    return gold[0] == call[0]


def said_calls(reply: Message) -> Iterator[SaidCall]:
    """Name and arguments of each call of a reply, read where they can be; of a reply without one its text."""
    calls = reply.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        yield "message", reply.get("content")
        return
    for call in as_objects(calls):
        function = as_object(call.get("function"))
        try:
            arguments: Any = read_arguments(function.get("arguments"))
        except ArgumentsError:
            arguments = function.get("arguments")
        yield str(function.get("name")), arguments
