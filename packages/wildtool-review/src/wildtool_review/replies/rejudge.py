"""Judges recorded replies again when an item is edited, by the benchmark's own rules.

A reply counts only as an answer to what its model was asked. Where the edit changes that, as an earlier task's gold
does for all later tasks, the reply is not judged: its state is `asked otherwise`.
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from wildtool.benchmark import Rules
from wildtool.engine.score.completeness import JUDGE_FAULT
from wildtool.engine.score.judge import safe_judge
from wildtool.types import Item, Transcript, Verdict
from wildtool_data.pointers import content_digest
from wildtool_review.history import ItemHistory
from wildtool_review.replies.recorded import (
    NamedRequest,
    OpenRun,
    OpenRuns,
    RunReplies,
    UnitReplies,
    requests_of,
)

AnswerState = Literal["correct", "wrong", "unfinished", "asked otherwise", "failed"]
"""What became of an answer. `unfinished`: nothing is wrong, but the model was not asked to the end. `failed`: the call
or the judge failed."""
ANSWERED: frozenset[AnswerState] = frozenset({"correct", "wrong", "unfinished"})
"""States of answers to what the item asks now."""
_KEPT_VERSIONS = 512


@dataclass(frozen=True, slots=True)
class UnitAnswer:
    """What the replies of one model in one unit are worth under one version of an item."""

    state: AnswerState
    reason: str
    """The rule that decided, in words."""
    error: str | None = None
    """Error class of a wrong answer."""
    steps: int = 0
    """Replies that were judged."""


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """An answer before and after an edit."""

    run: str
    model: str
    repeat: int
    unit: str
    before: UnitAnswer
    after: UnitAnswer

    @property
    def flipped(self) -> bool:
        """Whether the edit changes the verdict."""
        return self.before.state != self.after.state


@dataclass(frozen=True, slots=True)
class UnitCounts:
    """How many answers to a unit are in which state before and after an edit."""

    unit: str
    before: Mapping[AnswerState, int]
    after: Mapping[AnswerState, int]


@dataclass(frozen=True, slots=True)
class ItemRuns:
    """All recorded answers to an item, before and after an edit."""

    answers: tuple[AnswerChange, ...]
    units: tuple[UnitCounts, ...]

    @property
    def flips(self) -> list[AnswerChange]:
        """The answers whose verdict the edit changes."""
        return [answer for answer in self.answers if answer.flipped]


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """An answer with everything that was judged."""

    run: OpenRun
    repeat: int
    unit: str
    answer: UnitAnswer
    rules: Rules
    """The benchmark's own rules, also where its tools were shown with noise."""
    transcript: Transcript
    """The replies that fit what the item asks, with the benchmark's own names."""
    verdict: Verdict
    item: Item = field(compare=False)

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells it from others to the same item."""
        return str(self.run.folder), self.repeat, self.unit


class Rejudge:
    """Judges recorded answers under versions of items; keeps what it has judged."""

    def __init__(self, runs: OpenRuns) -> None:
        self.runs = runs
        self._judged: OrderedDict[tuple[str, str, str | None], list[JudgedUnit]] = OrderedDict()
        self._asked: OrderedDict[str, tuple[str, list[_AskedItem]]] = OrderedDict()

    def of_item(self, item: ItemHistory, person: str = "") -> ItemRuns:
        """The answers to an item as it was imported, and as a person sees it now.

        Args:
            person: whose copy is meant; empty for the item itself.
        """
        content = item.seen_by(person)[0] if person else item.content
        return self.compare(item.id, item.versions[0].content, content)

    def compare(self, item: str, before: Any, after: Any) -> ItemRuns:
        """The answers to an item under two versions.

        Args:
            before: the version that the runs were played on, if their records do not say what was asked.
        """
        old = {each.key: each for each in self.judged(item, before, before)}
        new = {each.key: each for each in self.judged(item, after, before)}
        gone = UnitAnswer("asked otherwise", "the item has no such unit")
        answers = [
            AnswerChange(
                each.run.name, each.run.model, each.repeat, each.unit,
                old[key].answer if key in old else gone,
                new[key].answer if key in new else gone,
            )
            for key, each in {**old, **new}.items()
        ]  # fmt: skip
        units = dict.fromkeys(answer.unit for answer in answers)
        return ItemRuns(tuple(answers), tuple(_counts(unit, answers) for unit in units))

    def judged(self, item: str, content: Any, first: Any, unit: str | None = None) -> list[JudgedUnit]:
        """The answers to a version of an item; units without any reply are left out.

        Args:
            first: the version that was asked where a record does not say it.
            unit: the one unit that is wanted; None for all.
        """
        digest = content_digest(content)
        complete = self._judged.get((item, digest, None))
        if complete is not None and unit is not None:
            return [answer for answer in complete if answer.unit == unit]
        key = item, digest, unit
        if key not in self._judged:
            self._judged[key] = self._judge(item, digest, content, first, unit)
            if len(self._judged) > _KEPT_VERSIONS:
                self._judged.popitem(last=False)
        self._judged.move_to_end(key)
        return self._judged[key]

    def _judge(self, item: str, digest: str, content: Any, first: Any, unit: str | None) -> list[JudgedUnit]:
        answers: list[JudgedUnit] = []
        firsts: dict[tuple[str, str], NamedRequest] = {}
        for record in self._recorded_of(item, first):
            version = self.runs.played(record.replies.run, digest, content)
            if version is None:
                answers += _unreadable(record, item)
            else:
                answers += _judged_units(record, version, firsts, unit)
        return answers

    def _recorded_of(self, item: str, first: Any) -> "list[_AskedItem]":
        """What was recorded of an item, with what was asked completed from the version that was played."""
        digest = content_digest(first)
        entry = self._asked.get(item)
        if entry is None or entry[0] != digest:
            firsts: dict[tuple[str, str], NamedRequest] = {}
            record = [
                _completed(replies, self.runs.played(replies.run, digest, first), firsts)
                for replies in self.runs.replies(item)
            ]
            entry = self._asked[item] = digest, record
            if len(self._asked) > _KEPT_VERSIONS:
                self._asked.popitem(last=False)
        return entry[1]


@dataclass(frozen=True, slots=True)
class _AskedItem:
    """The replies of a run to an item, each with the hash of what was asked where that can be known."""

    replies: RunReplies
    units: dict[str, UnitReplies]


def _completed(
    replies: RunReplies, item: Item | None, firsts: dict[tuple[str, str], NamedRequest]
) -> _AskedItem:
    units = dict(replies.units)
    if item is None:
        return _AskedItem(replies, units)
    settled = _settled(
        replies.run, item, {unit: unit_replies.transcript for unit, unit_replies in units.items()}
    )
    for unit, unit_replies in units.items():
        if unit not in item.units or (
            None not in unit_replies.requests and not unit_replies.transcript.scripted
        ):
            continue
        names, ended = _asked_by(replies.run, settled, item, unit, unit_replies.transcript, firsts)
        requests = tuple(
            hash_ or (names[n] if n < len(names) else None) for n, hash_ in enumerate(unit_replies.requests)
        )
        # What a record lacks only under another version was never asked: that is not silence.
        silent = unit_replies.transcript.scripted and not ended
        units[unit] = UnitReplies(replace(unit_replies.transcript, scripted=silent), requests)
    return _AskedItem(replies, units)


def _asked_by(
    run: OpenRun,
    settled: Item,
    item: Item,
    unit: str,
    transcript: Transcript,
    firsts: dict[tuple[str, str], NamedRequest],
) -> tuple[list[str], bool]:
    """The hashes of the requests that an item makes while a transcript answers, and whether the unit ends with it."""
    visible = item if unit in run.rules.leading(item) else settled
    key = run.shown, unit
    try:
        episode = run.variant.episode(visible, unit, run.profile, transcript)
        names: list[str] = []
        for request in requests_of(episode, transcript, firsts.get(key)):
            firsts.setdefault(key, request)
            names.append(request.name)
        return names, episode.done
    except Exception:  # noqa: BLE001 - an item in the middle of an edit may hold anything; then nothing is known
        return [], False


def _settled(run: OpenRun, item: Item, transcripts: Mapping[str, Transcript]) -> Item:
    try:
        return run.variant.settled(item, transcripts, run.profile)
    except Exception:  # noqa: BLE001 - as above; the judge says what is wrong
        return item


def _restored(run: OpenRun, item: Item, transcripts: Mapping[str, Transcript]) -> Mapping[str, Transcript]:
    try:
        return run.variant.restored(item, transcripts, run.profile)
    except Exception:  # noqa: BLE001 - as above
        return transcripts


def _judged_units(
    record: _AskedItem,
    item: Item,
    firsts: dict[tuple[str, str], NamedRequest],
    only: str | None,
) -> list[JudgedUnit]:
    run = record.replies.run
    fitting: dict[str, Transcript] = {}
    settled: Item | None = None
    leading = run.rules.leading(item)
    for unit in (*leading, *(unit for unit in item.units if unit not in leading)):
        if unit not in record.units or (only not in (None, unit) and unit not in leading):
            continue
        if unit not in leading and (settled is None or run.variant.in_order):
            settled = _settled(run, item, fitting)
        replies = record.units[unit]
        names, _ = _asked_by(run, settled or item, item, unit, replies.transcript, firsts)
        fitting[unit] = _fitting(replies, names)
    verdicts, _ = safe_judge(run.variant, item, fitting, run.profile)
    restored = _restored(run, item, fitting)
    answers: list[JudgedUnit] = []
    for verdict in verdicts:
        unit = verdict.unit
        if unit not in fitting or only not in (None, unit) or not _was_played(record.units[unit].transcript):
            continue
        complete, part = record.units[unit].transcript, fitting[unit]
        cut = len(part.replies) < len(complete.replies)
        answer = _answer(verdict, len(part.replies), cut=cut)
        answers.append(
            JudgedUnit(run, record.replies.repeat, unit, answer, run.rules, restored[unit], verdict, item)
        )
    return answers


def _fitting(replies: UnitReplies, names: Sequence[str]) -> Transcript:
    """The replies up to the first one that answers something else than the item asks."""
    for n, (hash_, name) in enumerate(zip(replies.requests, names, strict=False)):
        if hash_ is not None and hash_ != name:
            return Transcript(replies.transcript.replies[:n])
    return replies.transcript


def _was_played(transcript: Transcript) -> bool:
    return bool(transcript.replies or transcript.infra_error or transcript.scripted)


def _answer(verdict: Verdict, steps: int, *, cut: bool) -> UnitAnswer:
    if verdict.outcome in ("correct", "wrong"):
        return UnitAnswer(verdict.outcome, verdict.reason, verdict.error, verdict.steps)
    if cut and verdict.error != JUDGE_FAULT:
        return UnitAnswer("asked otherwise", f"step {steps + 1} was asked on other content", None, steps)
    if verdict.outcome == "infra_error" or verdict.error == JUDGE_FAULT:
        return UnitAnswer("failed", verdict.reason, verdict.error, steps)
    return UnitAnswer("unfinished", "nothing wrong so far; the model was not asked further", None, steps)


def _unreadable(record: _AskedItem, item: str) -> list[JudgedUnit]:
    answer = UnitAnswer("failed", "the benchmark cannot read the item as it is now")
    transcripts = {
        unit: replies.transcript for unit, replies in record.units.items() if _was_played(replies.transcript)
    }
    return [
        JudgedUnit(
            record.replies.run, record.replies.repeat, unit, answer, record.replies.run.rules, transcript,
            Verdict(item, unit, "unplayed", 0.0, None, answer.reason, 0), Item(item, tuple(transcripts), None),
        )
        for unit, transcript in transcripts.items()
    ]  # fmt: skip


def _counts(unit: str, answers: Sequence[AnswerChange]) -> UnitCounts:
    its = [answer for answer in answers if answer.unit == unit]
    return UnitCounts(
        unit, Counter(change.before.state for change in its), Counter(change.after.state for change in its)
    )
