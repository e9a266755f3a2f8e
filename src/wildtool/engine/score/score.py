"""Scores the record of a run, offline and under any profile. Replies from elsewhere become a run first
(`replies.py`)."""

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.plan import SelectedItems, Selection, check_profile
from wildtool.engine.record.bundle import bundle_origin, is_unpacked
from wildtool.engine.record.reader import ItemLog, LogReader, transcripts
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import as_recorded, played_benchmark
from wildtool.engine.sampling import ItemSample
from wildtool.engine.score.completeness import PlannedSize
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.table_stamp import make_stamp
from wildtool.engine.score.verdict_table import (
    OutcomeCounts,
    RunInfo,
    VerdictTable,
    verdicts_path,
)
from wildtool.engine.versions import default_profile, names_of, names_today, other_version, played_profile
from wildtool.errors import DataError, RecordError
from wildtool.steps import with_steps
from wildtool.tool_formats import CallFormat
from wildtool.types import Episode, Item, Source, Verdict

MANY_ROWS = 1_000
"""Recorded steps from which a second process saves more time than it takes."""
Job = tuple[int, tuple[Item | str, int]]
"""An item to judge: its place among all items and repeats, its handle as of `Selection.handles`, the repeat."""


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
    readings: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of replies that were read again, as of `reading.count_readings`; empty where none were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingJob:
    """A run with everything that is needed to judge it."""

    selection: Selection
    variant: Variant
    """Its benchmark as it was run."""
    run_info: RunInfo
    run_json: Mapping[str, Any]
    """What `run.json` says."""
    format: CallFormat | None = None
    """In which replies are read again; None for as they were read when they came."""

    def jobs(self) -> Iterator[tuple[int, tuple[Item, int]]]:
        """Everything that there is to judge, in the order of the data."""
        return enumerate(self.selection.jobs())

    def items(self, reader: LogReader, jobs: Iterable[Job] | None = None) -> Iterator["JudgedItem"]:
        """Judges one item after the other.

        Args:
            jobs: those to judge; None for all.
        """
        rules = self.run_info.profile
        silent_after: bool = self.run_json["identity"].get("silent_after", False)
        for order, (handle, repeat) in self.jobs() if jobs is None else jobs:
            item = self.selection.item(handle)
            log, readings = reader.log(item.id, repeat), Counter[str]()
            if self.format is not None:
                log, readings = self._read_again(log, reader, item, repeat, self.format)
            verdicts, fault = safe_judge(self.variant, item, transcripts(log, scripted=silent_after), rules)
            yield JudgedItem(order, item, repeat, log, verdicts, fault, readings)

    def _read_again(
        self, log: ItemLog, reader: LogReader, item: Item, repeat: int, format: CallFormat
    ) -> tuple[ItemLog, Counter[str]]:
        """The log with its replies read in a format, and what they hold."""
        # Few runs are read again.
        from wildtool.engine.score.reading import count_readings, read_again, read_imported

        if self.run_json["kind"] != "imported":
            again = read_again(log, reader.requests(item.id, repeat), format)
            return again, count_readings(log, again)

        def episode_of(unit: str, so_far: ItemLog) -> Episode:
            rules = self.run_info.profile
            settled = self.variant.settled(item, transcripts(so_far), rules)
            return self.variant.episode(settled, unit, rules)

        again = read_imported(log, episode_of, format)
        return again, count_readings(log, again)


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
    readings: Counter[str] = field(default_factory=Counter[str])
    """Of replies that were read again, as of `reading.count_readings`."""


