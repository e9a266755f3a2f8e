"""Pace, width, pauses, health, waits and estimates as numbers, by a clock that is set by hand."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.call.test_rate_limit import Clock
from engine.echo_benchmark import ScriptedModel
from engine.instant_time import instantly, now
from wildtool.engine.call import client as clients
from wildtool.engine.call.budget import (
    Budget,
    Reservation,
    Spend,
    SpendingLimits,
    UsageEstimator,
    estimate_tokens,
    parse_price,
    price_of,
    read_prices,
    token_counts,
    tokens_of,
)
from wildtool.engine.call.client import (
    GivenUpError,
    Health,
    Invocation,
    ModelClient,
    RefusedError,
    RetryPolicy,
    all_refused,
    call_with_retry,
    endpoint_of,
    once_loaded,
    retry,
    wait_s,
)
from wildtool.engine.call.rate_limit import CallHistory, LimitError, Pace, RateLimiter
from wildtool.engine.observer import Observer
from wildtool.errors import CallError, InfraError, UsageError
from wildtool.models.settings import Rates
from wildtool.models.token_usage import Price
from wildtool.types import Address, Reply, Request

TOO_MUCH = CallError("http 429", "slow down")
NEVER = float("-inf")


def test_a_pace_is_a_guess_until_calls_are_answered():
    pace = Pace()
    pace.on_rate_limited(10.0)
    assert pace.per_s == 0.5
    pace.on_success(11.0)
    assert pace.per_s == 1.0
    pace.on_success(12.0)
    assert pace.per_s == 1.5
    pace.on_rate_limited(13.0)
    # Two answers within two seconds: one a second; the guess was more, but at most twice the rate.
    assert pace.per_s == pytest.approx(0.8 * min(1.5, 2 * 2 / 2))
    pace.on_success(14.0)
    assert pace.per_s == pytest.approx(1.2 * 1.02)


def test_a_pace_is_learned_from_the_answers_of_a_minute():
    pace = Pace()
    for second in range(121):
        pace.on_success(float(second))
    assert pace.per_s is None
    pace.on_rate_limited(120.0)
    # The minute before holds 61 answers.
    assert pace.per_s == pytest.approx(0.8 * 61 / 60)
    pace.on_rate_limited(180.5)
    # None is left of that minute, so what was taken before counts.
    assert pace.per_s == pytest.approx(max(0.8 * 0.8 * 61 / 60, 61 / 60 / 2))
    for _ in range(20):
        pace.on_rate_limited(181.0)
    assert pace.per_s == pytest.approx(61 / 60 / 2)
    pace.on_success(200.0)
    # One answer in the last minute is no rate to grow to.
    assert pace.per_s == pytest.approx(61 / 60 / 2)


def test_a_pace_catches_up_where_it_is_far_below_what_was_taken():
    pace = Pace()
    for number in range(61):
        pace.on_success(number / 10)
    pace.per_s, learned = 2.0, pace
    learned._learned = True  # pyright: ignore[reportPrivateUsage]
    pace.on_success(6.1)
    assert pace.per_s == 4.0
    pace.per_s = 63 / 6.2 / 2
    pace.on_success(6.2)
    assert pace.per_s == pytest.approx(1.02 * 63 / 6.2 / 2)
    pace.per_s = 20.0
    pace.on_success(6.3)
    assert pace.per_s == pytest.approx(min(20.4, 2 * 64 / 6.3))


def test_a_pace_is_never_below_two_a_minute():
    pace = Pace()
    pace.on_success(0.0)
    for second in range(100, 160):
        pace.on_rate_limited(float(second))
    assert pace.per_s == pytest.approx(max(1 / 30, 0.5))
    pace._taken = 1 / 100  # pyright: ignore[reportPrivateUsage]
    pace.on_rate_limited(200.0)
    assert pace.per_s == pytest.approx(1 / 30)


def limiter(clock: Clock, width: int = 16, *, adaptive: bool = False, **rates: float) -> Any:
    return RateLimiter(width, Rates(**rates), adaptive=adaptive, clock=clock, later=clock.later)


def test_an_overload_halves_the_width_once_and_pauses_as_it_asks():
    clock = Clock()
    gate = limiter(clock)
    assert gate.on_error(CallError("http 503", "x"), 999.0) is False
    assert (gate.width, gate.wait_s) == (8.0, 0.0)
    gate.on_error(CallError("http 503", "x", retry_after_s=7.0), 999.9)
    assert (gate.width, gate.wait_s) == (8.0, 7.0)
    gate.on_error(CallError("timeout", "x", retry_after_s=600.0), 1000.0)
    assert (gate.width, gate.wait_s) == (4.0, 60.0)
    gate.on_error(CallError("http 429", "x", retry_after_s=-5.0), 999.0)
    assert gate.wait_s == 60.0
    gate.on_error(CallError("http 400", "x", retry_after_s=600.0), 1000.0)
    assert (gate.width, gate.wait_s) == (4.0, 60.0)
    for _ in range(4):
        gate.on_error(CallError("timeout", "x"), 1000.0)
    assert gate.width == 1.0
    gate.on_success(1000.0)
    assert gate.width == 2.0
    gate.on_success(1000.0)
    assert gate.width == 2.5
    for _ in range(200):
        gate.on_success(1000.0)
    assert gate.width == 16


def test_a_blocked_prompt_is_an_answer():
    gate = limiter(Clock())
    gate.width = 2.0
    assert gate.on_error(CallError("blocked prompt", "x"), 1000.0) is False
    assert gate.width == 2.5
    assert gate._last_success == 1000.0


def test_pauses_double_while_every_call_is_turned_away():
    clock = Clock()
    gate = limiter(clock, adaptive=True)
    pauses: list[float] = []
    for _ in range(10):
        clock.now += 100.0
        before = gate._paused_until
        assert gate.on_error(TOO_MUCH, clock.now) is True
        pauses.append(max(0.0, gate._paused_until - clock.now) if gate._paused_until != before else -1.0)
    assert pauses == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    assert gate.width == 16
    assert gate._pace_due == clock.now + 2.0
    gate.on_success(clock.now)
    clock.now += 1.0
    gate.on_error(TOO_MUCH, clock.now)
    assert gate._rejections_in_a_row == 1
    assert gate._rejecting_since == clock.now


def test_a_wait_that_the_endpoint_names_goes_before_its_own():
    clock = Clock()
    gate = limiter(clock, adaptive=True)
    for _ in range(3):
        clock.now += 100.0
        gate.on_error(CallError("http 429", "x", retry_after_s=3.0), clock.now)
        assert gate._paused_until == clock.now + 3.0
    assert gate.on_error(CallError("http 503", "x", retry_after_s=1.0), clock.now) is True
    assert gate.on_error(CallError("http 503", "x"), clock.now) is False


def test_a_call_that_alone_is_turned_away_is_given_up_in_the_end():
    clock = Clock()
    gate, history = limiter(clock, adaptive=True), CallHistory()
    results: list[bool] = []
    for _ in range(34):
        clock.now += 10.0
        results.append(gate.on_error(TOO_MUCH, clock.now, history))
        gate.on_success(clock.now + 5.0)
    assert results == [True] * 32 + [False] * 2
    assert history.turned_away == 33
    other = CallHistory()
    for _ in range(40):
        clock.now += 1.0
        assert gate.on_error(TOO_MUCH, clock.now + 100.0, other)
    assert other.turned_away <= 1


def test_a_quota_that_is_used_up_closes_the_endpoint():
    clock = Clock()
    gate = limiter(clock, adaptive=True)
    gate.on_success(clock.now)
    gate.on_error(TOO_MUCH, clock.now)
    clock.now += 1799.0
    gate.on_error(TOO_MUCH, clock.now)
    assert gate._closed is None
    clock.now += 1.0
    gate.on_error(TOO_MUCH, clock.now)
    closed: Any = gate._closed
    assert str(closed) == "for 30 minutes every call was turned away (slow down)"
    assert closed.of_endpoint is True


async def test_the_first_calls_are_a_handful_and_few_while_all_fail():
    clock = Clock()
    gate = limiter(clock, width=100)
    gate.probe()
    tasks = [asyncio.ensure_future(gate.acquire()) for _ in range(20)]
    await asyncio.sleep(0)
    assert gate.in_flight == 8
    for number in range(8):
        gate.on_error(CallError("network", "x"), clock.now)
        assert gate.wait_s == (0.25 if number == 7 else 0.0)
    for _ in range(8):
        gate.release()
    await asyncio.sleep(0)
    assert gate.in_flight == 0
    clock.pass_(0.25)
    assert gate.in_flight == 1
    gate.on_success(clock.now)
    gate.release()
    clock.pass_(1.0)
    assert gate.in_flight == 11
    await asyncio.gather(*tasks)


async def test_after_seconds_without_an_answer_all_others_go_out():
    clock = Clock()
    gate = limiter(clock, width=100)
    gate.probe()
    tasks = [asyncio.ensure_future(gate.acquire()) for _ in range(20)]
    await asyncio.sleep(0)
    clock.pass_(2.9)
    assert gate.in_flight == 8
    clock.pass_(0.2)
    assert gate.in_flight == 20
    gate.probe()
    assert gate._probing is False
    await asyncio.gather(*tasks)


async def test_the_end_of_a_probe_lets_the_others_in():
    clock = Clock()
    gate = limiter(clock, width=100)
    gate.probe()
    tasks = [asyncio.ensure_future(gate.acquire()) for _ in range(20)]
    await asyncio.sleep(0)
    gate.end_probe()
    assert gate.in_flight == 20
    await asyncio.gather(*tasks)


async def test_rates_space_calls_and_count_tokens():
    clock = Clock()
    gate = limiter(clock, rpm=60, tpm=600)
    assert await gate.acquire(10.0) == 1000.0
    # A minute holds a little less than the rate; due times begin a little in the past.
    assert gate._due == pytest.approx(1000.0 - 0.1 + 60.1 / 60)
    assert gate._tokens_due == pytest.approx(1000.0 - 0.1 + 10 * 60.1 / 600)
    assert gate.wait_s == pytest.approx(max(gate._due, gate._tokens_due) - 1000.0)
    gate.adjust(10.0, 16.0)
    assert gate.wait_s == pytest.approx(16 * 60.1 / 600 - 0.1)
    gate.release()
    assert gate.in_flight == 0
    gate.widen(5, Rates(rpm=30))
    assert (gate.width, gate.rates) == (16.0, Rates(rpm=30, tpm=600))
    gate.widen(50, Rates())
    assert gate.width == 50.0
    free = limiter(clock)
    free.adjust(1.0, 5.0)
    assert free.wait_s == 0.0


async def test_a_closed_gate_fails_each_call_by_itself():
    clock = Clock()
    gate = limiter(clock, width=1)
    await gate.acquire()
    waiting = [asyncio.ensure_future(gate.acquire()) for _ in range(2)]
    await asyncio.sleep(0)
    gate.close("over", of_endpoint=True)
    failures = await asyncio.gather(*waiting, return_exceptions=True)
    assert [(str(each), getattr(each, "of_endpoint", None)) for each in failures] == [("over", True)] * 2
    assert failures[0] is not failures[1]
    with pytest.raises(LimitError) as raised:
        await gate.acquire()
    assert (str(raised.value), raised.value.of_endpoint, raised.value.kind) == ("over", True, "limit")
    gate.close("again")
    with pytest.raises(LimitError) as raised:
        await gate.acquire()
    assert (str(raised.value), raised.value.of_endpoint) == ("again", False)


# Attempts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempt", "asked", "jitter", "seconds"),
    [
        (1, None, 1.0, 0.5),
        (2, None, 1.0, 1.0),
        (6, None, 1.0, 16.0),
        (7, None, 1.0, 30.0),
        (900, None, 0.5, 15.0),
        (1, 3.0, 0.0, 3.0),
        (2, 3.0, 1.0, 4.0),
        (1, -3.0, 1.0, 0.5),
        (1, 100.0, 1.0, 60.0),
    ],
)
def test_the_wait_after_an_attempt(attempt: int, asked: float | None, jitter: float, seconds: float):
    assert wait_s(attempt, asked, jitter) == seconds


class Watching(Observer):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def attempt_started(self) -> None:
        self.seen.append("started")

    def attempt_ended(self, problem: CallError | None, *, answered: bool) -> None:
        self.seen.append((problem and problem.kind, answered))

    def reply_noticed(self, text: str) -> None:
        self.seen.append(text)


def failed(
    health: Health, error: CallError, now: float, *, lost: bool = False, rate_limited: bool = False
) -> None:
    health.on_attempt()
    health.on_attempt_end(error)
    health.on_error(error, 0.0, now, lost=lost, rate_limited=rate_limited)


def test_attempts_are_watched_until_one_is_answered():
    watching = Watching()
    health = Health(watching)
    health.on_attempt()
    health.on_attempt_end(CallError("network", "x"))
    health.on_attempt()
    health.on_attempt_end()
    assert health.has_answered is False
    health.on_attempt()
    health.on_attempt_end(answered=True)
    assert health.has_answered is True
    assert watching.seen == ["started", ("network", False), "started", (None, False), "started", (None, True)]
    blocked = Health()
    blocked.on_attempt()
    blocked.on_attempt_end(CallError("blocked prompt", "x"))
    assert blocked.has_answered is True
    assert (health.given_up, health.unrecorded) == (None, [])


@pytest.mark.parametrize(
    ("error", "lost", "rate_limited", "calls", "now", "message"),
    [
        (
            CallError("http 401", "no", final=True),
            True,
            False,
            8,
            0.5,
            "every call was refused (http 401: no); check the key, and what it may be used for, then run the same"
            " command again",
        ),
        (
            CallError("network", "gone"),
            False,
            False,
            8,
            10.0,
            "the model never answered: all 8 tries failed within 10 s, the last by network (gone). Nothing is counted"
            " as a result; once the endpoint answers, run the same command again",
        ),
        (
            CallError("network", "gone"),
            True,
            False,
            8,
            0.5,
            "the model never answered: all 8 tries failed, the last by network (gone). Nothing is counted as a result;"
            " once the endpoint answers, run the same command again",
        ),
        (
            CallError("network", "gone"),
            True,
            False,
            8,
            1.0,
            "the model never answered: all 8 tries failed within 1 s, the last by network (gone). Nothing is counted as"
            " a result; once the endpoint answers, run the same command again",
        ),
        (
            CallError("http 503", "the model is loading"),
            False,
            False,
            8,
            60.0,
            "the model never answered: all 8 tries failed within 60 s, the last by http 503 (the model is loading)."
            " Nothing is counted as a result; once the endpoint answers, run the same command again",
        ),
        (
            CallError("http 429", "slow"),
            False,
            True,
            1,
            120.0,
            "the model never answered: all 1 tries failed within 120 s, the last by http 429 (slow). Nothing is counted"
            " as a result; once the endpoint answers, run the same command again",
        ),
    ],
)
def test_a_model_that_never_answers_is_given_up(
    error: CallError, lost: bool, rate_limited: bool, calls: int, now: float, message: str
):
    health = Health()
    for _ in range(calls - 1):
        failed(health, error, now, lost=lost, rate_limited=rate_limited)
    if not lost:
        early = Health()
        for _ in range(calls):
            failed(early, error, now - 0.1, lost=lost, rate_limited=rate_limited)
    with pytest.raises(GivenUpError) as raised:
        failed(health, error, now, lost=lost, rate_limited=rate_limited)
    assert str(raised.value) == message
    assert raised.value.exit_status == (2 if error.final else 3)
    named = raised.value.of_role("user", "m")
    assert str(named) == f"user (m): {message}"
    assert type(named) is type(raised.value)


def test_a_model_is_not_given_up_while_an_attempt_is_under_way_or_once_it_answered():
    error = CallError("http 401", "no", final=True)
    health = Health()
    health.on_attempt()
    for _ in range(20):
        failed(health, error, 500.0, lost=True)
    health.on_attempt_end(answered=True)
    failed(health, error, 500.0, lost=True)
    unrecorded = Health()
    for _ in range(20):
        failed(unrecorded, CallError("not recorded", "x", final=True), 500.0, lost=True)
    mixed = Health()
    for kind in ("network", "timeout") * 7:
        failed(mixed, CallError(kind, "x"), 500.0)
    with pytest.raises(GivenUpError, match="all 15 tries failed within 500 s, the last by network"):
        failed(mixed, CallError("network", "x"), 500.0)
    late = Health()
    for sent in (100.0, 5.0, 300.0):
        late.on_error(error, sent, 400.0, lost=False)
    assert late._since == 5.0  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("kind", "message", "advice"),
    [
        (
            "http 422",
            "x",
            "the endpoint does not take this request, see its words; for a model without native tool calls add"
            " --tool-format auto",
        ),
        ("http 403", "x", "check the key, and what it may be used for"),
        ("http 405", "x", "check the model's name and the base URL"),
        ("network", "x", "check the base URL"),
        ("other", "x", "check the key, the model's name and the endpoint"),
        (
            "http 400",
            "the context overflowed",
            "serve the model with a longer context, or lower --max-tokens",
        ),
    ],
)
def test_the_advice_for_a_model_that_refuses_every_call(kind: str, message: str, advice: str):
    assert str(all_refused(CallError(kind, message))) == (
        f"every call was refused ({kind}: {message}); {advice}, then run the same command again"
    )


def test_an_endpoint_that_is_down_for_a_moment_is_waited_for():
    watching = Watching()
    health, down = Health(watching), CallError("network", "gone")
    assert health.waits_for(down, 0.0) is False
    health.has_answered = True
    assert [health.waits_for(down, now) for now in (100.0, 159.9, 160.0)] == [True, True, False]
    assert watching.seen == ["the endpoint is down (network); calls wait for it for 60 s, as for a restart"]
    health.on_attempt()
    health.on_attempt_end(answered=True)
    assert health.waits_for(CallError("http 503", "x"), 500.0) is True
    assert [
        health.waits_for(error, 500.0)
        for error in (
            CallError("network", "x", final=True),
            CallError("http 500", "x"),
            CallError("timeout", "x"),
        )
    ] == [False] * 3
    new = Health(loading := Watching())
    assert new.waits_for(CallError("http 503", "not yet ready"), 0.0) is True
    assert loading.seen == ["the endpoint loads its model (http 503); calls wait for it for 60 s"]
    assert new.waits_for(CallError("http 500", "loading"), 0.0) is False


def test_an_endpoint_that_loads_is_asked_again_for_a_minute():
    loading = CallError("http 503", "the model is starting")
    said: list[str] = []

    async def after(failures: int, error: CallError = loading) -> Any:
        left = [error] * failures

        async def ask() -> str:
            if left:
                raise left.pop()
            return f"answered at {now():g}"

        return await once_loaded(ask, said.append)

    assert instantly(after(0)) == "answered at 0"
    assert said == []
    assert instantly(after(3)) == "answered at 6"
    assert said == ["the endpoint loads its model (http 503); waiting for it, 60 s at most"]
    with pytest.raises(CallError):
        instantly(after(40))
    with pytest.raises(CallError):
        instantly(after(1, CallError("http 503", "x")))


POLICY = RetryPolicy(timeout_s=5.0, max_attempts=3, jitter=lambda: 1.0)


def test_what_is_retried_waits_between():
    async def play(*errors: CallError) -> Any:
        left, noted = list(errors), list[Any]()

        async def task() -> float:
            if left:
                raise left.pop(0)
            return now()

        return await retry(task, POLICY, lambda kind, wait: noted.append((kind, wait))), noted

    assert instantly(play()) == (0.0, [])
    assert instantly(play(CallError("a", "x"), CallError("b", "x", retry_after_s=2.0))) == (
        3.5,
        [("a", 0.5), ("b", 3.0)],
    )
    with pytest.raises(CallError, match="third"):
        instantly(play(CallError("a", "x"), CallError("a", "x"), CallError("a", "third")))
    with pytest.raises(CallError, match="first"):
        instantly(play(CallError("a", "first", final=True)))


class Remote(ScriptedModel):
    def settings(self) -> Any:
        return {"base_url": "http://h/v1"}


REQUEST = Request([{"role": "user", "content": "hi"}], address=Address("i", 0, "u", 0))


def outcomes(*outcomes: Any) -> ScriptedModel:
    left = list(outcomes)
    return Remote(lambda request: left.pop(0))


async def called(
    model: ScriptedModel, policy: RetryPolicy = POLICY, **more: Any
) -> tuple[Any, list[Any], Any]:
    gate = RateLimiter(4, adaptive=True)
    noted: list[Any] = []
    try:
        reply: Any = await call_with_retry(
            model, REQUEST, policy, lambda kind, wait: noted.append((kind, round(wait, 3))), gate, **more
        )
    except Exception as error:  # noqa: BLE001 - the error is what is looked at
        reply = error
    return reply, noted, gate


def lost(kind: str, tokens: int, **more: Any) -> CallError:
    error = CallError(kind, "x")
    error.usage = {"prompt_tokens": tokens, **more}
    return error


def test_a_reply_says_how_often_it_was_asked_and_what_was_lost():
    usages: list[Any] = []
    answer = Reply({"content": "a"})
    failures = lost("http 500", 3, tier="a"), CallError("http 500", "x"), lost("network", 4, tier="b")
    four = replace(POLICY, max_attempts=4)
    reply, noted, gate = instantly(called(outcomes(*failures, answer), four, on_lost_usage=usages.append))
    assert reply == Reply({"content": "a"}, attempts=4, lost_usage={"prompt_tokens": 7, "tier": "b"})
    assert noted[0] == ("http 500", 0.5)
    assert usages == [{"prompt_tokens": 3, "tier": "a"}, {"prompt_tokens": 4, "tier": "b"}]
    assert gate.in_flight == 0
    once, noted, _ = instantly(called(outcomes(answer)))
    assert (once is answer, noted) == (True, [])


def test_a_call_that_fails_in_the_end_says_why_and_what_it_took():
    error, _, gate = instantly(called(outcomes(lost("http 500", 3), lost("http 500", 4), lost("timeout", 5))))
    assert (type(error), error.kind, str(error), error.attempts, error.usage) == (
        InfraError,
        "timeout",
        "x",
        3,
        {"prompt_tokens": 12},
    )
    assert gate.in_flight == 0
    refused, _, _ = instantly(called(outcomes(CallError("http 401", "no", final=True))))
    assert (type(refused), refused.attempts, refused.usage) == (RefusedError, 1, {})
    for kind in ("not recorded", "blocked prompt"):
        plain, _, _ = instantly(called(outcomes(CallError(kind, "no", final=True))))
        assert type(plain) is InfraError


def test_a_call_that_is_turned_away_goes_back_into_the_queue_and_does_not_count():
    reply, noted, _ = instantly(called(outcomes(*[CallError("http 429", "x")] * 5, Reply({}))))
    assert (reply.attempts, [kind for kind, _ in noted]) == (6, ["http 429"] * 5)
    single = RetryPolicy(timeout_s=5.0, max_attempts=1)
    error, noted, _ = instantly(called(outcomes(CallError("http 429", "x")), single))
    assert (error.kind, error.attempts, noted) == ("http 429", 1, [])


def test_an_empty_account_closes_the_endpoint():
    error, _, gate = instantly(called(outcomes(CallError("quota used up", "no credit", final=True))))
    assert (type(error), str(error), error.of_endpoint) == (LimitError, "no credit", True)
    assert (str(gate._closed), gate._closed.of_endpoint, gate.in_flight) == ("no credit", True, 0)


def test_an_answer_that_does_not_come_is_a_timeout():
    class Slow(Remote):
        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(100)
            raise AssertionError

    error, _, _ = instantly(called(Slow(), RetryPolicy(timeout_s=2.5, max_attempts=1)))
    assert (error.kind, str(error), error.attempts) == ("timeout", "no complete answer within 2.5 s", 1)


def test_a_model_that_was_given_up_is_not_asked():
    health, model = Health(), outcomes()
    health.given_up = "gone"
    error, _, gate = instantly(called(model, health=health))
    assert (type(error), str(error), error.of_endpoint) == (LimitError, "gone", True)
    assert (model.asked, gate.in_flight) == ([], 0)


def test_a_bug_of_an_adapter_passes_through():
    watching = Watching()
    error, _, gate = instantly(called(outcomes(KeyError("bug")), health=Health(watching)))
    assert (type(error), gate.in_flight) == (KeyError, 0)
    assert watching.seen == ["started", (None, False)]


def client_of(
    model: Any = None, *, limits: SpendingLimits | None = None, cache: Any = None, **more: Any
) -> tuple[ModelClient, Invocation, Spend]:
    invocation, spent = Invocation(Budget(limits), cache), Spend()
    given: dict[str, Any] = {"concurrency": 3, "rates": Rates(), "price": None, "batched": False, **more}
    return ModelClient(model or Remote(), invocation, Health(), spent=spent, **given), invocation, spent


def test_models_of_one_address_share_a_limiter():
    invocation = Invocation()
    first = invocation.limiter(Remote(), 3, Rates(rpm=5))
    assert invocation.limiter(Remote(), 5, Rates(rpm=9)) is first
    assert (first.width, first.rates) == (5.0, Rates(rpm=5))
    local = ScriptedModel()
    own = invocation.limiter(local, 2, Rates(rpm=1))
    assert own is invocation.limiter(local, 2, Rates())
    assert own is not invocation.limiter(ScriptedModel(), 2, Rates())
    assert (own.rates, own._pace, first._pace is None) == (Rates(), None, False)  # pyright: ignore[reportPrivateUsage]
    assert (endpoint_of(Remote()), endpoint_of(local)) == ("http://h/v1", None)
    invocation.budget.stop("over")
    for gate in (first, own):
        assert str(gate._closed) == "over"  # pyright: ignore[reportPrivateUsage]


class Kept:
    """A cache of one folder's own."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}

    def key(self, model: str, request: str) -> str:
        return f"{len(model)} {request}"

    def get(self, key: str) -> Reply | None:
        return self.replies.get(key)

    def put(self, key: str, reply: Reply) -> None:
        self.replies[key] = reply


