"""One model call with retries: exponential waits with full jitter, the server's `Retry-After` honoured up
to a cap."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from wildtool.engine.limits import Gate
from wildtool.errors import CallError, InfraError
from wildtool.models.failures import BLOCKED
from wildtool.types import Model, Reply, Request

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
NOT_RECORDED = "not recorded"
"""Kind of a call that asks a record for a reply which it does not hold: final, but no fault of a key or a name."""
LONGEST_RETRY_AFTER_S = 60.0
"""Servers have been seen to ask for hours; a run would look hung."""
Answer = TypeVar("Answer")


class RefusedError(InfraError):
    """A call that failed in a way that another try cannot mend: a wrong key, an unknown model."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often a call is tried."""

    timeout_s: float
    """Longest time one attempt may take, its whole body included."""
    max_attempts: int
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """Gives the jitter, from 0 to 1."""


async def call(
    model: Model,
    request: Request,
    patience: Patience,
    on_retry: Callable[[str, float], None],
    gate: Gate,
    tokens: float = 0.0,
) -> Reply:
    """Asks a model until it answers; each try waits for its turn at the gate and leaves it before the next.

    Args: tokens: that a try is expected to take.

    Raises InfraError after the last attempt, RefusedError at once where the endpoint says that retrying is
    pointless, and LimitError where the gate was closed. Anything but a CallError that a model raises is a fault of
    its adapter and passes through.
    """
    attempt = 1
    while True:
        entered = await gate.enter(tokens)
        try:
            reply = await _try_once(model, request, patience.timeout_s)
            gate.answered()
            return reply if attempt == 1 else replace(reply, attempts=attempt)
        except CallError as error:
            gate.failed(error, entered)
            if error.final:
                kind_of = InfraError if error.kind in (NOT_RECORDED, BLOCKED) else RefusedError
                raise kind_of(error.kind, str(error), attempts=attempt) from error
            if attempt >= patience.max_attempts:
                raise InfraError(error.kind, str(error), attempts=attempt) from error
            wait = wait_s(attempt, error.retry_after_s, patience.chance())
            on_retry(error.kind, wait)
        finally:
            gate.leave()
        await patience.sleep(wait)
        attempt += 1


async def patiently(
    task: Callable[[], Awaitable[Answer]], patience: Patience, on_retry: Callable[[str, float], None]
) -> Answer:
    """Does something until there is an answer. Raises CallError after the last try."""
    attempt = 1
    while True:
        try:
            return await task()
        except CallError as error:
            if error.final or attempt >= patience.max_attempts:
                raise
            wait = wait_s(attempt, error.retry_after_s, patience.chance())
            on_retry(error.kind, wait)
        await patience.sleep(wait)
        attempt += 1


async def _try_once(model: Model, request: Request, timeout_s: float) -> Reply:
    try:
        async with asyncio.timeout(timeout_s):
            return await model.complete(request)
    except TimeoutError as error:
        raise CallError("timeout", f"no complete answer within {timeout_s:g} s") from error


def wait_s(attempt: int, retry_after_s: float | None, chance: float) -> float:
    """Seconds to wait after a failed attempt; never sooner than the server asked, within the cap."""
    backoff = chance * min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(attempt - 1, 16))
    if retry_after_s is None:
        return backoff
    # Jitter on top, so that calls which were told the same moment do not come back all at once.
    return min(LONGEST_RETRY_AFTER_S, max(retry_after_s, 0.0) + backoff)
