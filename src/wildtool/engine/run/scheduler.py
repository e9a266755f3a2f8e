"""Runs items concurrently: calls models within limits, records each reply before it is used, and replays
recorded replies."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from wildtool import json_codec, redact
from wildtool.engine.call.budget import Spend
from wildtool.engine.call.client import (
    GIVE_UP_AFTER_S,
    GivenUpError,
    Health,
    Invocation,
    ModelClient,
    RefusedError,
    RetryPolicy,
    all_refused,
)
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan, SelectedItems
from wildtool.engine.record.format import request_hashes
from wildtool.engine.record.reader import ItemLog, LoggedFailure, LoggedReply, RecordReader
from wildtool.engine.record.writer import PendingRow, RecordWriter
from wildtool.engine.run.refused_results import RefusedResults
from wildtool.engine.score.reply_signs import CHECKED, TOKEN_LIMIT, reply_signs
from wildtool.engine.score.trust import early_remark
from wildtool.engine.score.verdict_table import load_database
from wildtool.episode import gold_replies
from wildtool.errors import CallError, InfraError, LimitError, LimitOf, RecordError, UsageError, WildtoolError
from wildtool.models.settings import Rates
from wildtool.models.token_usage import summed_usage
from wildtool.reply_ends import error_class, failing_end
from wildtool.types import Address, Item, ItemModel, Reply, Request

if TYPE_CHECKING:
    from wildtool.engine.batch.rounds import BatchScheduler


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(cast(BaseExceptionGroup[BaseException], error))
        else:
            yield error


def most_actionable(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one exception to tell the user: one they can act on before any other."""
    leaves = list(_leaves(errors))
    return next((error for error in leaves if isinstance(error, WildtoolError)), leaves[0])


FIRST_REPLIES = 20
"""Replies that are looked at while the run goes on, so that what an option corrects need not wait for its end."""
SYNC_S = 1.0
"""Seconds between two syncs of the record to disk."""
SORTED_PER_CALL = 2
"""Items at the end of a run that are sorted by their length, for each call that may be in flight."""
SORTING_S, SORTING_WALL_S = 0.3, 1.0
"""Seconds of this process's own time, and of any, that this may take: items of some benchmarks run programs for it."""

PlayJob = tuple[int, tuple[str, int]]
"""An item to play: its place in the order of jobs, its id, the repeat."""
OnItemDone = Callable[[int, Item, int, ItemLog], None]
"""Takes each item when it is played: its place in the order of jobs, the item, the repeat, all its steps."""


class PlayContext(Protocol):
    """What the items of a run are played with: its record, and answers to what that does not have."""

    @property
    def plan(self) -> Plan: ...

    @property
    def reader(self) -> RecordReader: ...

    def request_begins(self, *, is_new: bool) -> None:
        """Something is asked. Args: is_new: whether it is not recorded as failed before."""
        ...

    async def ask(self, sent: PendingRow) -> Reply:
        """The reply to a request, recorded. Raises InfraError once that is recorded too, and LimitError, of which nothing
        is recorded."""
        ...

    def reply_replayed(self, request: Request, reply: Reply) -> None:
        """A reply is taken from the record."""
        ...

    def unit_ended(self, item: str, repeat: int) -> None:
        """A unit of an item has all its replies, or failed."""
        ...