def test_replies_are_kept_for_first_repeats_of_models_with_an_address():
    kept: Any = Kept()
    client, _, _ = client_of(cache=kept)
    first, second = Address("i", 0, "u", 0), Address("i", 1, "u", 0)
    assert (client.cache_key(first, "r"), client.cache_key(second, "r")) == ("64 r", None)
    client.store("k", Reply({"a": 1}, lost_usage={"x": 1}))
    assert client.lookup("k") == Reply({"a": 1})
    local, _, _ = client_of(ScriptedModel(), cache=kept)
    assert (local.cache_key(first, "r"), local.lookup("k")) == (None, None)
    local.store("l", Reply({}))
    assert [*kept.replies] == ["k"]


def test_what_a_call_takes_is_counted_and_learned():
    price = Price(input=1.0, output=2.0, batch=0.5)
    reply = Reply({"content": "a"}, usage={"prompt_tokens": 1_000_000, "completion_tokens": 500_000})
    client, invocation, spent = client_of(
        outcomes(lost("http 500", 1_000_000), reply, Reply({"content": "b"})),
        limits=SpendingLimits(max_cost=100.0),
        price=price,
    )

    async def play() -> None:
        await client.call(REQUEST, POLICY, lambda kind, wait: None)
        assert (spent.cost, spent.tokens) == (3.0, 2_500_000)
        assert invocation.budget.spent == spent
        await client.call(REQUEST, POLICY, lambda kind, wait: None)

    instantly(play())
    assert (spent.cost, spent.tokens) == (3.0, 2_500_000)
    # Without counts the estimate is taken, which has learned from the first reply.
    assert invocation.budget.spent.prompt_tokens == 3_000_000
    assert invocation.budget.spent.completion_tokens == 500_000 + 250_100
    budget: Any = invocation.budget
    assert (budget._tokens, budget._cost) == (0.0, 0.0)


