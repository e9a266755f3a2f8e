"""What a worker may still spend once the command that divides the limits was killed, or started again."""

import asyncio
import json
import os
import sys
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from wildtool.engine.call.budget import Reservation
from wildtool.engine.call.client import Invocation
from wildtool.engine.call.rate_limit import LimitError, RateLimiter
from wildtool.errors import UsageError
from wildtool.models.settings import Rates
from wildtool.scale import allowance as module
from wildtool.scale.allowance import (
    ALLOTMENTS_KEY,
    AllottedBudget,
    Allowance,
    is_limited,
    limits_of,
    remaining_limits,
)
from wildtool.scale.claims import EXPIRY_S, worker_key
from wildtool.scale.job import SharedJob
from wildtool.scale.store import FolderStore

JOB = SharedJob(
    benchmark="wild-mini",
    model="baseline/gold",
    options={"max_cost": 10.0},
    explicit=["max_cost"],
    original_prompts=False,
    items=4,
    share_items=1,
    workers=1,
    controlled=True,
    sitting=1,
)


class Helper:
    """A worker of one start of the command, in a folder."""

    def __init__(
        self,
        folder: Path,
        sitting: int,
        name: str = "helper",
        *,
        controlled: bool = True,
        workers: int = 1,
        spent: Any = None,
        **options: Any,
    ) -> None:
        options = {name: value for name, value in {"max_cost": 10.0, **options}.items() if value is not None}
        job = replace(
            JOB, sitting=sitting, controlled=controlled, workers=workers, options=options, spent=spent or {}
        )
        self.store = FolderStore(folder)
        self.store.put(worker_key(name), b"{}")
        self.budget = AllottedBudget(job)
        self.allowance = Allowance(job, name, job.plan()[0], Invocation(self.budget), self.budget)

    def allot(self, sitting: int, workers: dict[str, Any]) -> None:
        content = {"sitting": sitting, "version": 1, "stopped": None, "remaining_s": None, "workers": workers}
        self.store.put(ALLOTMENTS_KEY, json.dumps(content).encode())

    def report(self) -> None:
        self.allowance.read(self.store, self.allowance.report())
        self.allowance.apply()


async def test_what_an_earlier_start_gave_is_not_spent_in_a_later_one(tmp_path: Path):
    helper = Helper(tmp_path, sitting=1)
    helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
    helper.report()
    await helper.allowance.room()
    helper.allot(2, {"other": {"cost": 10.0, "rate": 1.0}})
    helper.report()
    with pytest.raises(LimitError, match="started again; start this worker again"):
        await helper.allowance.room()


async def test_a_worker_that_was_given_nothing_stops_where_its_command_is_silent(tmp_path: Path):
    helper = Helper(tmp_path, sitting=2)
    helper.allot(1, {})
    helper.report()
    assert helper.budget.stopped is None
    later = (tmp_path / ALLOTMENTS_KEY).stat().st_mtime + EXPIRY_S + 1
    os.utime(tmp_path / worker_key("helper"), (later, later))
    helper.report()
    with pytest.raises(LimitError, match="does not answer"):
        await helper.allowance.room()


@pytest.mark.parametrize("damaged", [b"[]", b'{"sitting": ', b'"text"'])
async def test_damaged_allotments_give_nothing_and_end_no_worker(tmp_path: Path, damaged: bytes):
    helper = Helper(tmp_path, sitting=1)
    helper.store.put(ALLOTMENTS_KEY, damaged)
    helper.report()
    assert helper.budget.stopped is None
    helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
    helper.report()
    await helper.allowance.room()


# What calls take --------------------------------------------------------------------------------------


def test_limits_are_those_of_the_options_less_what_was_spent_before():
    options = {"max_cost": 10, "max_tokens_total": 500, "limit": 3}
    assert limits_of(options) == {"cost": 10.0, "tokens": 500.0}
    assert limits_of({"max_cost": None, "max_tokens_total": 0}) == {"tokens": 0.0}
    job = replace(JOB, options=options, spent={"cost": 2.5, "tokens": 600.0})
    assert remaining_limits(job) == {"cost": 7.5, "tokens": 0.0}
    assert remaining_limits(replace(job, spent={})) == {"cost": 10.0, "tokens": 500.0}