def prepare_judging(
    folder: Path, *, profile: str | None = None, data: str | SelectedItems | None = None
) -> JudgingJob:
    """Finds what is needed to judge a run. Arguments and errors as of `score_run`."""
    run_json = read_run(folder)
    identity, scope = run_json["identity"], run_json["scope"]
    variant = as_recorded(played_benchmark(folder, run_json), identity)
    benchmark = variant.benchmark
    names = names_of(benchmark, identity)
    rules = names_today(benchmark).now(profile) if profile else played_profile(benchmark, identity)
    rules = rules or default_profile(benchmark, names.now(run_json["data"]["name"]), names)
    check_profile(benchmark, rules)
    selection = Selection(
        benchmark=benchmark,
        source=_find_data(benchmark, folder, run_json, data),
        split=identity["split"],
        lang=identity["lang"],
        limit=scope["limit"],
        ids=tuple(scope["ids"]),
        sample=ItemSample(**identity["sample"]) if identity.get("sample") else None,
        repeats=scope["repeats"],
        tries=scope.get("tries", {}),
        all_items=data if isinstance(data, SelectedItems) else None,
    )
    player = RunInfo(
        run=folder.resolve().name,
        model=identity["models"]["agent"]["name"],
        benchmark=benchmark.name,
        profile=rules,
        profile_in_run=names.then(rules),
    )
    return JudgingJob(selection=selection, variant=variant, run_info=player, run_json=run_json)


