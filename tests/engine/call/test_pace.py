"""How fast an endpoint may be asked, learned from what it turns away; by a clock that jumps."""

import asyncio
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.echo_benchmark import EchoBenchmark, plan_of
from engine.instant_time import NetworkModel, now, run_instantly
from wildtool.engine.call.client import RetryPolicy
from wildtool.engine.call.rate_limit import FIRST_PER_S, LEAST_PER_S, LONGEST_OWN_PAUSE_S, Pace
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.errors import CallError
from wildtool.types import Reply, Request


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    run_instantly(monkeypatch)


class Bucket:
    """Lets calls through at a rate, and some at once after a pause."""

    def __init__(self, per_minute: float, at_once: int) -> None:
        self._per_s, self._most, self._left, self._at = per_minute / 60, at_once, float(at_once), 0.0

    def takes(self, time: float) -> bool:
        self._left = min(self._most, self._left + (time - self._at) * self._per_s)
        self._at = time
        taken = self._left >= 1
        self._left -= taken
        return taken


class Minute:
    """Lets that many calls through within any minute, or, if it counts all, calls that are turned away included."""

    def __init__(self, per_minute: float, counts_all: bool) -> None:
        self._most, self._counts_all = per_minute, counts_all
        self._times: deque[float] = deque()

    def takes(self, time: float) -> bool:
        while self._times and self._times[0] <= time - 60:
            self._times.popleft()
        taken = len(self._times) < self._most
        if taken or self._counts_all:
            self._times.append(time)
        return taken


class Throttled(NetworkModel):
    """An endpoint with a quota, which turns calls away at once and says nothing of when to come back."""

    def __init__(self, quota: Any, seconds: float) -> None:
        super().__init__(seconds=lambda request: seconds)
        self._quota = quota
        self.turned_away = 0

    async def complete(self, request: Request) -> Reply:
        if self._quota.takes(now()):
            return await super().complete(request)
        await asyncio.sleep(0.05)
        self.turned_away += 1
        raise CallError("http 429", "rate limit reached")


def play(model: NetworkModel, out: Path, units: int, concurrency: int) -> RunResult:
    plan = plan_of(EchoBenchmark(items=units // 4, units=4, steps=1), model, concurrency=concurrency)
    return run_plan(plan, out, command=["wildtool"], policy=RetryPolicy(600.0, 6))


class Outage:
    """Lets no call through before a time, and every call from then on."""

    def __init__(self, ends: float) -> None:
        self._ends = ends

    def takes(self, time: float) -> bool:
        return time >= self._ends


QUOTAS = {
    "bucket": lambda rate: Bucket(rate, 10),
    "bucket without reserve": lambda rate: Bucket(rate, 1),
    "minute": lambda rate: Minute(rate, counts_all=False),
    "minute of all calls": lambda rate: Minute(rate, counts_all=True),
}


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.01, 15.0])
@pytest.mark.parametrize("rate", [60, 300])
@pytest.mark.parametrize("quota", QUOTAS)
def test_a_throttled_run_ends_whole_and_takes_not_much_longer_than_it_must(
    tmp_path: Path, quota: str, rate: int, seconds: float
):
    units, concurrency = 4 * rate, 64
    model = Throttled(QUOTAS[quota](rate), seconds)
    result = play(model, tmp_path, units, concurrency)
    assert (result.counts.correct, result.counts.units) == (units, units)
    must = max(units / rate * 60, units * seconds / concurrency)
    assert model.ended < 2 * must
    assert model.turned_away < 0.5 * units


@pytest.mark.long
@pytest.mark.parametrize("ends", [1.0, 40.0, 100.0])
@pytest.mark.parametrize("seconds", [0.01, 2.0])
def test_a_run_is_fast_again_after_an_outage(tmp_path: Path, seconds: float, ends: float):
    units, concurrency = 128, 16
    model = Throttled(Outage(ends), seconds)
    result = play(model, tmp_path, units, concurrency)
    assert result.counts.correct == units
    # The first try after its end comes after a pause as long as the outage or 30 s at most.
    assert model.ended < ends + min(ends, LONGEST_OWN_PAUSE_S) + 2 * units / concurrency * seconds + 15
    assert model.turned_away < 16 + 8 + ends / LONGEST_OWN_PAUSE_S


@pytest.mark.long
def test_what_is_turned_away_becomes_rare_once_the_rate_is_known(tmp_path: Path):
    model = Throttled(Bucket(300, 10), 0.01)
    play(model, tmp_path, 2000, 32)
    assert model.turned_away < 0.2 * 2000


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    quota=st.sampled_from(list(QUOTAS)),
    rate=st.integers(5, 3000),
    seconds=st.floats(0.001, 30),
    concurrency=st.integers(1, 200),
    units=st.integers(4, 200),
)
def test_no_quota_makes_a_run_lose_a_unit(
    tmp_path_factory: pytest.TempPathFactory,
    quota: str,
    rate: int,
    seconds: float,
    concurrency: int,
    units: int,
):
    model = Throttled(QUOTAS[quota](rate), seconds)
    result = play(model, tmp_path_factory.mktemp("run"), units, concurrency)
    assert result.counts.correct == result.counts.units == units // 4 * 4


def test_a_pace_is_unbounded_until_a_call_is_turned_away():
    pace = Pace()
    for second in range(100):
        pace.on_success(second)
    assert pace.per_s is None


def test_a_pace_begins_below_what_was_answered_and_grows_with_each_answer():
    pace = Pace()
    for tenth in range(101):
        pace.on_success(tenth / 10)
    pace.on_rate_limited(10.0)
    assert pace.per_s is not None
    assert 7 < pace.per_s < 9
    before = pace.per_s
    pace.on_success(10.1)
    assert before < pace.per_s < 1.1 * before


def test_a_pace_is_not_learned_while_nothing_is_answered():
    pace = Pace()
    for second in range(40):
        pace.on_rate_limited(second)
    assert pace.per_s == FIRST_PER_S
    for _ in range(4):
        pace.on_success(40.0)
    assert pace.per_s == 5 * FIRST_PER_S


def test_a_pace_stays_near_what_was_answered_before_an_outage():
    pace = Pace()
    for tenth in range(600):
        pace.on_success(tenth / 10)
    for second in range(60, 120):
        pace.on_rate_limited(second)
    assert pace.per_s == pytest.approx(5, rel=0.05)


def test_a_pace_never_falls_to_nothing():
    pace = Pace()
    for minute in range(100):
        pace.on_success(minute * 60.0)
        for second in range(1, 60):
            pace.on_rate_limited(minute * 60.0 + second)
    assert pace.per_s == LEAST_PER_S
