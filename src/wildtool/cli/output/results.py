"""The numbers of runs for the verbs that print them, with messages about how they were found."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from wildtool.cli.command import report_error, worst_status
from wildtool.cli.terminal import print_err
from wildtool.engine.plan import SelectedItems
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.results import ScoreResult, load_result, run_folders
from wildtool.engine.score.trust import FailureKind, failure_example, failure_summary
from wildtool.errors import WildtoolError, match_name
from wildtool.tool_formats import CallFormat
from wildtool.tool_formats.detect import resolve_format


def find_results(
    paths: Iterable[Path],
    profile: str | None = None,
    *,
    data: str | SelectedItems | None = None,
    again: bool = False,
    tool_format: str | None = None,
) -> tuple[list[ScoreResult], int]:
    """The numbers of all runs in the paths, in order, and the exit status for runs that cannot be read; those are
    reported and left out. Arguments as of `load_result`; the format by its name, or `auto` for that of a run's model.
    """
    results: list[ScoreResult] = []
    statuses: list[int] = []
    for folder in (folder for path in paths for folder in run_folders(path)):
        try:
            read_as = None if tool_format is None else _format_of_run(tool_format, folder)
            results.append(load_result(folder, profile, data=data, again=again, format=read_as))
            print_run_notes(folder, results[-1])
        except WildtoolError as error:
            statuses.append(report_error(error))
    return results, worst_status(statuses)


def _format_of_run(wanted: str, folder: Path) -> CallFormat:
    """The format of that name; with `auto` the one that a run's model is known to write."""
    agent = read_run(folder)["identity"]["models"].get("agent", {})
    return resolve_format(wanted, agent.get("name", ""))


def print_run_notes(folder: Path, result: ScoreResult) -> None:
    """Prints messages about how the numbers of a run were found."""
    for text in result.remarks:
        print_err(text)
    if result.read_as:
        print_err(f"{folder}: replies were read again as {result.read_as}; these scores are not saved")
    elif not result.kept:
        print_err(f"{folder}: read-only, so its scores are not saved")
    print_faults(f"{folder}: ", result.faults)


def print_faults(where: str, faults: Sequence[str]) -> None:
    """Prints that the judge failed, with the first reason; nothing if it did not."""
    if faults:
        print_err(f"{where}internal error: scoring failed {counted(len(faults), 'time')}. {faults[0]}")


def select_group(results: Iterable[ScoreResult], group: str) -> list[ScoreResult]:
    """The results with one group of numbers only. Raises UsageError that lists all groups if it is
    unknown."""
    every = list(results)
    name = match_name("group", group, result_groups(every))
    return [replace(r, metrics=tuple(m for m in r.metrics if m.group == name)) for r in every]


def result_groups(results: Iterable[ScoreResult]) -> list[str]:
    """The groups of numbers in any of the results."""
    return list(dict.fromkeys(metric.group for result in results for metric in result.metrics))


def describe_failures(failed: Sequence[FailureKind]) -> str:
    """The kinds of failed calls with the number of units they ended, and an example."""
    return f"{failure_summary(failed)}; for example: {failure_example(failed)}"
