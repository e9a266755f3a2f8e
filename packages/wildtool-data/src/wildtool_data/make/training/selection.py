"""Asks a model about records of training sets, how sure it is of them or whether it gets them right, and decides."""

import heapq
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from wildtool.errors import DataError
from wildtool.json_codec import read_json_lines
from wildtool.training.procedures.agreement import agreement
from wildtool.training.procedures.records import named_records
from wildtool.training.procedures.supervised import SupervisedTurn, said_message, supervised_turns
from wildtool.training.record import TrainingRecord
from wildtool.types import Item, Message, Request, Role
from wildtool_data.make.core.parsing import reply_text
from wildtool_data.make.core.roles import RoleCoroutine
from wildtool_data.make.training.maker import TrainingMaker, role_instruction
from wildtool_data.prepare.keys import drawn_number

_NUMBER = r"-?\d+(?:\.\d+)?"
_NAMED = re.compile(rf"\bscore\b[\"']?\s*[:=]\s*[\"']?({_NUMBER})", re.IGNORECASE)
_OF_TEN = re.compile(rf"({_NUMBER})\s*(?:/\s*10|out\s+of\s+10)(?![\d.]*\d)", re.IGNORECASE)
_ALONE = re.compile(rf"(?<![\w.])(?<!\d,)({_NUMBER})(?![\w%]|\s*%|[.,]\d)")
LOWEST_SCORE, HIGHEST_SCORE = 0.0, 10.0


def read_score(text: str) -> float | None:
    """The score that a text gives; None if it gives none, several, or one that is not from 0 to 10.

    The first rule that finds a number decides: one behind the word `score` and a colon or equals sign; one before `/10`
    or `out of 10`; the only distinct number that is no part of a word, a percentage or a longer number.
    """
    for rule in (_NAMED, _OF_TEN):
        if match := rule.search(text):
            return _in_range(match[1])
    alone = {float(number) for number in _ALONE.findall(text)}
    return _in_range(alone.pop()) if len(alone) == 1 else None


def _in_range(number: float | str) -> float | None:
    value = float(number)
    return value if LOWEST_SCORE <= value <= HIGHEST_SCORE else None


Named = TypeVar("Named")
DEFAULT_THRESHOLD = 5.0
"""Score from which a record is kept, as the paper has it."""


@dataclass(frozen=True, slots=True)
class KeepDecision:
    """Whether a record is kept, and why."""

    kept: bool
    reason: str


def drawn(entries: Iterable[tuple[str, Named]], count: int, seed: str) -> list[tuple[str, Named]]:
    """A random sample of records by their names, in a random order; a smaller sample begins a larger one of its seed."""
    return heapq.nsmallest(count, entries, key=lambda entry: drawn_number(seed, entry[0]))


def random_arm(names: Sequence[str], size: int, seed: str) -> Collection[str]:
    """As many of the asked records as were kept, whatever was said of them: the control of a selection."""
    return frozenset(heapq.nsmallest(size, names, key=lambda name: drawn_number(f"{seed} random arm", name)))


SelectionBasis = Literal["rating", "tries"]
"""What a model says of a record, or what it makes of it."""
ReferenceView = Literal["show", "hide"]
"""Whether a rating model sees the reply of the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionSpec:
    """How records are chosen."""

    files: tuple[Path, ...]
    """Each is a set."""
    per_set: int = 500
    """Records that are asked about, of each set."""
    by: SelectionBasis = "rating"
    threshold: float = DEFAULT_THRESHOLD
    """Score from which a record is kept; requests do not depend on it."""
    reference: ReferenceView = "show"
    tries: int = 4
    seed: str = "1"
    round: int = 1
    """The round's number, from 1; each draws other records."""
    seen: tuple[Path, ...] = ()
    """Audit files of earlier rounds whose records are not drawn again."""

    @property
    def draw_seed(self) -> str:
        """What decides which records are drawn."""
        return self.seed if self.round == 1 else f"{self.seed} round {self.round}"

    @property
    def set_names(self) -> dict[Path, str]:
        """The name of each set: its file's, with its folder where two are called the same."""
        stems = [path.name.partition(".")[0] for path in self.files]
        return {
            path: stem if stems.count(stem) == 1 else str(path)
            for path, stem in zip(self.files, stems, strict=True)
        }


@dataclass(frozen=True, slots=True)
class AskedRecord:
    """A record that a model is asked about."""

    set: str
    name: str
    """Its name in its file (`named_records`)."""
    record: TrainingRecord


@dataclass(frozen=True, slots=True)
class PlayedTry:
    """One try at a whole record."""

    right: bool
    why: str
    """What decided the last turn that was tried."""
    turn: int
    """The place of that turn."""
    reply: Message
    """What was said there."""


@dataclass(frozen=True, slots=True)
class SelectionReplies:
    """What a model said or made of a record."""

    text: str = ""
    """Its rating, as it was said."""
    score: float | None = None
    """The score in it; None if there is none."""
    tries: tuple[PlayedTry, ...] = ()


