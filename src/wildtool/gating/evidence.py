"""What could hide a loss: a benchmark that is not compared, and units without a verdict."""

from collections.abc import Sequence

from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.compare.suites import SuitePair
from wildtool.engine.score.trust import WITHOUT_VERDICT
from wildtool.errors import UsageError


def check_evidence(pairs: Sequence[SuitePair], *, only_played: bool = False) -> None:
    """Refuses what could hide a loss: a benchmark of the baseline that cannot be compared, and units without a verdict.

    Args:
        only_played: accept benchmarks that only the baseline has, and compare the units that both have a verdict on.

    Raises UsageError.
    """
    problems: dict[str, None] = {}
    for pair in pairs:
        for name, reason in pair.left_out.items():
            if name in pair.old.runs and not (only_played and name not in pair.new.runs):
                problems[f"{name}: {reason}"] = None
        for name in pair.benchmarks:
            for run in (pair.old.runs[name], pair.new.runs[name]):
                problems |= dict.fromkeys(problems_of_run(name, run, only_played=only_played))
    if problems:
        raise UsageError(incomplete(list(problems), only_played=only_played))


def problems_of_run(name: str, run: ComparedRun, *, only_played: bool = False) -> list[str]:
    """What keeps the verdicts of one run from being evidence. Args: name: of its benchmark."""
    problems: list[str] = []
    if run.result.faults:
        problems.append(f"{name}: scoring {run.label} failed; see the message above")
    if run.result.evidence.missing and not only_played:
        counts = f"{run.result.evidence.missing} of {run.result.evidence.units} units"
        missing = [remark for remark in run.result.named_trust if remark.sign == WITHOUT_VERDICT]
        advice = "".join(f": {remark.option}" for remark in missing if remark.option)
        problems.append(f"{name}: {run.label} has no verdict on {counts}{advice}")
    return problems


def incomplete(problems: Sequence[str], *, only_played: bool) -> str:
    """The message on incomplete evidence. Args: only_played: whether that was given already."""
    other_way = "" if only_played else ", or add --only-played to compare what both have"
    advice = f"Complete the runs{other_way}."
    return "\n  ".join(["incomplete evidence:", *problems]) + f"\n{advice}"
