"""Runs a plan in a folder from start to end: what `wildtool run` does, without its display."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.engine.call.budget import Budget, Spent
from wildtool.engine.call.retry import Patience
from wildtool.engine.gc_tuning import seldom_collecting
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import Log, RecordReader, transcripts
from wildtool.engine.record.run_folder import RunFolder
from wildtool.engine.record.writer import RecordWriter
from wildtool.engine.run.client import Sitting, endpoint_of
from wildtool.engine.run.scheduler import Stage, play
from wildtool.engine.score.judge import judge
from wildtool.engine.score.table_stamp import Stamp, record_of, stamp_of
from wildtool.engine.score.verdict_table import Counts, Player, VerdictTable, verdicts_path
from wildtool.errors import DataError, RecordError, StorageError
from wildtool.types import Item

if TYPE_CHECKING:
    from wildtool.engine.batch.rounds import Batching, PendingBatch

STATUSES = {"done": 0, "judge faults": 1, "limit reached": 3, "infra errors": 3, "interrupted": 130}
"""How a run can end, with the exit status. A limit is like infra errors: steps are missing, and the same command,
with more room, goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended."""

    folder: Path
    verdicts: Path | None
    """The table of verdicts; None if the run was interrupted."""
    counts: Counts
    """Of the items that were played or replayed."""
    calls: int
    """Calls that a model answered in this process."""
    replayed: int
    """Replies taken from the record."""
    cached: int
    """Replies taken from the cache."""
    spent: Spent
    """What the calls of this process took."""
    limit: str | None
    """The limit that kept calls from being made, in words."""
    limit_of_endpoint: bool
    """Whether it is the endpoint's, and not one that the user gave."""
    faults: tuple[str, ...]
    """Items that our own judge failed on, with the reason."""
    interrupted: bool
    remarks: tuple[str, ...] = ()
    """What was found wrong in the record and left out, and what could not be checked of the data."""
    pending: "tuple[PendingBatch, ...]" = ()
    """Batches that go on at their endpoints; the same command again waits for them."""

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
        return STATUSES[self.status]

    def taken(self) -> dict[str, Any]:
        """Calls, tokens and money of this process, as `run.json` tells them."""
        spent = self.spent
        return {
            "calls": self.calls,
            "cached": self.cached,
            "prompt_tokens": spent.prompt_tokens,
            "completion_tokens": spent.completion_tokens,
            "usd": None if spent.unpriced else round(spent.cost, 6),
        }


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a command."""

    plan: Plan
    out: Path
    """The run folder; created where it does not exist."""
    observer: Observer = field(default_factory=Observer)
    """Is told how it goes."""


def run(
    plan: Plan,
    out: Path,
    *,
    command: Sequence[str],
    observer: Observer | None = None,
    patience: Patience | None = None,
    sitting: Sitting | None = None,
) -> RunResult:
    """Starts a run in a folder, or goes on with the one in it; ends with all its verdicts written.

    Args:
        plan: what to do. Its models are closed at the end.
        command: the command line as typed, for `run.json`.
        patience: how calls are retried; from the plan where it is None.
        sitting: limits and cache; without any where it is None.

    Raises UsageError, DataError or RecordError before the first call where something cannot work,
    GivenUpError if the model never answers, StorageError if the record cannot be written. Ctrl-C
    gives a result that says so.
    """
    job = Job(plan, out, observer or Observer())
    outcome = run_all([job], command=command, patience=patience, sitting=sitting)[0]
    if isinstance(outcome, Exception):
        raise outcome
    if outcome is None:
        raise KeyboardInterrupt
    return outcome


def run_all(
    jobs: Sequence[Job],
    *,
    command: Sequence[str],
    patience: Patience | None = None,
    sitting: Sitting | None = None,
) -> list[RunResult | Exception | None]:
    """Runs several plans; one that fails does not stop the others. Gives what came of each, in order.

    Those at different endpoints are played at the same time, those at one endpoint in turn: they would share its
    limits anyway, and a local server that holds one model at a time is not made to change it at every call. Those
    asked by batches, which share nothing, are all played at the same time. None stands for a run that was not begun
    before Ctrl-C.
    """
    shared = sitting or Sitting()
    outcomes: list[RunResult | Exception | None] = [None] * len(jobs)
    lanes: dict[object, list[int]] = {}
    for number, job in enumerate(jobs):
        alone = "agent" in job.plan.batched
        lanes.setdefault((number,) if alone else endpoint_of(job.plan.models["agent"]), []).append(number)

    async def play_lane(numbers: Sequence[int]) -> None:
        for number in numbers:
            try:
                outcomes[number] = result = await _run(jobs[number], command, patience, shared)
            except Exception as error:  # noqa: BLE001 - given to the caller; the other runs are worth playing
                outcomes[number] = error
                continue
            if result.interrupted:
                break

    async def play_lanes() -> None:
        await asyncio.gather(*map(play_lane, lanes.values()))

    if shared.budget.counts:
        for job in jobs:
            _count_recorded(job, shared.budget)
    try:
        with seldom_collecting():
            asyncio.run(play_lanes())
    except KeyboardInterrupt:
        if not any(isinstance(outcome, RunResult) and outcome.interrupted for outcome in outcomes):
            raise
    return outcomes


def _count_recorded(job: Job, budget: Budget) -> None:
    """Adds to what is spent what a run's record has cost already."""
    if not job.out.is_dir():
        return
    try:
        with RecordReader(job.out) as reader:
            for role, reply in reader.asked_for():
                budget.spent.add(reply.usage, job.plan.prices.get(role), batched=reply.batched)
    except RecordError:
        # The run itself will say what is wrong with its folder.
        return