def test_there_is_something_to_divide_where_there_is_a_limit_a_rate_or_a_deadline():
    plan = JOB.plan()[0]
    rated = [replace(plan, rates={"agent": rates}) for rates in (Rates(rpm=1), Rates(tpm=1), Rates())]
    assert [is_limited({}, each) for each in (plan, *rated)] == [False, True, True, False]
    assert is_limited({"max_cost": 0.0}, plan)
    assert is_limited({"deadline": "1h"}, plan)
    assert not is_limited({"deadline": None, "limit": 1}, plan)


def test_a_budget_says_what_is_spent_held_and_needed():
    budget = AllottedBudget(JOB)
    assert budget.spending() == budget.held() == budget.needed() == {"cost": 0.0, "tokens": 0.0}
    first = Reservation(cost=0.5, tokens=100)
    budget.reserve(first)
    budget.reserve(Reservation(cost=0.25, tokens=50))
    assert budget.held() == {"cost": 0.75, "tokens": 150.0}
    assert budget.needed() == {"cost": 0.25, "tokens": 50}
    budget.release(first)
    budget.spent.cost, budget.spent.prompt_tokens = 1.5, 300
    assert budget.held() == {"cost": 0.25, "tokens": 50.0}
    assert budget.needed() == {"cost": 1.5, "tokens": 300.0}
    budget.release(Reservation(cost=0.25, tokens=50))
    assert budget.needed() == {"cost": 0.75, "tokens": 150.0}
    assert budget.held() == {"cost": 0.0, "tokens": 0.0}


def test_a_budget_estimates_only_what_is_limited():
    cost, tokens = (
        AllottedBudget(replace(JOB, options=options))
        for options in ({"max_cost": 1}, {"max_tokens_total": 1})
    )
    assert (cost.limits.max_cost, cost.limits.max_tokens_total) == (inf, None)
    assert (tokens.limits.max_cost, tokens.limits.max_tokens_total) == (None, sys.maxsize)


