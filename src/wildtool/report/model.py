"""What pages are made from: runs, and the leaderboards that group comparable ones."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.declared import pages_of
from wildtool.engine.compare.leaderboard import marked_labels, run_labels, table_titles
from wildtool.engine.compare.load import unit_scores
from wildtool.engine.compare.pairs import PairwiseResult, UnitScores
from wildtool.engine.compare.published import MetricKey
from wildtool.engine.compare.ranking import Ranking, places_by, rank_runs, why_unranked
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import as_recorded, load_benchmark, played_benchmark
from wildtool.engine.score.explain import DeclaredNumbers
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.number_units import UnitsOfNumbers, units_of_numbers
from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.engine.score.score import data_candidates
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError
from wildtool.report.parallel import run_jobs
from wildtool.stats.matrix import Matrix, matrix_of
from wildtool.stats.metrics import Rate
from wildtool.steps import show_step, step_line
from wildtool.table import MetricTable, heads_of, results_table
from wildtool.types import Metric, Source

MAX_RUNS_IN_PROCESS = 12
"""Up to this number of runs, one process reads them faster than starting more would."""


@dataclass(frozen=True, slots=True)
class RunUsage:
    """Total usage of a run; None if it is not known of every unit."""

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True, slots=True)
class ReportRun:
    """One run with its numbers."""

    folder: Path
    result: ScoreResult
    about: Mapping[str, Any]
    """What `run.json` says."""
    scores: UnitScores
    """How often each unit is right."""
    spent: RunUsage
    matrices: Mapping[tuple[str, str], Matrix] = field(default_factory=dict[tuple[str, str], Matrix])
    """By the two groups, the matrices that pages of its benchmark show."""
    numbers: UnitsOfNumbers = field(default_factory=UnitsOfNumbers)
    """The units behind each of its numbers."""
    eligible: bool = True
    """Whether it may have a rank, if nothing is missing from it."""

    @property
    def metrics(self) -> dict[MetricKey, Metric]:
        return {(metric.group, metric.name): metric for metric in self.result.metrics}


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Comparable runs: same data, same requests except for the model, same rules."""

    title: str
    slug: str
    """Unique in the report; used in file names."""
    runs: tuple[ReportRun, ...]
    """In the order that a reader wants, by rank as a rule."""
    sort: str = "rank"
    """That order, as of `places_by`."""

    @property
    def ranked(self) -> int:
        """How many runs have a rank; where they are by rank these are the first."""
        return sum(not reason for reason in why_unranked(self.results, _bars(self.runs)))

    @property
    def benchmark(self) -> Benchmark:
        return _benchmark(self.runs[0])

    @property
    def profile(self) -> str:
        return self.runs[0].result.profile

    def ranking(self, pairs: Mapping[tuple[int, int], PairwiseResult]) -> Ranking:
        """The ranks of the runs, and the finding. Args: pairs: every model against every other."""
        return rank_runs(self.results, run_labels(self.results), pairs, _bars(self.runs))

    @property
    def results(self) -> list[ScoreResult]:
        return [run.result for run in self.runs]

    @property
    def labels(self) -> list[str]:
        """Names of the models, with the run's name if several runs share a model, and a mark where units are missing."""
        return marked_labels(self.results)

    @property
    def groups(self) -> list[str]:
        """Groups of metrics, in the benchmark's order."""
        return list(dict.fromkeys(metric.group for result in self.results for metric in result.metrics))

    def table(self, group: str | None = None) -> MetricTable:
        """All numbers, or those of a group."""
        heads = heads_of((metric for result in self.results for metric in result.metrics), group)
        return results_table(self.title, self.results, heads, whole=group is None)

    @property
    def overview(self) -> MetricTable:
        """The headline numbers; the first number if there are none."""
        table = self.table()
        heads = tuple(head for head in table.heads if head.headline) or table.heads[:1]
        return replace(table, heads=heads)

    def placed(self, table: MetricTable, pairs: Mapping[tuple[int, int], PairwiseResult]) -> MetricTable:
        """A table of these runs with their ranks.

        Args:
            pairs: every model against every other; decides ties.
        """
        rows = (
            replace(row, place=standing.rank, tied=standing.tied)
            for row, standing in zip(table.rows, self.ranking(pairs).standings, strict=True)
        )
        return replace(table, rows=tuple(rows))

    def ranks(self, pairs: Mapping[tuple[int, int], PairwiseResult]) -> list[str]:
        """The rank of each run; empty where it has none. Args: pairs: every model against every other."""
        return [standing.rank for standing in self.ranking(pairs).standings]

    @property
    def source(self) -> Source | None:
        """The data it was run on; None if they are no longer available."""
        return _source(self.runs[0])


