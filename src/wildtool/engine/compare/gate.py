"""Whether models got worse: which losses are significant, and whether the evidence could hide one."""

from collections.abc import Sequence
from dataclasses import dataclass

from wildtool.engine.compare.suites import OVERALL, SuitePair
from wildtool.engine.score.formatting import format_p, format_range
from wildtool.engine.score.trust import WITHOUT_VERDICT
from wildtool.errors import UsageError

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Loss:
    """A significant loss of one model."""

    text: str
    """The model, the benchmark or `overall`, and the size in words."""
    excessive: bool
    """Whether it is larger than allowed."""


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
                if run.result.faults:
                    problems[f"{name}: scoring {run.label} failed; see the message above"] = None
                if run.result.evidence.missing and not only_played:
                    counts = f"{run.result.evidence.missing} of {run.result.evidence.units} units"
                    missing = [remark for remark in run.result.named_trust if remark.sign == WITHOUT_VERDICT]
                    advice = "".join(f": {remark.option}" for remark in missing if remark.option)
                    problems[f"{name}: {run.label} has no verdict on {counts}{advice}"] = None
    if problems:
        advice = "Complete the runs, or add --only-played to compare what both have."
        raise UsageError("\n  ".join(["incomplete evidence:", *problems]) + f"\n{advice}")


def significant_losses(pairs: Sequence[SuitePair], allowed: float) -> list[Loss]:
    """The losses that hold after Holm's correction, on benchmarks and overall. Args: allowed: in points."""
    return [
        Loss(
            f"{pair.new.label} lost {-100 * part.difference:.1f} points {'' if name == OVERALL else 'on '}{name} "
            f"({format_range(part.low, part.high, signed=True)}, p after Holm {format_p(line.p_holm)})",
            -100 * part.difference > allowed + _ROUNDING,
        )
        for pair in pairs
        for name, line in pair.lines.items()
        for part in (line.whole,)
        if line.finding == "worse"
    ]


def reason(pairs: Sequence[SuitePair], losses: Sequence[Loss], allowed: float) -> str:
    """Why a gate fails or passes, in words."""
    excessive = [loss.text for loss in losses if loss.excessive]
    if excessive:
        return f"failed: {'; '.join(excessive)}. Allowed: {allowed:g} points."
    if losses:
        return f"passed: {'; '.join(loss.text for loss in losses)}. That is within the {allowed:g} points allowed."
    size = max(line.detectable for pair in pairs for line in [*pair.lines.values()][-1:])
    where = " overall" if any(pair.overall for pair in pairs) else ""
    power = f"A loss of {100 * size:.1f} points{where} would be found four times out of five."
    return f"passed: no significant loss. {power}"
