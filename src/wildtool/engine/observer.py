"""Callbacks that report a run's progress."""

from collections.abc import Sequence

from wildtool.errors import CallError, LimitError
from wildtool.types import Reply, Verdict


class Observer:
    """Receives the progress of a run. Methods may be called thousands of times per second and must be cheap."""

    def started(self, units: int) -> None:
        """Play begins; `units` is those of all items times repeats, those in the record included."""

    def attempt_started(self) -> None:
        """An attempt of a call is sent."""

    def attempt_ended(self, problem: CallError | None, *, answered: bool) -> None:
        """An attempt is over: answered, failed with a problem, or (neither) cut off."""

    def call_done(self, reply: Reply, *, replayed: bool) -> None:
        """A reply came, from the record where `replayed`."""

    def reply_noticed(self, text: str) -> None:
        """What the user should know at once: what one of the first replies shows, or that the endpoint is down."""

    def endpoint_down(self, answered: str, wait_s: float) -> None:
        """An endpoint that has answered is down, until an attempt is answered again.

        Args:
            answered: until when it answered, in words.
            wait_s: seconds that calls wait for it at most.
        """

    def call_retried(self, kind: str, delay_s: float) -> None:
        """An attempt failed and is retried after `delay_s` seconds."""

    def call_failed(self, kind: str) -> None:
        """A call failed for good."""

    def limit_reached(self, error: LimitError) -> None:
        """No more calls are made, since a limit is reached."""

    def batch_status_changed(self, state: str) -> None:
        """The status of the batches that the run waits for, in words; empty while there are none."""

    def unit_ended(self, item: str, repeat: int) -> None:
        """A unit of an item has all its replies, or its last call failed for good; it is judged with its item."""

    def item_done(self, item: str, repeat: int, verdicts: Sequence[Verdict]) -> None:
        """All units of an item have been run and judged."""
