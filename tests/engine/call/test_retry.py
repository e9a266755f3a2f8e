"""One model call with retries."""

import asyncio
import re
from collections.abc import Callable, Iterator

import pytest

from engine.echo_benchmark import ScriptedModel
from wildtool.engine.call.client import (
    GIVE_UP_AFTER_S,
    MAX_WAITS,
    RESTART_S,
    GivenUpError,
    Health,
    RefusedError,
    RetryPolicy,
    call_with_retry,
)
from wildtool.engine.call.rate_limit import RateLimiter
from wildtool.engine.observer import Observer
from wildtool.errors import CallError, InfraError
from wildtool.types import Reply, Request

REQUEST = Request([{"role": "user", "content": "hi"}])


class Clock:
    """Notes how long was waited, without waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._now += seconds

    def __call__(self) -> float:
        return self._now

    def later(self, seconds: float, task: Callable[[], None]) -> None:
        self._now += seconds
        asyncio.get_running_loop().call_soon(task)


def failing(*errors: BaseException) -> ScriptedModel:
    outcomes: Iterator[object] = iter([*errors, "right"])
    return ScriptedModel(lambda request: next(outcomes))


async def ask(model: ScriptedModel, clock: Clock, attempts: int = 6, chance: float = 1.0) -> Reply:
    policy = RetryPolicy(5.0, attempts, sleep=clock.sleep, jitter=lambda: chance)
    gate = RateLimiter(1, clock=clock, later=clock.later)
    return await call_with_retry(model, REQUEST, policy, lambda kind, wait: None, gate)


async def test_a_call_that_fails_is_made_again_and_says_how_often():
    reply = await ask(failing(CallError("http 500", "down"), CallError("http 502", "down")), Clock())
    assert (reply.message["content"], reply.attempts) == ("right", 3)


async def test_waits_grow_exponentially_up_to_a_cap():
    clock = Clock()
    with pytest.raises(InfraError):
        await ask(failing(*[CallError("http 500", "down")] * 9), clock, attempts=9)
    assert clock.waits == [0.5, 1, 2, 4, 8, 16, 30, 30]


async def test_the_jitter_spreads_waits_over_the_whole_range():
    clock = Clock()
    await ask(failing(CallError("http 500", "down")), clock, chance=0.0)
    assert clock.waits == [0.0]


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.5), (5000.0, 60.0), (-3.0, 0.5)])
async def test_the_wait_that_a_server_asks_for_is_honoured_within_a_cap(asked: float, waited: float):
    clock = Clock()
    await ask(failing(CallError("http 429", "slow down", retry_after_s=asked)), clock)
    assert clock.waits == [waited]


async def test_after_the_last_attempt_the_error_says_what_failed():
    with pytest.raises(InfraError, match="down") as caught:
        await ask(failing(*[CallError("http 500", "down")] * 3), Clock(), attempts=3)
    assert (caught.value.kind, caught.value.attempts) == ("http 500", 3)


async def test_a_final_error_is_not_tried_again():
    model = failing(CallError("http 401", "no such key", final=True))
    with pytest.raises(RefusedError, match="no such key"):
        await ask(model, Clock())
    assert len(model.asked) == 1


async def test_a_call_that_never_answers_times_out():
    class Silent(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            return await asyncio.get_running_loop().create_future()

    policy = RetryPolicy(timeout_s=0.001, max_attempts=1)
    with pytest.raises(InfraError) as caught:
        await call_with_retry(Silent(), REQUEST, policy, lambda kind, wait: None, RateLimiter(1))
    assert caught.value.kind == "timeout"


async def test_a_fault_of_an_adapter_is_not_hidden_by_retries():
    with pytest.raises(ZeroDivisionError):
        await ask(failing(ZeroDivisionError()), Clock())


async def test_each_retry_is_reported_with_its_kind():
    told: list[tuple[str, float]] = []
    policy = RetryPolicy(5.0, 3, sleep=Clock().sleep, jitter=lambda: 1.0)
    await call_with_retry(
        failing(CallError("http 500", "down")),
        REQUEST,
        policy,
        lambda *what: told.append(what),
        RateLimiter(1),
    )
    assert told == [("http 500", 0.5)]


REFUSED = CallError("network", "no answer: Connection refused")
LOADING = CallError("http 503", "Loading model")


class Listener(Observer):
    def __init__(self) -> None:
        self.notices: list[str] = []

    def reply_noticed(self, text: str) -> None:
        self.notices.append(text)


async def ask_again(clock: Clock, *errors: CallError, attempts: int = 6) -> tuple[Reply, list[str]]:
    """A call to an endpoint that has answered before; and what the user is told."""
    listener = Listener()
    health = Health(listener)
    health.on_attempt()
    health.on_attempt_end(answered=True)
    policy = RetryPolicy(5.0, attempts, sleep=clock.sleep, jitter=lambda: 0.5)
    gate = RateLimiter(1, clock=clock, later=clock.later)
    reply = await call_with_retry(
        failing(*errors), REQUEST, policy, lambda kind, wait: None, gate, health=health
    )
    return reply, listener.notices


async def test_a_server_that_restarts_is_waited_for_beyond_the_retries_and_the_user_is_told():
    clock = Clock()
    reply, notices = await ask_again(clock, *([REFUSED] * 15), *([LOADING] * 5))
    assert reply.attempts == 21
    assert sum(clock.waits) < RESTART_S
    assert len(notices) == 1
    assert re.search(r"answered until \d\d:\d\d:\d\d and is down .* up to 60 s", notices[0])


async def test_a_server_that_does_not_come_back_within_a_minute_fails_by_the_retries():
    with pytest.raises(InfraError) as caught:
        await ask_again(Clock(), *([REFUSED] * 100))
    assert MAX_WAITS / 2 < caught.value.attempts <= MAX_WAITS + 6


async def test_without_retries_a_server_that_is_gone_fails_at_once():
    with pytest.raises(InfraError) as caught:
        await ask_again(Clock(), REFUSED, attempts=1)
    assert caught.value.attempts == 1


async def test_other_failures_of_a_server_that_has_answered_count_as_before():
    with pytest.raises(InfraError) as caught:
        await ask_again(Clock(), *([CallError("http 500", "boom")] * 9))
    assert caught.value.attempts == 6


async def ask_first(clock: Clock, *errors: CallError) -> tuple[Reply, list[str]]:
    """A call to an endpoint that has not answered yet; and what the user is told."""
    listener = Listener()
    policy = RetryPolicy(5.0, 6, sleep=clock.sleep, jitter=lambda: 0.5)
    gate = RateLimiter(1, clock=clock, later=clock.later)
    health = Health(listener)
    reply = await call_with_retry(
        failing(*errors), REQUEST, policy, lambda kind, wait: None, gate, health=health
    )
    return reply, listener.notices


async def test_a_server_that_says_it_loads_its_model_is_waited_for_before_its_first_answer():
    clock = Clock()
    reply, notices = await ask_first(clock, *([LOADING] * 25))
    assert reply.attempts == 26
    assert GIVE_UP_AFTER_S < sum(clock.waits) < RESTART_S
    assert notices == ["the endpoint loads its model (http 503); calls wait for it for 60 s"]


async def test_a_server_that_loads_for_ever_is_given_up_after_a_minute():
    clock = Clock()
    with pytest.raises(GivenUpError, match="Loading model"):
        await ask_first(clock, *([LOADING] * 500))
    assert RESTART_S <= sum(clock.waits) < 2 * RESTART_S


async def test_a_server_that_only_says_503_is_not_waited_for_before_its_first_answer():
    with pytest.raises(InfraError) as caught:
        await ask_first(Clock(), *([CallError("http 503", "no capacity")] * 9))
    assert caught.value.attempts == 6