class RunContext:
    """What all calls of a run share: models, record, limits, counters."""

    def __init__(
        self,
        plan: Plan,
        reader: RecordReader,
        writer: RecordWriter,
        observer: Observer,
        policy: RetryPolicy,
        invocation: Invocation,
        folder: Path,
    ) -> None:
        """Args: folder: of the run. Raises RecordError where its journal of batches is damaged."""
        self.plan = plan
        self.reader = reader
        self.writer = writer
        self.observer = observer
        self.policy = policy
        self.invocation = invocation
        self.calls = 0
        """Calls that a model answered in this process."""
        self.replayed = 0
        """Replies taken from the record."""
        self.cached = 0
        """Replies taken from the cache."""
        self.has_new_requests = False
        """Whether any request is not recorded as failed before."""
        self.limit_error: LimitError | None = None
        """Why calls were not made, if a limit was reached."""
        self._noticed: set[str] = set()
        self.refused_results = RefusedResults()
        """Of the model under test, recorded replies included."""
        self.spent = Spend()
        """What the calls of this process took."""
        # One model may play several roles. The next batch may do what this one did not.
        patience_s = {id(plan.models[role]): inf for role in plan.batched & plan.models.keys()}
        healths = {
            key: Health(observer, give_up_after_s=patience_s.get(key, GIVE_UP_AFTER_S))
            for key in map(id, plan.models.values())
        }
        self._clients = {
            role: ModelClient(
                model,
                invocation,
                healths[id(model)],
                concurrency=plan.concurrency,
                rates=plan.rates.get(role, Rates()),
                price=plan.prices.get(role),
                batched=role in plan.batched,
                spent=self.spent,
            )
            for role, model in plan.models.items()
        }
        self.batch_scheduler: BatchScheduler | None = None
        """Of the roles that are called by batches; None where there is none."""
        if plan.batched:
            from wildtool.engine.batch.rounds import batch_scheduler  # the network library is slow to load

            reserve = {role: client.reserve for role, client in self._clients.items()}
            self.batch_scheduler = batch_scheduler(plan, reserve, folder, writer, observer, policy)

    def request_begins(self, *, is_new: bool) -> None:
        self.has_new_requests |= is_new

    def reply_replayed(self, request: Request, reply: Reply) -> None:
        if request.role == "agent":
            self.refused_results.on_answer(request)
        self.replayed += 1
        self.observer.call_done(reply, replayed=True)

    def unit_ended(self, item: str, repeat: int) -> None:
        self.observer.unit_ended(item, repeat)

    async def ask(self, sent: PendingRow) -> Reply:
        """Calls a model, or takes the reply from the cache, and records it.

        Raises InfraError once that is recorded too, and LimitError, of which nothing is recorded.
        """
        if self.batch_scheduler is None:
            return await self._ask(sent)
        with self.batch_scheduler.activity.asking((sent.address.item, sent.address.repeat)):
            return await self._ask(sent)

    async def _ask(self, sent: PendingRow) -> Reply:
        client = self._clients.get(sent.request.role)
        if client is None:
            raise UsageError(
                f"{self.plan.benchmark.name} asks for a model in the role {sent.request.role!r}; name one"
            )
        key = client.cache_key(sent.address, sent.hashes[-1])
        cached = None if key is None else client.lookup(key)
        if cached is not None and failing_end(sent.request.role, cached) is None:
            self.cached += 1
            reply = self._record(sent, cached)
            self.observer.call_done(reply, replayed=True)
            return reply
        try:
            reply = await self._call(client, sent.request)
            self._flush_unrecorded(client.health)
            if end := failing_end(sent.request.role, reply):
                message = f"{sent.request.role}: the reply ended with the finish reason {reply.finish_reason}"
                usage = summed_usage(reply.lost_usage, reply.usage)
                raise InfraError(error_class(end), message, attempts=reply.attempts, usage=usage)
            reply = self._record(sent, reply)
        except LimitError as error:
            self.limit_error = error if sent.request.role == "agent" else self._role_limit(error, sent)
            self.observer.limit_reached(self.limit_error)
            raise self.limit_error from None
        except GivenUpError as error:
            role = sent.request.role
            named_error = error if role == "agent" else error.of_role(role, self.plan.models[role].name)
            self.limit_error = self._given_up(named_error, client)
            raise self.limit_error from None
        except InfraError as error:
            if sent.request.role == "agent":
                error = self.refused_results.explained(sent.request, error)
            self._fail(sent, error, client.health)
            raise error from None
        if key is not None:
            client.store(key, reply)
        self.calls += 1
        self.observer.call_done(reply, replayed=False)
        if self.calls <= FIRST_REPLIES:
            remarks = self._remarks(sent.request, reply)
            for sign in remarks.keys() - self._noticed:
                self._noticed.add(sign)
                self.observer.reply_noticed(remarks[sign])
        return reply

    async def _call(self, client: ModelClient, request: Request) -> Reply:
        """The model's reply. Raises what its client does."""
        if request.role != "agent":
            return await client.call(request, self.policy, self.observer.call_retried)

        def on_failed_attempt(error: CallError) -> None:
            self.refused_results.on_failure(request, error)
            remark = self.refused_results.remark(request)
            if remark and remark not in self._noticed:
                self._noticed.add(remark)
                self.observer.reply_noticed(remark)

        # Where every second step fails, waits before each other try take hours.
        hopeless = self.refused_results.cause(request)
        policy = replace(self.policy, max_attempts=1) if hopeless else self.policy
        reply = await client.call(request, policy, self.observer.call_retried, on_failed_attempt)
        self.refused_results.on_answer(request)
        return reply

    def _remarks(self, request: Request, reply: Reply) -> dict[str, str]:
        """What one of the first replies shows, by sign, apart from what `wildtool.check` says of it; of another role only
        that it was cut off."""
        role, signs = request.role, reply_signs(reply, lambda: request.tools)
        if role == "agent":
            settings = self.plan.models[role].settings()
            return {sign: early_remark(sign, reply, settings) for sign in signs if sign not in CHECKED}
        own = self.plan.benchmark.roles.get(role)
        option = f"--{role}-max-tokens" if own and own.max_tokens else "--max-tokens"
        cut = f"a reply of the {role} was cut off at a token limit: {option}"
        return {f"{role} {TOKEN_LIMIT}": cut} if TOKEN_LIMIT in signs else {}

    def flush_failures(self) -> None:
        """Called at the end. Raises GivenUpError if a model refused every call."""
        for health in {id(client.health): client.health for client in self._clients.values()}.values():
            failures = [error for _, error in health.unrecorded]
            refused = failures and all(isinstance(error, RefusedError) for error in failures)
            if refused and self.has_new_requests:
                raise all_refused(failures[0])
            self._flush_unrecorded(health)

    def _role_limit(self, error: LimitError, sent: PendingRow) -> LimitError:
        """A limit of an endpoint with the role that met it; the user's own limits are of all roles."""
        if error.of == LimitOf.USER:
            return error
        role = sent.request.role
        return LimitError(f"{role} ({self.plan.models[role].name}): {error}", error.of)

    def _given_up(self, error: GivenUpError, client: ModelClient) -> LimitError:
        """The error of calls to a model that is given up, if all its requests have failed in earlier invocations too: the
        results of other units remain. Otherwise raises the given error, which ends the run."""
        if self.has_new_requests:
            raise error
        self._flush_unrecorded(client.health)
        client.give_up(error.reason)
        return LimitError(error.reason, LimitOf.ENDPOINT)

    def _record(self, sent: PendingRow, reply: Reply) -> Reply:
        # What is used must be what a replay will give; a reply that a file would change is changed here.
        try:
            parts = [reply.message, reply.raw]
            settled = _redact_reply(json_codec.normalize(parts))
            if settled is not parts:
                reply = replace(reply, message=settled[0], raw=settled[1])
            self.writer.step(sent, reply)
        except ValueError as error:
            raise InfraError("unrecordable reply", str(error), attempts=reply.attempts) from error
        return reply

    def _fail(self, sent: PendingRow, error: InfraError, health: Health) -> None:
        self.observer.call_failed(error.kind)
        if not health.has_answered:
            # Should the model never answer, none of its failures is a result.
            health.unrecorded.append((sent, error))
            return
        self._flush_unrecorded(health)
        self.writer.error(sent, error)

    def _flush_unrecorded(self, health: Health) -> None:
        if health.unrecorded:
            held, health.unrecorded = health.unrecorded, []
            for sent, error in held:
                self.writer.error(sent, error)


