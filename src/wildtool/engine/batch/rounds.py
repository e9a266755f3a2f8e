"""Sends batches in rounds: once every item waits for a reply, all waiting requests go out together."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from wildtool.engine.batch.journal import BatchJournal
from wildtool.engine.batch.queue import BatchQueue
from wildtool.engine.batch.sender import BatchSender
from wildtool.engine.call.client import RetryPolicy
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.writer import RecordWriter
from wildtool.models.providers.base import batchable_model
from wildtool.types import Request

QUIET_PASSES = 10
"""Turns of the event loop in which nothing may happen before a round begins."""


@dataclass(frozen=True, slots=True)
class RunningBatch:
    """A batch that still runs at its endpoint, though this process no longer waits for it."""

    id: str
    """What the provider calls it."""
    requests: int
    """How many are in it."""
    status: str
    """Its last known status, in the provider's own word."""
    cancel_url: str
    """Where a POST with the key cancels it."""


class Activity:
    """What a run is doing: which items are asking, and which requests wait for a batch."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        """Set whenever anything begins or ends."""
        self.requests_waiting = 0
        """Requests that wait for a batch."""
        self._events = 0
        self._complete = False
        self._asks: dict[Hashable, int] = {}
        self._idle = self._busy = 0

    def job_started(self, job: Hashable) -> None:
        """An item is being run."""
        self._asks[job] = 0
        self._idle += 1
        self._notify()

    def job_ended(self, job: Hashable) -> None:
        """All of an item has been run."""
        self._idle -= not self._asks.pop(job)
        self._notify()

    def all_jobs_started(self) -> None:
        """No more items come."""
        self._complete = True
        self._notify()

    @contextmanager
    def asking(self, job: Hashable) -> Generator[None]:
        """Is open while an item asks anything, of whichever model."""
        self._idle -= not self._asks[job]
        self._asks[job] += 1
        self._busy += 1
        self._notify()
        try:
            yield
        finally:
            self._busy -= 1
            self._asks[job] -= 1
            self._idle += not self._asks[job]
            self._notify()

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Is open while a request waits for a batch."""
        self._busy -= 1
        self.requests_waiting += 1
        self._notify()
        try:
            yield
        finally:
            self.requests_waiting -= 1
            self._busy += 1
            self._notify()

    async def is_quiet(self) -> bool:
        """Whether all items wait for a batch, and nothing happens for some turns of the event loop."""
        seen = self._events
        for _ in range(QUIET_PASSES):
            waits = self._complete and self.requests_waiting and not self._busy and not self._idle
            if not waits or self._events != seen:
                return False
            await asyncio.sleep(0)
        return self._events == seen

    def _notify(self) -> None:
        self._events += 1
        self.changed.set()


class RoundProgress:
    """Reports the progress of the current round in words."""

    def __init__(self, queues: Sequence[BatchQueue], on_state: Callable[[str], None]) -> None:
        self.number = 0
        """Of the round under way, from 1."""
        self._queues = queues
        self._on_state = on_state

    def report(self) -> None:
        """Reports the round; an empty text where none is under way."""
        states = [(batch, batch.state) for queue in self._queues for batch in queue.running]
        requests = sum(len(batch.waiting) for batch, _ in states)
        done = sum(state.done for _, state in states if state)
        words = dict.fromkeys(state.status if state else "being sent" for _, state in states)
        count = f"{len(states)} batches" if len(states) > 1 else "batch"
        self._on_state(
            f"round {self.number}: {count} {', '.join(words)}, {done}/{requests} done" if states else ""
        )


class BatchScheduler:
    """Starts a round once all items of a run wait for one."""

    def __init__(
        self,
        activity: Activity,
        queues: Sequence[BatchQueue],
        senders: Sequence[BatchSender],
        progress: RoundProgress,
        sync: Callable[[], Awaitable[None]],
    ) -> None:
        """Args: sync: brings the record to the disk."""
        self.activity = activity
        self._queues = queues
        self._senders = senders
        self._progress = progress
        self._sync = sync
        self._round: asyncio.Task[None] | None = None

    async def play(self) -> None:
        """Begins rounds until it is cancelled. Raises StorageError where the journal or a file cannot be written."""
        while True:
            await self.activity.changed.wait()
            self.activity.changed.clear()
            if not await self.activity.is_quiet():
                continue
            await self.commit_results()
            if not self.activity.requests_waiting:
                # A deadline has passed meanwhile.
                continue
            self._progress.number += 1
            self._round = asyncio.create_task(self._send())
            try:
                await asyncio.wait([self._round])
            finally:
                self._round.cancel()
            # A round that a deadline has ended is cancelled, and nothing is wrong then.
            if not self._round.cancelled():
                self._round.result()

    async def commit_results(self) -> None:
        """Notes in the journal which results are recorded; to be called once they have been used."""
        settled = [(queue, batch) for queue in self._queues for batch in queue.running if batch.is_settled]
        if settled:
            await self._sync()
        for queue, batch in settled:
            queue.note_used(batch)
        self._progress.report()

    def stop(self, why: str) -> None:
        """Stops waiting; batches that are under way stay pending."""
        for queue in self._queues:
            queue.close(why)
        if self._round is not None:
            self._round.cancel()

    def running_batches(self) -> list[RunningBatch]:
        """Batches that are under way at their endpoints."""
        return [
            RunningBatch(
                batch.entry.id,
                len(batch.entry.requests),
                batch.state.status if batch.state else "unknown",
                queue.api.cancel_url(batch.entry.id),
            )
            for queue in self._queues
            for batch in queue.running
            if batch.entry.id is not None and not (batch.state and batch.state.ended)
        ]

    async def _send(self) -> None:
        async with asyncio.TaskGroup() as group:
            for sender in self._senders:
                group.create_task(sender.send_batches())


def batch_scheduler(
    plan: Plan,
    reserve: Mapping[str, Callable[[Request], AbstractContextManager[None]]],
    folder: Path,
    writer: RecordWriter,
    observer: Observer,
    policy: RetryPolicy,
) -> BatchScheduler:
    """The rounds of a run in a folder, with a queue for each role that is called by batches.

    Args: reserve: by role, what holds what a request is expected to take (`BatchQueue`).

    Raises RecordError where the journal of earlier batches is damaged.
    """

    async def sync() -> None:
        await asyncio.to_thread(writer.sync)

    activity, journal = Activity(), BatchJournal(folder)
    queues: list[BatchQueue] = []
    for role in sorted(plan.batched & reserve.keys()):
        model = batchable_model(plan.models[role])
        assert model is not None, "the plan is checked for this"
        queues.append(
            BatchQueue(role, model, journal, folder, reserve=reserve[role], waiting=activity.waiting)
        )
    progress = RoundProgress(queues, observer.batch_status_changed)
    senders = [
        BatchSender(queue, folder, policy, on_retry=observer.call_retried, on_state=progress.report)
        for queue in queues
    ]
    return BatchScheduler(activity, queues, senders, progress, sync)
