"""Plays items concurrently: asks models within bounds, records each reply before it is used, replays
recorded ones."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, cast

from wildtool import json_codec, redact
from wildtool.engine.call.budget import Spent
from wildtool.engine.call.health import PATIENCE_S, GivenUpError, Health, RefusedError, all_refused
from wildtool.engine.call.rate_limit import LimitError
from wildtool.engine.call.retry import Patience
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import Failure, Log, RecordReader, Step
from wildtool.engine.record.request_hash import chain
from wildtool.engine.record.writer import RecordWriter, Sent
from wildtool.engine.run.client import Desk, Sitting
from wildtool.errors import InfraError, RecordError, UsageError, WildtoolError
from wildtool.types import Address, Item, Reply, Request

if TYPE_CHECKING:
    from wildtool.engine.batch.rounds import Batching, Rounds


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(cast(BaseExceptionGroup[BaseException], error))
        else:
            yield error


def cause_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one exception to tell the user: one they can act on before any other."""
    leaves = list(_leaves(errors))
    return next((error for error in leaves if isinstance(error, WildtoolError)), leaves[0])


SYNC_S = 1.0
"""Seconds between two syncs of the record to disk."""

Job = tuple[int, tuple[Item, int]]
"""An item to play: its place in the order of jobs, the item, the repeat."""
Played = Callable[[int, Item, int, Log], None]
"""Takes each item when it is played: its place in the order of jobs, the item, the repeat, all its steps."""


class Stage:
    """What all asks of a run share: models, record, bounds, counters."""

    def __init__(
        self,
        plan: Plan,
        reader: RecordReader,
        writer: RecordWriter,
        observer: Observer,
        patience: Patience,
        sitting: Sitting,
        batching: "Batching | None" = None,
    ) -> None:
        """Args: batching: where any role is asked by batches."""
        self.plan = plan
        self.reader = reader
        self.writer = writer
        self.observer = observer
        self.patience = patience
        self.sitting = sitting
        self.calls = 0
        """Calls that a model answered in this process."""
        self.replayed = 0
        """Replies taken from the record."""
        self.cached = 0
        """Replies taken from the cache."""
        self.asked_first = False
        """Whether anything was asked that the record does not say to have failed before."""
        self.held_back: LimitError | None = None
        """Why calls were not made, where any was not since a limit was reached."""
        self.spent = Spent()
        """What the calls of this process took."""
        self.rounds = batching.rounds if batching else None
        # One model may play several roles. The next batch may do what this one did not.
        patience_s = {id(plan.models[role]): inf for role in plan.batched & plan.models.keys()}
        healths = {
            key: Health(observer, patience_s=patience_s.get(key, PATIENCE_S))
            for key in map(id, plan.models.values())
        }
        self._desks = {
            role: Desk(plan, role, model, sitting, healths[id(model)]) for role, model in plan.models.items()
        }
        for role, desk in self._desks.items():
            if batching and desk.batched:
                batching.serve(role, desk.reserved)

    async def ask(self, sent: Sent) -> Reply:
        """Asks a model, or the cache, and records the reply.

        Raises InfraError once that is recorded too, and LimitError, of which nothing is recorded.
        """
        if self.rounds is None:
            return await self._ask(sent)
        with self.rounds.asking((sent.address.item, sent.address.repeat)):
            return await self._ask(sent)

    async def _ask(self, sent: Sent) -> Reply:
        desk = self._desks.get(sent.request.role)
        if desk is None:
            raise UsageError(
                f"{self.plan.benchmark.name} asks for a model in the role {sent.request.role!r}; name one"
            )
        key = desk.cache_key(sent.address, sent.hashes[-1])
        if key is not None and (kept := desk.cached(key)) is not None:
            self.cached += 1
            reply = self._record(sent, kept)
            self.observer.call_done(reply, replayed=True)
            return reply
        try:
            reply = await desk.call(sent.request, self.patience, self.observer.call_retried)
            self.spent.add(reply.usage, desk.price, batched=reply.batched)
            self._record_held(desk.health)
            reply = self._record(sent, reply)
        except LimitError as error:
            self.held_back = error
            raise
        except GivenUpError as error:
            self.held_back = self._given_up(error, desk)
            raise self.held_back from None
        except InfraError as error:
            self._fail(sent, error, desk.health)
            raise
        if key is not None:
            desk.keep(key, reply)
        self.calls += 1
        self.observer.call_done(reply, replayed=False)
        return reply

    def settle_failures(self) -> None:
        """Called at the end. Raises GivenUpError if a model refused every call."""
        for health in {id(desk.health): desk.health for desk in self._desks.values()}.values():
            failures = [error for _, error in health.held]
            refused = failures and all(isinstance(error, RefusedError) for error in failures)
            if refused and self.asked_first:
                raise all_refused(failures[0])
            self._record_held(health)

    def _given_up(self, error: GivenUpError, desk: Desk) -> LimitError:
        """What ends the calls of a model that is given up, where all that is asked has failed before: the numbers of the
        other units stand. Else it is the run that ends."""
        if self.asked_first:
            raise error
        self._record_held(desk.health)
        desk.give_up(error.reason)
        return LimitError(error.reason, of_endpoint=True)

    def _record(self, sent: Sent, reply: Reply) -> Reply:
        # What is used must be what a replay will give; a reply that a file would change is changed here.
        try:
            parts = [reply.message, reply.raw]
            settled = _without_keys(json_codec.settle(parts))
            if settled is not parts:
                reply = replace(reply, message=settled[0], raw=settled[1])
            self.writer.step(sent, reply)
        except ValueError as error:
            raise InfraError("unrecordable reply", str(error), attempts=reply.attempts) from error
        return reply

    def _fail(self, sent: Sent, error: InfraError, health: Health) -> None:
        self.observer.call_failed(error.kind)
        if not health.answers:
            # Should the model never answer, none of its failures is a result.
            health.held.append((sent, error))
            return
        self._record_held(health)
        self.writer.error(sent, error)

    def _record_held(self, health: Health) -> None:
        if health.held:
            held, health.held = health.held, []
            for sent, error in held:
                self.writer.error(sent, error)


