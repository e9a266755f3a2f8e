"""Runs a plan in a folder from start to end: what `wildtool run` does, without its display."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.engine.benchmark_file import file_of
from wildtool.engine.call.budget import Budget, Spend
from wildtool.engine.call.client import Invocation, RetryPolicy, endpoint_of
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan, SelectedItems, data_stamp, digest_now
from wildtool.engine.record.reader import ItemLog, LogReader, transcripts
from wildtool.engine.record.run_folder import RunFolder
from wildtool.engine.record.writer import LogWriter
from wildtool.engine.run.scheduler import RunContext, play
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.table_stamp import TableStamp, log_fingerprints, make_stamp
from wildtool.engine.score.verdict_table import (
    OutcomeCounts,
    RunInfo,
    VerdictTable,
    verdicts_path,
)
from wildtool.errors import DataError, LimitOf, RecordError, StorageError
from wildtool.types import Item

if TYPE_CHECKING:
    from wildtool.engine.batch.rounds import RunningBatch

EXIT_STATUSES = {"done": 0, "judge faults": 1, "limit reached": 3, "infra errors": 3, "interrupted": 130}
"""How a run can end, with the exit status. A limit is like infra errors: steps are missing, and the same command
continues with a higher limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended."""

    folder: Path
    verdicts: Path | None
    """The table of verdicts; None if the run was interrupted."""
    counts: OutcomeCounts
    """Of the items that were run or replayed."""
    calls: int
    """Calls that a model answered in this process."""
    replayed: int
    """Replies taken from the record."""
    cached: int
    """Replies taken from the cache."""
    spent: Spend
    """What the calls of this process took."""
    limit: str | None
    """The limit that was reached, in words; None if none was."""
    limit_of: LimitOf | None
    """Whose it is; None if none was reached."""
    faults: tuple[str, ...]
    """Items that the judge failed on, with the reason."""
    interrupted: bool
    remarks: tuple[str, ...] = ()
    """What was found wrong in the record and left out, and what could not be checked of the data."""
    pending: "tuple[RunningBatch, ...]" = ()
    """Batches that still run at their endpoints; the same command waits for them."""

    @property
    def status(self) -> str:
        """How it ended in words, as `run.json` says it."""
        if self.interrupted:
            return "interrupted"
        if self.faults:
            return "judge faults"
        if self.limit is not None:
            return "limit reached"
        return "infra errors" if self.counts.infra_error else "done"

    @property
    def exit_status(self) -> int:
        return EXIT_STATUSES[self.status]

    def spend_summary(self) -> dict[str, Any]:
        """Calls, tokens and money of this process, as `run.json` tells them."""
        spent = self.spent
        return {
            "calls": self.calls,
            "cached": self.cached,
            "prompt_tokens": spent.prompt_tokens,
            "completion_tokens": spent.completion_tokens,
            "usd": None if spent.unpriced or spent.uncounted else round(spent.cost, 6),
        }


@dataclass(frozen=True, slots=True)
class RunJob:
    """One run of a command."""

    plan: Plan
    out: Path
    """The run folder; created where it does not exist."""
    observer: Observer = field(default_factory=Observer)
    """Receives its progress."""


def run_plan(
    plan: Plan,
    out: Path,
    *,
    command: Sequence[str],
    observer: Observer | None = None,
    policy: RetryPolicy | None = None,
    invocation: Invocation | None = None,
) -> RunResult:
    """Starts a run in a folder, or continues the one in it; ends with all its verdicts written.

    Args:
        plan: what to do. Its models are closed at the end.
        command: the command line as typed, for `run.json`.
        policy: how calls are retried; from the plan where it is None.
        invocation: limits and cache; none where it is None.

    Raises UsageError, DataError or RecordError before the first call where something cannot work,
    GivenUpError if the model never answers, StorageError if the record cannot be written. Ctrl-C
    gives a result that says so.
    """
    job = RunJob(plan, out, observer or Observer())
    outcome = run_plans([job], command=command, policy=policy, invocation=invocation)[0]
    if isinstance(outcome, Exception):
        raise outcome
    if outcome is None:
        raise KeyboardInterrupt
    return outcome


def run_plans(
    jobs: Sequence[RunJob],
    *,
    command: Sequence[str],
    policy: RetryPolicy | None = None,
    invocation: Invocation | None = None,
) -> list[RunResult | Exception | None]:
    """As `play_plans`, in an event loop of its own; None also means that a run was not started before Ctrl-C."""
    outcomes: list[RunResult | Exception | None] = [None] * len(jobs)
    try:
        _in_loop(_play_plans(jobs, command, policy, invocation or Invocation(), outcomes))
    except KeyboardInterrupt:
        if not any(isinstance(outcome, RunResult) and outcome.interrupted for outcome in outcomes):
            raise
    return outcomes


def _in_loop(runs: Coroutine[Any, Any, None]) -> None:
    """Plays to the end in an event loop of its own: uvloop's where the extra `fast` is installed, else asyncio's."""
    try:
        uvloop = import_module("uvloop")
    except ImportError:
        asyncio.run(runs)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(runs)


async def play_plans(
    jobs: Sequence[RunJob],
    *,
    command: Sequence[str],
    policy: RetryPolicy | None = None,
    invocation: Invocation | None = None,
) -> list[RunResult | Exception | None]:
    """Runs several plans; one that fails does not stop the others. Returns the outcome of each, in order.

    Plans at different endpoints run at the same time, models at one endpoint in turn: they would share its limits
    anyway, and a local server that holds one model at a time need not swap it at every call. Plans of one model run side
    by side and take turns at its limits. Plans with batches share nothing and all run at the same time.
    """
    outcomes: list[RunResult | Exception | None] = [None] * len(jobs)
    await _play_plans(jobs, command, policy, invocation or Invocation(), outcomes)
    return outcomes


async def _play_plans(
    jobs: Sequence[RunJob],
    command: Sequence[str],
    policy: RetryPolicy | None,
    shared: Invocation,
    outcomes: list[RunResult | Exception | None],
) -> None:
    """Args: outcomes: gets that of each job as soon as it ends."""
    in_turn: dict[object, dict[str, list[int]]] = {}
    for number, job in enumerate(jobs):
        model = job.plan.models["agent"]
        at = (number,) if "agent" in job.plan.batched else endpoint_of(model)
        in_turn.setdefault(at, {}).setdefault(model.name, []).append(number)

    async def play_one(number: int) -> bool:
        """Whether the run was not interrupted."""
        try:
            outcomes[number] = result = await _run(jobs[number], command, policy, shared)
        except Exception as error:  # noqa: BLE001 - given to the caller; the other runs are worth playing
            outcomes[number] = error
            return True
        return not result.interrupted

    async def play_lane(models: Iterable[Sequence[int]]) -> None:
        for numbers in models:
            if not all(await asyncio.gather(*map(play_one, numbers))):
                break

    if shared.budget.limits_spending:
        for job in jobs:
            _count_logged(job, shared.budget)
    await asyncio.gather(*(play_lane(models.values()) for models in in_turn.values()))


def _count_logged(job: RunJob, budget: Budget) -> None:
    """Adds what a run's record has cost already to what is spent."""
    if not job.out.is_dir():
        return
    try:
        with LogReader(job.out) as reader:
            for role, usage, batched in reader.billed_usages():
                budget.spent.add(usage, job.plan.prices.get(role), batched=batched)
    except RecordError:
        # The run itself will say what is wrong with its folder.
        return


