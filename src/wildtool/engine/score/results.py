"""The numbers of runs: finds their verdicts, makes missing ones, and has the benchmark summarize them."""

import json
import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

from wildtool.advice import Advice, in_folder
from wildtool.alter.base import Alteration
from wildtool.alter.kinds import recorded_alterations
from wildtool.benchmark import Benchmark, evaluators_of
from wildtool.data.files import walk_folders
from wildtool.engine.benchmark_file import digest_of_file
from wildtool.engine.plan import SelectedItems
from wildtool.engine.record.addresses import asked_addresses
from wildtool.engine.record.bundle import bundle_origin, holds_bundle, is_bundle, unpack_bundle
from wildtool.engine.record.format import LABELS_FILE, find_segments
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import ATTRITION_FILE, benchmark_names, names_in, played_benchmark
from wildtool.engine.score.completeness import PlannedSize, has_gaps, was_stopped
from wildtool.engine.score.label_metrics import label_metrics
from wildtool.engine.score.reply_signs import CALL_DUE, FIRST_RIGHT, TEXT_FOR_CALL
from wildtool.engine.score.score import score_run
from wildtool.engine.score.table_stamp import (
    DamagedTableError,
    TableStamp,
    has_all_columns,
    planned_of,
    read_stamp,
    sealed_digest,
    stamp_matches,
)
from wildtool.engine.score.trust import (
    FailureKind,
    TrustRemark,
    VerdictTotals,
    token_limit,
    trust_remarks,
)
from wildtool.engine.score.verdict_table import (
    OutcomeCounts,
    duckdb_error,
    forget_database,
    relation,
    verdicts_path,
)
from wildtool.engine.versions import names_of, played_profile
from wildtool.errors import RecordError
from wildtool.evidence import Evidence
from wildtool.json_codec import as_list, as_object, dumps
from wildtool.reply_ends import NO_HELP, OVERFLOWED
from wildtool.stats.metrics import (
    SAMPLE_WEIGHT,
    Rate,
    change_metrics,
    headline_first,
    rate_metrics,
    repeats,
    sql_text,
    without_false_intervals,
)
from wildtool.temporary import is_temporary, temporary_folder
from wildtool.tool_formats import CallFormat
from wildtool.types import Metric