def _redact_reply(parts: list[Any]) -> list[Any]:
    """Message and raw text of a reply without any of our keys; the very same object where none is in them.

    A raw text that spells a key otherwise, by escapes or in the pieces of a stream, is left out as a whole.
    """
    message, raw = parts
    clean = redact.redacted_json(message)
    if clean is message:
        text = redact.redacted_text(raw)
        return parts if text is raw else [message, text]
    return [clean, ""]


class LogClient:
    """Answers the requests of one item in one repeat: from the record if it has the reply, else from the models."""

    def __init__(self, context: PlayContext, item: str, repeat: int) -> None:
        self.log: ItemLog = context.reader.log(item, repeat)
        self._context = context
        self._item = item
        self._repeat = repeat
        self._next: dict[str, int] = {}
        self._known: set[str] = set()

    async def __call__(self, unit: str, request: Request) -> Reply:
        step = self._next.get(unit, 0)
        self._next[unit] = step + 1
        hashes = request_hashes(request)
        steps = self.log.setdefault(unit, {})
        recorded = steps.get(step)
        address = Address(self._item, self._repeat, unit, step)
        # An end that earlier versions took for a reply has steps after it that nothing leads to any more.
        orphaned = isinstance(recorded, LoggedFailure) and recorded.reply is not None
        # Where a step before it was lost and got another reply this time, it must be asked again.
        superseded = (
            self._context.reader.has_lost_lines
            and isinstance(recorded, LoggedReply)
            and (recorded.role, recorded.request) != (request.role, hashes[-1])
        )
        again = orphaned or superseded
        if isinstance(recorded, LoggedReply) and not again:
            return self._replay(address, recorded, request, hashes[-1])
        self._context.request_begins(is_new=recorded is None)
        if again:
            for later in [number for number in steps if number >= step]:
                del steps[later]
        request = replace(request, address=address)
        try:
            reply = await self._context.ask(PendingRow(address, request, hashes, self._known, again=again))
        except LimitError:
            # As if it had never been asked: the unit is unplayed, and a later run asks.
            raise
        except InfraError as error:
            steps[step] = LoggedFailure(request.role, hashes[-1], error.kind, str(error), error.attempts)
            self.unit_ended(unit)
            raise
        steps[step] = LoggedReply(request.role, hashes[-1], reply)
        return reply

    def unit_ended(self, unit: str) -> None:
        """A unit has all its replies, or failed."""
        self._context.unit_ended(self._item, self._repeat)

    def _replay(self, address: Address, recorded: LoggedReply, request: Request, name: str) -> Reply:
        if (recorded.role, recorded.request) != (request.role, name):
            raise RecordError(
                f"item {address.item}, repeat {address.repeat}, unit {address.unit}, step {address.step}: "
                f"this request differs from the recorded one ({name} instead of {recorded.request}), so the "
                "benchmark's code or its prompts have changed. What is recorded can be scored and shown as before; to "
                "resume, use the version of wildtool that started this run, or another --out to start again"
            )
        self._context.reply_replayed(request, recorded.reply)
        return recorded.reply


