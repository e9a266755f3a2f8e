"""A worker: claims shards of a run, plays their items, and sends what it records, until nothing is left to claim."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from wildtool.engine.call.cache import ReplyCache
from wildtool.engine.call.client import Invocation, RetryPolicy
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan, SelectedItems
from wildtool.engine.record.reader import ItemLog, LoggedFailure, RecordReader
from wildtool.engine.record.writer import PendingRow, RecordWriter
from wildtool.engine.run.scheduler import PlayContext, PlayJob, RunContext, most_actionable, play_item
from wildtool.errors import InfraError, LimitError
from wildtool.scale.allowance import AllottedBudget, Allowance
from wildtool.scale.claims import BEAT_S, EXPIRY_S, Claim, Claims
from wildtool.scale.job import SharedJob
from wildtool.scale.segments import SpooledShard, open_shard
from wildtool.scale.servers import ModelServer
from wildtool.scale.store import FolderStore, ObjectStore, StoreError
from wildtool.types import Address, Item, Reply, Request

SEND_BYTES = 8 << 20
"""Bytes that are sent without waiting."""
STORE_PATIENCE_S = 600.0
"""Seconds for which a store may not answer before a worker ends; what it recorded stays on its disk."""
STORE_WAIT_S = 1.0
WATCH_S = 0.5
"""Between two looks whether the server of a worker is alive."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class StorePace:
    """How often a worker talks to its store, in seconds."""

    send_s: float
    """Between two segments of a shard: what a lost machine repeats."""
    poll_s: float
    """Between two looks for shards where none is free, at first; each look doubles it."""
    longest_poll_s: float
    report_s: float
    """Between two reports where a controller waits for them."""


FOLDER_PACE = StorePace(send_s=1.0, poll_s=0.5, longest_poll_s=1.0, report_s=0.3)
"""A folder costs nothing."""
BUCKET_PACE = StorePace(send_s=30.0, poll_s=5.0, longest_poll_s=40.0, report_s=10.0)


def pace_of(store: ObjectStore) -> StorePace:
    """How often to talk to a store."""
    return FOLDER_PACE if isinstance(store, FolderStore) else BUCKET_PACE


class _OpenShards:
    """The shards that a worker holds, by the items in them."""

    def __init__(self) -> None:
        self.shards: list[SpooledShard] = []
        self._by_item: dict[tuple[str, int], SpooledShard] = {}

    def add(self, shard: SpooledShard, jobs: list[PlayJob]) -> None:
        self.shards.append(shard)
        self._by_item |= {address: shard for _, address in jobs}

    def remove(self, shard: SpooledShard) -> None:
        self.shards.remove(shard)
        self._by_item = {address: each for address, each in self._by_item.items() if each is not shard}
        shard.close()

    def of(self, item: str, repeat: int) -> SpooledShard:
        return self._by_item[item, repeat]


class _ShardsReader(RecordReader):
    """The records of all shards that are held, as one."""

    has_lost_lines = False

    def __init__(self, held: _OpenShards) -> None:
        self._held = held

    def log(self, item: str, repeat: int) -> ItemLog:
        return self._held.of(item, repeat).reader.log(item, repeat)


class _ShardsWriter(RecordWriter):
    """Writes each row to the record of its shard."""

    def __init__(self, held: _OpenShards) -> None:
        self._held = held

    def step(self, sent: PendingRow, reply: Reply) -> None:
        self._of(sent.address).step(sent, reply)

    def error(self, sent: PendingRow, error: InfraError) -> None:
        self._of(sent.address).error(sent, error)

    def sync(self) -> None:
        for shard in list(self._held.shards):
            shard.sync()

    def _of(self, address: Address) -> RecordWriter:
        return self._held.of(address.item, address.repeat).writer


class _WorkerContext(PlayContext):
    """The context of a run whose calls wait until this worker may spend more."""

    def __init__(self, run: RunContext, allowance: Allowance, server: ModelServer | None) -> None:
        self._run, self._allowance, self._server = run, allowance, server

    @property
    def plan(self) -> Plan:
        return self._run.plan

    @property
    def reader(self) -> RecordReader:
        return self._run.reader

    def request_begins(self, *, is_new: bool) -> None:
        self._run.request_begins(is_new=is_new)

    async def ask(self, sent: PendingRow) -> Reply:
        try:
            await self._allowance.room()
        except LimitError as error:
            self._run.limit_error = error
            raise
        try:
            return await self._run.ask(sent)
        except InfraError:
            # The model did not fail, and others shall play the rest.
            if self._server is not None:
                self._server.check()
            raise

    def reply_replayed(self, request: Request, reply: Reply) -> None:
        self._run.reply_replayed(request, reply)

    def unit_ended(self, item: str, repeat: int) -> None:
        self._run.unit_ended(item, repeat)


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """How a worker ended."""

    items: int
    """Items times repeats that it played."""
    calls: int
    left: int
    """Shards that it left with steps missing."""
    limit: str | None
    """The limit that was reached, in words."""


