"""The command that owns a shared run: it prepares the store, starts workers, divides limits, and scores at the end."""

import json
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from wildtool.api.plans import NamedRun
from wildtool.api.settings import Settings
from wildtool.api.values import parse_duration
from wildtool.engine.call.budget import Spend
from wildtool.engine.plan import Plan, SelectedItems
from wildtool.engine.record.format import find_segments
from wildtool.engine.record.reader import LogReader
from wildtool.engine.record.run_folder import RunFolder, is_locked, read_run
from wildtool.errors import RecordError, UsageError, WildtoolError
from wildtool.outputs import check_folder, is_remote, is_run
from wildtool.scale.allowance import ALLOTMENTS_KEY, is_limited, limits_of, remaining_limits
from wildtool.scale.claims import EXPIRY_S, Claim, Claims, ShardState, shard_states
from wildtool.scale.copies import STORE_FOLDER, SharedPlace, copy_run, place_of
from wildtool.scale.division import OPTIONS, Demand, Division
from wildtool.scale.job import (
    SharedJob,
    explicit_as_json,
    machine_name,
    options_as_json,
    shard_size,
    worker_name,
)
from wildtool.scale.overview import SharedProgress, WorkerReport, worker_reports
from wildtool.scale.store import JOB_KEY, StoreError
from wildtool.scale.worker import pace_of
from wildtool.terminal import print_err
from wildtool.terminal.progress import ProgressDisplay
from wildtool.trust_request import grant

BEAT_CONTROL_S = 20.0
"""Between two heartbeats of the controller."""
PROGRESS_S = 1.0
"""Between two counts for the line, at least."""
COPY_S = 10.0
"""Between two updates of a run folder whose store is inside it."""
LEAVE_S = 10.0
"""For workers to end by themselves once the store says that nothing is left for them."""
_SCOPE = ("limit", "ids", "repeats")
"""What may not change, since shards are counted by it."""


