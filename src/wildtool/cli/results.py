"""From run folders to their numbers: finds verdicts, judges where they are missing, summarizes them."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.engine.registry import load_benchmark
from wildtool.engine.rundir import read_run
from wildtool.engine.score import score_run
from wildtool.engine.segments import find_segments
from wildtool.engine.verdicts import Counts, relation, verdicts_path
from wildtool.errors import RecordError, UsageError
from wildtool.types import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The numbers of one model in one run under one profile."""

    run: str
    model: str
    benchmark: str
    profile: str
    played: str | None
    """The profile it was played under; None where that is unknown."""
    counts: Counts
    metrics: tuple[Metric, ...]

    @property
    def judged_as(self) -> str:
        """The profile, and the one it was played under where they differ."""
        if self.played in (None, self.profile):
            return f"profile {self.profile}"
        return f"played {self.played}, judged {self.profile}"


def find_results(paths: Iterable[Path], profile: str | None = None) -> list[Result]:
    """The numbers of all runs at or below the paths, in their order.

    Args:
        profile: rules to judge by; None for those each run was played under.

    Raises RecordError where a path holds no run.
    """
    return [
        result for path in paths for folder in run_folders(path) for result in _results_in(folder, profile)
    ]


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


def _results_in(folder: Path, profile: str | None) -> Iterator[Result]:
    played: str | None = read_run(folder)["identity"]["profile"]
    yield from read_results(_judged(folder, profile or played, played), played)


def _judged(folder: Path, profile: str | None, played: str | None) -> Path:
    """The verdicts of a run, judged now if they are missing or older than what they are about."""
    if profile is not None:
        table = verdicts_path(folder, profile)
        if table.exists() and table.stat().st_mtime_ns >= _last_change(folder, profile == played):
            return table
    return score_run(folder, profile=profile).verdicts


def _last_change(folder: Path, as_played: bool) -> int:
    """When the run last changed, in nanoseconds."""
    files = [segment.path for segment in find_segments(folder)]
    if not as_played:
        # It says which items belong to the run. A run writes its own verdicts before it, so they would seem old.
        files.append(folder / "run.json")
    return max((file.stat().st_mtime_ns for file in files), default=0)


def read_results(table: Path, played: str | None) -> Iterator[Result]:
    """The numbers of each model in a file of verdicts."""
    import duckdb

    names = "run, model, benchmark, profile"
    rows = relation([table])
    for run, model, benchmark, profile in rows.aggregate(names, names).order("model").fetchall():
        mine = rows.filter(duckdb.ColumnExpression("model") == duckdb.ConstantExpression(model))
        yield Result(
            run=run,
            model=model,
            benchmark=benchmark,
            profile=profile,
            played=played,
            counts=_counts(mine),
            metrics=tuple(load_benchmark(benchmark).summarize(mine, profile)),
        )


def _counts(rows: Any) -> Counts:
    return Counts(**dict(rows.aggregate("outcome, count(*)", "outcome").fetchall()))