def decision(replies: SelectionReplies, spec: SelectionSpec) -> KeepDecision:
    """Keeps a record from a score on, or one that is right in some tries and not in all."""
    if spec.by == "tries":
        right, tries = sum(each.right for each in replies.tries), len(replies.tries)
        return KeepDecision(0 < right < tries, f"right in {right} of {tries} tries")
    if (score := replies.score) is None:
        return KeepDecision(False, "no score could be read")
    passes = score >= spec.threshold
    return KeepDecision(passes, f"score {score:g} is {'at least' if passes else 'below'} {spec.threshold:g}")


class SelectionMaker(TrainingMaker[SelectionReplies]):
    """An item is a record."""

    name = "selection"
    title = "Training records chosen for a model"
    roles: Mapping[str, Role] = {}

    def __init__(self, spec: SelectionSpec) -> None:
        super().__init__(spec.files)
        self.spec = spec
        self.templates = {"agent": "rater"} if spec.by == "rating" else {}

    def settings(self) -> Sequence[Any]:
        """See TrainingMaker."""
        spec = self.spec
        how = [spec.reference] if spec.by == "rating" else [spec.tries]
        seen_pairs = sorted(map(list, self._seen_pairs))
        return [spec.by, spec.per_set, *how, spec.draw_seed, seen_pairs]

    @cached_property
    def asked(self) -> Mapping[str, Sequence[AskedRecord]]:
        """The records that are asked about, by set. Raises DataError for a file without any."""
        records: dict[str, Sequence[AskedRecord]] = {}
        for path, name in self.spec.set_names.items():
            fresh = (
                entry
                for entry in named_records(path)
                if (name, entry[0]) not in self._seen_pairs and supervised_turns(entry[1])
            )
            sample = drawn(fresh, self.spec.per_set, self.spec.draw_seed)
            if not sample:
                raise DataError(f"{path}: no record is left to ask about")
            records[name] = [AskedRecord(name, id_, record) for id_, record in sample]
        return records

    def planned(self) -> Iterator[Item]:
        """See TrainingMaker."""
        for records in self.asked.values():
            for record in records:
                yield Item(f"{record.set}: {record.name}", (self.unit,), record)

    def script(self, item: Item) -> RoleCoroutine[SelectionReplies]:
        """See TrainingMaker."""
        record: AskedRecord = item.data
        if self.spec.by == "tries":
            return _tries_script(record.record, self.spec.tries)
        return _rating_script(record.record, self.spec.reference)

    def why_lost(self, outcome: SelectionReplies) -> tuple[str, str] | None:
        """See TrainingMaker."""
        rated = self.spec.by == "tries" or outcome.score is not None
        return None if rated else ("unreadable", "the reply has no score")

    def assumed_reply(self, item: Item, request: Request, *, most: bool) -> Message:
        """See TrainingMaker. Most is asked after right replies: a try ends at the first wrong one."""
        if self.spec.by == "rating":
            return {"content": json.dumps({"score": 5, "why": "The request names what the call needs."})}
        record: AskedRecord = item.data
        turns = supervised_turns(record.record)
        gold = next(turn.gold_message for turn in turns if len(turn.messages) == len(request.messages))
        return gold if most else {"content": ""}

    @cached_property
    def _seen_pairs(self) -> frozenset[tuple[str, str]]:
        rows = (row for path in self.spec.seen for _, row in read_json_lines(path, "decision"))
        return frozenset((str(row.get("set")), str(row.get("record"))) for row in rows)


def _rating_script(record: TrainingRecord, reference: ReferenceView) -> RoleCoroutine[SelectionReplies]:
    first = supervised_turns(record)[0]
    material: dict[str, Any] = {
        "tools": [tool["function"] for tool in first.tools],
        "conversation": first.messages,
    }
    if reference == "show":
        material["reply"] = _without_ids(said_message(first.gold))
    block = "shown" if reference == "show" else "hidden"
    messages: list[Message] = [
        {"role": "system", "content": role_instruction("rater", block, "answer")},
        {"role": "user", "content": json.dumps(material, ensure_ascii=False)},
    ]
    reply = yield Request(messages)
    text = reply_text(reply.message)
    return SelectionReplies(text, read_score(text))


def _without_ids(message: Message) -> Message:
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return {"calls": calls, "text": message.get("content")} if calls else {"text": message["content"]}


def _tries_script(record: TrainingRecord, tries: int) -> RoleCoroutine[SelectionReplies]:
    played_tries: list[PlayedTry] = []
    for _ in range(tries):
        played_tries.append((yield from _one_try(supervised_turns(record))))
    return SelectionReplies(tries=tuple(played_tries))


def _one_try(turns: Sequence[SupervisedTurn]) -> RoleCoroutine[PlayedTry]:
    """Every turn up to the first wrong one, each after the gold turns before it."""
    last: PlayedTry | None = None
    for turn in turns:
        reply = yield Request(turn.messages, turn.tools)
        outcome = agreement(reply.message, turn)
        last = PlayedTry(outcome.right, outcome.reason, turn.place, reply.message)
        if not outcome.right:
            break
    assert last is not None  # records without a supervised turn are not asked about
    return last