def test_a_call_that_took_more_tokens_than_estimated_delays_the_next():
    client, _, _ = client_of(outcomes(Reply({}, usage={"prompt_tokens": 1000})), rates=Rates(tpm=601))

    async def play() -> float:
        await client.call(REQUEST, POLICY, lambda kind, wait: None)
        return client._limiter.wait_s  # pyright: ignore[reportPrivateUsage]

    assert instantly(play()) == pytest.approx(1000 * 60.1 / 601 - 0.1)


def test_a_batched_call_has_no_timeout_and_no_rate():
    price = Price(input=1.0, output=2.0, batch=0.5)
    reply = Reply({}, usage={"prompt_tokens": 1_000_000}, batched=True)
    client, invocation, spent = client_of(
        outcomes(reply), batched=True, price=price, limits=SpendingLimits(max_cost=5.0), rates=Rates(tpm=1)
    )
    assert client.batched is True
    gate: Any = client._limiter  # pyright: ignore[reportPrivateUsage]
    assert (gate.width > 1e15, gate.rates, gate._probing) == (True, Rates(), False)
    held: list[float] = []

    async def play() -> None:
        with client.reserve(REQUEST):
            held.append(invocation.budget._tokens)  # pyright: ignore[reportPrivateUsage]
        await client.call(REQUEST, RetryPolicy(timeout_s=0.0, max_attempts=1), lambda kind, wait: None)

    instantly(play())
    assert (held, spent.cost) == ([0.0], 0.5)
    assert client._reservations == {}  # pyright: ignore[reportPrivateUsage]