class Launcher(Protocol):
    """Starts the workers of a run and ends with them."""

    count: int
    """How many it starts."""
    statuses: list[int]
    """Exit statuses of those that ended."""
    say: Callable[[str], object]
    """Prints what a worker says."""

    def start(self, url: str) -> None:
        """Starts all workers of the run at that address."""

    def poll(self) -> bool:
        """Replaces workers that were killed; whether any still works. Raises WildtoolError where no worker can."""
        ...

    def stop(self) -> None:
        """Ends all workers: they send what they have and give up their shards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRun:
    """One run that workers share."""

    run: NamedRun
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOutcome:
    """How a run ended that workers shared."""

    place: SharedPlace
    stopped: str | None
    """The limit that was reached, in words."""
    is_done: bool
    """Whether all shards are complete."""
    worker_statuses: tuple[int, ...]
    """Exit statuses of the workers that ended."""


def prepare_run(shared: SharedRun, place: SharedPlace, *, workers: int, controlled: bool) -> SharedJob:
    """Writes what workers need into the store, and `run.json` as every run has it.

    Raises UsageError or RecordError where the run cannot be shared, or where another one lies there.
    """
    plan = shared.run.plan
    if plan.batched:
        raise UsageError("workers do not share batches; leave out --batch, or --on")
    before = SharedJob.read(place.store) if place.store.get(JOB_KEY) is not None else None
    copy_run(place.store, place.folder)
    if before is None and find_segments(place.folder):
        raise RecordError(
            f"{place.folder}: holds a run of one process; continue it without --on, or use another --out"
        )
    items = plan.read()
    if before is not None and (place.folder / "run.json").exists():
        _check_scope(place, plan, items)
    count = sum(1 for _ in items.addresses())
    shared_options = options_as_json(shared.settings)
    job = SharedJob(
        benchmark=shared.settings.benchmark,
        model=shared.run.label,
        options=shared_options,
        explicit=explicit_as_json(shared.settings),
        original_prompts="prompts" in plan.identity(),
        items=count,
        share_items=before.share_items if before else shard_size(count, workers),
        workers=workers,
        controlled=controlled,
        sitting=before.sitting + 1 if before else 1,
        run=before.run if before else uuid.uuid4().hex,
        spent=_spent_before(place, plan) if limits_of(shared_options) else {},
    )
    job.write(place.store)
    # The options are those of this command, so its own workers need not be asked for them again.
    grant(job.trust_request(place.store.url).digest)
    return job


def _check_scope(place: SharedPlace, plan: Plan, items: SelectedItems) -> None:
    scope, now = read_run(place.folder)["scope"], plan.scope(items)
    for name in _SCOPE:
        if scope[name] != now[name]:
            raise RecordError(
                f"{place.label}: {name} was {json.dumps(scope[name])} in this run and is now {json.dumps(now[name])}; "
                "its workers divided the items by it, so use another --out or the same selection"
            )


def _open_folder(place: SharedPlace, plan: Plan) -> RunFolder:
    """The run folder of a shared run, locked; its `run.json` is in the store, too."""
    return plan.open_folder(place.folder, plan.read(), ["wildtool", *sys.argv[1:]])


def publish(place: SharedPlace) -> None:
    """Puts `run.json` into the store."""
    place.store.put("run.json", (place.folder / "run.json").read_bytes())


class Controller:
    """The one process that watches a shared run."""

    def __init__(
        self,
        place: SharedPlace,
        plan: Plan,
        job: SharedJob,
        launcher: Launcher,
        control: "_Control",
        *,
        quiet: bool,
    ) -> None:
        self._place, self._job, self._launcher, self._control, self._quiet = (
            place,
            job,
            launcher,
            control,
            quiet,
        )
        self._store = place.store
        self._deadline = (
            time.monotonic() + parse_duration(deadline) if (deadline := job.options.get("deadline")) else None
        )
        self._division: Division | None = None
        self.stopped: str | None = None
        """The limit that was reached, in words."""
        if is_limited(job.options, plan):
            self._division = Division(remaining_limits(job))
        self._last: dict[str, float] = {}
        self._reports: Mapping[str, WorkerReport] = {}
        """By which limits were last divided."""
        self._over_since: float | None = None
        """When the store first said that nothing is left to do."""

    def watch(self) -> None:
        """Returns when nothing is left to do, or no worker works any more. Raises what keeps all of them from working.

        That nothing is left is for the store to say: a worker may be lost without a word.
        """
        if self._quiet:
            self._watch(None)
            return
        progress = SharedProgress(self._job.model, self._job.shards)
        # What workers say stands above the line.
        self._launcher.say = progress.messages.append
        with ProgressDisplay([progress]):
            self._watch(progress)

    def _watch(self, progress: SharedProgress | None) -> None:
        self._launcher.start(self._store.url)
        pace = pace_of(self._store)
        while self._launcher.poll():
            if self._control.is_lost:
                raise RecordError(
                    f"{self._place.label}: another wildtool has taken over the control of this run"
                )
            with suppress(StoreError):
                if self._division is not None and self._is_due("divide", pace.report_s):
                    self._divide(self._division)
                if self._is_due("shards", max(PROGRESS_S, pace.report_s)):
                    states = shard_states(self._store)
                    if progress is not None:
                        self._update(progress, states)
                    if self._is_over(states):
                        break
                if (self._place.folder / STORE_FOLDER).is_dir() and self._is_due("copy", COPY_S):
                    copy_run(self._store, self._place.folder)
            time.sleep(0.2)
        with suppress(StoreError):
            if progress is not None:
                self._update(progress, shard_states(self._store))

    def _update(self, progress: SharedProgress, states: Mapping[int, ShardState]) -> None:
        reports = worker_reports(self._store, self._job.sitting, progress.reports)
        progress.update(states, reports, machine_name())

    def _is_over(self, states: Mapping[int, ShardState]) -> bool:
        """Whether nothing is left to do, and workers had time to see it. Raises StoreError."""
        settled = sum(state.is_settled(self._job.sitting) for state in states.values())
        if settled < self._job.shards and not (self.stopped is not None and self._nobody_works()):
            self._over_since = None
            return False
        now = time.monotonic()
        if self._over_since is None:
            self._over_since = now
        return now - self._over_since >= LEAVE_S

    def _nobody_works(self) -> bool:
        """Whether each worker that ever reported has ended, or been silent for long. Raises StoreError."""
        now = max((entry.modified for entry in self._store.entries("control/worker/")), default=0.0)
        reports = worker_reports(self._store, self._job.sitting, self._reports)
        return all(report.has_ended or now - report.at > EXPIRY_S for report in reports.values())

    def _is_due(self, name: str, every_s: float) -> bool:
        now = time.monotonic()
        if now - self._last.get(name, -every_s) < every_s:
            return False
        self._last[name] = now
        return True

    def _divide(self, division: Division) -> None:
        reports = self._reports = worker_reports(self._store, self._job.sitting, self._reports)
        now = max((report.at for report in reports.values()), default=0.0)
        demands = {
            worker: Demand.from_report(report.content, alive=now - report.at <= EXPIRY_S)
            for worker, report in reports.items()
        }
        allotments = division.divide(demands)
        remaining_s = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        if remaining_s == 0.0:
            self.stopped = f"the deadline of {self._job.options['deadline']} is over (--deadline)"
        if division.exhausted is not None:
            kind = division.exhausted
            unit = "USD" if kind == "cost" else "tokens"
            limit = f"{limits_of(self._job.options)[kind]:,g} {unit} ({OPTIONS[kind]})"
            self.stopped = f"the limit of {limit} leaves no room for the next call"
        content = {
            "sitting": self._job.sitting,
            "version": division.version,
            "stopped": self.stopped,
            "remaining_s": remaining_s,
            "workers": allotments,
        }
        self._store.put(ALLOTMENTS_KEY, json.dumps(content).encode())

    def is_done(self) -> bool:
        """Whether all shards are complete."""
        return sum(state.complete for state in shard_states(self._store).values()) >= self._job.shards


def _spent_before(place: SharedPlace, plan: Plan) -> dict[str, float]:
    """What the run's record has cost already, by kind."""
    spent = Spend()
    with LogReader(place.folder) as reader:
        for role, usage, batched in reader.billed_usages():
            spent.add(usage, plan.prices.get(role), batched=batched)
    return {"cost": spent.cost, "tokens": float(spent.tokens)}


