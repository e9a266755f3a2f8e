"""What one worker may spend and send: divided by a controller, or an equal part of the limits."""

import asyncio
import sys
import time
from collections.abc import Mapping
from math import inf
from typing import Any

from wildtool.api.values import parse_duration
from wildtool.engine.call.budget import NO_RESERVATION, Budget, Reservation, SpendingLimits
from wildtool.engine.call.client import Invocation
from wildtool.engine.call.rate_limit import RateLimiter
from wildtool.engine.plan import Plan
from wildtool.errors import LimitError, UsageError
from wildtool.json_codec import as_object
from wildtool.models.settings import Rates
from wildtool.scale.claims import EXPIRY_S, Claims, held_key, worker_key
from wildtool.scale.division import OPTIONS, RATE, SPENDING, Allotment
from wildtool.scale.job import SharedJob
from wildtool.scale.store import ObjectStore

ALLOTMENTS_KEY = "control/allotments.json"
"""What the controller gives to each worker."""
WAIT_S = 0.2
"""Between two looks whether there is more to spend."""


def limits_of(options: Mapping[str, Any]) -> dict[str, float]:
    """What all workers may spend together, by kind; a kind without a limit is left out."""
    limits = {
        kind: options.get(option.removeprefix("--").replace("-", "_")) for kind, option in OPTIONS.items()
    }
    return {kind: float(limit) for kind, limit in limits.items() if limit is not None}


def remaining_limits(job: SharedJob) -> dict[str, float]:
    """What is left of them for this start of the command."""
    return {
        kind: max(0.0, limit - job.spent.get(kind, 0.0)) for kind, limit in limits_of(job.options).items()
    }


def is_limited(options: Mapping[str, Any], plan: Plan) -> bool:
    """Whether there is anything to divide."""
    rated = any(rates.rpm is not None or rates.tpm is not None for rates in plan.rates.values())
    return bool(limits_of(options)) or rated or options.get("deadline") is not None


class AllottedBudget(Budget):
    """The budget of a worker: calls wait for room before they are reserved, so it refuses none for its price."""

    def __init__(self, job: SharedJob) -> None:
        limits = limits_of(job.options)
        # Endless ones make clients estimate what a call takes.
        super().__init__(
            SpendingLimits(
                max_cost=inf if "cost" in limits else None,
                max_tokens_total=sys.maxsize if "tokens" in limits else None,
            )
        )
        self._typical = NO_RESERVATION
        """What the last call was expected to take."""
        self._calls = 0
        """Calls that are over."""

    def reserve(self, reservation: Reservation) -> None:
        super().reserve(reservation)
        self._typical = reservation

    def release(self, reservation: Reservation) -> None:
        super().release(reservation)
        self._calls += 1

    def spending(self) -> dict[str, float]:
        """What was spent, by kind."""
        return {"cost": self.spent.cost, "tokens": float(self.spent.tokens)}

    def held(self) -> dict[str, float]:
        """What calls in flight are expected to take."""
        # What was added and taken away again leaves a rest of rounding.
        return {"cost": max(0.0, round(self._cost, 9)), "tokens": max(0.0, round(self._tokens, 6))}

    def needed(self) -> dict[str, float]:
        """What the next call is expected to take: as much as earlier ones took, since first estimates are rough."""
        if self._calls:
            return {kind: amount / self._calls for kind, amount in self.spending().items()}
        return {"cost": self._typical.cost, "tokens": self._typical.tokens}