def test_a_model_that_is_given_up_lets_the_others_in():
    client, _, _ = client_of()
    gate: Any = client._limiter  # pyright: ignore[reportPrivateUsage]
    assert gate._probing is True
    client.give_up("gone")
    assert (client.health.given_up, gate._probing) == ("gone", False)
    assert client_of(ScriptedModel())[0]._limiter._probing is False  # pyright: ignore[reportPrivateUsage]
    estimating: Any = [
        client_of(rates=Rates(tpm=5))[0],
        client_of(limits=SpendingLimits(max_cost=1.0))[0],
        client,
    ]
    assert [each._estimator is not None for each in estimating] == [True, True, False]
    assert clients.MAX_WAITS == 30


# Money ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (5, ": must be a table with input and output, in USD for a million tokens"),
        ({"output": 1}, ".input: must be a number from 0, in USD for a million tokens"),
        ({"input": 1}, ".output: must be a number from 0, in USD for a million tokens"),
        ({"input": True, "output": 1}, ".input: must be a number from 0, in USD for a million tokens"),
        ({"input": 1, "output": -1}, ".output: must be a number from 0, in USD for a million tokens"),
        (
            {"input": 1, "output": float("inf")},
            ".output: must be a number from 0, in USD for a million tokens",
        ),
        (
            {"input": 1, "output": 1, "batch": 1.1},
            ".batch: must be a share from 0 to 1 of the prices, such as 0.5",
        ),
        (
            {"input": 1, "output": 1, "reasoning": "x"},
            ".reasoning: must be a number from 0, in USD for a million tokens",
        ),
        (
            {"input": 1, "output": 1, "z": 1, "b": 2},
            ".b: unknown key; a price has input, output, cached_input, cache_write, cache_write_1h, audio_input,"
            " audio_output, reasoning, batch",
        ),
    ],
)
def test_what_is_no_price_is_named(entry: Any, problem: str):
    with pytest.raises(UsageError) as raised:
        parse_price("here", entry, "o")
    assert str(raised.value) == f"here{problem}"