class _Control:
    """The lease of the one controller, as a context manager that renews it."""

    def __init__(self, place: SharedPlace) -> None:
        self._place = place
        self._claims = Claims(place.store.below("control"), worker_name(), 1, 1)
        self._ended = threading.Event()
        self._renewal = threading.Thread(target=self._renew, daemon=True)
        self._claim = Claim(0, 0)
        self.is_lost = False
        """Whether another controller has taken over."""

    def __enter__(self) -> Self:
        self._claims.beat({})
        if not is_locked(self._place.folder):
            # Controllers of this machine lock the run folder, so those that were ever here are dead.
            names = (
                entry.key.removeprefix("worker/")
                for entry in self._place.store.below("control").entries("worker/")
            )
            self._claims.dead |= {name for name in names if name.startswith(f"{machine_name()}.")}
        if (claim := self._claims.claim()) is None:
            raise RecordError(
                f"{self._place.label}: another wildtool controls this run; wait for it, or help it with `wildtool worker "
                f"--run {self._place.label}`. If it is dead, this is known {EXPIRY_S:.0f} s after its last sign of life"
            )
        self._claim = claim
        self._renewal.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._renewal.join()
        if not self.is_lost:
            with suppress(StoreError):
                self._claims.leave(self._claim, for_anybody=True)

    def _renew(self) -> None:
        while not self._ended.wait(BEAT_CONTROL_S):
            with suppress(StoreError):
                self._claims.beat({})
                self.is_lost = self._claims.is_lost(self._claim)


def _refuse_working(place: SharedPlace) -> None:
    """Raises RecordError while workers of an earlier start work: each would go on with its part of the limits."""
    now = max(entry.modified for entry in place.store.entries("control/worker/"))
    working = [
        entry.key
        for entry in place.store.entries("worker/")
        if now - entry.modified <= EXPIRY_S and not place.store.get_json(entry.key).get("ended")
    ]
    if working:
        raise RecordError(
            f"{place.label}: {len(working)} workers of an earlier start still work; let them end, or cancel their job. A "
            f"killed worker counts as ended {EXPIRY_S:.0f} s after its last sign of life"
        )


def launch(shared: SharedRun, place: SharedPlace, workers: int) -> None:
    """Prepares a run for workers that nobody controls. Errors as of `prepare_run`."""
    with _Control(place):
        _refuse_working(place)
        prepare_run(shared, place, workers=workers, controlled=False)
        with _open_folder(place, shared.run.plan) as folder:
            # What is missing is seen in the record; nobody is there to say how the workers ended.
            folder.finish("done")
            publish(place)


def control_run(shared: SharedRun, launcher: Launcher) -> SharedOutcome:
    """Runs one run by workers, to its end."""
    place = place_of(shared.run.folder)
    if not is_remote(shared.run.folder):
        check_folder(place.folder, _is_own_folder, force=shared.settings.output.force)
    plan = shared.run.plan
    with _Control(place) as control:
        job = prepare_run(shared, place, workers=launcher.count, controlled=True)
        with _open_folder(place, plan) as folder:
            publish(place)
            controller = Controller(place, plan, job, launcher, control, quiet=shared.settings.output.quiet)
            status = "interrupted"
            try:
                controller.watch()
                status = (
                    "limit reached"
                    if controller.stopped
                    else "done"
                    if controller.is_done()
                    else "infra errors"
                )
            except WildtoolError as error:
                status = f"stopped: {type(error).__name__}"
                raise
            except KeyboardInterrupt:
                print_err(
                    f"Interrupted. All replies are saved in {place.label}; run the same command again to continue."
                )
                raise
            finally:
                launcher.stop()
                folder.finish(status)
                publish(place)
                copy_run(place.store, place.folder)
    return SharedOutcome(
        place=place,
        stopped=controller.stopped,
        is_done=controller.is_done(),
        worker_statuses=tuple(launcher.statuses),
    )


def _is_own_folder(folder: Path) -> bool:
    return is_run(folder) or (folder / STORE_FOLDER).is_dir()
