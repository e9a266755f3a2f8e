"""One model call with retries: exponential waits with full jitter, the server's `Retry-After` honoured up
to a cap."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from wildtool.engine.call.health import NOT_RECORDED, Health, RefusedError
from wildtool.engine.call.rate_limit import CallHistory, LimitError, RateLimiter
from wildtool.errors import CallError, InfraError
from wildtool.models.http.failures import BLOCKED_PROMPT
from wildtool.types import Model, Reply, Request

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
NOT_REFUSALS = frozenset({NOT_RECORDED, BLOCKED_PROMPT})
"""Kinds of final failures that say nothing about a key or a model's name."""
LONGEST_RETRY_AFTER_S = 60.0
"""Servers have been seen to ask for hours; a run would look hung."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long and how often a call is tried."""

    timeout_s: float
    """Longest time one attempt may take, its whole body included."""
    max_attempts: int
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    """Gives the jitter, from 0 to 1."""


async def call_with_retry(
    model: Model,
    request: Request,
    policy: RetryPolicy,
    on_retry: Callable[[str, float], None],
    limiter: RateLimiter,
    tokens: float = 0.0,
    health: Health | None = None,
) -> Reply:
    """Asks a model until it answers; each try waits for its turn at the gate and leaves it before the next.

    A try that is turned away since the endpoint is asked too much does not count: the call goes back into the queue,
    for as long as others are answered meanwhile.

    Args:
        tokens: that a try is expected to take.
        health: of this model; without one it is never given up.

    Raises InfraError after the last attempt, RefusedError at once where the endpoint says that retrying is
    pointless, LimitError where the gate was closed, and GivenUpError where the model never answers.
    Anything but a CallError that a model raises is a fault of its adapter and passes through.
    """
    if health is None:
        health = Health()
        health.has_answered = True
    attempts = tries = 0
    place = CallHistory()
    while True:
        entered = await limiter.acquire(tokens)
        if health.given_up is not None:
            limiter.release()
            raise LimitError(health.given_up, of_endpoint=True)
        attempts += 1
        health.on_attempt()
        try:
            reply = await _try_once(model, request, policy.timeout_s)
        except CallError as error:
            failure = error
            health.on_attempt_end(error)
            turned_away = policy.max_attempts > 1 and limiter.on_error(error, entered, place)
        except BaseException:
            health.on_attempt_end()
            raise
        else:
            health.on_attempt_end(answered=True)
            limiter.on_success(entered)
            return reply if attempts == 1 else replace(reply, attempts=attempts)
        finally:
            limiter.release()
        tries += not turned_away
        lost = failure.final or tries >= policy.max_attempts
        health.on_error(failure, entered, limiter.now(), lost=lost, rate_limited=turned_away)
        if lost:
            kind_of = RefusedError if failure.final and failure.kind not in NOT_REFUSALS else InfraError
            raise kind_of(failure.kind, str(failure), attempts=attempts) from failure
        wait = limiter.wait_s if turned_away else wait_s(tries, failure.retry_after_s, policy.jitter())
        on_retry(failure.kind, wait)
        if not turned_away:
            await policy.sleep(wait)


async def retry(
    task: Callable[[], Awaitable[Answer]], policy: RetryPolicy, on_retry: Callable[[str, float], None]
) -> Answer:
    """Does something until there is an answer. Raises CallError after the last try."""
    attempt = 1
    while True:
        try:
            return await task()
        except CallError as error:
            if error.final or attempt >= policy.max_attempts:
                raise
            wait = wait_s(attempt, error.retry_after_s, policy.jitter())
            on_retry(error.kind, wait)
        await policy.sleep(wait)
        attempt += 1


async def _try_once(model: Model, request: Request, timeout_s: float) -> Reply:
    try:
        async with asyncio.timeout(timeout_s):
            return await model.complete(request)
    except TimeoutError as error:
        raise CallError("timeout", f"no complete answer within {timeout_s:g} s") from error


def wait_s(attempt: int, retry_after_s: float | None, jitter: float) -> float:
    """Seconds to wait after a failed attempt; never sooner than the server asked, within the cap."""
    backoff = jitter * min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(attempt - 1, 16))
    if retry_after_s is None:
        return backoff
    # Jitter on top, so that calls which were told the same moment do not come back all at once.
    return min(LONGEST_RETRY_AFTER_S, max(retry_after_s, 0.0) + backoff)
