"""How a wrong unit went: its gold calls beside what the model did, as the benchmark reads both.

It takes the unit's trace, in which the benchmark's own rules say which gold calls were made rightly, and its requests,
which say what was wanted when. So it holds for every benchmark, and for a run with tools that are shown as for one whose
tools are searched for or written as code.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from wildtool.alter.base import UNDER_TEST
from wildtool.alter.expose.places import LostUnit
from wildtool.alter.variant import Variant
from wildtool.benchmark import follows_published
from wildtool.episode import GOLD_STYLE, until_decided
from wildtool.json_codec import as_object, as_objects
from wildtool.reply_ends import End, end_of
from wildtool.shapes import call_names, tool_name
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.trace import GoldCall, Trace
from wildtool.types import Episode, Item, Message, Reply, Transcript


@dataclass(frozen=True, slots=True)
class _Step:
    """One reply of the model under test."""

    reply: Reply
    due: tuple[str, ...]
    """Names of the calls that a right answer makes here."""
    offered: frozenset[str]
    fulfilled: tuple[int, ...]
    """Numbers of the gold calls that it made rightly."""
    stray: tuple[str, ...]
    """Names of its calls that fulfil nothing."""

    @property
    def has_calls(self) -> bool:
        return bool(as_objects(self.reply.message.get("tool_calls")))


def lost_unit(variant: Variant, item: Item, unit: str, recorded: Transcript, profile: str) -> LostUnit:
    """How a wrong unit went.

    Args:
        item: settled (`Variant.settled`).
        recorded: what its model said as the benchmark reads it (`Variant.restored`).
        profile: that it is judged by.
    """
    plain = replace(variant, alterations=())
    as_published = follows_published(variant.benchmark, profile)
    transcript, end = until_decided(recorded, as_published=as_published)
    if end is not None:
        return LostUnit(declined=True)
    trace = plain.trace(item, unit, transcript, profile)
    gold = trace.gold
    steps = list(_steps(plain.episode(item, unit, profile, transcript), trace, transcript))
    if not steps:
        return LostUnit()
    number = _next_missed(gold)
    since = 0 if number is None else _due_since(number, gold, steps)
    until = len(steps) - 1 if number is None else _turn_end(since, steps)
    turn = range(since, until + 1)
    limited = until == len(steps) - 1 and _met_limit(plain, item, unit, transcript, profile)
    return LostUnit(
        needed=None if number is None else gold[number].name,
        due=() if number is None else _still_due(gold, steps[since : until + 1]),
        since=since,
        until=until,
        cut=limited or any(end_of(steps[at].reply) is End.CUT for at in turn),
        unwanted=_is_unwanted(number, gold, steps, since),
        unread=any(_has_odd_call(steps[at]) for at in turn),
        stray=tuple((at, name) for at in turn for name in steps[at].stray),
    )


def _steps(episode: Episode, trace: Trace, transcript: Transcript) -> Iterator[_Step]:
    """The replies of the model under test. Args: episode: of the trace, at its beginning."""
    for reply, step in zip(transcript.replies, trace.steps, strict=False):
        request = episode.request()
        if request is None:
            return
        if request.role == UNDER_TEST:
            due = tuple(call_names(request.gold(GOLD_STYLE))) if request.gold else ()
            made = Counter(trace.gold[number].name for number in step.fulfilled)
            stray = Counter(call_names(reply.message)) - made
            offered = frozenset(map(tool_name, request.tools))
            yield _Step(reply, due, offered, step.fulfilled, tuple(stray.elements()))
        episode.advance(reply.message)


def _is_spoken(call: GoldCall) -> bool:
    """Whether a gold answer is a text."""
    return not isinstance(call.arguments, Mapping)


def _is_missed(call: GoldCall) -> bool:
    """Whether a gold answer was not given; another text than the gold one was an answer, too."""
    return call.status == "missed" if _is_spoken(call) else call.status != "done"


def _next_missed(gold: Sequence[GoldCall]) -> int | None:
    """The first gold call that was not made although all that it depends on were; None where all calls were made."""
    missed = [number for number, call in enumerate(gold) if not _is_spoken(call) and _is_missed(call)]
    ready = (number for number in missed if not any(_is_missed(gold[dep]) for dep in gold[number].deps))
    return next(ready, missed[0] if missed else None)


def _due_since(number: int, gold: Sequence[GoldCall], steps: Sequence[_Step]) -> int:
    """The request at which a missed gold call was first due."""
    name = gold[number].name
    before = [at for at, step in enumerate(steps) if any(made < number for made in step.fulfilled)]
    later = min(before[-1] + 1 if before else 0, len(steps) - 1)
    for at in range(_turn_start(later, steps), len(steps)):
        rest = steps[at : _turn_end(at, steps) + 1]
        made = sum(gold[each].name == name for step in rest for each in step.fulfilled)
        if steps[at].due.count(name) > made:
            return at
    return later


def _still_due(gold: Sequence[GoldCall], turn: Sequence[_Step]) -> tuple[str, ...]:
    """Names of the calls that were due at the first request of a turn and never made rightly in it."""
    made = Counter(gold[number].name for step in turn for number in step.fulfilled)
    return tuple((Counter(turn[0].due) - made).elements())


def _turn_start(at: int, steps: Sequence[_Step]) -> int:
    """The first request of a turn: the one after the last text."""
    texts = [place for place in range(at) if not steps[place].has_calls]
    return texts[-1] + 1 if texts else 0


def _turn_end(at: int, steps: Sequence[_Step]) -> int:
    """The last request of a turn: the one that a text answers."""
    return next((place for place in range(at, len(steps)) if not steps[place].has_calls), len(steps) - 1)


def _is_unwanted(number: int | None, gold: Sequence[GoldCall], steps: Sequence[_Step], since: int) -> bool:
    """Whether a call was made where an answer or a question was wanted, before the first missed call was."""
    ahead = len(steps) if number is None else since
    for at, step in enumerate(steps[:ahead]):
        wanted = any(each.due for each in steps[_turn_start(at, steps) : at + 1])
        if step.stray and not wanted:
            return True
    if number is None:
        return False
    # The question that a missed call depends on was not asked.
    unasked = [dep for dep in gold[number].deps if _is_spoken(gold[dep]) and _is_missed(gold[dep])]
    return bool(unasked) and bool(steps[since].stray)


def _has_odd_call(step: _Step) -> bool:
    """Whether a call cannot be read, or names no tool that was offered."""
    if any(name not in step.offered for name in step.stray):
        return True
    for call in as_objects(step.reply.message.get("tool_calls")):
        try:
            read_arguments(as_object(call.get("function")).get("arguments"), empty_ok=True)
        except ArgumentsError:
            return True
    return False


def _met_limit(plain: Variant, item: Item, unit: str, transcript: Transcript, profile: str) -> bool:
    """Whether a limit of the benchmark ended a unit at a reply with calls, and no fault of that reply.

    The first reply with calls is repeated: right after itself it does not end the unit, in place of the last reply it
    does.
    """
    replies = [reply.message for reply in transcript.replies]

    def ends(count: int, last: Message) -> bool:
        """Whether the unit is over after the first replies and one more."""
        episode = plain.episode(item, unit, profile, transcript)
        for reply in replies[:count]:
            episode.advance(reply)
        episode.advance(last)
        return episode.done

    first = next((place for place, reply in enumerate(replies[:-1]) if call_names(reply)), None)
    if first is None or not call_names(replies[-1]):
        return False
    return ends(len(replies) - 1, replies[first]) and not ends(first + 1, replies[first])