class ShardWorker:
    """One worker of one run."""

    def __init__(
        self,
        store: ObjectStore,
        job: SharedJob,
        plan: Plan,
        items: SelectedItems,
        spool: Path,
        cache: ReplyCache | None,
        server: ModelServer | None = None,
    ) -> None:
        """
        Args:
            spool: its own folder on this disk, locked; its name is the worker's.
            server: where the model is, if that is a process of its own.
        """
        self._store, self._job, self._plan, self._items, self._spool = store, job, plan, items, spool
        self._pace = pace_of(store)
        self.claims = Claims(store, spool.name, job.shards, job.sitting)
        self._held = _OpenShards()
        self._left: list[SpooledShard] = []
        """Shards that are played, with steps missing; they stay open for failures that are recorded at the end."""
        self._waiting: asyncio.Queue[PlayJob | None] = asyncio.Queue()
        self._woken = asyncio.Event()
        self._done = 0
        self._server = server
        self._last_words = ""
        self._beat_at = time.monotonic()
        self._beating = Lock()
        """Held while a heartbeat is written."""
        self._has_said_end = False
        self._jobs = list(enumerate(items.addresses()))
        budget = AllottedBudget(job)
        self._invocation = Invocation(budget, cache)
        policy = RetryPolicy(plan.timeout_s, plan.max_attempts)
        reader, writer = _ShardsReader(self._held), _ShardsWriter(self._held)
        self._run = RunContext(plan, reader, writer, Observer(), policy, self._invocation, spool)
        self._allowance = Allowance(job, spool.name, plan, self._invocation, budget)
        self._context = _WorkerContext(self._run, self._allowance, server)

    async def work(self) -> WorkerResult:
        """Works until nothing is left. Raises GivenUpError where the model never answers, StoreError where the store is
        away for too long, and what else ends a run; shards that were begun are then free for others."""
        await self._patiently(partial(self.claims.beat, self._status()))
        try:
            async with asyncio.TaskGroup() as group:
                tasks = (self._report(), self._send(), self._sync(), self._watch())
                beside = [group.create_task(task) for task in tasks]
                group.create_task(self._claim_shards())
                players = [group.create_task(self._play()) for _ in range(self._plan.concurrency)]
                await asyncio.wait(players)
                for task in beside:
                    task.cancel()
            self._run.flush_failures()
        except BaseExceptionGroup as errors:
            error = most_actionable(errors)
            self._last_words = str(error)
            raise error from None
        finally:
            await self._leave()
        return self._result()

    def _result(self) -> WorkerResult:
        limit = self._run.limit_error
        return WorkerResult(self._done, self._run.calls, len(self._left), str(limit) if limit else None)

    async def _claim_shards(self) -> None:
        """Keeps enough items waiting, until all shards are done or left, or a limit is reached."""
        poll_s = self._pace.poll_s
        while self._run.limit_error is None:
            self._woken.clear()
            if self._waiting.qsize() > self._plan.concurrency // 2:
                await self._woken.wait()
                continue
            claim = await self._patiently(self.claims.claim)
            if claim is not None:
                poll_s = self._pace.poll_s
                await self._begin(claim)
            elif self.claims.finished:
                break
            else:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(poll_s):
                        await self._woken.wait()
                poll_s = min(2 * poll_s, self._pace.longest_poll_s)
        for _ in range(self._plan.concurrency):
            self._waiting.put_nowait(None)

    async def _begin(self, claim: Claim) -> None:
        first = claim.shard * self._job.share_items
        jobs = self._jobs[first : first + self._job.share_items]
        shard = await self._patiently(partial(open_shard, self._store, claim, self._spool, len(jobs)))
        self._held.add(shard, jobs)
        for job in jobs:
            self._waiting.put_nowait(job)

    async def _play(self) -> None:
        while (job := await self._waiting.get()) is not None:
            self._woken.set()
            _, address = job
            shard = self._held.of(*address)
            if not shard.is_lost:
                await play_item(self._context, self._items, job, self._item_done)
            shard.remaining -= 1
            if not shard.remaining:
                await self._end(shard)

    def _item_done(self, order: int, item: Item, repeat: int, log: ItemLog) -> None:
        failed = any(isinstance(step, LoggedFailure) for steps in log.values() for step in steps.values())
        self._held.of(item.id, repeat).failed |= failed or self._run.limit_error is not None
        self._done += 1

    async def _end(self, shard: SpooledShard) -> None:
        """Everything of a shard was played, or it is lost."""
        await self._patiently(partial(shard.send, self._store))
        if shard.failed and not shard.is_lost:
            self._left.append(shard)
            # Now, or two workers would wait for each other's.
            limited = self._run.limit_error is not None
            await self._patiently(partial(self.claims.leave, shard.claim, for_anybody=limited))
        else:
            if not shard.is_lost:
                await self._patiently(partial(self.claims.finish, shard.claim))
            self._remove(shard)
        # Seen without another look at all shards, where nothing else is held.
        self._woken.set()

    def _remove(self, shard: SpooledShard) -> None:
        self._held.remove(shard)
        for file in shard.folder.iterdir():
            file.unlink()
        shard.folder.rmdir()

    async def _leave(self) -> None:
        """Gives up all shards that are held, with everything recorded sent."""
        for shard in list(self._held.shards):
            try:
                await asyncio.to_thread(shard.send, self._store)
                if not shard.is_lost and shard not in self._left:
                    await asyncio.to_thread(partial(self.claims.leave, shard.claim, for_anybody=True))
            except StoreError:
                # It stays on the disk, and the next worker of this machine sends it.
                shard.close()
                continue
            self._remove(shard)
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(partial(self._say_end, self._status(ended=True)))
        for model in {id(model): model for model in self._plan.models.values()}.values():
            await model.close()

    async def _report(self) -> None:
        """Heartbeats; and the allowance, where a controller divides limits."""
        beat_s = self._pace.report_s if self._allowance.is_limited else BEAT_S
        while True:
            await self._sometimes(partial(self._beat, self._status()))
            if self._allowance.is_limited:
                await self._sometimes(partial(self._allowance.read, self._store, self._allowance.report()))
                self._allowance.apply()
            await asyncio.sleep(beat_s)

    def _beat(self, status: dict[str, Any]) -> None:
        late = time.monotonic() - self._beat_at > EXPIRY_S / 2
        with self._beating:
            # One that was under way when the worker ended must not follow its last one.
            if not self._has_said_end:
                self.claims.beat(status)
        for shard in list(self._held.shards) if late else ():
            shard.is_lost = shard.is_lost or self.claims.is_lost(shard.claim)
        self._beat_at = time.monotonic()

    def _say_end(self, status: dict[str, Any]) -> None:
        with self._beating:
            self._has_said_end = True
            self.claims.beat(status)

    def _status(self, *, ended: bool = False) -> dict[str, Any]:
        """What a heartbeat says. Limiters know the time only in the event loop."""
        spent = self._run.spent
        return {
            "ended": ended,
            "sitting": self._job.sitting,
            "items": self._done,
            "calls": self._run.calls,
            "tokens": spent.tokens,
            "cost": spent.cost,
            "shares": sorted(shard.claim.shard for shard in self._held.shards),
            "said": self._last_words or str(self._run.limit_error or ""),
            **(self._allowance.report() if self._allowance.is_limited else {}),
        }

    async def _send(self) -> None:
        """Sends what is new in each shard from time to time, and much at once."""
        due = time.monotonic() + self._pace.send_s
        while True:
            await asyncio.sleep(min(1.0, self._pace.send_s))
            is_due = time.monotonic() >= due
            due = time.monotonic() + self._pace.send_s if is_due else due
            for shard in list(self._held.shards):
                # One that ends meanwhile sends its rest itself.
                if shard.remaining and (is_due or shard.unsent >= SEND_BYTES):
                    await self._sometimes(partial(shard.send, self._store))

    async def _watch(self) -> None:
        while self._server is not None:
            self._server.check()
            await asyncio.sleep(WATCH_S)

    async def _sync(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            await asyncio.to_thread(self._run.writer.sync)

    async def _sometimes(self, action: Callable[[], Any]) -> None:
        """Does what can be done later as well where the store does not answer."""
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(action)

    async def _patiently(self, action: Callable[[], Answer]) -> Answer:
        """Does something in a thread, again while the store does not answer."""
        until = time.monotonic() + STORE_PATIENCE_S
        while True:
            try:
                return await asyncio.to_thread(action)
            except StoreError:
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(STORE_WAIT_S)
