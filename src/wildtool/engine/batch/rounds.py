"""Sends batches in rounds: when everything that is played waits for one, all that was asked goes out together."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from wildtool.engine.batch.journal import BatchJournal
from wildtool.engine.batch.queue import BatchQueue
from wildtool.engine.batch.sender import BatchSender
from wildtool.engine.call.retry import RetryPolicy
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.writer import RecordWriter
from wildtool.models.providers.base import batchable_model
from wildtool.types import Request


class Batching:
    """The rounds of a run, with a lane for each role that is asked by batches."""

    def __init__(
        self, plan: Plan, folder: Path, writer: RecordWriter, observer: Observer, policy: RetryPolicy
    ) -> None:
        """Raises RecordError where the journal of earlier batches is damaged."""
        journal = BatchJournal(folder)
        self._models = {role: plan.models[role] for role in sorted(plan.batched & plan.models.keys())}
        self._queues = {role: BatchQueue(role, journal, folder) for role in self._models}

        async def sync() -> None:
            await asyncio.to_thread(writer.sync)

        senders = [
            BatchSender(
                lane,
                folder,
                policy,
                on_retry=observer.call_retried,
                on_state=lambda: self.scheduler.report_state(),
            )
            for lane in self._queues.values()
        ]
        self.scheduler = BatchScheduler(
            list(self._queues.values()), senders, sync, observer.batch_status_changed
        )

    def connect(self, role: str, reserve: Callable[[Request], AbstractContextManager[None]]) -> None:
        """Lets a role's model send by its lane. Args: reserved: see `Lane.serve`."""
        model = batchable_model(self._models[role])
        assert model is not None, "the plan is checked for this"
        lane = self._queues[role]
        lane.connect(model.use_batches(lane.send), reserve, self.scheduler.waiting)


QUIET_PASSES = 10
"""Turns of the event loop in which nothing may happen before a round begins."""


@dataclass(frozen=True, slots=True)
class RunningBatch:
    """A batch that goes on at its endpoint although nobody waits for it any more."""

    id: str
    """What the provider calls it."""
    requests: int
    """How many are in it."""
    status: str
    """The last that was heard of it, in the provider's own word."""
    cancel_url: str
    """Where a POST with the key cancels it."""


class BatchScheduler:
    """Watches what a run does, and begins a round once nothing can go on without one."""

    def __init__(
        self,
        queues: Sequence[BatchQueue],
        senders: Sequence[BatchSender],
        sync: Callable[[], Awaitable[None]],
        on_state: Callable[[str], None] = lambda state: None,
    ) -> None:
        """Args: sync: brings what is recorded to the disk. on_state: is told in words how a round stands."""
        self.number = 0
        """Of the round under way, from 1."""
        self._queues = queues
        self._senders = senders
        self._sync = sync
        self._on_state = on_state
        self._changed = asyncio.Event()
        self._events = 0
        self._complete = False
        self._asks: dict[Hashable, int] = {}
        self._idle = self._busy = self._waiting = 0
        self._round: asyncio.Task[None] | None = None

    def job_started(self, job: Hashable) -> None:
        """An item is being played."""
        self._asks[job] = 0
        self._idle += 1
        self._notify()

    def job_ended(self, job: Hashable) -> None:
        """An item is played to its end."""
        self._idle -= not self._asks.pop(job)
        self._notify()

    def all_jobs_started(self) -> None:
        """No more items come."""
        self._complete = True
        self._notify()

    @contextmanager
    def asking(self, job: Hashable) -> Generator[None]:
        """Is open while something of an item is asked, wherever."""
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
        self._waiting += 1
        self._notify()
        try:
            yield
        finally:
            self._waiting -= 1
            self._busy += 1
            self._notify()

    async def play(self) -> None:
        """Begins rounds until it is cancelled. Raises what went wrong with the journal or a file."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if not await self._is_quiet():
                continue
            await self.commit_results()
            if not self._waiting:
                # A deadline has passed meanwhile.
                continue
            self.number += 1
            self._round = asyncio.create_task(self._send())
            try:
                await asyncio.wait([self._round])
            finally:
                self._round.cancel()
            # A round that a deadline has ended is cancelled, and nothing is wrong then.
            if not self._round.cancelled():
                self._round.result()

    async def commit_results(self) -> None:
        """Writes down which results are recorded. To be called when all who were told have gone on."""
        told = [(lane, batch) for lane in self._queues for batch in lane.running if batch.is_settled]
        if told:
            await self._sync()
        for lane, batch in told:
            lane.running.remove(batch)
            batch.close()
            if batch.all_readable and not batch.entry.finished:
                lane.journal.read(batch.entry, batch.waiting.keys())
        self.report_state()

    def stop(self, why: str) -> None:
        """Waits for no batch any more; those under way stay pending."""
        for lane in self._queues:
            lane.close(why)
        if self._round is not None:
            self._round.cancel()

    def running_batches(self) -> list[RunningBatch]:
        """Batches that are under way at their endpoints."""
        return [
            RunningBatch(
                batch.entry.id,
                len(batch.entry.requests),
                batch.state.status if batch.state else "unknown",
                lane.api.cancel_url(batch.entry.id),
            )
            for lane in self._queues
            for batch in lane.running
            if batch.entry.id is not None and not (batch.state and batch.state.ended)
        ]

    def report_state(self) -> None:
        """Says how the round stands; nothing where none is under way."""
        states = [(batch, batch.state) for lane in self._queues for batch in lane.running]
        requests = sum(len(batch.waiting) for batch, _ in states)
        done = sum(state.done for _, state in states if state)
        words = dict.fromkeys(state.status if state else "being sent" for _, state in states)
        count = f"{len(states)} batches" if len(states) > 1 else "batch"
        said = f"round {self.number}: {count} {', '.join(words)}, {done}/{requests} done" if states else ""
        self._on_state(said)

    def _notify(self) -> None:
        self._events += 1
        self._changed.set()

    async def _is_quiet(self) -> bool:
        """Whether nothing can go on but by a batch, and nothing happens for some turns of the event loop."""
        seen = self._events
        for _ in range(QUIET_PASSES):
            waits = self._complete and self._waiting and not self._busy and not self._idle
            if not waits or self._events != seen:
                return False
            await asyncio.sleep(0)
        return self._events == seen

    async def _send(self) -> None:
        async with asyncio.TaskGroup() as group:
            for sender in self._senders:
                group.create_task(sender.send_batches())