async def play(context: RunContext, items: SelectedItems, on_item_done: OnItemDone) -> None:
    """Runs all items in all repeats; hands each to `on_item_done` as it ends, in no particular order.

    Raises what first went wrong, with all tasks ended: UsageError or RecordError, StorageError, or the
    exception of a faulty adapter or benchmark. Closes the models.
    """
    plan = context.plan
    jobs = deque(enumerate(items.addresses()))
    try:
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(_sync_periodically(context.writer)),
                group.create_task(_stop_at_deadline(context)),
            ]
            if context.batch_scheduler is None:
                await _play_some(context, items, jobs, on_item_done)
            else:
                beside.append(group.create_task(context.batch_scheduler.play()))
                await _play_all(context, context.batch_scheduler, items, jobs, on_item_done)
            for task in beside:
                task.cancel()
        context.flush_failures()
    except BaseExceptionGroup as errors:
        raise most_actionable(errors) from None
    finally:
        # One model may play several roles.
        for model in {id(model): model for model in plan.models.values()}.values():
            await model.close()


async def _play_some(
    context: RunContext, items: SelectedItems, waiting: deque[PlayJob], on_item_done: OnItemDone
) -> None:
    """Runs as many items at a time as keep the models busy."""
    workers: list[asyncio.Task[None]] = []
    async with asyncio.TaskGroup() as group:
        for _ in range(min(context.plan.concurrency, len(waiting))):
            workers.append(group.create_task(_work(context, items, waiting, on_item_done)))
            # The first item's calls go out before the last worker has made its item ready.
            await asyncio.sleep(0)
        await _put_longest_first(context.plan, items, waiting)
        await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
        # From here on there is less and less to do, and time for what the end of the run needs.
        await asyncio.to_thread(load_database)