class Allowance:
    """What one worker may spend and send."""

    def __init__(
        self, job: SharedJob, worker: str, plan: Plan, invocation: Invocation, budget: AllottedBudget
    ) -> None:
        self.is_limited = is_limited(job.options, plan)
        self._job, self._worker, self._budget = job, worker, budget
        self._limits = remaining_limits(job)
        self._allotment: Allotment | None = None
        """None until it is known, while nothing may be sent."""
        self._version = 0
        self._stopped: str | None = None
        self._stop_at: float | None = None
        """When no call may begin any more, on this process's clock."""
        self._waiting: set[str] = set()
        """Kinds of which calls wait for more."""
        self._parts: Claims | None = None
        self._inherited: dict[str, float] = {}
        """What the worker before this one has spent of the same part of the limits."""
        # One limiter for each endpoint; asked for without rates, each stays as it is.
        limiters = [invocation.limiter(plan.models[role], plan.concurrency, Rates()) for role in plan.models]
        self._limiters: list[tuple[RateLimiter, Rates]] = [
            (limiter, limiter.rates) for limiter in {id(limiter): limiter for limiter in limiters}.values()
        ]

    async def room(self) -> None:
        """Waits until the next call may begin. Raises LimitError where none may any more."""
        while self.is_limited and not self._has_room():
            if self._budget.stopped is not None:
                raise LimitError(self._budget.stopped)
            await asyncio.sleep(WAIT_S)

    def _has_room(self) -> bool:
        if self._budget.stopped is not None or self._allotment is None:
            return False
        spent, held, needed = self._budget.spending(), self._budget.held(), self._budget.needed()
        allotted = {kind: self._allotment.get(kind, 0.0) for kind in self._limits}
        short = {
            kind
            for kind, most in allotted.items()
            if spent[kind] + held[kind] >= most or spent[kind] + held[kind] + needed[kind] > most
        }
        self._waiting = short
        if short and not self._job.controlled and not any(held.values()):
            names = ", ".join(OPTIONS[kind] for kind in sorted(short))
            self._stopped = (
                f"this worker's part of the limits ({names}, divided by {self._job.workers} workers) leaves no room for "
                "the next call"
            )
            self._budget.stop(self._stopped)
        return not short

    def report(self) -> dict[str, Any]:
        """What the controller needs to know."""
        spent = self._budget.spending()
        return {
            "version": self._version,
            "spent": {kind: spent[kind] + self._inherited.get(kind, 0.0) for kind in SPENDING},
            "held": self._budget.held(),
            "needed": self._budget.needed(),
            "waits": sorted(self._waiting) if self._allotment is not None else list(SPENDING),
            "waits_for_rate": any(limiter.wait_s > 0 for limiter, _ in self._limiters),
        }

    def read(self, store: ObjectStore, report: dict[str, Any]) -> None:
        """Learns what this worker may use. Args: report: its own. Raises StoreError."""
        if self._job.controlled:
            self._read_allotment(store)
        else:
            # Parts have heartbeats of their own: a part is taken over from who is dead.
            parts = self._parts = self._parts or Claims(
                self._parts_store(store), self._worker, self._job.workers, sitting=1
            )
            parts.beat(report)
            if self._allotment is None:
                self._take_part(store, parts)

    def _read_allotment(self, store: ObjectStore) -> None:
        if self._budget.stopped is not None:
            return
        allotments = store.get_json(ALLOTMENTS_KEY)
        sitting = allotments.get("sitting", 0)
        if sitting > self._job.sitting:
            # Its controller counts nothing that this worker was given before.
            self._stopped = "the run was started again; start this worker again"
            return
        if sitting == self._job.sitting:
            if self._worker in allotments["workers"]:
                self._allotment, self._version = allotments["workers"][self._worker], allotments["version"]
            self._stopped = allotments["stopped"]
            if (remaining_s := allotments["remaining_s"]) is not None:
                self._stop_at = min(time.monotonic() + remaining_s, self._stop_at or inf)
        if (self._waiting or self._allotment is None) and self._is_stale(store):
            self._stopped = (
                "the command that divides the limits does not answer; run the same command again to continue"
            )

    def _is_stale(self, store: ObjectStore) -> bool:
        """Whether the controller has written nothing for long, by the store's clock."""
        times = [entry.modified for entry in store.entries("control/")]
        own = {entry.key: entry.modified for entry in store.entries("worker/")}
        now = own.get(worker_key(self._worker), 0.0)
        return now - max(times, default=now) > EXPIRY_S

    def _parts_store(self, store: ObjectStore) -> ObjectStore:
        """Where the parts of this start of the command are."""
        return store.below("parts").below(f"{self._job.sitting:04d}")

    def _take_part(self, store: ObjectStore, parts: Claims) -> None:
        """Takes one of as many equal parts as there are workers; of a dead worker what it has not spent."""
        claim = parts.claim()
        if claim is None:
            raise UsageError(
                f"{store.url}: {self._job.workers} workers have all parts of its limits; start no more than that, or "
                f"wait {EXPIRY_S:.0f} s for those of dead ones"
            )
        if claim.generation > 1:  # else nobody had it before, and two requests are spared
            below = self._parts_store(store)
            before = below.get_json(held_key(claim.shard, claim.generation - 1))
            report = below.get_json(worker_key(str(before.get("worker"))))
            self._inherited = as_object(report.get("spent"))
        part = 1.0 / self._job.workers
        self._allotment = {RATE: part} | {
            kind: max(0.0, limit * part - self._inherited.get(kind, 0.0))
            for kind, limit in self._limits.items()
        }
        if deadline := self._job.options.get("deadline"):
            self._stop_at = time.monotonic() + parse_duration(deadline)

    def apply(self) -> None:
        """Lets the limiters send what this worker may. To be called in the event loop."""
        if self._stopped is not None:
            self._budget.stop(self._stopped)
        elif self._stop_at is not None and time.monotonic() >= self._stop_at:
            self._budget.stop(f"the deadline of {self._job.options['deadline']} is over (--deadline)")
        part = 0.0 if self._allotment is None else self._allotment.get(RATE, 0.0)
        for limiter, rates in self._limiters if part else ():
            limiter.rates = Rates(
                rpm=None if rates.rpm is None else rates.rpm * part,
                tpm=None if rates.tpm is None else rates.tpm * part,
            )