def score_run(
    folder: Path,
    *,
    profile: str | None = None,
    data: str | SelectedItems | None = None,
    out: Path | None = None,
    format: CallFormat | None = None,
) -> ScoringOutcome:
    """Scores a run folder and writes its table of verdicts.

    Args:
        folder: the run, finished or not; what it has not run yet counts as unplayed.
        profile: the rules to judge by; None for those it was run under.
        data: where the data are now, or all their items of the run's split and language; None for where the run found
            them. They must be the same data.
        out: the folder to write the table to; None for the run's own.
        format: in which replies are read again; None for as they were read when they came.

    Raises RecordError where the run or its record cannot be read, or where the data are not those of the run.
    """
    run, planned = _with_planned_size(prepare_judging(folder, profile=profile, data=data))
    run = replace(run, format=format)
    profile_in_run = run.run_info.profile_in_run
    path = verdicts_path(out or folder, profile_in_run)
    table = VerdictTable(
        path,
        run.variant,
        run.selection.drawn,
        read_again=format is not None,
        imported=run.run_json["kind"] == "imported",
    )
    with table, LogReader(folder) as reader:
        faults, readings = _judge(run, folder, reader, table)
        stamp = make_stamp(run.run_json, profile_in_run, reader.fingerprints, planned)
        return ScoringOutcome(
            verdicts=table.write(stamp),
            profile=run.run_info.profile,
            played=played_profile(run.variant.benchmark, run.run_json["identity"]),
            counts=table.counts(),
            faults=faults,
            remarks=tuple(map(str, reader.lost)),
            readings=readings,
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """The verdicts of some successive items."""

    last: int
    """Place of the last item."""
    rows: bytes
    outcomes: Counter[str]
    faults: Sequence[str]
    """Items that the judge failed on, with the reason."""
    readings: Counter[str]


def _judge(
    run: JudgingJob, folder: Path, reader: LogReader, table: VerdictTable
) -> tuple[tuple[str, ...], Counter[str]]:
    """Fills the table with the verdicts of all items. Gives the items that the judge failed on, with the reason, and the
    counts of what was read again."""

    def judge(jobs: Sequence[Job]) -> _Part:
        rows, outcomes, faults, readings = bytearray(), Counter[str](), list[str](), Counter[str]()
        for judged in run.items(reader, jobs):
            if judged.fault is not None:
                faults.append(f"{judged.item.id}: {judged.fault}")
            rows += table.rows(
                judged.order, run.run_info, judged.item, judged.repeat, judged.verdicts, judged.log
            )
            outcomes.update(verdict.outcome for verdict in judged.verdicts)
            readings.update(judged.readings)
        return _Part(jobs[-1][0], bytes(rows), outcomes, faults, readings)

    def parts(judged: Iterable[_Part]) -> Iterator[_Part]:
        return with_steps(f"judging {folder}", judged, attrgetter("last"))

    by_workers: list[_Part] | None = None
    if reader.rows >= MANY_ROWS:
        from wildtool.engine.score.pool import judged_by_workers

        # An error is raised again below, where this process judges alone.
        with suppress(Exception):
            judged = judged_by_workers(enumerate(run.selection.sent_jobs()), judge)
            by_workers = None if judged is None else list(parts(judged))
    faults, readings = list[str](), Counter[str]()
    for part in by_workers or parts(judge([job]) for job in run.jobs()):
        table.append(part.rows, part.outcomes)
        faults += part.faults
        readings.update(part.readings)
    return tuple(faults), readings


def _with_planned_size(run: JudgingJob) -> tuple[JudgingJob, PlannedSize | None]:
    """The run, and how much was planned if its scope does not name it all: a replies file need not hold every item of
    its data. They are read once for both."""
    if run.run_json["kind"] != "imported":
        return run, None
    items = run.selection.all_items or replace(run.selection, ids=(), repeats=1).read()
    units = items.units * run.selection.repeats
    if run.selection.tries:
        units = sum(len(item.units) * run.selection.tries_of(item) for item in items)
    planned = PlannedSize(len(items), units)
    return replace(run, selection=replace(run.selection, all_items=items)), planned


def _find_data(
    benchmark: Benchmark, folder: Path, run_json: Mapping[str, Any], data: str | SelectedItems | None
) -> Source:
    origin = bundle_origin(folder)
    name_them = f"name those it used: wildtool score {shlex.quote(str(origin))} --data FILE"
    try:
        source = (
            data.source if isinstance(data, SelectedItems) else _locate(benchmark, folder, data, run_json)
        )
    except DataError as error:
        raise RecordError(
            f"{origin}: the data of this run are not where they were ({error}); {name_them}"
        ) from error
    problem = other_version(benchmark, run_json, source)
    if problem:
        raise RecordError(f"{origin}: {problem}")
    if source.sha256 != run_json["identity"]["data_sha256"]:
        raise RecordError(
            f"{source.path}: these are not the data of the run (SHA-256 {source.sha256} instead of "
            f"{run_json['identity']['data_sha256']}); {name_them}"
        )
    return source


def _locate(benchmark: Benchmark, folder: Path, data: str | None, run_json: Mapping[str, Any]) -> Source:
    if data is not None:
        return data_of(benchmark).locate(data, run_json["identity"]["split"])
    mismatches: list[Source] = []
    problems: list[DataError] = []
    for candidate in data_candidates(benchmark, folder, run_json):
        if isinstance(candidate, DataError):
            problems.append(candidate)
        elif candidate.sha256 == run_json["identity"]["data_sha256"]:
            return candidate
        else:
            mismatches.append(candidate)
    if mismatches:
        return mismatches[0]
    raise problems[0]


def data_candidates(
    benchmark: Benchmark, folder: Path, run_json: Mapping[str, Any]
) -> Iterator[Source | DataError]:
    """The data at each place that a run names for them, or why there are none.

    A bundle can name a benchmark's own data or what it holds itself, never a file of the folder that its reader is in.
    """
    source, split = run_json["data"], run_json["identity"]["split"]
    name = names_of(benchmark, run_json["identity"]).now(source["name"])
    # A relative name means nothing, or something else, in another folder; the path that run.json keeps does not.
    for place in dict.fromkeys((name, source["path"])):
        try:
            if not is_unpacked(folder) or Path(place).is_relative_to(folder) or not os.path.lexists(place):
                yield data_of(benchmark).locate(place, split)
            elif (own := data_of(benchmark).locate(None, split)).name == place:
                yield own
            else:
                yield DataError(
                    f"the bundle does not hold {place}, and this folder's file of that name is not taken"
                )
        except DataError as error:
            yield error
