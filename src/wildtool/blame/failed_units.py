"""The failed units of a run: what is recorded of each, and which of them are tried."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wildtool.alter.base import UNDER_TEST
from wildtool.alter.variant import Variant
from wildtool.blame.asked_again import StepPlace
from wildtool.blame.parties import ENDPOINT, GOLD, MODEL, USER, TrialSetting
from wildtool.engine.record.format import request_hashes
from wildtool.engine.record.reader import ItemLog, LoggedReply, LogReader, transcripts
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.score import JudgingJob
from wildtool.episode import gold_replies
from wildtool.errors import RecordError
from wildtool.reply_ends import End, end_of
from wildtool.types import Item, Reply, Transcript

FailedKey = tuple[str, int, str]
"""Item, repeat and unit."""
FAULTS = frozenset({End.CUT, End.FILTERED, End.MALFORMED})
"""Ends of replies that an endpoint is answerable for."""


@dataclass(frozen=True, slots=True)
class FailedUnit:
    """One unit that was judged wrong, with what is recorded of its item."""

    item: Item
    repeat: int
    unit: str
    reason: str
    log: ItemLog
    """All of the item in this repeat, since a unit may follow from earlier ones."""
    place: int = 0
    """Units of one item with different places are played in different runs, since one may follow from another."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.item.id}, {self.unit}" + (f", repeat {self.repeat}" if self.repeat else "")

    @property
    def key(self) -> FailedKey:
        return self.item.id, self.repeat, self.unit

    @property
    def steps(self) -> Sequence[LoggedReply]:
        """Its recorded replies, in order."""
        held = self.log.get(self.unit, {})
        return [step for _, step in sorted(held.items()) if isinstance(step, LoggedReply)]

    @property
    def transcript(self) -> Transcript:
        return transcripts(self.log).get(self.unit, Transcript(()))

    def faults(self) -> dict[StepPlace, Reply]:
        """Its replies that the endpoint cut or filtered, by their places."""
        return {
            (self.item.id, self.unit, number): step.reply
            for number, step in enumerate(self.steps)
            if is_fault(step)
        }


def is_fault(step: LoggedReply) -> bool:
    """Whether an endpoint is answerable for how a recorded reply of the model under test ended."""
    return step.role == UNDER_TEST and end_of(step.reply) in FAULTS


@dataclass(slots=True)
class RunUnits:
    """The units of a run by what is known of them."""

    failed: list[FailedUnit] = field(default_factory=list[FailedUnit])
    right: Counter[str] = field(default_factory=Counter[str])
    """Right units of each item, over all repeats."""
    without_verdict: int = 0
    """Units whose calls failed, that were not played, or that the judge failed on."""

    @property
    def judged(self) -> int:
        return len(self.failed) + self.right.total()


def read_units(job: JudgingJob, folder: Path, setting: TrialSetting) -> RunUnits:
    """Judges a run, and sorts its units. Raises RecordError where the record is damaged, or lacks what was asked."""
    units = RunUnits()
    with LogReader(folder) as reader:
        for judged in job.items(reader):
            wrong = [verdict for verdict in judged.verdicts if verdict.outcome == "wrong"]
            units.right[judged.item.id] += sum(verdict.outcome == "correct" for verdict in judged.verdicts)
            units.without_verdict += sum(v.outcome not in ("correct", "wrong") for v in judged.verdicts)
            for verdict in wrong:
                place = _place(setting, judged.item, verdict.unit)
                failed = FailedUnit(
                    judged.item, judged.repeat, verdict.unit, verdict.reason, judged.log, place
                )
                _check_requests(failed, folder)
                units.failed.append(failed)
    return units


def _place(setting: TrialSetting, item: Item, unit: str) -> int:
    if setting.variant.in_order:
        return item.units.index(unit)
    leading = list(setting.variant.benchmark.rules(setting.played).leading(item))
    return leading.index(unit) + 1 if unit in leading else 0


def _check_requests(failed: FailedUnit, folder: Path) -> None:
    if any(step.request is None for step in failed.steps):
        raise RecordError(
            f"{folder}: {failed.name}: the record holds replies, but not what they answer, so no step can be asked again"
        )


def sampled(failed: Sequence[FailedUnit], count: int | None) -> list[FailedUnit]:
    """A sample of the failed units, the same one each time; all for None or more than there are."""

    def number(unit: FailedUnit) -> str:
        return hashlib.sha256(repr(unit.key).encode("utf-8", "surrogatepass")).hexdigest()

    keys = {unit.key for unit in sorted(failed, key=number)[: len(failed) if count is None else count]}
    return [unit for unit in failed if unit.key in keys]


def rounds_of(units: Iterable[FailedUnit]) -> Mapping[tuple[int, int], list[FailedUnit]]:
    """The units in groups that can be played as one run: of one repeat, and of each item none that another
    one of them follows from."""
    rounds: dict[tuple[int, int], list[FailedUnit]] = defaultdict(list)
    for unit in units:
        rounds[unit.repeat, unit.place].append(unit)
    return dict(sorted(rounds.items()))


def parties_of(
    failed: FailedUnit, setting: TrialSetting, reviewed: Mapping[tuple[str, str], Item]
) -> frozenset[str]:
    """The parties that can be replaced in one unit.

    Args:
        reviewed: items with reviewed gold answers, by item and unit.
    """
    rules = setting.variant.benchmark.rules(setting.played)
    has = {
        GOLD: (failed.item.id, failed.unit) in reviewed,
        ENDPOINT: any(map(is_fault, failed.steps)),
        USER: any(step.role in setting.scripted for step in failed.steps),
        MODEL: gold_replies(rules.episode(failed.item, failed.unit)) is not None,
    }
    return frozenset(party for party in setting.suspects if has.get(party, True))


def reviewed_items(
    job: JudgingJob, items: Iterable[Item], failed: Sequence[FailedUnit]
) -> tuple[dict[tuple[str, str], Item], int]:
    """The failed units' items as reviewed data have them, where they ask the same; and how many units have none.

    Args:
        items: those of the reviewed data.
    """
    by_id = {item.id: item for item in items}
    rules = job.variant.benchmark.rules(job.run_info.profile)
    items_by_unit: dict[tuple[str, str], Item] = {}
    for unit in failed:
        item = by_id.get(unit.item.id)
        if item is None or item.units != unit.item.units:
            continue
        first, first_reviewed = (rules.episode(each, unit.unit).request() for each in (unit.item, item))
        if (
            first is not None
            and first_reviewed is not None
            and request_hashes(first) == request_hashes(first_reviewed)
        ):
            items_by_unit[unit.item.id, unit.unit] = item
    return items_by_unit, sum((unit.item.id, unit.unit) not in items_by_unit for unit in failed)


def is_right(variant: Variant, profile: str, item: Item, log: ItemLog, unit: str) -> bool | None:
    """Whether a unit of an item is right; None where its record gives no verdict."""
    verdicts, _ = safe_judge(variant, item, transcripts(log), profile)
    outcome = next(verdict.outcome for verdict in verdicts if verdict.unit == unit)
    return {"correct": True, "wrong": False}.get(outcome)
