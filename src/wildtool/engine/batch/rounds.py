"""Sends batches in rounds: once every item waits for a reply, all waiting requests go out together.

Of each role a sender creates the batches or finds them again, waits for their end, and hands out the results.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from wildtool.engine.batch.journal import BatchJournal
from wildtool.engine.batch.queue import Batch, BatchQueue, BatchResults, ResendRequestError
from wildtool.engine.call.client import RetryPolicy, retry
from wildtool.engine.call.rate_limit import LONGEST_RETRY_AFTER_S
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.writer import RecordWriter
from wildtool.errors import CallError, InfraError
from wildtool.models.batch.protocol import BatchResult, BatchState
from wildtool.models.providers.base import batchable_model
from wildtool.types import Request

FIRST_POLL_S = 0.5
LONGEST_POLL_S = 60.0
POLL_GROWTH = 1.5
POLL_FAILURES = 30
"""Failed status requests in a row, within half an hour at most, after which we stop waiting for a batch."""
CLOCK_SKEW_S = 3600.0
"""How far the provider's clock may be behind ours."""
YIELD_AFTER = 500
"""Results that are handed out before the event loop gets a turn."""
UNCERTAIN_FAILURES = frozenset(
    (
        "network",
        "timeout",
        "truncated body",
        "invalid JSON",
        "wrong shape",
        "body too large",
        "http 500",
        "http 502",
        "http 504",
        "http 520",
        "http 522",
        "http 524",
    )
)
"""Failures after which nobody knows whether a batch was created."""