MAX_ENTRIES = 200_000
"""Files and folders without a run, at most, that are looked at below a folder that a user names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreResult:
    """The numbers of one model in one run under one profile."""

    run: str
    model: str
    benchmark: str
    profile: str
    played: str | None
    """The profile it was run under; None if unknown."""
    evaluator: str = ""
    """Repository and commit of the evaluator that the profile follows, where the benchmark has several; else empty."""
    data: str
    """Name of the data, as given to the run."""
    data_sha256: str
    split: str | None
    mode: str | None
    """The mode it was run in; None for the benchmark's first."""
    benchmark_file: str = ""
    """SHA-256 of the Python file that defines the benchmark, as it is now; empty for a benchmark of a package."""
    prompts: str = ""
    """Digest of the original's prompts that were sent; empty for our own wording."""
    alterations: tuple[Alteration, ...] = ()
    """What lay between the benchmark and the model under test, such as noise in tools."""
    part: str = ""
    """What limited the run to a part of its split and language, such as `--limit 10`; empty for nothing."""
    lacks: tuple[str, ...] = ()
    """Parts of the benchmark's headline that the items of that part of the data have nothing of."""
    roles: Mapping[str, str]
    """Names of the models of other roles than the agent, by role."""
    items: int
    """Items of which anything was run."""
    items_md5: str
    """Digest of their ids and languages: equal where two runs cover the same items."""
    counts: OutcomeCounts
    planned: int
    """Units that the run's scope has; more than `counts` has where replies were imported of some of the data only."""
    planned_items: int
    """Items of that scope."""
    incomplete: bool
    """True where some of what was planned was never played: the run was stopped, killed, reached a limit or still goes
    on, a replies file holds only some items, or steps are missing in the record. Not for failed calls alone, nor where
    other rules would have gone on."""
    failed: tuple[FailureKind, ...]
    """What ended in infra errors, the most frequent kind first."""
    evidence: Evidence
    """What the numbers rest on; units that were planned and are not in the table count as unplayed."""
    trust: tuple[TrustRemark, ...] = ()
    """What came between the model and the numbers, to be said wherever they are shown. Remedies name the run as `RUN`,
    since records that are published name no folder."""
    metrics: tuple[Metric, ...]

    read_as: str = ""
    """The tool format in which replies were read again; empty for as they were read when they came."""
    readings: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of replies that were read again, as of `reading.count_readings`; empty where none were."""
    faults: tuple[str, ...] = ()
    """Items that the judge failed on just now, with the reason."""
    remarks: tuple[str, ...] = ()
    """What was found wrong while they were read, such as damage to files."""
    kept: bool = True
    """False if the verdicts were made for this command only, because the run folder is only read."""
    folder: Path = Path()
    """Where the run was read."""

    @property
    def profile_label(self) -> str:
        """The profile, and the one it was played under where they differ."""
        read = f", replies read again as {self.read_as}" if self.read_as else ""
        judged = f"{self.profile}{f' ({self.evaluator})' if self.evaluator else ''}{read}"
        return (
            f"profile {judged}"
            if self.played in (None, self.profile)
            else f"played {self.played}, judged {judged}"
        )

    @property
    def sampled(self) -> bool:
        """Whether its items are a sample of all."""
        return self.part.startswith("sample")

    @property
    def altered(self) -> Mapping[str, str]:
        """By kind of alteration its label."""
        return {each.kind: each.label for each in self.alterations}

    @property
    def disturbances(self) -> tuple[str, ...]:
        """What was done to the benchmark on purpose, in words; empty for a clean run."""
        return tuple(each.described for each in self.alterations)

    @property
    def named_trust(self) -> tuple[TrustRemark, ...]:
        """`trust` with the folder of the run, or its bundle, in the commands that remedies give."""
        place = bundle_origin(self.folder)
        return tuple(replace(remark, option=in_folder(remark.option, place)) for remark in self.trust)

    @property
    def exit_status(self) -> int:
        return 1 if self.faults else 3 if self.counts.infra_error else 0


def load_result(
    folder: Path,
    profile: str | None = None,
    *,
    data: str | SelectedItems | None = None,
    again: bool = False,
    format: CallFormat | None = None,
) -> ScoreResult:
    """The numbers of a run; arguments and errors as of `open_results`."""
    with open_results(folder, profile, data=data, again=again, format=format) as (result, _):
        return result


@contextmanager
def open_results(
    folder: Path,
    profile: str | None = None,
    *,
    data: str | SelectedItems | None = None,
    again: bool = False,
    keep: bool = True,
    format: CallFormat | None = None,
) -> Generator[tuple[ScoreResult, Path], None, None]:
    """The numbers of a run and its file of verdicts, which may be gone afterwards. Verdicts are made if they are
    missing or damaged, or if they do not fit the run as it is now: its record, its scope, its data, the rules.

    Args:
        profile: rules to judge by; None for those it was played under.
        data: where the data are now, or their items as of `score_run`; None for where the run found them.
        again: make the verdicts in any case.
        keep: whether verdicts made now are written to the run folder, where it may be written.
        format: a tool format in which recorded replies are read again; such verdicts are never kept.

    Raises RecordError where the run or its record cannot be read, or where the data are not those of the run.
    """
    run_json = read_run(folder)
    names, played = names_in(run_json), run_json["identity"]["profile"]
    in_run = played if profile is None else names.then(profile)
    before = _EarlierTable() if again or in_run is None or format else _load_earlier(folder, in_run, run_json)
    if before.result is not None and not before.outdated:
        yield replace(before.result, folder=folder), before.table
        return
    writable = keep and format is None and os.access(folder, os.W_OK)
    with nullcontext(folder) if writable else temporary_folder() as place:
        try:
            scored = score_run(folder, profile=profile, data=data, out=Path(place), format=format)
            table = scored.verdicts
            name = "" if format is None else format.name
            result = replace(
                _read(folder, table, run_json, planned_of(read_stamp(table)), name)
                if name
                else _read_stamped(folder, table, run_json, read_stamp(table)),
                read_as=name,
                readings=scored.readings,
                faults=scored.faults,
                remarks=(*before.remarks, *scored.remarks),
                folder=folder,
                kept=writable,
            )
        except RecordError:
            old = _load_unstamped(before.table, folder, run_json) if before.unstamped else before.result
            if old is None:
                raise
            result, table = old, before.table
        yield result, table


def run_folders(path: Path) -> list[Path]:
    """Runs at or below a path, sorted: their folders, and of bundles the folders they are unpacked to. Raises RecordError
    where there is none."""
    if is_bundle(path):
        return [unpack_bundle(path)]
    below = sorted(_find_runs(path, MAX_ENTRIES))
    # Records of how data were generated are left out if there are runs.
    runs = [each for each in below if not _is_generation(each)] or below
    folders = [unpack_bundle(each) if is_bundle(each) else each for each in runs]
    if not folders:
        problem = "holds no run" if path.is_dir() else "there is no such folder"
        raise RecordError(f"{path}: {problem}; give the folder of a run, one above several, or a bundle")
    return folders


def _is_generation(folder: Path) -> bool:
    """Whether a run folder holds how something was made (`registry.played_benchmark`)."""
    if not (folder.parent / ATTRITION_FILE).exists():
        return False
    try:
        return read_run(folder)["identity"]["benchmark"] not in benchmark_names()
    except RecordError:
        # The error is reported when it is read.
        return False


def folders_below(path: Path) -> list[Path]:
    """Run folders at or below a path, sorted, without bundles."""
    return sorted(each for each in _find_runs(path) if not is_bundle(each))


def _find_runs(path: Path, limit: float = inf) -> Iterator[Path]:
    """Run folders and bundles. Raises RecordError beyond a limit of files and folders that are no run."""
    entries = 0
    for folder, inner, files in walk_folders(path):
        if "run.json" in files:
            inner.clear()
            yield Path(folder)
        else:
            inner[:] = [name for name in inner if not is_temporary(name)]
            entries += len(inner) + len(files)
            if entries > limit:
                problem = f"the search for runs stopped after {limit:,} files and folders"
                raise RecordError(f"{path}: {problem}; name a folder nearer to the runs")
            yield from (place for file in files if holds_bundle(place := Path(folder, file)))


@dataclass(frozen=True, slots=True)
class _EarlierTable:
    """The verdicts that are in a run folder already."""

    table: Path = Path()
    result: ScoreResult | None = None
    """The numbers; None if the verdicts are missing, damaged, or not those of the run as it is now."""
    unstamped: bool = False
    """True for those of earlier versions, which do not say what they were made from."""
    outdated: bool = False
    """True for those of an earlier version that fit the run, but lack columns: used where they cannot be made again."""
    remarks: tuple[str, ...] = ()


def _load_earlier(folder: Path, profile: str, run_json: Mapping[str, Any]) -> _EarlierTable:
    """The verdicts that a run folder has under a profile. Args: profile: as the run names it."""
    table = verdicts_path(folder, profile)
    try:
        if not table.exists():
            return _EarlierTable()
        stamp = read_stamp(table)
        if stamp is None:
            return _EarlierTable(table, unstamped=True)
        if not stamp_matches(stamp, folder, run_json, profile):
            return _EarlierTable()
        result = replace(_read_stamped(folder, table, run_json, stamp), folder=folder)
        return _EarlierTable(table, result, outdated=not has_all_columns(stamp))
    except DamagedTableError as error:
        return _EarlierTable(table, remarks=(f"{table}: damaged ({error}), so its verdicts were made again",))
    except (OSError, duckdb_error()):
        # Verdicts follow from the record, so nothing is lost.
        forget_database()
        return _EarlierTable()


def _load_unstamped(table: Path, folder: Path, run_json: Mapping[str, Any]) -> ScoreResult | None:
    """The numbers of verdicts that an earlier version made, where they cannot be made again since the data are not at
    hand; None if they are damaged, or older than what they are about."""
    as_played = table == verdicts_path(folder, run_json["identity"]["profile"])
    try:
        if table.stat().st_mtime_ns < _last_change(folder, as_played):
            return None
        result = _read(folder, table, run_json, None)
    except (OSError, duckdb_error()):
        # What a damaged file does to the database must not reach the next one.
        forget_database()
        return None
    remark = (
        f"{table}: made by an earlier version, and without the data of the run nothing can tell that it fits"
    )
    return replace(result, folder=folder, remarks=(remark,))


def _last_change(folder: Path, as_played: bool) -> int:
    """When the run last changed, in nanoseconds."""
    files = [segment.path for segment in find_segments(folder)]
    if not as_played:
        # It says which items belong to the run. A run writes its own verdicts before it, so they would seem old.
        files.append(folder / "run.json")
    return max((file.stat().st_mtime_ns for file in files), default=0)


@dataclass(frozen=True, slots=True)
class _SealedTable:
    """A table of verdicts with all that its numbers follow from; equal ones have equal numbers."""

    folder: Path
    digest: str
    run: bytes
    """What `run.json` says."""
    defined: tuple[int, int] | None
    """When the file that defines the benchmark was last written, and its size; None where there is none."""
    labels: tuple[int, int] | None
    """The same of the labels of its failures."""
    table: Path = field(compare=False)
    run_json: Mapping[str, Any] = field(compare=False)
    stamp: TableStamp | None = field(compare=False)


def _read_stamped(
    folder: Path, table: Path, run_json: Mapping[str, Any], stamp: TableStamp | None
) -> ScoreResult:
    """The numbers in a run's file of verdicts, which are kept: one command asks for those of a run several times.

    Args:
        stamp: of the file; None where it has none.
    """
    if stamp is None:
        return _read(folder, table, run_json, None)
    defined = _written(Path(run_json["data"].get("benchmark_file") or ""))
    labels = _written(folder / LABELS_FILE)
    result = _read_sealed(
        _SealedTable(folder, sealed_digest(table), dumps(run_json), defined, labels, table, run_json, stamp)
    )
    # What a file defines is found by its name from now on, also where it is another file than the one read last.
    played_benchmark(folder, run_json, result.benchmark)
    return result


def _written(file: Path) -> tuple[int, int] | None:
    """When a file was last written, and its size; None where there is none."""
    status = file.stat() if file.is_file() else None
    return None if status is None else (status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _read_sealed(sealed: _SealedTable) -> ScoreResult:
    return _read(sealed.folder, sealed.table, sealed.run_json, planned_of(sealed.stamp))


OUTCOMES = tuple(each.name for each in fields(OutcomeCounts))
_PLACE = "concat_ws('/', lang, item)"
_PLAYED = "FILTER (outcome <> 'unplayed')"
_ABOUT = ", ".join(
    (
        *(f"any_value({name})" for name in ("run", "model", "benchmark", "profile")),
        f"count(DISTINCT item) {_PLAYED}",
        f"coalesce(md5(string_agg(DISTINCT {_PLACE}, chr(10) ORDER BY {_PLACE}) {_PLAYED}), '')",
        "count(DISTINCT item)",
        "max(repeat)",
        "count(changes)",
        "histogram(signs)",
        "sum(calls)",
        "coalesce(least(nullif(count(prompt_tokens), 0), nullif(count(completion_tokens), 0)), 0)",
        "count(latency_s)",
        "count(*) FILTER (unread_calls > 0 AND correct)",
        f"histogram(error) FILTER (outcome = 'wrong' AND contains(signs, {sql_text(json.dumps(CALL_DUE))}))",
        *(
            f"CASE WHEN count({name}) > 0 THEN count(*) FILTER ({name} > 0) END"
            for name in ("cut_off", "unread_calls")
        ),
        *(f"count(*) FILTER (outcome = '{outcome}')" for outcome in OUTCOMES),
    )
)
"""What a table of verdicts is about."""


def _read(
    folder: Path, table: Path, run_json: Mapping[str, Any], planned: PlannedSize | None, read_as: str = ""
) -> ScoreResult:
    """The numbers in a run's file of verdicts.

    Args:
        folder: of the run; the file may lie elsewhere.
        run_json: what `run.json` says of the run.
        planned: how much was planned; None for all that is in the file.
        read_as: the tool format in which replies were read again; empty for that of the run.
    """
    rows = relation([table])
    # In one go: on a small table each question costs as much as its answer.
    ((run, model, benchmark, profile, items, items_md5, every, last_repeat, altered, signs, *rest),) = (
        rows.aggregate(_ABOUT).fetchall()
    )
    calls, with_tokens, answered, credited, mistakes, cut_off, unread, *counts = rest
    outcomes = OutcomeCounts(**dict(zip(OUTCOMES, counts, strict=True)))
    planned = planned or PlannedSize(every, outcomes.units)
    identity = run_json["identity"]
    alterations = recorded_alterations(identity)
    owner = played_benchmark(folder, run_json, benchmark)
    incomplete = _is_incomplete(rows, run_json, profile, outcomes, planned)
    names = names_of(owner, identity)
    profile = names.now(profile)
    failed = _failures(rows) if outcomes.infra_error else ()
    absent = max(0, planned.units - outcomes.units)
    units, unplayed = outcomes.units + absent, outcomes.unplayed + absent
    evidence = Evidence(units, outcomes.infra_error, unplayed, cut_off, unread)
    imported = run_json["kind"] == "imported"
    may_help = incomplete or not all(each.is_final for each in failed)
    retry = Advice.RUN_IN_FORMAT.format(format=read_as) if read_as else Advice.SAME_COMMAND
    totals = VerdictTotals(
        absent=absent,
        correct=outcomes.correct,
        signs=_total_signs(signs),
        calls=calls or 0,
        credited=credited,
        answered=answered,
        with_tokens=with_tokens,
        max_tokens=token_limit(_agent_settings(identity)),
        addresses=asked_addresses(run_json),
        format=read_as or _agent_settings(identity).get("format", ""),
        read_again=bool(read_as),
        imported=imported,
        mistakes=mistakes or {},
    )
    own = _measured(
        headline_first(owner.summarize(rows, profile), owner.headline.get(profile)),
        owner,
        profile,
        alterations,
    )
    measured = [
        *own,
        *(() if any(metric.group == "calls" for metric in own) else _call_starts(rows, totals.signs)),
        *(metric for each in alterations for metric in each.metrics(rows)),
        *label_metrics(folder, profile),
        *(repeats(rows) if last_repeat else ()),
        *(change_metrics(rows) if altered else ()),
    ]
    return ScoreResult(
        run=run,
        model=model,
        benchmark=benchmark,
        benchmark_file=digest_of_file(run_json["data"].get("benchmark_file")) or "",
        profile=profile,
        played=played_profile(owner, identity),
        evaluator=_evaluator(owner, profile),
        data=names.now(run_json["data"]["name"]),
        data_sha256=identity["data_sha256"],
        split=identity["split"],
        mode=None if owner.mode == next(iter(owner.modes)) else owner.mode,
        prompts=identity.get("prompts", ""),
        alterations=alterations,
        part=_part(run_json, planned, weighted=SAMPLE_WEIGHT in rows.columns),
        lacks=tuple(map(str, as_list(run_json["scope"].get("lacks")))),
        roles={role: its["name"] for role, its in identity["models"].items() if role != "agent"},
        items=items,
        items_md5=items_md5,
        counts=outcomes,
        planned=planned.units,
        planned_items=planned.items,
        incomplete=incomplete,
        failed=failed,
        evidence=evidence,
        trust=(
            *trust_remarks(evidence, totals, failed, retry if may_help and not imported else ""),
            *_remarks(alterations, rows),
        ),
        metrics=_of_replies(outcomes, tuple(without_false_intervals(measured, evidence))),
    )


_STEPS_NOT_KNOWN = "not measurable: which calls the model made in one reply is not known of this run"


def _measured(
    metrics: Sequence[Metric], owner: Benchmark, profile: str, alterations: Sequence[Alteration]
) -> list[Metric]:
    """The metrics of a benchmark, without the value of those that rest on what nobody knows of the run."""
    if all(each.knows_steps for each in alterations):
        return list(metrics)
    groups = {
        group
        for table in owner.tables
        for group, profiles in table.step_groups.items()
        if not profiles or profile in profiles
    }
    return [
        replace(
            metric, value=None, numerator=0.0, denominator=0.0, low=None, high=None, note=_STEPS_NOT_KNOWN
        )
        if metric.group in groups
        else metric
        for metric in metrics
    ]


def _remarks(alterations: Sequence[Alteration], rows: Any) -> Iterator[TrustRemark]:
    for each in alterations:
        for remark in each.remarks(rows):
            yield TrustRemark(remark.sign, remark.count, remark.of, remark.text, "")


def _evaluator(owner: Benchmark, profile: str) -> str:
    """Repository and commit of the evaluator that a profile follows, where the benchmark has several versions of it."""
    evaluator = evaluators_of(owner).get(profile)
    return evaluator.short if evaluator is not None and evaluator.version else ""


def _agent_settings(identity: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(as_object(identity["models"].get("agent")).get("settings"))


def _call_starts(rows: Any, signs: Mapping[str, int]) -> list[Metric]:
    """Whether a model calls where a call is due, and begins right: what a score near zero does not say. Of a run at an
    endpoint, whose units have these signs.

    Args:
        signs: of all rows.
    """
    if not signs.get(CALL_DUE):
        return []

    def share(name: str, sign: str, **options: Any) -> Rate:
        due, count = (f"contains(signs, {sql_text(json.dumps(each))})" for each in (CALL_DUE, sign))
        return Rate("calls", f"{name} where a call was expected", due, f"CAST({count} AS INTEGER)", **options)

    text = share("text", TEXT_FOR_CALL, better="less")
    calls = replace(text, name="called where a call was expected", numerator=f"1 - {text.numerator}")
    first = share("first call right", FIRST_RIGHT)
    return rate_metrics(rows, [replace(calls, better="more"), first, text])


def _total_signs(cells: Mapping[str, int] | None) -> Counter[str]:
    """All signs with their numbers. Args: cells: of the column `signs`, each with the number of rows that have it."""
    total: Counter[str] = Counter()
    for text, rows in (cells or {}).items():
        for sign, count in json.loads(text).items():
            # A cell that was too long has a text instead of counts.
            total[sign] += rows * count if isinstance(count, int) else 0
    return total


def _part(run_json: Mapping[str, Any], planned: PlannedSize, *, weighted: bool) -> str:
    scope, sample = run_json["scope"], run_json["identity"].get("sample")
    if sample:
        of = scope["sampled_from"]
        marks = ", ".join([f"seed {sample['seed']}", *(["rates weighted"] if weighted else [])])
        return f"sample of {planned.items:,} of {of:,} items ({marks})" if planned.items < of else ""
    if scope.get("whole"):
        return ""
    if run_json["kind"] == "imported":
        # What the file has is listed as ids; planned is all that the data have.
        held = len(scope["ids"])
        return f"{held:,} of {planned.items:,} items in the file" if held < planned.items else ""
    if scope["ids"]:
        return f"--ids of {planned.items}"
    # A limit that was not reached limits nothing.
    return (
        f"--limit {scope['limit']}" if scope["limit"] is not None and planned.items >= scope["limit"] else ""
    )


def _of_replies(counts: OutcomeCounts, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """The metrics; without values if no unit was completed, since zeros would look like results."""
    if counts.correct or counts.wrong:
        return metrics
    return tuple(
        metric if metric.kind == "count" else replace(metric, value=None, low=None, high=None)
        for metric in metrics
    )


def _is_incomplete(
    rows: Any, run_json: Mapping[str, Any], profile: str, counts: OutcomeCounts, planned: PlannedSize
) -> bool:
    if counts.units < planned.units:
        return True
    if not counts.unplayed:
        return False
    return was_stopped(run_json) or has_gaps(rows, as_played=profile == run_json["identity"]["profile"])


def failures_in(table: Path) -> tuple[FailureKind, ...]:
    """What ended in infra errors in a file of verdicts, the most frequent kind first."""
    return _failures(relation([table]))


def _failures(rows: Any) -> tuple[FailureKind, ...]:
    # A reason is `KIND: MESSAGE`.
    kind = "split_part(reason, ': ', 1)"
    # What needs something else to be done is another kind, whatever its status.
    needs = ", ".join(f"contains(reason, {sql_text(words)})" for words in (NO_HELP, OVERFLOWED))
    failures = rows.filter("outcome = 'infra_error'").aggregate(
        f"{kind} AS kind, count(*) AS units, min(reason) AS example", f"{kind}, {needs}"
    )
    return tuple(FailureKind(*row) for row in failures.order("units DESC, kind, example").fetchall())
