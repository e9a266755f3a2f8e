"""The gate before an endpoint: pace, order, width, pauses; by a clock that is set by hand."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

from wildtool.engine.call.rate_limit import SLACK_S, RateLimiter
from wildtool.errors import CallError, LimitError
from wildtool.models.settings import Rates

TOO_MUCH = CallError("http 429", "slow down")


class Clock:
    """Time that passes only where a test lets it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._timers: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, callback: Callable[[], None]) -> None:
        self._timers.append((self.now + seconds, callback))

    def pass_(self, seconds: float) -> None:
        end = self.now + seconds
        while due := sorted((timer for timer in self._timers if timer[0] <= end), key=lambda timer: timer[0]):
            self._timers.remove(due[0])
            self.now = due[0][0]
            due[0][1]()
        self.now = end


def gate(clock: Clock, width: int = 1000, **rates: float) -> RateLimiter:
    return RateLimiter(width, Rates(**rates), clock=clock, later=clock.later)


async def entered(
    door: RateLimiter, clock: Clock, calls: int, tokens: float = 0.0, seconds: float = 600.0
) -> list[float]:
    """When each of so many calls that come at once was let in, in seconds; those that wait longer are left out."""
    times: list[float] = []

    async def one() -> None:
        await door.acquire(tokens)
        times.append(round(clock.now - 1000.0, 6))
        door.release()

    tasks = [asyncio.create_task(one()) for _ in range(calls)]
    for _ in range(round(seconds * 10)):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        clock.pass_(0.1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return times


def busiest_minute(times: list[float]) -> int:
    return max(sum(start <= time < start + 60 for time in times) for start in times)


@pytest.mark.long
@pytest.mark.parametrize("rpm", [30, 60, 600, 1200])
async def test_no_minute_gets_more_calls_than_the_rate_and_a_full_one_gets_nearly_as_many(rpm: int):
    clock = Clock()
    times = await entered(gate(clock, rpm=rpm), clock, rpm * 2, seconds=130)
    assert rpm * 0.97 <= busiest_minute(times) <= rpm


async def test_calls_are_spaced_evenly_instead_of_all_at_the_beginning_of_a_minute():
    clock = Clock()
    times = await entered(gate(clock, rpm=60), clock, 5, seconds=10)
    gaps = [later - before for before, later in pairwise(times)]
    assert len(gaps) == 4
    assert all(0.99 <= gap <= 1.0 + SLACK_S for gap in gaps)


async def test_tokens_a_minute_make_large_calls_wait_longer():
    clock = Clock()
    assert len(await entered(gate(clock, tpm=6000), clock, 100, tokens=1000, seconds=59)) == 6


async def test_a_call_that_took_more_tokens_than_expected_delays_the_next():
    clock = Clock()
    door = gate(clock, tpm=6000)
    await door.acquire(100)
    door.release()
    door.adjust(100, 3000)
    assert [round(time) for time in await entered(door, clock, 1, seconds=40)] == [30]


async def test_a_call_that_took_several_requests_delays_the_next():
    clock = Clock()
    door = gate(clock, rpm=6)
    await door.acquire()
    door.release()
    door.adjust(0, 0, requests=3)
    assert [round(time) for time in await entered(door, clock, 1, seconds=40)] == [30]


async def test_calls_enter_in_the_order_they_came():
    clock = Clock()
    door = gate(clock, width=1)
    await door.acquire()
    order: list[int] = []

    async def one(number: int) -> None:
        await door.acquire()
        order.append(number)
        door.release()

    tasks = [asyncio.create_task(one(number)) for number in range(5)]
    await asyncio.sleep(0)
    door.release()
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["http 429", "http 503", "timeout"])
async def test_an_overloaded_endpoint_halves_the_width_once_for_all_calls_under_way(kind: str):
    overload = CallError(kind, "later")
    clock = Clock()
    door = gate(clock, width=32)
    begun = [await door.acquire() for _ in range(32)]
    clock.pass_(1)
    for time in begun:
        door.on_error(overload, time)
        door.release()
    assert door.width == 16
    door.on_error(overload, await door.acquire())
    assert door.width == 8


async def test_the_width_never_falls_below_one_call():
    clock = Clock()
    door = gate(clock, width=4)
    for _ in range(9):
        door.on_error(TOO_MUCH, await door.acquire())
        door.release()
    assert door.width == 1
    await door.acquire()


async def test_the_width_grows_by_one_for_each_round_of_answers_up_to_what_is_allowed():
    clock = Clock()
    door = gate(clock, width=8)
    door.on_error(TOO_MUCH, clock.now)
    assert door.width == 4
    for _ in range(4):
        door.on_success()
    assert 4.8 < door.width <= 5
    for _ in range(100):
        door.on_success()
    assert door.width == 8


async def test_another_failure_does_not_narrow():
    clock = Clock()
    door = gate(clock, width=8)
    door.on_error(CallError("http 500", "broken", retry_after_s=5), clock.now)
    assert (door.width, await entered(door, clock, 1, seconds=1)) == (8, [0])


@pytest.mark.parametrize(("asked", "paused"), [(7.0, 7.0), (3600.0, 60.0), (-1.0, 0.0)])
async def test_a_wait_that_the_endpoint_asks_for_holds_for_all_calls_within_a_cap(
    asked: float, paused: float
):
    clock = Clock()
    door = gate(clock)
    door.on_error(CallError("http 429", "slow down", retry_after_s=asked), clock.now)
    assert await entered(door, clock, 3, seconds=70) == pytest.approx([paused] * 3, abs=0.11)


async def test_a_closed_gate_turns_away_those_who_wait_and_those_who_come():
    clock = Clock()
    door = gate(clock, width=1)
    await door.acquire()
    waiting = asyncio.create_task(door.acquire())
    await asyncio.sleep(0)
    door.close("enough")
    with pytest.raises(LimitError, match="enough"):
        await waiting
    with pytest.raises(LimitError, match="enough"):
        await door.acquire()


async def test_a_call_cancelled_as_it_is_let_in_leaves_its_place_to_the_next():
    clock = Clock()
    door = gate(clock, width=1)
    await door.acquire()
    first, second = asyncio.create_task(door.acquire()), asyncio.create_task(door.acquire())
    await asyncio.sleep(0)
    door.release()
    first.cancel()
    await second
    assert door.in_flight == 1


def test_models_of_one_endpoint_share_the_lowest_rates():
    door = RateLimiter(4, Rates(rpm=60))
    door.widen(2, Rates(rpm=90, tpm=1000))
    assert (door.rates, door.width) == (Rates(rpm=60, tpm=1000), 4)
