"""Finds whose fault failed units were: plays trials, the cheapest first, until the decision table answers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wildtool.benchmark import accepts
from wildtool.blame.causes import (
    JUDGED_AGAIN,
    NOT_DECIDED,
    RIGHT_MODEL,
    Cause,
    Trial,
    decide,
    rank_of,
)
from wildtool.blame.failed_units import FailedUnit, RunUnits, is_right
from wildtool.blame.parties import GOLD
from wildtool.blame.trials import PlayedUnit, Tally, Trials
from wildtool.engine.call.client import Invocation
from wildtool.engine.record.reader import ItemLog
from wildtool.episode import gold_replies


@dataclass(slots=True)
class BlamedUnit:
    """One failed unit with what was tried and what came of it."""

    failed: FailedUnit
    parties: frozenset[str]
    """Those that can be replaced in it."""
    results_of: dict[Trial, PlayedUnit] = field(default_factory=dict[Trial, PlayedUnit])
    """Trials in which somebody was asked, or could have been."""
    right_by_reviewed: bool = False
    """Whether what is recorded is right by reviewed gold answers."""
    cause: Cause = NOT_DECIDED

    def tallies(self) -> dict[Trial, Tally]:
        """The plays of each trial, those by reviewed gold answers included."""
        tallies = {trial: result.tally for trial, result in self.results_of.items()}
        reviewed = {trial | {GOLD}: its.reviewed for trial, its in self.results_of.items() if its.reviewed}
        return tallies | reviewed

    def results(self) -> dict[Trial, bool | None]:
        """Which trials mend."""
        results = {trial: tally.mends for trial, tally in self.tallies().items()}
        results[JUDGED_AGAIN] = self.right_by_reviewed
        return results

    def mended_log(self) -> ItemLog:
        """The item in a play that shows the cause; empty where nothing was played for it."""
        by = self.cause.mended_by
        if by is None:
            return {}
        result = self.results_of[by - {GOLD}]
        return result.reviewed_log if GOLD in by else result.log


@dataclass(frozen=True, slots=True)
class Blamed:
    """What is known of the failed units of a run."""

    trials: Trials
    units: RunUnits
    """All of the run."""
    tried: Sequence[BlamedUnit]
    stopped: str = ""
    """The limit that ended it early; empty for none."""


def blame_units(
    trials: Trials,
    units: RunUnits,
    tried: Sequence[BlamedUnit],
    invocation: Invocation,
) -> Blamed:
    """Plays trials until the cause of each unit is known, or a limit is reached. Raises what a run does."""
    for unit in tried:
        _judge_by_reviewed(trials, unit)
    while needed := _next_trials(tried):
        for trial, its in needed.items():
            results = trials.play(trial, [unit.failed for unit in its], invocation)
            for unit in its:
                unit.results_of[trial] = results[unit.failed.key]
        if invocation.budget.stopped:
            break
    for unit in tried:
        unit.cause = _cause_of(trials, unit)
    return Blamed(trials, units, tried, invocation.budget.stopped or "")


def _cause_of(trials: Trials, unit: BlamedUnit) -> Cause:
    answer = decide(unit.parties, unit.results())
    if not isinstance(answer, Cause):
        return NOT_DECIDED
    if answer.note != "none found":
        return answer
    rules = trials.job.variant.benchmark.rules(trials.job.run_info.profile)
    gold = gold_replies(rules.episode(unit.failed.item, unit.failed.unit))
    if gold is None:
        return answer
    gold_is_right = accepts(rules, unit.failed.item, unit.failed.unit, gold)
    return answer if gold_is_right else replace(answer, note="gold fails too")


def _judge_by_reviewed(trials: Trials, unit: BlamedUnit) -> None:
    failed = unit.failed
    item = trials.reviewed.get((failed.item.id, failed.unit))
    if item is not None:
        profile = trials.job.run_info.profile
        outcome = is_right(trials.setting.variant, profile, item, failed.log, failed.unit)
        unit.right_by_reviewed = outcome is True
        if outcome is None:
            # By these gold answers the unit goes on where its record ends, and nobody knows what would follow.
            unit.parties -= {GOLD}


def _next_trials(units: Sequence[BlamedUnit]) -> Mapping[Trial, list[BlamedUnit]]:
    """The cheapest trials that any unit needs, with all units that need them."""
    needed: dict[Trial, list[BlamedUnit]] = defaultdict(list)
    for unit in units:
        answer = decide(unit.parties, unit.results())
        for trial in () if isinstance(answer, Cause) else answer:
            needed[trial - {GOLD}].append(unit)
    first = min(map(rank_of, needed), default=0)
    return {trial: its for trial, its in needed.items() if rank_of(trial) == first}


def possible_trials(units: Sequence[BlamedUnit]) -> Mapping[Trial, list[FailedUnit]]:
    """Each trial that may become necessary, with the units that may need it."""
    units_by_trial: dict[Trial, list[FailedUnit]] = defaultdict(list)
    for unit in units:
        for trial in _trials_of(unit.parties):
            units_by_trial[trial].append(unit.failed)
    return dict(sorted(units_by_trial.items(), key=lambda pair: (rank_of(pair[0]), sorted(pair[0]))))


def _trials_of(parties: frozenset[str]) -> set[Trial]:
    """What `decide` asks for where nothing mends, and where only the right model and all others together do."""
    met: set[Trial] = set()
    for mending in ((), (RIGHT_MODEL, parties - RIGHT_MODEL)):
        results: dict[Trial, bool | None] = {JUDGED_AGAIN: False}
        while not isinstance(answer := decide(parties, results), Cause):
            results |= {trial: trial in mending for trial in answer}
        met |= {trial - {GOLD} for trial in results if trial != JUDGED_AGAIN}
    return met


def result_folder(run: Path) -> Path:
    """Where the plays of a run's trials are kept unless the user says otherwise: inside its folder."""
    return run / "blame" if run.is_dir() else run.with_name(f"{run.stem}-blame")