class BatchSender:
    """Sends what a queue has collected."""

    def __init__(
        self,
        queue: BatchQueue,
        folder: Path,
        policy: RetryPolicy,
        *,
        on_retry: Callable[[str, float], None],
        on_state: Callable[[], None],
    ) -> None:
        """Args: policy: of one HTTP call. on_state: called whenever the status of a batch changes."""
        self._queue = queue
        self._folder = folder
        self._policy = policy
        self._on_retry = on_retry
        self._on_state = on_state
        self._begin_lock = asyncio.Lock()
        self._split_lock = asyncio.Lock()

    async def send_batches(self) -> None:
        """Sends all batches that the queue has now; at the end their waiting requests have answers or errors."""
        batches = self._queue.drain()
        if self._queue.most_requests < self._queue.api.most_requests:
            # The provider has said that they would be too much at once.
            for batch in batches:
                await self._process(batch)
        else:
            async with asyncio.TaskGroup() as group:
                for batch in batches:
                    group.create_task(self._process(batch))

    async def _process(self, batch: Batch, *, alone: bool = False) -> None:
        try:
            try:
                async with self._begin_lock:
                    await self._begin(batch)
                state = await self._wait_for_end(batch)
                too_much = state.too_large
            except CallError as error:
                state, too_much = None, error.kind == "http 413"
                if not too_much or not _can_split(batch):
                    raise
            if too_much and _can_split(batch):
                await self._process_split(batch, alone)
            elif state is not None:
                await (
                    self._reject_all(batch, state) if state.failure else self._deliver_results(batch, state)
                )
        except ResendRequestError:
            self._queue.journal.end(batch.entry, "never begun")
            batch.fail(ResendRequestError)
        except CallError as error:
            batch.all_readable = False
            failure = error
            batch.fail(lambda: self._batch_error(batch, failure))

    def _batch_error(self, batch: Batch, error: CallError) -> Exception:
        """The error of a batch that cannot be created or read; it stays in the journal, for the next process."""
        if error.kind == "http 404" and batch.entry.id is not None:
            message = (
                f"{error} (the batch or its results are gone: deleted, too old, or another key's; to have its requests "
                f"sent again, and paid for again, delete {self._queue.journal.path})"
            )
            return CallError(error.kind, message, final=True, advised=True)
        if error.final:
            return CallError(error.kind, str(error), final=True, advised=error.advised)
        return InfraError(error.kind, str(error), advised=error.advised)

    async def _process_split(self, batch: Batch, alone: bool) -> None:
        """Sends a batch in parts, one after another, since they count together until they are over."""
        if not alone:
            async with self._split_lock:
                await self._process_split(batch, alone=True)
            return
        for half in self._queue.split(batch):
            await self._process(half, alone=True)

    async def _begin(self, batch: Batch) -> None:
        """Creates a batch unless it exists. Raises ResendRequestError, and CallError after the last attempt."""
        begun, api, journal = batch.entry, self._queue.api, self._queue.journal
        if begun.id is not None:
            return
        if batch.file is not None and begun.file is None:
            unsent = batch.file

            async def upload() -> str | None:
                with closing(unsent.open()) as file:
                    return await api.upload(begun.mark, file)

            if (uploaded := await retry(upload, self._policy, self._on_retry)) is not None:
                journal.uploaded(begun, uploaded)
        batch.state = await self._create(batch)
        journal.created(begun, batch.state.id)
        self._on_state()

    async def _create(self, batch: Batch) -> BatchState:
        """Creates a batch; if an earlier attempt may have created it, looks for it first."""
        begun, api = batch.entry, self._queue.api
        unsure = batch.file is None

        async def create() -> BatchState:
            nonlocal unsure
            if unsure and (created := await self._find_created(batch)) is not None:
                return created
            try:
                if begun.file is not None:
                    return await api.create(begun.mark, None, begun.file)
                if batch.file is None:
                    raise ResendRequestError
                with closing(batch.file.open()) as file:
                    return await api.create(begun.mark, file, None)
            except CallError as error:
                unsure = error.kind in UNCERTAIN_FAILURES
                raise

        return await retry(create, self._policy, self._on_retry)

    async def _find_created(self, batch: Batch) -> BatchState | None:
        """The batch, if it was created although no answer said so."""
        begun, api = batch.entry, self._queue.api
        if api.stores_mark and begun.file is None:
            return None
        journal_ids = self._queue.journal.ids()

        async def look() -> list[BatchState]:
            states = api.find(begun.mark, len(begun.requests), begun.time - CLOCK_SKEW_S)
            return [state async for state in states if state.id not in journal_ids]

        for state in await retry(look, self._policy, self._on_retry):
            if api.stores_mark:
                return state
            # Whose it is only its results tell.
            over = await self._poll(state.id, state)
            try:
                with BatchResults(api, over, self._folder) as results:
                    await results.read(self._policy, self._on_retry)
            except CallError as error:
                if not error.final:
                    raise
                # Another user's batch, deleted meanwhile.
                continue
            if begun.requests.keys() & results.ids:
                return over
        return None

    async def _wait_for_end(self, batch: Batch) -> BatchState:
        """Waits until a batch is over."""
        assert batch.entry.id is not None

        def on_poll(state: BatchState) -> None:
            batch.state = state
            self._on_state()

        return await self._poll(batch.entry.id, batch.state, on_poll)

    async def _poll(
        self,
        id_: str,
        state: BatchState | None,
        on_state: Callable[[BatchState], None] = lambda state: None,
    ) -> BatchState:
        """Polls, at growing intervals, until a batch is over."""
        wait, failures = FIRST_POLL_S, 0
        while state is None or not state.ended:
            if state is not None or failures:
                await self._policy.sleep(wait)
            wait = min(wait * POLL_GROWTH, LONGEST_POLL_S)
            try:
                state = await self._queue.api.state(id_)
                on_state(state)
                failures = 0
            except CallError as error:
                failures += 1
                if error.final or failures >= POLL_FAILURES:
                    raise
                wait = max(wait, min(error.retry_after_s or 0.0, LONGEST_RETRY_AFTER_S))
                self._on_retry(error.kind, wait)
        return state

    async def _reject_all(self, batch: Batch, state: BatchState) -> None:
        """Fails all waiting requests of a refused batch, and names the requests at fault if they are known."""
        api = self._queue.api
        where = f"batch {state.id} at {api.endpoint.redacted_url}"
        kind, sentence = "batch refused", "the batch was refused"
        ids = list(batch.entry.requests)
        at_fault = {
            ids[line - 1]: message for line, message in state.failed_lines.items() if 0 < line <= len(ids)
        }
        final = not at_fault and not state.transient and not state.too_large
        for custom_id, future in batch.waiting.items():
            if not future.done():
                fault = at_fault.get(custom_id)
                quote = state.failure if fault is None else fault
                error: Exception = api.endpoint.error(
                    kind, sentence, quote, final=final or fault is not None, where=where
                )
                future.set_exception(ResendRequestError() if batch.inherited else error)

    async def _deliver_results(self, batch: Batch, state: BatchState) -> None:
        """Reads the results and hands them out: answers first, then failures, then what is missing."""
        with BatchResults(self._queue.api, state, self._folder) as results:
            await results.read(self._policy, self._on_retry)
            came = max(0.0, time.time() - batch.entry.time)
            delivered = 0
            for result in results:
                future = batch.waiting.get(result.custom_id)
                if future is None or future.done():
                    continue
                failure = self._failure(result, state)
                if failure is None:
                    future.set_result((result.answer, came))
                else:
                    future.set_exception(ResendRequestError() if batch.inherited else failure)
                delivered += 1
                if delivered % YIELD_AFTER == 0:
                    await asyncio.sleep(0)
        missing = [future for future in batch.waiting.values() if not future.done()]
        odd = {
            "missing": len(missing),
            "repeated": results.repeated,
            "unknown": len(results.ids - batch.entry.requests.keys()),
            "unreadable": results.unreadable,
        }
        batch.entry.anomalies = {name: count for name, count in odd.items() if count}
        batch.all_readable = not results.unreadable
        for future in missing:
            resend = batch.inherited and not results.unreadable
            future.set_exception(ResendRequestError() if resend else self._missing(state, results.unreadable))

    def _failure(self, result: BatchResult, state: BatchState) -> Exception | None:
        if result.canceled:
            # It was canceled on purpose, so it is not sent again at once.
            message = f"batch {state.id} was canceled before this request was started; the same command sends it again"
            return InfraError("batch canceled", message)
        return result.error

    def _missing(self, state: BatchState, unreadable: int) -> Exception:
        where = f"batch {state.id} at {self._queue.api.endpoint.redacted_url}"
        if state.status in ("cancelled", "canceled"):
            return InfraError("batch canceled", f"{where}: canceled before this request was started")
        if unreadable:
            # It may be in a line that cannot be read, and is then paid for.
            message = f"{where}: {unreadable} lines of the results cannot be read; the same command reads them again"
            return InfraError("unreadable results", message)
        return CallError("missing result", f"{where}: it is over and holds no result for this request")


def _can_split(batch: Batch) -> bool:
    return batch.file is not None and len(batch.file) > 1


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
        events = self._events
        for _ in range(QUIET_PASSES):
            waits = self._complete and self.requests_waiting and not self._busy and not self._idle
            if not waits or self._events != events:
                return False
            await asyncio.sleep(0)
        return self._events == events

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
        finished = sum(state.done for _, state in states if state)
        words = dict.fromkeys(state.status if state else "being sent" for _, state in states)
        count = f"{len(states)} batches" if len(states) > 1 else "batch"
        self._on_state(
            f"round {self.number}: {count} {', '.join(words)}, {finished}/{requests} done" if states else ""
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

    def stop(self, reason: str) -> None:
        """Stops waiting; batches that are under way stay pending."""
        for queue in self._queues:
            queue.close(reason)
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