def _without_keys(parts: list[Any]) -> list[Any]:
    """Message and raw text of a reply without any key of ours; the very same object where none is in them.

    A raw text that spells a key otherwise, by escapes or in the pieces of a stream, is left out as a whole.
    """
    message, raw = parts
    clean = redact.redacted_json(message)
    if clean is message:
        text = redact.redacted_text(raw)
        return parts if text is raw else [message, text]
    return [clean, ""]


class RecordedAsk:
    """How one item reaches its models in one repeat: answers from the record first, then from the stage."""

    def __init__(self, stage: Stage, item: Item, repeat: int) -> None:
        self.log: Log = stage.reader.log(item.id, repeat)
        self._stage = stage
        self._item = item.id
        self._repeat = repeat
        self._next: dict[str, int] = {}
        self._known: set[str] = set()

    async def __call__(self, unit: str, request: Request) -> Reply:
        step = self._next.get(unit, 0)
        self._next[unit] = step + 1
        hashes = chain(request)
        steps = self.log.setdefault(unit, {})
        recorded = steps.get(step)
        address = Address(self._item, self._repeat, unit, step)
        again = self._is_superseded(recorded, request, hashes[-1])
        if isinstance(recorded, Step) and not again:
            return self._replay(address, recorded, request, hashes[-1])
        self._stage.asked_first |= recorded is None
        if again:
            for later in [number for number in steps if number >= step]:
                del steps[later]
        request = replace(request, address=address)
        try:
            reply = await self._stage.ask(Sent(address, request, hashes, self._known, again=again))
        except LimitError:
            # As if it had never been asked: the unit is unplayed, and a later run asks.
            raise
        except InfraError as error:
            steps[step] = Failure(request.role, hashes[-1], error.kind, str(error), error.attempts)
            raise
        steps[step] = Step(request.role, hashes[-1], reply)
        return reply

    def _is_superseded(self, recorded: Step | Failure | None, request: Request, name: str) -> bool:
        """Whether a step must be asked again, since one before it was lost and got another reply this time."""
        if not self._stage.reader.lossy or not isinstance(recorded, Step):
            return False
        return (recorded.role, recorded.request) != (request.role, name)

    def _replay(self, address: Address, recorded: Step, request: Request, name: str) -> Reply:
        if (recorded.role, recorded.request) != (request.role, name):
            raise RecordError(
                f"item {address.item}, repeat {address.repeat}, unit {address.unit}, step {address.step}: "
                f"this request differs from the recorded one ({name} instead of {recorded.request}), so the "
                "benchmark's code or its prompts have changed. What is recorded can be scored and shown as before; to "
                "go on, use the wildtool that began this run, or another --out to begin again"
            )
        self._stage.replayed += 1
        self._stage.observer.call_done(recorded.reply, replayed=True)
        return recorded.reply


