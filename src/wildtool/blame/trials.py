"""Plays trials: each is a run of its own, in the engine, over the units that need it. What is known of it is recorded
before it starts, so that the engine asks only for the rest, resumes it, and counts nothing twice."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from wildtool.alter.base import UNDER_TEST
from wildtool.blame.asked_again import LaterPlays, MakeModels, StepPlace, right_model
from wildtool.blame.causes import NO_PARTY, Trial, in_order
from wildtool.blame.failed_units import FailedKey, FailedUnit, is_right, rounds_of
from wildtool.blame.parties import ENDPOINT, MODEL, USER, TrialSetting
from wildtool.blame.rehearsal import Rehearsal, RightParties
from wildtool.config.named_models import ConfiguredModel
from wildtool.engine.call.client import Invocation
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan, SelectedItems
from wildtool.engine.record.reader import ItemLog, LogReader
from wildtool.engine.record.writer import LogWriter
from wildtool.engine.run.runner import RunJob, RunResult, run_plans
from wildtool.engine.score.score import JudgingJob
from wildtool.episode import AskOfUnits
from wildtool.errors import InfraError
from wildtool.types import Item, Reply

Watch = Callable[["Round"], AbstractContextManager[Observer]]
"""Shows a run while it goes on."""


def unwatched(trial_run: "Round") -> AbstractContextManager[Observer]:
    """Shows nothing."""
    return nullcontext(Observer())


@dataclass(frozen=True, slots=True)
class Tally:
    """The plays of one unit in one trial."""

    right: int = 0
    wrong: int = 0
    missing: int = 0
    """Plays without a verdict: calls failed, or were not made."""

    @property
    def mends(self) -> bool | None:
        """Whether most plays end right; None where those without a verdict could decide it."""
        plays = self.right + self.wrong + self.missing
        if 2 * self.right > plays:
            return True
        return False if 2 * self.wrong >= plays else None

    @property
    def share(self) -> float | None:
        """Share of the plays with a verdict that end right."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None


@dataclass(frozen=True, slots=True)
class PlayedUnit:
    """One unit in one trial."""

    tally: Tally
    reviewed: Tally | None = None
    """Of the same plays by reviewed gold answers; None where there are none."""
    log: ItemLog = field(default_factory=ItemLog)
    """The item in the first play that ends right, else in the first one."""
    reviewed_log: ItemLog = field(default_factory=ItemLog)
    """The same by the reviewed gold answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """All that trials of one run share."""

    job: JudgingJob
    setting: TrialSetting
    make_models: MakeModels
    reviewed: Mapping[tuple[str, str], Item]
    """Items with reviewed gold answers, by item and unit."""
    plays: int
    """Plays of each trial in which anybody is asked."""
    out: Path
    concurrency: int = 32
    command: Sequence[str] = ()
    watch: Watch = unwatched

    def play(
        self, trial: Trial, units: Sequence[FailedUnit], invocation: Invocation
    ) -> dict[FailedKey, PlayedUnit]:
        """Plays a trial for some units, or goes on with it; the results by the units' keys. Raises what a run does."""
        results: dict[FailedKey, PlayedUnit] = {}
        for each in self.rounds(trial, units):
            each.run(invocation)
            results |= dict(each.results())
        return results

    def rounds(self, trial: Trial, units: Sequence[FailedUnit]) -> "Iterator[Round]":
        """The runs that a trial is."""
        rounds = rounds_of(units)
        for number, (place, its) in enumerate(rounds.items(), start=1):
            name = trial_name(trial) + ("" if place == (0, 0) else "-{}-{}".format(*place))
            part = f", part {number} of {len(rounds)}" if len(rounds) > 1 else ""
            yield Round(self, trial, its, self.out / name, trial_words(trial) + part)


def trial_name(trial: Trial) -> str:
    """What tables and folders call a trial."""
    return "+".join(in_order(trial)) or "control"


def trial_words(trial: Trial) -> str:
    """What lines and titles call it."""
    return f"{' and '.join(in_order(trial))} right" if trial else "control"