def test_prices_are_read_whole(tmp_path: Path):
    entry = {"input": 0, "output": 2, "batch": 1, "cached_input": None, "as_of": "d", "source": "s"}
    assert parse_price("here", entry, "o") == Price(input=0.0, output=2.0, batch=1.0, origin="o")
    file = tmp_path / "p.json"
    file.write_text(
        json.dumps(
            {"models": {"m": {"input": 1, "output": 2, "as_of": "May"}, "n": {"input": 1, "output": 2}}}
        )
    )
    prices = read_prices(file)
    assert prices["m"] == Price(input=1.0, output=2.0, origin="p.json of May")
    assert prices["n"].origin == "p.json"
    assert len(prices) == len(read_prices(None)) + 2
    assert price_of(("x", "n", "m"), prices) is prices["n"]
    assert price_of(("x",), {}) is None
    (tmp_path / "p.toml").write_text("[models.m]\ninput = 3\noutput = 4\n")
    assert read_prices(tmp_path / "p.toml")["m"].input == 3.0


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("p.json", "{", ": not JSON (Expecting property name"),
        ("p.toml", "{", ": not valid TOML: "),
        ("p", "{", ": not JSON ("),
        (
            "p.json",
            "[]",
            ': no table `models`; expected such as {"models": {"NAME": {"input": 2.5, "output": 10}}}',
        ),
        (
            "p.json",
            '{"models": 1}',
            ': no table `models`; expected such as {"models": {"NAME": {"input": 2.5, "output"',
        ),
        (
            "p.json",
            '{"models": {"m": 5}}',
            ": models.m: must be a table with input and output, in USD for a million",
        ),
        ("none", None, ": No such file or directory"),
    ],
)
def test_a_file_of_prices_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, text: str | None, problem: str
):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError) as raised:
        read_prices(tmp_path / name)
    assert f"{tmp_path / name}{problem}" in str(raised.value)


