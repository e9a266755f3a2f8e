"""Sends batches in rounds: when everything that is played waits for one, all that was asked goes out together."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from wildtool.engine.batch.journal import BatchJournal
from wildtool.engine.batch.queue import Lane
from wildtool.engine.batch.sender import BatchSender
from wildtool.engine.call.retry import Patience
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.writer import RecordWriter
from wildtool.models.providers.base import batching_of
from wildtool.types import Request


class Batching:
    """The rounds of a run, with a lane for each role that is asked by batches."""

    def __init__(
        self, plan: Plan, folder: Path, writer: RecordWriter, observer: Observer, patience: Patience
    ) -> None:
        """Raises RecordError where the journal of earlier batches is damaged."""
        journal = BatchJournal(folder)
        self._models = {role: plan.models[role] for role in sorted(plan.batched & plan.models.keys())}
        self._lanes = {role: Lane(role, journal, folder) for role in self._models}

        async def sync() -> None:
            await asyncio.to_thread(writer.sync)

        senders = [
            BatchSender(
                lane,
                folder,
                patience,
                on_retry=observer.call_retried,
                on_state=lambda: self.rounds.tell(),
            )
            for lane in self._lanes.values()
        ]
        self.rounds = Rounds(list(self._lanes.values()), senders, sync, observer.batch_changed)

    def serve(self, role: str, reserved: Callable[[Request], AbstractContextManager[None]]) -> None:
        """Lets a role's model send by its lane. Args: reserved: see `Lane.serve`."""
        model = batching_of(self._models[role])
        assert model is not None, "the plan is checked for this"
        lane = self._lanes[role]
        lane.serve(model.by_batches(lane.send), reserved, self.rounds.parked)


PASSES = 10
"""Turns of the event loop in which nothing may happen before a round begins."""


@dataclass(frozen=True, slots=True)
class PendingBatch:
    """A batch that goes on at its endpoint although nobody waits for it any more."""

    id: str
    """What the provider calls it."""
    requests: int
    """How many are in it."""
    status: str
    """The last that was heard of it, in the provider's own word."""
    cancel_url: str
    """Where a POST with the key cancels it."""


class Rounds:
    """Watches what a run does, and begins a round once nothing can go on without one."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        senders: Sequence[BatchSender],
        sync: Callable[[], Awaitable[None]],
        on_state: Callable[[str], None] = lambda state: None,
    ) -> None:
        """Args: sync: brings what is recorded to the disk. on_state: is told in words how a round stands."""
        self.number = 0
        """Of the round under way, from 1."""
        self._lanes = lanes
        self._senders = senders
        self._sync = sync
        self._on_state = on_state
        self._moved = asyncio.Event()
        self._events = 0
        self._complete = False
        self._asks: dict[Hashable, int] = {}
        self._idle = self._busy = self._parked = 0
        self._round: asyncio.Task[None] | None = None

    def job_begun(self, job: Hashable) -> None:
        """An item is being played."""
        self._asks[job] = 0
        self._idle += 1
        self._move()

    def job_ended(self, job: Hashable) -> None:
        """An item is played to its end."""
        self._idle -= not self._asks.pop(job)
        self._move()

    def all_begun(self) -> None:
        """No more items come."""
        self._complete = True
        self._move()

    @contextmanager
    def asking(self, job: Hashable) -> Generator[None]:
        """Is open while something of an item is asked, wherever."""
        self._idle -= not self._asks[job]
        self._asks[job] += 1
        self._busy += 1
        self._move()
        try:
            yield
        finally:
            self._busy -= 1
            self._asks[job] -= 1
            self._idle += not self._asks[job]
            self._move()

    @contextmanager
    def parked(self) -> Generator[None]:
        """Is open while a request waits for a batch."""
        self._busy -= 1
        self._parked += 1
        self._move()
        try:
            yield
        finally:
            self._parked -= 1
            self._busy += 1
            self._move()

    async def play(self) -> None:
        """Begins rounds until it is cancelled. Raises what went wrong with the journal or a file."""
        while True:
            await self._moved.wait()
            self._moved.clear()
            if not await self._is_quiet():
                continue
            await self.settle()
            if not self._parked:
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

    async def settle(self) -> None:
        """Writes down which results are recorded. To be called when all who were told have gone on."""
        told = [(lane, batch) for lane in self._lanes for batch in lane.under_way if batch.is_told]
        if told:
            await self._sync()
        for lane, batch in told:
            lane.under_way.remove(batch)
            batch.close()
            if batch.whole and not batch.begun.over:
                lane.journal.read(batch.begun, batch.waiting.keys())
        self.tell()

    def stop(self, why: str) -> None:
        """Waits for no batch any more; those under way stay pending."""
        for lane in self._lanes:
            lane.close(why)
        if self._round is not None:
            self._round.cancel()

    def pending(self) -> list[PendingBatch]:
        """Batches that are under way at their endpoints."""
        return [
            PendingBatch(
                batch.begun.id,
                len(batch.begun.requests),
                batch.state.status if batch.state else "unknown",
                lane.batches.cancel_url(batch.begun.id),
            )
            for lane in self._lanes
            for batch in lane.under_way
            if batch.begun.id is not None and not (batch.state and batch.state.over)
        ]

    def tell(self) -> None:
        """Says how the round stands; nothing where none is under way."""
        states = [(batch, batch.state) for lane in self._lanes for batch in lane.under_way]
        requests = sum(len(batch.waiting) for batch, _ in states)
        done = sum(state.done for _, state in states if state)
        words = dict.fromkeys(state.status if state else "being sent" for _, state in states)
        count = f"{len(states)} batches" if len(states) > 1 else "batch"
        said = f"round {self.number}: {count} {', '.join(words)}, {done}/{requests} done" if states else ""
        self._on_state(said)

    def _move(self) -> None:
        self._events += 1
        self._moved.set()

    async def _is_quiet(self) -> bool:
        """Whether nothing can go on but by a batch, and nothing happens for some turns of the event loop."""
        seen = self._events
        for _ in range(PASSES):
            waits = self._complete and self._parked and not self._busy and not self._idle
            if not waits or self._events != seen:
                return False
            await asyncio.sleep(0)
        return self._events == seen

    async def _send(self) -> None:
        async with asyncio.TaskGroup() as group:
            for sender in self._senders:
                group.create_task(sender.play())