async def play(stage: Stage, played: Played) -> None:
    """Plays all jobs of the stage's plan; hands each to `played` as it ends, in no particular order.

    Raises what first went wrong, with all tasks ended: UsageError or RecordError, StorageError, or the
    exception of a faulty adapter or benchmark. Closes the models.
    """
    plan = stage.plan
    jobs = enumerate(plan.selection.jobs())
    try:
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(_sync_now_and_then(stage.writer)),
                group.create_task(_stop_at_deadline(stage)),
            ]
            if stage.rounds is None:
                await _play_some(stage, jobs, played)
            else:
                beside.append(group.create_task(stage.rounds.play()))
                await _play_all(stage, stage.rounds, jobs, played)
            for task in beside:
                task.cancel()
        stage.settle_failures()
    except BaseExceptionGroup as errors:
        raise cause_of(errors) from None
    finally:
        # One model may play several roles.
        for model in {id(model): model for model in plan.models.values()}.values():
            await model.close()


async def _play_some(stage: Stage, jobs: Iterator[Job], played: Played) -> None:
    """Plays so many items at a time that the models are busy."""
    async with asyncio.TaskGroup() as workers:
        for _ in range(stage.plan.concurrency):
            workers.create_task(_work(stage, jobs, played))
            # The first item's calls go out before the last worker has made its item ready.
            await asyncio.sleep(0)


async def _play_all(stage: Stage, rounds: "Rounds", jobs: Iterator[Job], played: Played) -> None:
    """Plays all items at once, so that each round of batches holds a step of every unit."""

    async def play_one(job: Job) -> None:
        _, (item, repeat) = job
        try:
            await _work(stage, iter([job]), played)
        finally:
            rounds.job_ended((item.id, repeat))

    async with asyncio.TaskGroup() as workers:
        for job in jobs:
            _, (item, repeat) = job
            rounds.job_begun((item.id, repeat))
            workers.create_task(play_one(job))
            await asyncio.sleep(0)
        rounds.all_begun()
    await rounds.settle()


async def _work(stage: Stage, jobs: Iterator[Job], played: Played) -> None:
    plan = stage.plan
    for order, (item, repeat) in jobs:
        ask = RecordedAsk(stage, item, repeat)
        try:
            await plan.benchmark.play(item, ask, plan.profile, in_order=plan.in_order)
        except* InfraError:
            # Recorded with its step; the item ends here and is judged on what it has.
            pass
        played(order, item, repeat, ask.log)
        # A replayed item never waits, and would keep the event loop from those that do.
        await asyncio.sleep(0)


async def _sync_now_and_then(writer: RecordWriter) -> None:
    while True:
        await asyncio.sleep(SYNC_S)
        await asyncio.to_thread(writer.sync)


async def _stop_at_deadline(stage: Stage) -> None:
    """Lets calls that wait for their turn, or for a batch, know of the deadline."""
    budget = stage.sitting.budget
    if budget.left_s is None:
        return
    budget.check_time()
    while left := budget.left_s:
        await asyncio.sleep(left)
        budget.check_time()
    if stage.rounds is not None and budget.stopped is not None:
        stage.rounds.stop(budget.stopped)