async def _run(
    job: RunJob, command: Sequence[str], policy: RetryPolicy | None, invocation: Invocation
) -> RunResult:
    plan = job.plan
    items = plan.read()
    with plan.open_folder(job.out, items, command) as folder:
        try:
            bounds = policy or RetryPolicy(plan.timeout_s, plan.max_attempts)
            result = await _play(job, items, bounds, invocation)
        except BaseException as error:
            _record_end(folder, f"stopped: {type(error).__name__}")
            raise
        folder.finish(result.status, spent=result.spend_summary())
        return result


class _ItemScorer:
    """Scores each item as it ends; the table of verdicts begins with the first."""

    def __init__(self, plan: Plan, items: SelectedItems, folder: Path, observer: Observer) -> None:
        self.faults: list[str] = []
        """Items that the judge failed on, with the reason."""
        self._plan = plan
        self._items = items
        self._folder = folder
        self._observer = observer

    @cached_property
    def table(self) -> VerdictTable:
        return VerdictTable(
            verdicts_path(self._folder, self._plan.profile_in_run),
            self._plan.variant,
            self._items.drawn,
        )

    @cached_property
    def _run_info(self) -> RunInfo:
        plan = self._plan
        model = plan.models["agent"].name
        return RunInfo(
            run=self._folder.resolve().name,
            model=model,
            benchmark=plan.benchmark.name,
            profile=plan.profile,
            profile_in_run=plan.profile_in_run,
        )

    def item_done(self, order: int, item: Item, repeat: int, log: ItemLog) -> None:
        """Scores one item; `order` is its place among the jobs."""
        verdicts, fault = safe_judge(self._plan.variant, item, transcripts(log), self._plan.profile)
        if fault is not None:
            self.faults.append(f"{item.id}: {fault}")
        self.table.add(order, self._run_info, item, repeat, verdicts, log)
        self._observer.item_done(item.id, repeat, verdicts)


