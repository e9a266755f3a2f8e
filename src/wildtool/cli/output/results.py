"""The numbers of runs for the verbs that print them, with what must be said while they are found."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from wildtool.cli.exit_status import report, worst
from wildtool.cli.terminal import note
from wildtool.engine.compare.leaderboard import example_of, kinds_of
from wildtool.engine.score.results import Failed, Result, result_of, run_folders
from wildtool.errors import WildtoolError, one_of


def find_results(
    paths: Iterable[Path], profile: str | None = None, *, data: str | None = None, again: bool = False
) -> tuple[list[Result], int]:
    """The numbers of all runs at or below the paths, in their order, and the exit status that runs which cannot be
    read lead to; those are named and left out. Arguments as of `result_of`."""
    results: list[Result] = []
    statuses: list[int] = []
    for folder in (folder for path in paths for folder in run_folders(path)):
        try:
            results.append(result_of(folder, profile, data=data, again=again))
            remark(folder, results[-1])
        except WildtoolError as error:
            statuses.append(report(error))
    return results, worst(statuses)


def remark(folder: Path, result: Result) -> None:
    """Says what happened while the numbers of a run were found."""
    for text in result.remarks:
        note(text)
    if not result.kept:
        note(f"{folder}: read-only, so its scores are not saved")
    if result.faults:
        note(f"{folder}: internal error: scoring failed {len(result.faults)} times. {result.faults[0]}")


def only_group(results: Iterable[Result], group: str) -> list[Result]:
    """The results with one group of numbers only. Raises UsageError listing all if it is unknown."""
    every = list(results)
    wanted = one_of("group", group, groups_of(every))
    return [replace(r, metrics=tuple(m for m in r.metrics if m.group == wanted)) for r in every]


def groups_of(results: Iterable[Result]) -> list[str]:
    """The groups of numbers that any of the results has."""
    return list(dict.fromkeys(metric.group for result in results for metric in result.metrics))


def in_words(failed: Sequence[Failed]) -> str:
    """Kinds of failed calls with the units each of them ended, and an example."""
    return f"{kinds_of(failed)}; for example: {example_of(failed)}"