class Round:
    """One trial as one run."""

    def __init__(
        self, trials: Trials, trial: Trial, units: Sequence[FailedUnit], folder: Path, label: str
    ) -> None:
        self.folder, self.label = folder, label
        self._trials, self._trial = trials, trial
        self._units: dict[str, list[FailedUnit]] = defaultdict(list)
        for unit in units:
            self._units[unit.item.id].append(unit)
        setting = trials.setting
        right = {role: right_model(role) for role in setting.scripted} if USER in trial else {}
        if MODEL in trial:
            right[UNDER_TEST] = right_model(UNDER_TEST)
        self.replacement = RightParties(
            setting.without(trial),
            right,
            asks_model_again=trial == NO_PARTY,
            asks_faults_again=ENDPOINT in trial,
        )
        self.models = self._models()
        asks = any(role not in right for role in self.models)
        self.plays = trials.plays if asks else 1

    def tried(self, item: str) -> Sequence[FailedUnit]:
        """The units of an item whose cause is sought."""
        return self._units[item]

    @property
    def tried_plays(self) -> int:
        """Plays of all these units."""
        return self.plays * sum(map(len, self._units.values()))

    def run(self, invocation: Invocation) -> None:
        """Plays it. Raises KeyboardInterrupt where it was interrupted, and what a run raises."""
        plan = self.plan()
        self.prepare(plan)
        with self._trials.watch(self) as observer:
            job = RunJob(plan, self.folder, observer)
            outcome = run_plans([job], command=self._trials.command, invocation=invocation)[0]
        if isinstance(outcome, Exception):
            raise outcome
        if not isinstance(outcome, RunResult) or outcome.interrupted:
            raise KeyboardInterrupt

    def plan(self) -> Plan:
        job, variant = self._trials.job, self.replacement.variant
        selection = job.selection
        items = SelectedItems(selection.source, self.plays)
        items.whole = False
        for units in self._units.values():
            items.add(units[0].item)
        items.units = self.plays * sum(len(self._played_units(its)) for its in self._units.values())
        return Plan(
            benchmark=variant.benchmark,
            source=selection.source,
            models={role: model.model for role, model in self.models.items()},
            profile=self._trials.setting.played,
            alterations=variant.alterations,
            seed=job.run_json["identity"].get("seed"),
            split=selection.split,
            lang=selection.lang,
            ids=tuple(self._units),
            repeats=self.plays,
            concurrency=self._trials.concurrency,
            rates={role: model.rates for role, model in self.models.items()},
            prices={role: model.price for role, model in self.models.items() if model.price is not None},
            items=items,
            units={id_: self._played_units(units) for id_, units in self._units.items()},
        )

    def prepare(self, plan: Plan) -> None:
        """Records what is known of the trial without asking anybody; again, nothing is added."""
        assert plan.items is not None
        with plan.open_folder(self.folder, plan.items, self._trials.command) as folder:
            with LogReader(self.folder) as reader, LogWriter(self.folder, reader.lost) as writer:
                for rehearsal, item in self.rehearsals(reader):
                    rehearsal.write = writer.step
                    asyncio.run(self.rehearse(rehearsal, item))
                writer.sync()
            folder.finish("prepared")

    def rehearsals(self, reader: LogReader | None = None) -> Iterator[tuple[Rehearsal, Item]]:
        """Each play of each item. Args: reader: of the trial's own record; None for one that has none."""
        for id_, units in self._units.items():
            for play in range(self.plays):
                trial_log = reader.log(id_, play) if reader else {}
                tried, item = frozenset(unit.unit for unit in units), units[0].item
                yield Rehearsal(self.replacement, item, tried, units[0].log, trial_log, play), item

    async def rehearse(self, rehearsal: Rehearsal, item: Item) -> None:
        variant = self.replacement.variant
        ask = AskOfUnits(rehearsal, self._played_units(self._units[item.id]))
        profile = self._trials.setting.played
        with suppress(InfraError):  # where a benchmark's own `play` passes it on
            await variant.play(item, ask, profile, in_order=True)

    def results(self) -> Iterator[tuple[FailedKey, PlayedUnit]]:
        """What came of each unit."""
        with LogReader(self.folder) as reader:
            for id_, units in self._units.items():
                logs = [reader.log(id_, play) for play in range(self.plays)]
                for unit in units:
                    yield unit.key, self._result(unit, logs)

    def _result(self, unit: FailedUnit, logs: Sequence[ItemLog]) -> PlayedUnit:
        tally, log = self._tally(unit.item, unit.unit, logs)
        reviewed = self._trials.reviewed.get((unit.item.id, unit.unit))
        if reviewed is None:
            return PlayedUnit(tally, log=log)
        its, its_log = self._tally(reviewed, unit.unit, logs)
        return PlayedUnit(tally, its, log, its_log)

    def _tally(self, item: Item, unit: str, logs: Sequence[ItemLog]) -> tuple[Tally, ItemLog]:
        profile = self._trials.job.run_info.profile
        outcomes = [is_right(self.replacement.variant, profile, item, log, unit) for log in logs]
        counts = Counter(outcomes)
        first = outcomes.index(True) if True in outcomes else 0
        return Tally(counts[True], counts[False], counts[None]), logs[first]

    def _played_units(self, units: Sequence[FailedUnit]) -> frozenset[str]:
        """The units of an item that are tried, and those that they follow from."""
        item, tried = units[0].item, {unit.unit for unit in units}
        variant = self.replacement.variant
        if not variant.in_order:
            return frozenset({*tried, *variant.benchmark.rules(self._trials.setting.played).leading(item)})
        return frozenset(item.units[: 1 + max(map(item.units.index, tried))])

    def _models(self) -> dict[str, ConfiguredModel]:
        first = self._trials.job.selection.repeats
        held = {} if {ENDPOINT, MODEL} & self._trial else self._held()
        models: dict[str, ConfiguredModel] = {}
        for role, model in self._trials.make_models().items():
            right = self.replacement.right.get(role)
            later = LaterPlays(model.model, first, held if role == UNDER_TEST else None)
            models[role] = replace(model, model=later if right is None else right)
        return models

    def _held(self) -> dict[StepPlace, Reply]:
        units = [unit for its in self._units.values() for unit in its]
        return {place: reply for unit in units for place, reply in unit.faults().items()}