async def _run(job: Job, command: Sequence[str], patience: Patience | None, sitting: Sitting) -> RunResult:
    plan = job.plan
    units = plan.selected().units
    with RunFolder(
        job.out,
        kind="played",
        identity=plan.identity(),
        scope=plan.scope(),
        source=plan.source,
        command=command,
    ) as folder:
        try:
            bounds = patience or Patience(plan.timeout_s, plan.max_attempts)
            result = await _play(job, bounds, sitting, units)
        except BaseException as error:
            _note_end(folder, f"stopped: {type(error).__name__}")
            raise
        folder.finish(result.status, spent=result.taken())
        return result


async def _play(job: Job, patience: Patience, sitting: Sitting, units: int) -> RunResult:
    plan, folder, observer = job.plan, job.out, job.observer
    faults: list[str] = []
    table = VerdictTable(verdicts_path(folder, plan.profile), plan.benchmark)
    player = Player(
        run=folder.resolve().name,
        model=plan.models["agent"].name,
        benchmark=plan.benchmark.name,
        profile=plan.profile,
    )

    def played(order: int, item: Item, repeat: int, log: Log) -> None:
        verdicts, fault = judge(plan.benchmark, item, transcripts(log), plan.profile)
        if fault is not None:
            faults.append(f"{item.id}: {fault}")
        table.add(order, player, item, repeat, verdicts, log)
        observer.item_done(item.id, repeat, verdicts)

    with table, RecordReader(folder, whole=True) as reader, RecordWriter(folder, reader.lost) as writer:
        observer.started(units)
        batching = _batching(job, writer, patience)
        stage = Stage(plan, reader, writer, observer, patience, sitting, batching)
        try:
            await play(stage, played)
            interrupted = False
        except (KeyboardInterrupt, asyncio.CancelledError):
            interrupted = True
        writer.sync()
        unchecked = [] if interrupted else _check_data(plan)
        return RunResult(
            folder=folder,
            verdicts=None if interrupted else table.write(_stamp(plan, folder)),
            counts=table.counts(),
            calls=stage.calls,
            replayed=stage.replayed,
            cached=stage.cached,
            spent=stage.spent,
            limit=str(stage.held_back) if stage.held_back else None,
            limit_of_endpoint=stage.held_back is not None and stage.held_back.of_endpoint,
            faults=tuple(faults),
            remarks=(*map(str, reader.lost), *unchecked),
            interrupted=interrupted,
            pending=tuple(stage.rounds.pending()) if stage.rounds else (),
        )


def _check_data(plan: Plan) -> list[str]:
    """A remark where the data are not there any more, so that nothing tells whether they were edited.

    Raises DataError where they are not those any more that the run began with: its items may be of both.
    """
    now = _digest_now(plan)
    if now is None:
        return [
            f"{plan.source.path}: not found at the end of the run, so changes to the data during it would go unnoticed"
        ]
    if now != plan.source.sha256:
        raise DataError(
            f"{plan.source.path}: changed while the run went on (SHA-256 {now} instead of {plan.source.sha256}), so"
            " nothing is judged; replies are recorded. Restore the data and run the same command, or use another --out"
        )
    return []


def _digest_now(plan: Plan) -> str | None:
    """SHA-256 of the data as they are now; None where they are not found, by their name or where they lay."""
    for place in dict.fromkeys((plan.source.name, str(plan.source.path))):
        with suppress(DataError):
            return plan.benchmark.locate(place, plan.split).sha256
    return None


def _stamp(plan: Plan, folder: Path) -> Stamp:
    return stamp_of({"identity": plan.identity(), "scope": plan.scope()}, plan.profile, record_of(folder))


def _batching(job: Job, writer: RecordWriter, patience: Patience) -> "Batching | None":
    if not job.plan.batched:
        return None
    from wildtool.engine.batch.rounds import Batching  # the network library is slow to load

    return Batching(job.plan, job.out, writer, job.observer, patience)


def _note_end(folder: RunFolder, status: str) -> None:
    try:
        folder.finish(status)
    except StorageError as error:
        # The disk is full: the error under way tells the user so, and the record does not need this note.
        error.add_note("run.json could not be updated either")
