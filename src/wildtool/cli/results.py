"""From run folders to their numbers: finds verdicts, judges where they are missing, summarizes them."""

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wildtool.cli.status import report, worst
from wildtool.cli.terminal import middle, note, one_line
from wildtool.engine.registry import load_benchmark
from wildtool.engine.rundir import read_run
from wildtool.engine.score import score_run
from wildtool.engine.segments import find_segments
from wildtool.engine.verdicts import Counts, relation, verdicts_path
from wildtool.errors import DataError, RecordError, UsageError, WildtoolError
from wildtool.types import Metric


@dataclass(frozen=True, slots=True)
class Failed:
    """Units that calls of one kind kept from their end."""

    kind: str
    units: int
    example: str
    """The message of one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The numbers of one model in one run under one profile."""

    run: str
    model: str
    benchmark: str
    profile: str
    played: str | None
    """The profile it was played under; None where that is unknown."""
    data: str
    """Name of the data, as given when they were played."""
    data_sha256: str
    items: int
    """Items of which anything was played."""
    items_md5: str
    """Digest of their ids and languages: equal where two runs cover the same items."""
    counts: Counts
    failed: tuple[Failed, ...]
    """What ended in infra errors, the most frequent kind first."""
    metrics: tuple[Metric, ...]

    @property
    def benchmark_and_data(self) -> str:
        """The benchmark, and the data where they are not its default."""
        if self.data_sha256 == _default_data(self.benchmark):
            return self.benchmark
        return f"{self.benchmark} (data {middle(self.data, 60)})"

    @property
    def judged_as(self) -> str:
        """The profile, and the one it was played under where they differ."""
        if self.played in (None, self.profile):
            return f"profile {self.profile}"
        return f"played {self.played}, judged {self.profile}"


def find_results(paths: Iterable[Path], profile: str | None = None) -> tuple[list[Result], int]:
    """The numbers of all runs at or below the paths, in their order, and the exit status that runs which cannot be
    read lead to; those are named and left out.

    Args:
        profile: rules to judge by; None for those each run was played under.

    Raises RecordError where a path holds no run.
    """
    results: list[Result] = []
    statuses: list[int] = []
    for folder in (folder for path in paths for folder in run_folders(path)):
        try:
            results.append(_result_of(folder, profile))
        except WildtoolError as error:
            statuses.append(report(error))
    return results, worst(statuses)


def only_group(results: Iterable[Result], group: str) -> list[Result]:
    """The results with one group of numbers only. Raises UsageError listing all if it is unknown."""
    every = list(results)
    found = [replace(r, metrics=tuple(m for m in r.metrics if m.group == group)) for r in every]
    if not any(result.metrics for result in found):
        groups = ", ".join(dict.fromkeys(metric.group for result in every for metric in result.metrics))
        raise UsageError(f"there is no group {group!r}; there are: {groups}")
    return found


def run_folders(path: Path) -> list[Path]:
    """Run folders at or below a path, sorted. Raises RecordError where there is none."""
    found = sorted(_below(path))
    if not found:
        problem = "holds no run" if path.is_dir() else "there is no such folder"
        raise RecordError(f"{path}: {problem}; give the folder of a run, or one above several")
    return found


def _below(path: Path) -> Iterator[Path]:
    for folder, inner, files in os.walk(path):
        if "run.json" in files:
            inner.clear()
            yield Path(folder)


@contextmanager
def place_for_verdicts(folder: Path) -> Generator[Path, None, None]:
    """Where the verdicts of a run are written: its folder, or a passing one where that may only be read."""
    if os.access(folder, os.W_OK):
        yield folder
        return
    note(f"{folder}: may only be read, so its verdicts are made for this once and not kept")
    with TemporaryDirectory() as place:
        yield Path(place)


def _result_of(folder: Path, profile: str | None) -> Result:
    about = read_run(folder)
    found = _judged_before(folder, profile or about["identity"]["profile"], about)
    if found is not None:
        return found
    with place_for_verdicts(folder) as place:
        return read_result(score_run(folder, profile=profile, out=place).verdicts, about)


def _judged_before(folder: Path, profile: str | None, about: Mapping[str, Any]) -> Result | None:
    """The numbers of verdicts that lie in a run folder; None if they are missing, damaged, or older than what they
    are about."""
    import duckdb

    if profile is None:
        return None
    as_played = profile == about["identity"]["profile"]
    table = verdicts_path(folder, profile)
    if not table.exists() or table.stat().st_mtime_ns < _last_change(folder, as_played):
        return None
    try:
        return read_result(table, about)
    except duckdb.Error:
        # Damaged, or of an older wildtool. Verdicts follow from the record, so nothing is lost.
        return None


@cache
def _default_data(benchmark: str) -> str | None:
    """SHA-256 of the data that a benchmark takes where none are named; None where they are not at hand."""
    try:
        return load_benchmark(benchmark).locate(None).sha256
    except DataError:
        return None


def _last_change(folder: Path, as_played: bool) -> int:
    """When the run last changed, in nanoseconds."""
    files = [segment.path for segment in find_segments(folder)]
    if not as_played:
        # It says which items belong to the run. A run writes its own verdicts before it, so they would seem old.
        files.append(folder / "run.json")
    return max((file.stat().st_mtime_ns for file in files), default=0)


def read_result(table: Path, about: Mapping[str, Any]) -> Result:
    """The numbers in a run's file of verdicts.

    Args:
        about: what `run.json` says of the run.
    """
    rows = relation([table])
    ((run, model, benchmark, profile),) = rows.limit(1).project("run, model, benchmark, profile").fetchall()
    items, items_md5 = _items(rows)
    return Result(
        run=run,
        model=model,
        benchmark=benchmark,
        profile=profile,
        played=about["identity"]["profile"],
        data=about["data"]["name"],
        data_sha256=about["identity"]["data_sha256"],
        items=items,
        items_md5=items_md5,
        counts=_counts(rows),
        failed=_failed(rows),
        metrics=tuple(load_benchmark(benchmark).summarize(rows, profile)),
    )


def failed_in(table: Path) -> tuple[Failed, ...]:
    """What ended in infra errors in a file of verdicts, the most frequent kind first."""
    return _failed(relation([table]))


def in_words(failed: Iterable[Failed]) -> str:
    """Kinds of failed calls with the units each of them ended, and an example."""
    every = list(failed)
    kinds = ", ".join(f"{one_line(found.kind, 60)} ({found.units})" for found in every[:3])
    more = f" and {len(every) - 3} more kinds" if len(every) > 3 else ""
    return f"{kinds}{more}; such as: {one_line(every[0].example.removeprefix(f'{every[0].kind}: '), 300)}"


def _failed(rows: Any) -> tuple[Failed, ...]:
    # A reason is `KIND: MESSAGE`.
    kind = "split_part(reason, ': ', 1)"
    found = rows.filter("outcome = 'infra_error'").aggregate(
        f"{kind} AS kind, count(*) AS units, min(reason) AS example", kind
    )
    return tuple(Failed(*row) for row in found.order("units DESC, kind").fetchall())


def _items(rows: Any) -> tuple[int, str]:
    place = "concat_ws('/', lang, item)"
    digest = f"md5(string_agg(DISTINCT {place}, chr(10) ORDER BY {place}))"
    played = rows.filter("outcome <> 'unplayed'")
    ((items, items_md5),) = played.aggregate(f"count(DISTINCT item), coalesce({digest}, '')").fetchall()
    return items, items_md5


def _counts(rows: Any) -> Counts:
    return Counts(**dict(rows.aggregate("outcome, count(*)", "outcome").fetchall()))
