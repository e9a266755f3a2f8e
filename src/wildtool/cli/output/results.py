"""The numbers of runs for the verbs that print them, with messages about how they were found."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from wildtool.advice import in_file
from wildtool.cli.command import report_error, worst_status
from wildtool.engine.plan import SelectedItems
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.reading import FROM_TEXT, NATIVE, REPLIES, WITH_TOOLS
from wildtool.engine.score.results import ScoreResult, load_result, run_folders
from wildtool.engine.score.trust import FailureKind, TrustRemark, failure_example, failure_summary
from wildtool.errors import WildtoolError, match_name
from wildtool.terminal import print_err
from wildtool.tool_formats import CallFormat
from wildtool.tool_formats.detect import AUTO, named_format


def find_results(
    paths: Iterable[Path],
    profile: str | None = None,
    *,
    data: str | SelectedItems | None = None,
    again: bool = False,
    tool_format: str | None = None,
    score_command: str | None = None,
) -> tuple[list[ScoreResult], int]:
    """The numbers of all runs in the paths, in order, and the exit status for runs that cannot be read; those are
    reported and left out. Arguments as of `load_result`.

    Args:
        tool_format: its name, or `auto` for the one in which the replies of a run write their calls.
        score_command: what scores these replies again, for the remedies; None where the runs are kept, so that their
            folders can be named.
    """
    results: list[ScoreResult] = []
    statuses: list[int] = []
    for folder in (folder for path in paths for folder in run_folders(path)):
        try:
            # The folder of replies that are not kept has a name that nobody gave.
            label = folder if score_command is None else Path(folder.name)
            read_as = (
                None if tool_format is None else _format_of_run(tool_format, folder, profile, data, label)
            )
            result = load_result(folder, profile, data=data, again=again, format=read_as)
            print_run_notes(label, result)
            results.append(replace(result, trust=_named_trust(result, score_command)))
        except WildtoolError as error:
            statuses.append(report_error(error))
    return results, worst_status(statuses)


def _format_of_run(
    wanted: str, folder: Path, profile: str | None, data: str | SelectedItems | None, label: Path
) -> CallFormat:
    """The format of that name; with `auto` the one in which the replies of a run write their calls."""
    if wanted != AUTO:
        return named_format(wanted)
    from wildtool.engine.score.probing import probe_format

    probed = probe_format(folder, profile=profile, data=data, label=str(label))
    calls = f"{probed.calls} of {counted(probed.of, 'call')} in texts"
    print_err(f"{label}: --tool-format auto is {probed.format.name}, which reads {calls}")
    return probed.format


def _named_trust(result: ScoreResult, score_command: str | None) -> tuple[TrustRemark, ...]:
    """The remarks with the run, or what scores its replies again, in the commands that their remedies give."""
    if score_command is None:
        return result.named_trust
    return tuple(replace(remark, option=in_file(remark.option, score_command)) for remark in result.trust)


def print_run_notes(folder: Path, result: ScoreResult) -> None:
    """Prints messages about how the numbers of a run were found."""
    for text in result.remarks:
        print_err(text)
    if result.read_as:
        print_err(f"{folder}: {_reading_note(result)}")
    elif not result.kept:
        print_err(f"{folder}: read-only, so its scores are not saved")
    print_faults(f"{folder}: ", result.faults)


def _reading_note(result: ScoreResult) -> str:
    """What was found in replies that were read again."""
    counts, name = result.readings, result.read_as
    if not counts.get(REPLIES):
        return f"replies were read again as {name}; these scores are not saved"
    replies = counted(counts.get(REPLIES, 0), "reply", "replies")
    if found := counts.get(FROM_TEXT, 0):
        note = f"replies were read again as {name}, and {found} of {replies} have calls in it"
        return f"{note}; these scores are not saved"
    if not counts.get(WITH_TOOLS):
        reason = "tools were offered to no reply, so the benchmark itself reads calls from its texts"
    elif native := counts.get(NATIVE):
        reason = (
            f"{native} of {replies} have native calls, which stay as they are, and no text has one in {name}"
        )
    else:
        reason = f"none of {replies} has a call in {name}"
    return f"nothing was read again: {reason}"


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
