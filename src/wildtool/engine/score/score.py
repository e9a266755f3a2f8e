"""Scores the record of a run, offline and under any profile. Replies from elsewhere become a run first
(`record/importer.py`)."""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.engine.plan import SelectedItems, Selection, check_profile
from wildtool.engine.record.bundle import bundle_origin, is_unpacked
from wildtool.engine.record.reader import ItemLog, RecordReader, transcripts
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import as_recorded, played_benchmark
from wildtool.engine.score.completeness import PlannedSize
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.table_stamp import make_stamp
from wildtool.engine.score.two_processes import in_two_processes
from wildtool.engine.score.verdict_table import (
    HeldRows,
    OutcomeCounts,
    RunInfo,
    VerdictTable,
    forget_database,
    load_database,
    verdicts_path,
)
from wildtool.errors import DataError, RecordError
from wildtool.steps import with_steps
from wildtool.types import Item, Source, Verdict

MANY_ROWS = 1_000
"""Recorded steps from which a second process saves more time than it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOutcome:
    """What scoring a run came to."""

    verdicts: Path
    profile: str
    played: str | None
    """The profile the run was run under; None if unknown (replies and result files)."""
    counts: OutcomeCounts
    faults: tuple[str, ...]
    """Items that the judge failed on, with the reason."""
    remarks: tuple[str, ...] = ()
    """What was found damaged in the record and left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingJob:
    """A run with everything that is needed to judge it."""

    selection: Selection
    run_info: RunInfo
    about: Mapping[str, Any]
    """What `run.json` says."""

    def items(
        self, reader: RecordReader, mine: Callable[[int], bool] | None = None
    ) -> Iterator["JudgedItem"]:
        """Judges one item after the other, in the order of the data.

        Args:
            mine: whether to judge the item of this place; None for all.
        """
        benchmark, rules = self.selection.benchmark, self.run_info.profile
        silent_after: bool = self.about["identity"].get("silent_after", False)
        for order, item, repeat in self.selection.some_jobs(mine or (lambda _: True)):
            log = reader.log(item.id, repeat)
            verdicts, fault = safe_judge(benchmark, item, transcripts(log, scripted=silent_after), rules)
            yield JudgedItem(order, item, repeat, log, verdicts, fault)


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One item of a run with its verdicts."""

    order: int
    """Its place among all items and repeats, from 0."""
    item: Item
    repeat: int
    log: ItemLog
    verdicts: list[Verdict]
    fault: str | None
    """Why the judge failed, if it did."""


def prepare_judging(
    folder: Path, *, profile: str | None = None, data: str | SelectedItems | None = None
) -> JudgingJob:
    """Finds what is needed to judge a run. Arguments and errors as of `score_run`."""
    about = read_run(folder)
    identity, scope = about["identity"], about["scope"]
    benchmark = played_benchmark(folder, identity["benchmark"], identity["mode"])
    benchmark = as_recorded(benchmark, identity)
    rules = profile or identity["profile"] or next(iter(benchmark.profiles))
    check_profile(benchmark, rules)
    selection = Selection(
        benchmark=benchmark,
        source=_find_data(benchmark, folder, about, data),
        split=identity["split"],
        lang=identity["lang"],
        limit=scope["limit"],
        ids=tuple(scope["ids"]),
        repeats=scope["repeats"],
        all_items=data if isinstance(data, SelectedItems) else None,
    )
    player = RunInfo(
        run=folder.resolve().name,
        model=identity["models"]["agent"]["name"],
        benchmark=benchmark.name,
        profile=rules,
    )
    return JudgingJob(selection=selection, run_info=player, about=about)


def score_run(
    folder: Path,
    *,
    profile: str | None = None,
    data: str | SelectedItems | None = None,
    out: Path | None = None,
) -> ScoringOutcome:
    """Scores a run folder and writes its table of verdicts.

    Args:
        folder: the run, finished or not; what it has not run yet counts as unplayed.
        profile: the rules to judge by; None for those it was run under.
        data: where the data are now, or all their items of the run's split and language; None for where the run found
            them. They must be the same data.
        out: the folder to write the table to; None for the run's own.

    Raises RecordError where the run or its record cannot be read, or where the data are not those of the run.
    """
    run, planned = _with_planned_size(prepare_judging(folder, profile=profile, data=data))
    table = VerdictTable(verdicts_path(out or folder, run.run_info.profile), run.selection.benchmark)
    with table, RecordReader(folder) as reader:
        faults = _judge(run, folder, reader, table)
        stamp = make_stamp(run.about, run.run_info.profile, reader.fingerprints, planned)
        return ScoringOutcome(
            verdicts=table.write(stamp),
            profile=run.run_info.profile,
            played=run.about["identity"]["profile"],
            counts=table.counts(),
            faults=faults,
            remarks=tuple(map(str, reader.lost)),
        )


Faults = list[tuple[int, str]]
"""Items that the judge failed on, by their place, with the reason."""


def _judge(run: JudgingJob, folder: Path, reader: RecordReader, table: VerdictTable) -> tuple[str, ...]:
    """Fills the table with the verdicts of all items; says which the judge failed on, and why."""

    def fill(part: VerdictTable, mine: Callable[[int], bool] | None) -> Faults:
        faults: Faults = []
        judging = run.items(reader, mine)
        if part is table:
            judging = with_steps(f"judging {folder}", judging, attrgetter("order"))
        for judged in judging:
            if judged.fault is not None:
                faults.append((judged.order, f"{judged.item.id}: {judged.fault}"))
            part.add(judged.order, run.run_info, judged.item, judged.repeat, judged.verdicts, judged.log)
        return faults

    if reader.rows >= MANY_ROWS and not run.selection.benchmark.judged_in_one_process():
        forget_database()  # it keeps threads, and a process with several is not copied
        with VerdictTable(table.path, run.selection.benchmark) as other:

            def fill_ours(mine: Callable[[int], bool]) -> Faults:
                load_database()  # while the other process judges already
                return fill(table, mine)

            def fill_other(mine: Callable[[int], bool]) -> tuple[Faults, HeldRows]:
                return fill(other, mine), other.held()

            found = in_two_processes(fill_ours, fill_other)
            if found is not None:
                ours, (theirs, held) = found
                table.take(other, held)
                return tuple(text for _, text in sorted([*ours, *theirs]))
        table.clear()
    return tuple(text for _, text in fill(table, None))


def _with_planned_size(run: JudgingJob) -> tuple[JudgingJob, PlannedSize | None]:
    """The run, and how much was planned if its scope does not name it all: a replies file need not hold every item of
    its data. They are read once for both."""
    if run.about["kind"] != "imported":
        return run, None
    items = run.selection.all_items or replace(run.selection, ids=(), repeats=1).read()
    planned = PlannedSize(len(items), items.units * run.selection.repeats)
    return replace(run, selection=replace(run.selection, all_items=items)), planned


def _find_data(
    benchmark: Benchmark, folder: Path, about: Mapping[str, Any], data: str | SelectedItems | None
) -> Source:
    named = bundle_origin(folder)
    name_them = f"name those it used: wildtool score {shlex.quote(str(named))} --data FILE"
    try:
        source = data.source if isinstance(data, SelectedItems) else _locate(benchmark, folder, data, about)
    except DataError as error:
        raise RecordError(
            f"{named}: the data of this run are not where they were ({error}); {name_them}"
        ) from error
    if source.sha256 != about["identity"]["data_sha256"]:
        raise RecordError(
            f"{source.path}: these are not the data of the run (SHA-256 {source.sha256} instead of "
            f"{about['identity']['data_sha256']}); {name_them}"
        )
    return source


def _locate(benchmark: Benchmark, folder: Path, data: str | None, about: Mapping[str, Any]) -> Source:
    if data is not None:
        return benchmark.locate(data, about["identity"]["split"])
    others: list[Source] = []
    problems: list[DataError] = []
    for found in data_candidates(benchmark, folder, about):
        if isinstance(found, DataError):
            problems.append(found)
        elif found.sha256 == about["identity"]["data_sha256"]:
            return found
        else:
            others.append(found)
    if others:
        return others[0]
    raise problems[0]


def data_candidates(
    benchmark: Benchmark, folder: Path, about: Mapping[str, Any]
) -> Iterator[Source | DataError]:
    """The data at each place that a run names for them, or why there are none.

    A bundle can name a benchmark's own data or what it holds itself, never a file of the folder that its reader is in.
    """
    known, split = about["data"], about["identity"]["split"]
    # A relative name means nothing, or something else, in another folder; the path that run.json keeps does not.
    for place in dict.fromkeys((known["name"], known["path"])):
        try:
            if not is_unpacked(folder) or Path(place).is_relative_to(folder) or not os.path.lexists(place):
                yield benchmark.locate(place, split)
            elif (own := benchmark.locate(None, split)).name == place:
                yield own
            else:
                yield DataError(
                    f"the bundle does not hold {place}, and this folder's file of that name is not taken"
                )
        except DataError as error:
            yield error
