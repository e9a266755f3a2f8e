"""What a run tells whoever watches it; a progress display overrides the methods it draws from."""

from collections.abc import Sequence

from wildtool.errors import CallError
from wildtool.types import Reply, Verdict


class Observer:
    """Sees a run go by; every method may be called thousands of times a second and must be cheap."""

    def started(self, units: int) -> None:
        """Play begins; `units` is those of all items times repeats, those in the record included."""

    def attempt_started(self) -> None:
        """A call goes out to a model, for the first time or again."""

    def attempt_ended(self, problem: CallError | None, *, answered: bool) -> None:
        """It is over: answered, or with what went wrong, or (neither) cut off."""

    def call_done(self, reply: Reply, *, replayed: bool) -> None:
        """A reply came, from the record where `replayed`."""

    def call_retried(self, kind: str, delay_s: float) -> None:
        """An attempt failed and is made again after `delay_s` seconds."""

    def call_failed(self, kind: str) -> None:
        """A call failed for good."""

    def batch_status_changed(self, state: str) -> None:
        """How the batches stand that are waited for, in words; empty while there are none."""

    def item_done(self, item: str, repeat: int, verdicts: Sequence[Verdict]) -> None:
        """All units of an item are played and judged."""