def test_tokens_are_estimated_by_characters():
    assert tokens_of("abcdef") == 2.0
    assert tokens_of("你好") == pytest.approx(2 / 4 + 2 * 0.8)
    request = Request([{"a": "b"}], [{"c": 1}])
    assert (
        estimate_tokens(request)
        == tokens_of([[{"a": "b"}], [{"c": 1}]])
        == len('[[{"a":"b"}],[{"c":1}]]') / 4
    )
    assert token_counts({"prompt_tokens": 3, "completion_tokens": 4}) == (3, 4)


def test_an_estimate_learns_from_each_call():
    price = Price(input=1.0, output=10.0, cached_input=0.0)
    estimator = UsageEstimator(price)
    request = Request([{"a": "b" * 388}])
    letters = estimate_tokens(request)
    first = estimator.estimate(request)
    assert first.usage == {"prompt_tokens": round(letters), "completion_tokens": 200}
    assert (first.tokens, first.character_estimate) == (letters + 200, letters)
    assert first.cost == pytest.approx((round(letters) + 2000) / 1e6)
    usage = {
        "prompt_tokens": 2 * round(letters),
        "completion_tokens": 100,
        "cached_tokens": 2 * round(letters),
    }
    estimator.update(first, usage)
    estimator.update(first, {"completion_tokens": 5})
    second = estimator.estimate(request)
    prompt = letters * 2 * round(letters) / letters
    assert second.usage == {"prompt_tokens": round(prompt), "completion_tokens": 150}
    plain = (round(prompt) + 1500) / 1e6
    assert second.cost == pytest.approx(plain * 1000 / (2 * round(letters) + 1000))
    assert UsageEstimator(None).estimate(request).cost == 0.0
    batches = UsageEstimator(Price(input=1.0, output=10.0, batch=0.5), batched=True)
    half = batches.estimate(request)
    assert half.cost == pytest.approx(first.cost / 2)
    batches.update(half, half.usage)
    assert batches.estimate(request).cost == pytest.approx(half.cost)