@step_line()
def read_runs(folders: Iterable[Path], profile: str | None = None, *, keep: bool = True) -> list[ReportRun]:
    """Runs with their numbers; scores those without verdicts. Raises RecordError, and UsageError where two Python files
    define benchmarks of one name.

    Args: keep: as of `open_results`.
    """
    jobs = [partial(_read, folder, profile, keep) for folder in folders]
    runs: list[ReportRun] = []
    show_step(f"reading {counted(len(jobs), 'run')}")
    with run_jobs(jobs, parallel=len(jobs) > MAX_RUNS_IN_PROCESS) as read:
        for run in read:
            runs.append(run)
            show_step(f"read {len(runs)} of {len(jobs)} runs")
    _check_benchmark_files(runs)
    return runs


def _check_benchmark_files(runs: Iterable[ReportRun]) -> None:
    """Raises UsageError where runs of one benchmark's name come from different Python files: their rules and columns
    would be mixed."""
    files: dict[str, dict[str, str]] = {}
    for run in runs:
        if digest := run.result.benchmark_file:
            place = run.about["data"]["benchmark_file"]
            files.setdefault(run.result.benchmark, {}).setdefault(digest, place)
    for name, its in files.items():
        if len(its) > 1:
            raise UsageError(
                f"{' and '.join(its.values())} define different benchmarks of one name, {name}; give one of them another"
                " name and run it again, or make a report of each"
            )


def _read(folder: Path, profile: str | None, keep: bool) -> ReportRun:
    run_json = read_run(folder)
    with open_results(folder, profile, keep=keep) as (result, table):
        rows = relation([table])
        scores = unit_scores(rows)
        owner = played_benchmark(folder, run_json, result.benchmark)
        declared = DeclaredNumbers(owner, rows, result)
        matrices = _matrices(owner, result, rows, declared.rates)
        numbers = units_of_numbers(declared, rows, result)
        spent = rows.aggregate(
            f"coalesce(sum(steps), 0)::BIGINT, {_whole_sum('prompt_tokens')}, {_whole_sum('completion_tokens')}"
        ).fetchall()[0]
    return ReportRun(folder, result, run_json, scores, RunUsage(*spent), matrices, numbers)


def _whole_sum(tokens: str) -> str:
    """The SQL of a sum of tokens that is NULL where they are unknown of a unit that has replies."""
    return f"CASE WHEN count({tokens}) = count(latency_s) THEN sum({tokens}) END::BIGINT"


def _matrices(
    owner: Benchmark, result: ScoreResult, rows: Any, rates: Sequence[Rate]
) -> dict[tuple[str, str], Matrix]:
    """The matrices that the pages of a run's benchmark show. Args: rates: of the run."""
    pairs = [pair for page in pages_of(owner, result.profile) for pair in page.matrices]
    return {pair: matrix_of(rows, rates, *pair) for pair in pairs}


def group_leaderboards(runs: Sequence[ReportRun], sort: str = "rank") -> list[Leaderboard]:
    """The leaderboards of some runs. Args: sort: as of `places_by`; raises UsageError where it is no order."""
    apart: dict[str, list[ReportRun]] = {}
    for title, run in zip(table_titles([run.result for run in runs]), runs, strict=True):
        apart.setdefault(title, []).append(run)
    slugs = [slug(title) for title in apart]
    return [
        Leaderboard(
            title, its if slugs.count(its) == 1 else f"{its}-{number}", tuple(_in_order(group, sort)), sort
        )
        for number, (its, (title, group)) in enumerate(zip(slugs, apart.items(), strict=True), 1)
    ]


def _in_order(runs: Sequence[ReportRun], sort: str) -> list[ReportRun]:
    return [runs[place] for place in places_by([run.result for run in runs], sort, _bars(runs))]


def _bars(runs: Iterable[ReportRun]) -> list[str]:
    """What keeps each run from a rank, apart from its numbers."""
    return ["" if run.eligible else "it is not of the kind that is ranked here" for run in runs]


def _benchmark(run: ReportRun) -> Benchmark:
    identity = run.about["identity"]
    return as_recorded(load_benchmark(run.result.benchmark, identity["mode"]), identity).benchmark


def _source(run: ReportRun) -> Source | None:
    for source in data_candidates(_benchmark(run), run.folder, run.about):
        if isinstance(source, Source) and source.sha256 == run.result.data_sha256:
            return source
    return None


def slug(text: str) -> str:
    """A text as part of a file name: lower-case letters, digits and `-`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "x"