async def _play(job: RunJob, items: SelectedItems, policy: RetryPolicy, invocation: Invocation) -> RunResult:
    plan, folder, observer = job.plan, job.out, job.observer
    scorer = _ItemScorer(plan, items, folder, observer)
    with LogReader(folder, check_all=True) as reader, LogWriter(folder, reader.lost) as writer:
        observer.started(items.units)
        context = RunContext(plan, reader, writer, observer, policy, invocation, folder)
        try:
            await play(context, items, scorer.item_done)
            interrupted = False
        except (KeyboardInterrupt, asyncio.CancelledError):
            interrupted = True
        writer.sync()
        unchecked = [] if interrupted else _check_data(plan, items)
        with scorer.table as table:
            return RunResult(
                folder=folder,
                verdicts=None if interrupted else table.write(_stamp(plan, items, folder)),
                counts=table.counts(),
                calls=context.calls,
                replayed=context.replayed,
                cached=context.cached,
                spent=context.spent,
                limit=str(context.limit_error) if context.limit_error else None,
                limit_of=context.limit_error.of if context.limit_error else None,
                faults=tuple(scorer.faults),
                remarks=(*map(str, reader.lost), *unchecked),
                interrupted=interrupted,
                pending=(tuple(context.batch_scheduler.running_batches()) if context.batch_scheduler else ()),
            )


def _check_data(plan: Plan, items: SelectedItems) -> list[str]:
    """A remark where the data are not there any more, so that nothing tells whether they were edited.

    Raises DataError where they are not those any more that the run began with: a later `score` would find other data.
    """
    if items.stamp and items.stamp == data_stamp(plan.source.path):
        return []
    now = digest_now(plan.benchmark, plan.source, plan.split)
    if now is None:
        return [
            f"{plan.source.path}: not found at the end of the run, so changes to the data during it would go unnoticed"
        ]
    if now != plan.source.sha256:
        raise DataError(
            f"{plan.source.path}: changed during the run (SHA-256 {now} instead of {plan.source.sha256}), so"
            " nothing is judged; replies are recorded. Restore the data and run the same command, or use another --out"
        )
    return []


def _stamp(plan: Plan, items: SelectedItems, folder: Path) -> TableStamp:
    file = file_of(plan.benchmark)
    run_json = {
        "identity": plan.identity(),
        "scope": plan.scope(items),
        "data": {"benchmark_file": file and str(file)},
    }
    return make_stamp(run_json, plan.profile_in_run, log_fingerprints(folder))


def _record_end(folder: RunFolder, status: str) -> None:
    try:
        folder.finish(status)
    except StorageError as error:
        # The disk is full: the error under way tells the user so, and the record does not need this note.
        error.add_note("run.json could not be updated either")