def test_a_spend_adds_what_calls_took():
    spend = Spend()
    spend.add({"prompt_tokens": 10, "completion_tokens": 5}, None)
    spend.add(
        {"prompt_tokens": 1_000_000, "completion_tokens": 0},
        Price(input=4.0, output=1.0, batch=0.5),
        batched=True,
    )
    spend.add({"prompt_tokens": 1, "completion_tokens": 2, "cost": 0.5}, Price(input=4.0, output=1.0))
    assert spend == Spend(1_000_011, 7, 2.5, 0.5, 15)
    assert spend.tokens == 1_000_018
    spend.include(Spend(1, 2, 3.0, 4.0, 5))
    assert spend == Spend(1_000_012, 9, 5.5, 4.5, 20)
    assert Spend() == Spend(0, 0, 0.0, 0.0, 0)


def reserved(budget: Budget, tokens: float = 0.0, cost: float = 0.0) -> str | None:
    try:
        budget.reserve(Reservation(tokens, cost))
    except LimitError as error:
        return str(error)
    return None


def test_a_budget_holds_what_is_under_way():
    notes: list[str] = []
    budget = Budget(SpendingLimits(max_cost=1.0, max_tokens_total=1_000))
    budget.on_stop.append(notes.append)
    assert budget.limits_spending is True
    assert [reserved(budget, 500, 0.5), reserved(budget, 500, 0.5)] == [None, None]
    budget.release(Reservation(500, 0.5))
    budget.spent.prompt_tokens = 500
    budget.spent.cost = 0.5
    assert reserved(budget) is None
    message = "the limit of 1,000 tokens (--max-tokens-total) leaves no room for the next call"
    assert [reserved(budget, 0.5), reserved(budget)] == [message, message]
    assert (notes, budget.stopped) == ([message], message)
    money = Budget(SpendingLimits(max_cost=1.5))
    assert [reserved(money, 10**9, 1.5), reserved(money, 0, 0.1)] == [
        None,
        "the limit of 1.5 USD (--max-cost) leaves no room for the next call",
    ]
    assert (Budget().limits_spending, Budget(SpendingLimits(max_tokens_total=0)).limits_spending) == (
        False,
        True,
    )


def test_a_deadline_stops_what_begins_after_it():
    times = [100.0]
    budget = Budget(SpendingLimits(deadline_s=2.5), clock=lambda: times[0])
    assert (budget.remaining_s, Budget().remaining_s, budget.limits_spending) == (2.5, None, False)
    times[0] = 102.4
    assert reserved(budget) is None
    times[0] = 102.5
    assert reserved(budget) == "the deadline of 2.5 s is over (--deadline)"
    times[0] = 110.0
    assert budget.remaining_s == 0.0
    budget.stop("other")
    assert budget.stopped == "the deadline of 2.5 s is over (--deadline)"