async def _put_longest_first(plan: Plan, items: SelectedItems, waiting: deque[PlayJob]) -> None:
    """Sorts the last jobs by their gold steps, the longest first, so that a run does not end with waiting for the steps
    of one."""
    if plan.concurrency == 1:
        return
    until = time.thread_time() + SORTING_S
    until_wall = time.monotonic() + SORTING_WALL_S
    steps: dict[str, int] = {}
    last = [id_ for _, (id_, _) in islice(reversed(waiting), SORTED_PER_CALL * plan.concurrency)]
    try:
        rules = plan.benchmark.rules(plan.profile)  # what is generated has none
        for id_ in dict.fromkeys(last):
            if time.thread_time() > until or time.monotonic() > until_wall:
                break
            item = items[id_]
            episodes = (rules.episode(item, unit) for unit in item.units)
            steps[id_] = max(len(gold_replies(episode) or ()) for episode in episodes)
            await asyncio.sleep(0)
    except Exception:  # noqa: BLE001 - whatever is wrong with an item is said where it is played
        return
    measured = [job for job in waiting if job[1][0] in steps]
    unmeasured = [job for job in waiting if job[1][0] not in steps]
    waiting.clear()
    waiting.extend([*unmeasured, *sorted(measured, key=lambda job: -steps[job[1][0]])])


async def _play_all(
    context: RunContext,
    batch_scheduler: "BatchScheduler",
    items: SelectedItems,
    jobs: Iterable[PlayJob],
    on_item_done: OnItemDone,
) -> None:
    """Runs all items at once, so that each round of batches holds a step of every unit."""

    async def play_one(job: PlayJob) -> None:
        try:
            await _work(context, items, deque([job]), on_item_done)
        finally:
            batch_scheduler.activity.job_ended(job[1])

    async with asyncio.TaskGroup() as workers:
        for job in jobs:
            batch_scheduler.activity.job_started(job[1])
            workers.create_task(play_one(job))
            await asyncio.sleep(0)
        batch_scheduler.activity.all_jobs_started()
    await batch_scheduler.commit_results()


async def _work(
    context: RunContext, items: SelectedItems, waiting: deque[PlayJob], on_item_done: OnItemDone
) -> None:
    """Runs items until none waits any more."""
    while waiting:
        await play_item(context, items, waiting.popleft(), on_item_done)


async def play_item(
    context: PlayContext, items: SelectedItems, job: PlayJob, on_item_done: OnItemDone
) -> None:
    """Runs all units of one item."""
    order, (id_, repeat) = job
    ask = LogClient(context, id_, repeat)
    item = items[id_]
    try:
        await context.plan.play(item, ask)
    except* InfraError:
        # Recorded with its step; the item ends here and is judged on what it has.
        pass
    for model in context.plan.models.values():
        if isinstance(model, ItemModel):
            await model.item_ended(id_, repeat)
    on_item_done(order, item, repeat, ask.log)
    # A replayed item never waits, and would keep the event loop from those that do.
    await asyncio.sleep(0)


async def _sync_periodically(writer: RecordWriter) -> None:
    while True:
        await asyncio.sleep(SYNC_S)
        await asyncio.to_thread(writer.sync)


async def _stop_at_deadline(context: RunContext) -> None:
    """Fails calls that wait for their turn, or for a batch, once the deadline has passed."""
    budget = context.invocation.budget
    if budget.limits.deadline_s is None:
        return
    budget.check_deadline()
    while remaining_s := budget.remaining_s:
        await asyncio.sleep(remaining_s)
        budget.check_deadline()
    if context.batch_scheduler is not None and budget.stopped is not None:
        context.batch_scheduler.stop(budget.stopped)
