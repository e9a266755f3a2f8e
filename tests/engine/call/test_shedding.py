"""Calls that an endpoint refuses at random, without a word on when to come back; by a clock that jumps."""

import asyncio
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.call.test_pace import Bucket, Throttled, play
from engine.echo_benchmark import EchoBenchmark, plan_of
from engine.instant_time import NetworkModel, instantly, now, run_instantly
from wildtool.engine.call.client import RetryPolicy
from wildtool.engine.run.runner import run_plan
from wildtool.errors import CallError
from wildtool.types import Reply, Request

SECONDS, AT_ONCE = 0.05, 32


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    run_instantly(monkeypatch)


class Dropping:
    """Refuses a share of all calls at random, however many there are."""

    def __init__(self, share: float, seed: int) -> None:
        self._share, self._random = share, random.Random(seed)

    def takes(self, time: float) -> bool:
        return self._random.random() >= self._share


def sdk_seconds(calls: int, share: float, seed: int) -> float:
    """What the openai SDK takes: 0.5 s doubling up to 8 s, less up to a quarter; a call that waits holds its place."""
    quota, jitter = Dropping(share, seed), random.Random(seed)

    async def ask_all() -> float:
        places = asyncio.Semaphore(AT_ONCE)

        async def ask() -> None:
            async with places:
                pause = 0.5
                while not quota.takes(now()):
                    await asyncio.sleep(SECONDS + pause * (1 - 0.25 * jitter.random()))
                    pause = min(8.0, 2 * pause)
                await asyncio.sleep(SECONDS)

        await asyncio.gather(*(ask() for _ in range(calls)))
        return now()

    return instantly(ask_all())


@pytest.mark.long
@pytest.mark.parametrize("share", [0.05, 0.15, 0.3])
def test_calls_refused_at_random_cost_no_more_than_with_the_openai_sdk(tmp_path: Path, share: float):
    ours = sdk = 0.0
    for seed in range(6):
        model = Throttled(Dropping(share, seed), SECONDS)
        assert play(model, tmp_path / str(seed), 128, AT_ONCE).counts.correct == 128
        ours += model.ended
        sdk += sdk_seconds(128, share, 100 + seed)
    assert ours <= 1.5 * sdk


@pytest.mark.long
def test_a_long_run_is_not_slowed_down_by_refusals_that_fewer_calls_do_not_lessen(tmp_path: Path):
    ours = sdk = 0.0
    for seed in range(3):
        model = Throttled(Dropping(0.3, seed), SECONDS)
        assert play(model, tmp_path / str(seed), 1000, AT_ONCE).counts.correct == 1000
        ours += model.ended
        sdk += sdk_seconds(1000, 0.3, seed)
    assert ours <= 1.5 * sdk


class DroppingAtOnce(NetworkModel):
    """Refuses each fourth call at once, and takes 20 s to answer the others."""

    def __init__(self) -> None:
        super().__init__(seconds=lambda request: 20.0)
        self._sent = 0

    async def complete(self, request: Request) -> Reply:
        self._sent += 1
        if self._sent % 4 == 1:
            await asyncio.sleep(0.01)
            raise CallError("http 429", "busy")
        return await super().complete(request)


def test_refusals_that_come_sooner_than_answers_are_no_more_for_that(tmp_path: Path):
    model = DroppingAtOnce()
    plan = plan_of(EchoBenchmark(items=64, units=2, steps=1), model, concurrency=64)
    result = run_plan(plan, tmp_path, command=["wildtool"], policy=RetryPolicy(600.0, 6))
    assert result.counts.correct == 128
    assert model.ended < 2 * 20.0 * 128 / 64


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 0.6), seed=st.integers(0, 1000), concurrency=st.integers(1, 64))
def test_no_share_of_refused_calls_makes_a_run_lose_a_unit(
    tmp_path_factory: pytest.TempPathFactory, share: float, seed: int, concurrency: int
):
    model = Throttled(Dropping(share, seed), SECONDS)
    counts = play(model, tmp_path_factory.mktemp("run"), 60, concurrency).counts
    assert counts.correct == counts.units == 60


def test_an_endpoint_that_refuses_nearly_all_is_sent_few_calls(tmp_path: Path):
    model = Throttled(Bucket(6, 1), 0.01)
    assert play(model, tmp_path, 40, 64).counts.correct == 40
    assert model.turned_away < 3 * 64
