"""Whether a run may pass, from Python: what `wildtool gate` asks."""

from collections.abc import Sequence
from pathlib import Path

from wildtool.api.door import door
from wildtool.api.results import Run
from wildtool.errors import UsageError
from wildtool.gating.answering import run_gate
from wildtool.gating.outcome import GateOutcome, GateSettings


@door
def gate(
    new: Run | str | Path,
    *,
    against: Run | str | Path | None = None,
    worse_than: float | None = None,
    allow_undecided: bool = False,
    at_least: float | str | Sequence[float | str] = (),
    newly_broken: int | None = None,
    burn_in: int | None = None,
    profile: str | None = None,
    only_played: bool = False,
    update_baseline: bool = False,
) -> GateOutcome:
    """Whether a run got significantly worse, or falls short of what is asked of it.

    Args:
        new: the run, or a folder of several.
        against: the baseline, runs or a file; None to look at floors and cases that must pass alone.
        at_least: shares from 0 to 1, or texts such as `"refunds:0.8"`.
        worse_than, allow_undecided, newly_broken, burn_in, profile, only_played, update_baseline: as the options of
            `wildtool gate`.

    Raises UsageError where the question has no answer, such as for runs that are incomplete or do not compare.
    """
    floors = [at_least] if isinstance(at_least, str | int | float) else at_least
    settings = GateSettings(
        against=None if against is None else _place(against),
        worse_than=worse_than,
        allow_undecided=allow_undecided,
        at_least=tuple(map(str, floors)),
        newly_broken=newly_broken,
        burn_in=burn_in,
        profile=profile,
        only_played=only_played,
        update_baseline=update_baseline,
    )
    outcome = run_gate(_place(new), settings)
    if outcome.problem:
        raise UsageError(outcome.problem)
    return outcome


def _place(run: Run | str | Path) -> Path:
    return run.folder if isinstance(run, Run) else Path(run)