async def test_a_report_says_what_a_worker_waits_for(tmp_path: Path):
    helper = Helper(tmp_path, sitting=1)
    nothing = {"cost": 0.0, "tokens": 0.0}
    report: dict[str, Any] = {
        "version": 0,
        "spent": nothing,
        "held": nothing,
        "needed": nothing,
        "waits": ["cost", "tokens"],
        "waits_for_rate": False,
    }
    assert helper.allowance.report() == report
    helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
    helper.report()
    assert helper.allowance.report() == {**report, "version": 1, "waits": []}
    await helper.allowance.room()
    helper.budget.spent.cost = 4.0
    helper.budget.reserve(Reservation(cost=1.0, tokens=7))
    waiting = asyncio.ensure_future(helper.allowance.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    assert helper.allowance.report() == {
        "version": 1,
        "spent": {"cost": 4.0, "tokens": 0.0},
        "held": {"cost": 1.0, "tokens": 7.0},
        "needed": {"cost": 1.0, "tokens": 7.0},
        "waits": ["cost"],
        "waits_for_rate": False,
    }
    helper.budget.stop("enough")
    with pytest.raises(LimitError, match=r"^enough$"):
        await waiting


@pytest.mark.parametrize(
    ("spent", "needed", "has_room"),
    [(3.0, 1.0, True), (3.0, 1.25, False), (5.0, 0.0, False), (4.5, 0.0, True)],
)
async def test_there_is_room_for_a_call_that_is_allotted(
    tmp_path: Path, spent: float, needed: float, has_room: bool
):
    helper = Helper(tmp_path, sitting=1)
    helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
    helper.report()
    helper.budget.reserve(Reservation(cost=needed, tokens=0))
    helper.budget.spent.cost = spent
    waiting = asyncio.ensure_future(helper.allowance.room())
    await asyncio.sleep(0)
    assert waiting.done() is has_room
    waiting.cancel()


async def test_what_the_controller_says_stops_a_worker(tmp_path: Path):
    helper = Helper(tmp_path, sitting=1)
    content = {
        "sitting": 1,
        "version": 4,
        "workers": {},
        "stopped": "the limit is reached",
        "remaining_s": None,
    }
    helper.store.put(ALLOTMENTS_KEY, json.dumps(content).encode())
    helper.report()
    assert helper.budget.stopped == "the limit is reached"
    with pytest.raises(LimitError, match=r"^the limit is reached$"):
        await helper.allowance.room()


async def test_no_call_begins_after_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    helper = Helper(tmp_path, sitting=1, deadline="5m", max_cost=None)
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    content = {"sitting": 1, "version": 1, "workers": {"helper": {"rate": 1.0}}, "stopped": None}
    for remaining_s in (60.0, 90.0):
        helper.store.put(ALLOTMENTS_KEY, json.dumps({**content, "remaining_s": remaining_s}).encode())
        helper.report()
    now[0] = 159.9
    helper.allowance.apply()
    assert helper.budget.stopped is None
    now[0] = 160.0
    helper.allowance.apply()
    assert helper.budget.stopped == "the deadline of 5m is over (--deadline)"


# Parts of limits, without a controller ----------------------------------------------------------------


async def test_each_worker_of_a_cluster_takes_an_equal_part(tmp_path: Path):
    first, second = (
        Helper(tmp_path, 1, name, controlled=False, workers=2, spent={"cost": 2.0}) for name in ("a", "b")
    )
    first.report()
    second.report()
    third = Helper(tmp_path, 1, "c", controlled=False, workers=2)
    with pytest.raises(UsageError) as caught:
        third.report()
    assert str(caught.value) == (
        f"{third.store.url}: 2 workers have all parts of its limits; start no more than that, or wait 90 s for those of"
        " dead ones"
    )
    first.budget.spent.cost = 3.9
    await first.allowance.room()
    first.report()
    first.budget.spent.cost = 4.0
    with pytest.raises(LimitError) as stopped:
        await first.allowance.room()
    assert str(stopped.value) == (
        "this worker's part of the limits (--max-cost, divided by 2 workers) leaves no room for the next call"
    )
    assert sorted(path.name for path in (tmp_path / "parts" / "0001" / "worker").iterdir()) == ["a", "b", "c"]


async def test_who_takes_over_the_part_of_a_dead_worker_has_what_that_one_left(tmp_path: Path):
    dead = Helper(tmp_path, 1, "dead", controlled=False)
    dead.report()
    dead.budget.spent.cost, dead.budget.spent.completion_tokens = 7.0, 70
    dead.report()
    place = tmp_path / "parts" / "0001"
    past = (place / "worker" / "dead").stat().st_mtime - EXPIRY_S - 5
    os.utime(place / "worker" / "dead", (past, past))
    heir = Helper(tmp_path, 1, "heir", controlled=False)
    heir.report()
    assert heir.allowance.report()["spent"] == {"cost": 7.0, "tokens": 70.0}
    heir.budget.spent.cost = 2.9
    await heir.allowance.room()
    heir.budget.spent.cost = 3.0
    with pytest.raises(LimitError, match="leaves no room"):
        await heir.allowance.room()


async def test_rates_are_divided_as_the_controller_says(tmp_path: Path):
    helper = Helper(tmp_path, sitting=1)
    limiter = RateLimiter(4, Rates(rpm=60, tpm=None))
    other = RateLimiter(4, Rates(rpm=None, tpm=1_000))
    helper.allowance._limiters = [(limiter, limiter.rates), (other, other.rates)]  # pyright: ignore[reportPrivateUsage]
    helper.allowance.apply()
    assert (limiter.rates, other.rates) == (Rates(rpm=60, tpm=None), Rates(rpm=None, tpm=1_000))
    helper.allot(1, {"helper": {"rate": 0.25}})
    helper.report()
    assert (limiter.rates, other.rates) == (Rates(rpm=15.0, tpm=None), Rates(rpm=None, tpm=250.0))


async def test_a_call_waits_until_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    helper, waits = Helper(tmp_path, sitting=1), list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
            helper.report()

    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    await helper.allowance.room()
    assert waits == [0.2] * 3
    unlimited = Helper(tmp_path / "other", sitting=1, max_cost=None)
    assert not unlimited.allowance.is_limited
    await unlimited.allowance.room()
    assert len(waits) == 3


@pytest.mark.parametrize("silent_s", [EXPIRY_S, EXPIRY_S + 0.5])
@pytest.mark.parametrize("waits", [True, False])
async def test_only_a_worker_that_waits_stops_where_its_command_is_silent_for_long(
    tmp_path: Path, silent_s: float, waits: bool
):
    helper = Helper(tmp_path, sitting=1)
    helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
    helper.report()
    if waits:
        helper.budget.spent.cost = 5.0
        waiting = asyncio.ensure_future(helper.allowance.room())
        await asyncio.sleep(0)
        waiting.cancel()
    os.utime(tmp_path / ALLOTMENTS_KEY, (1_000, 1_000))
    os.utime(tmp_path / worker_key("helper"), (1_000 + silent_s, 1_000 + silent_s))
    helper.report()
    words = "the command that divides the limits does not answer; run the same command again to continue"
    assert helper.budget.stopped == (words if waits and silent_s > EXPIRY_S else None)


async def test_what_stopped_a_worker_first_is_what_it_says(tmp_path: Path):
    helper = Helper(tmp_path, sitting=1)
    helper.budget.stop("first")
    helper.allot(2, {})
    helper.report()
    assert helper.budget.stopped == "first"
    assert helper.allowance._stopped is None  # pyright: ignore[reportPrivateUsage]


async def test_a_part_is_of_all_limits_and_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    helper = Helper(
        tmp_path, 1, "a", controlled=False, workers=4, max_cost=8.0, max_tokens_total=100, deadline="5m"
    )
    limiter = RateLimiter(4, Rates(rpm=60, tpm=None))
    helper.allowance._limiters = [(limiter, limiter.rates)]  # pyright: ignore[reportPrivateUsage]
    helper.report()
    assert limiter.rates == Rates(rpm=15.0, tpm=None)
    call = Reservation(cost=1.0, tokens=13)
    helper.budget.reserve(call)
    helper.budget.reserve(call)
    waiting = asyncio.ensure_future(helper.allowance.room())
    await asyncio.sleep(0)
    assert not waiting.done(), "calls in flight may take less"
    waiting.cancel()
    assert helper.budget.stopped is None
    helper.budget.release(call)
    helper.budget.release(call)
    helper.budget.spent.cost, helper.budget.spent.prompt_tokens = 2.0, 25
    with pytest.raises(LimitError) as caught:
        await helper.allowance.room()
    assert str(caught.value) == (
        "this worker's part of the limits (--max-cost, --max-tokens-total, divided by 4 workers) leaves no room for the"
        " next call"
    )
    other = Helper(tmp_path, 1, "b", controlled=False, workers=4, max_cost=8.0, deadline="5m")
    other.report()
    now[0] = 399.9
    other.allowance.apply()
    assert other.budget.stopped is None
    now[0] = 400.0
    other.allowance.apply()
    assert other.budget.stopped == "the deadline of 5m is over (--deadline)"


async def test_before_its_command_has_written_anything_a_worker_waits(tmp_path: Path):
    helper = Helper(tmp_path, sitting=1)
    helper.report()
    assert helper.budget.stopped is None
    assert helper.allowance.report()["waits"] == ["cost", "tokens"]
