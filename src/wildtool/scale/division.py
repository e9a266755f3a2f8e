"""How one controller divides money, tokens and rates among workers: pure, without a clock or a store.

A worker may use what it was given until it has said that it knows of a newer allotment. So what is taken from one is
given to another only after that, and together they never get more than there is.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

SPENDING = ("cost", "tokens")
"""What is used up, in USD and in tokens."""
OPTIONS = {"cost": "--max-cost", "tokens": "--max-tokens-total"}
"""The option that limits each."""
RATE = "rate"
"""The part of all calls and tokens a minute, from 0 to 1."""
KEPT_PART = 0.7
"""What a worker that does not need all of its rate keeps each time."""
LEAST_PART = 0.1
"""What it keeps at call_price, of an equal part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a worker last said of itself."""

    version: int = 0
    """The newest allotment that it knows; 0 for none."""
    spent: Mapping[str, float] = field(default_factory=dict[str, float])
    """By kind of spending, calls in flight left out."""
    held: Mapping[str, float] = field(default_factory=dict[str, float])
    """What its calls in flight are expected to take."""
    needed: Mapping[str, float] = field(default_factory=dict[str, float])
    """What its next call is expected to take."""
    waits: Collection[str] = SPENDING
    """The kinds of which it waits for more."""
    waits_for_rate: bool = True
    """Whether calls wait for their turn."""
    alive: bool = True
    ended: bool = False
    """Whether it has ended and said so, so that what it spent is final."""

    @classmethod
    def from_report(cls, report: Mapping[str, Any], *, alive: bool) -> "Demand":
        """From a heartbeat."""
        amounts = {
            name: {kind: float(report.get(name, {}).get(kind, 0.0)) for kind in SPENDING}
            for name in ("spent", "held", "needed")
        }
        return cls(
            version=int(report.get("version", 0)),
            waits=tuple(report.get("waits", SPENDING)),
            waits_for_rate=bool(report.get("waits_for_rate", True)),
            alive=alive,
            ended=bool(report.get("ended")),
            **amounts,
        )


Allotment = dict[str, float]
"""What a worker may have spent in all, by kind, and its part of the rate."""


class Division:
    """What each worker may use. One controller calls it from time to time with what all workers say."""

    def __init__(self, totals: Mapping[str, float]) -> None:
        """Args: totals: what there is to spend, by kind; a kind without a limit is left out."""
        self.version = 0
        """Of the newest allotments."""
        self.exhausted: str | None = None
        """The kind of which nothing is left for the next call; None while there is room."""
        self._totals = dict(totals)
        self._given: dict[str, dict[int, Allotment]] = {}
        """By worker and version: the allotments that it may be using."""

    def divide(self, demands: Mapping[str, Demand]) -> dict[str, Allotment]:
        """The newest allotment of each worker that is alive."""
        self.version += 1
        for worker, demand in demands.items():
            in_use = self._given.setdefault(worker, {})
            for version in [each for each in in_use if each < demand.version]:
                del in_use[version]
        alive = {worker: demand for worker, demand in demands.items() if demand.alive and not demand.ended}
        allotments: dict[str, Allotment] = {worker: {} for worker in alive}
        for kind, total in self._totals.items():
            self._divide_spending(kind, total, demands, alive, allotments)
        self._divide_rate(alive, allotments)
        for worker, allotment in allotments.items():
            self._given[worker][self.version] = allotment
        return allotments

    def _committed(self, worker: str, kind: str) -> float:
        """The most that a worker may be using."""
        return max((each[kind] for each in self._given[worker].values()), default=0.0)

    def _newest(self, worker: str, kind: str) -> float:
        in_use = self._given[worker]
        return in_use[max(in_use)][kind] if in_use else 0.0

    def _divide_spending(
        self,
        kind: str,
        total: float,
        demands: Mapping[str, Demand],
        alive: Mapping[str, Demand],
        allotments: dict[str, Allotment],
    ) -> None:
        used = sum(
            demand.spent.get(kind, 0.0)
            if demand.ended
            else max(self._committed(worker, kind), demand.spent.get(kind, 0.0))
            for worker, demand in demands.items()
        )
        free = max(0.0, total - used)
        waiting = [worker for worker, demand in alive.items() if kind in demand.waits]
        for worker in alive:
            allotments[worker][kind] = self._newest(worker, kind)
        if not waiting:
            return
        call_price = min(alive[worker].needed.get(kind, 0.0) for worker in waiting)
        part = max(free / (2 * len(waiting)), call_price)
        for worker in waiting:
            # What cannot pay for a call is of no use to anybody.
            if free >= part > 0.0:
                spent = max(alive[worker].spent.get(kind, 0.0), self._newest(worker, kind))
                allotments[worker][kind] = spent + part
                free -= part
        if free < call_price or total <= used:
            self._take_back(kind, alive, allotments, everybody_waits=len(waiting) == len(alive))

    def _take_back(
        self,
        kind: str,
        alive: Mapping[str, Demand],
        allotments: dict[str, Allotment],
        *,
        everybody_waits: bool,
    ) -> None:
        """Takes half of what is not in use; says that nothing is left where there is no such thing."""
        for worker, demand in alive.items():
            in_use = demand.spent.get(kind, 0.0) + demand.held.get(kind, 0.0)
            if kind not in demand.waits and allotments[worker][kind] > in_use:
                allotments[worker][kind] = (allotments[worker][kind] + in_use) / 2
        unsettled = any(self._committed(worker, kind) > self._newest(worker, kind) for worker in alive)
        got_more = any(allotments[worker][kind] > self._newest(worker, kind) for worker in alive)
        in_flight = any(demand.held.get(kind, 0.0) > 0.0 for demand in alive.values())
        if everybody_waits and not unsettled and not got_more and not in_flight:
            self.exhausted = kind

    def _divide_rate(self, alive: Mapping[str, Demand], allotments: dict[str, Allotment]) -> None:
        if not alive:
            return
        equal = 1.0 / len(alive)
        targets = {
            worker: max(LEAST_PART * equal, KEPT_PART * self._newest(worker, RATE))
            for worker, demand in alive.items()
            if not demand.waits_for_rate
        }
        waiting = [worker for worker in alive if worker not in targets]
        rest = max(0.0, 1.0 - sum(targets.values()))
        targets |= {worker: rest / len(waiting) for worker in waiting}
        free = max(0.0, 1.0 - sum(self._committed(worker, RATE) for worker in alive))
        # Those with the least first, so that a newcomer need not wait for the largest to be served.
        for worker in sorted(alive, key=lambda each: (self._newest(each, RATE), each)):
            committed, target = self._committed(worker, RATE), targets[worker]
            raised = min(max(0.0, target - committed), free)
            free -= raised
            allotments[worker][RATE] = target if target <= committed else committed + raised
