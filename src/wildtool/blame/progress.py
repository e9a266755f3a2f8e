"""Shows a trial while it goes on: how many plays of the units whose cause is sought have ended, and how many right."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from wildtool.blame.trials import Round
from wildtool.engine.observer import Observer
from wildtool.engine.run.progress import ProgressObserver
from wildtool.terminal.progress import ProgressDisplay
from wildtool.types import Verdict


@contextmanager
def live_line(trial_run: Round) -> Generator[Observer]:
    """A live line about one run of a trial."""
    observer = _PlaysObserver(trial_run)
    with ProgressDisplay([observer]):
        yield observer


class _PlaysObserver(ProgressObserver):
    """Counts plays of the units whose cause is sought; those that they follow from are as recorded, and say nothing."""

    def __init__(self, trial_run: Round) -> None:
        super().__init__(trial_run.label, noun="plays", right="right", folder=trial_run.folder)
        self._trial_run = trial_run

    def started(self, units: int) -> None:
        super().started(self._trial_run.tried_plays)

    def unit_ended(self, item: str, repeat: int) -> None:
        """Which one is known when the item is done."""

    def item_done(self, item: str, repeat: int, verdicts: Sequence[Verdict]) -> None:
        tried = {unit.unit for unit in self._trial_run.tried(item)}
        super().item_done(item, repeat, [verdict for verdict in verdicts if verdict.unit in tried])
