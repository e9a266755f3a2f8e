"""Calls of one model: the client that looks in the cache, reserves budget and waits for its turn, and the attempts of a
call until it is answered or given up: exponential waits with full jitter, `Retry-After` obeyed up to a cap."""

import asyncio
import random
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from typing import Any, TypeVar

from wildtool.advice import RUN_AGAIN, RUN_CORRECTED, Advice
from wildtool.engine.call.budget import (
    NO_RESERVATION,
    Budget,
    Reservation,
    Spend,
    UsageEstimator,
    token_counts,
)
from wildtool.engine.call.cache import ReplyCache, model_digest
from wildtool.engine.call.rate_limit import (
    DOWN_KINDS,
    GATEWAY_KINDS,
    LONGEST_RETRY_AFTER_S,
    PROBE_CONCURRENCY,
    CallHistory,
    RateLimiter,
)
from wildtool.engine.call.shedding import pause_s
from wildtool.engine.observer import Observer
from wildtool.engine.record.writer import PendingRow
from wildtool.errors import (
    BLOCKED_PROMPT,
    NOT_RECORDED,
    CallError,
    InfraError,
    LimitError,
    LimitOf,
    UsageError,
    WildtoolError,
)
from wildtool.models.http.failures import QUOTA_USED_UP
from wildtool.models.settings import Rates
from wildtool.models.token_usage import Price, summed_usage
from wildtool.reply_ends import names_remedy
from wildtool.types import Address, Model, Reply, Request

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
MAX_FAILED_CALLS = 8
"""Failures of one kind without any answer after which a model is given up."""
GIVE_UP_AFTER_S = 10.0
"""Seconds for which retryable attempts must have failed by then: a server may just be starting."""
RATE_LIMITED_GIVE_UP_AFTER_S = 120.0
"""The same where an endpoint asks for fewer calls, which most do for a minute."""
RESTART_S = 60.0
"""How long calls wait for an endpoint that has answered before and is down, as one that restarts is."""
RESTART_PAUSE_S = 2.0
"""Between two attempts of such a call, on average."""
MAX_WAITS = 40
"""Such attempts of one call, however often its endpoint comes back."""
GONE_KINDS = DOWN_KINDS | GATEWAY_KINDS | {"http 500", "timeout"}
"""Failures that may mean that an endpoint is gone, or that its model has crashed."""
FEWEST_CALLS_DOWN = 4
"""How many calls must meet an endpoint that is down before a run stops: fewer may fail for reasons of their own."""
_LOADING = re.compile(r"\b(loading|starting|warming|not (yet )?ready)\b", re.IGNORECASE)
"""Words of an endpoint that will answer once its model is loaded."""
NOT_REFUSALS = frozenset({NOT_RECORDED, BLOCKED_PROMPT})
"""Kinds of final failures that say nothing about a key or a model's name."""
Answer = TypeVar("Answer")


class GivenUpError(WildtoolError):
    """A model that never answered and is no longer called."""

    exit_status = 3

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(f"{reason}{advice}")
        self.reason, self.advice = reason, advice

    def of_role(self, role: str, name: str) -> "GivenUpError":
        """The same where the model of another role than the one under test was given up."""
        return type(self)(f"{role} ({name}): {self.reason}", self.advice)


class AllRefusedError(GivenUpError, UsageError):
    """The same where the key, the model's name or the endpoint is wrong."""

    exit_status = 2


class RefusedError(InfraError):
    """A call that failed in a way that retrying cannot fix: a wrong key, an unknown model."""


def _is_loading(error: CallError) -> bool:
    return error.kind == "http 503" and _LOADING.search(str(error)) is not None


async def once_loaded(ask: Callable[[], Awaitable[Answer]], tell: Callable[[str], None]) -> Answer:
    """Asks an endpoint again while it says that it loads its model, for at most a minute.

    Args: tell: takes the sentence that says so, once.

    Raises CallError as `ask` does.
    """
    clock = asyncio.get_running_loop().time
    until: float | None = None
    while True:
        try:
            return await ask()
        except CallError as error:
            if not _is_loading(error) or (until is not None and clock() >= until):
                raise
            if until is None:
                until = clock() + RESTART_S
                tell(
                    f"the endpoint loads its model ({error.kind}); waiting for it, {RESTART_S:.0f} s at most"
                )
        await asyncio.sleep(RESTART_PAUSE_S)


class Health:
    """Follows the attempts of one model until the first is answered.

    A model that never answers is given up, but only while no attempt is in flight: a quick refusal must not overtake a
    slow good answer.
    """

    def __init__(self, observer: Observer | None = None, *, give_up_after_s: float = GIVE_UP_AFTER_S) -> None:
        """Args:
        observer: receives each attempt.
        give_up_after_s: seconds for which retryable attempts may fail.
        """
        self.has_answered = False
        """Whether it has ever answered."""
        self.given_up: str | None = None
        """Why no more calls are made, if the rest of the run continues without them."""
        self.is_gone = False
        """Whether it has answered and then failed for so long that no more calls are made."""
        self.unrecorded: list[tuple[PendingRow, InfraError]] = []
        """Calls that failed before the first answer; recorded once there is one."""
        self._observer = observer or Observer()
        self._give_up_after_s = give_up_after_s
        self._in_flight = 0
        self._failed_attempts: Counter[str] = Counter()
        """Failed attempts by kind."""
        self._failed_calls: Counter[str] = Counter()
        """Calls that failed for good, by kind."""
        self._since: float | None = None
        """When the first failed attempt was sent."""
        self._down_since: float | None = None
        """When the endpoint was first seen to be down since its last answer; None where it is up."""
        self._down_attempts = self._down_calls = 0
        """Attempts, and calls, that met it so since then."""
        self._answered_until = ""
        """The time of its last answer, such as 12:01:07."""

    def on_attempt(self) -> None:
        """An attempt is sent."""
        self._in_flight += 1
        self._observer.attempt_started()

    def on_attempt_end(self, problem: CallError | None = None, *, answered: bool = False) -> None:
        """An attempt is over: answered, failed, or (neither) cut off."""
        self._in_flight -= 1
        # An endpoint that refuses a prompt for its content has accepted the key, the model's name and the request's form.
        if answered or (problem is not None and problem.kind == BLOCKED_PROMPT):
            self.has_answered, self._down_since = True, None
            self._down_attempts = self._down_calls = 0
            self._answered_until = f"{datetime.now():%H:%M:%S}"
        self._observer.attempt_ended(problem, answered=answered)

    def on_error(
        self, error: CallError, sent_at: float, now: float, *, lost: bool, rate_limited: bool = False
    ) -> None:
        """Decides after a failed attempt whether the model is given up.

        Args:
            sent_at: when it was sent.
            lost: whether its call is not retried.
            rate_limited: whether the endpoint asked for fewer calls.

        Raises GivenUpError if it is.
        """
        if self.has_answered or error.kind == NOT_RECORDED:
            return
        self._since = sent_at if self._since is None else min(self._since, sent_at)
        self._failed_attempts[error.kind] += 1
        self._failed_calls[error.kind] += lost
        if self._in_flight:
            return
        waited = now - self._since
        if error.final and self._failed_calls[error.kind] >= MAX_FAILED_CALLS:
            raise all_refused(error)
        patience = RESTART_S if _is_loading(error) else self._give_up_after_s
        patience = RATE_LIMITED_GIVE_UP_AFTER_S if rate_limited else patience
        enough = rate_limited or self._failed_attempts[error.kind] >= MAX_FAILED_CALLS
        if self._failed_calls[error.kind] >= MAX_FAILED_CALLS or (enough and waited >= patience):
            raise self._no_answer(error, waited)

    def on_down(self, error: CallError, now: float, history: CallHistory) -> None:
        """Notes a failure that may mean that the endpoint is down.

        Args: history: of the call.
        """
        if error.final or error.kind not in GONE_KINDS or not (self.has_answered or _is_loading(error)):
            return
        self._down_since = now if self._down_since is None else self._down_since
        self._down_attempts += 1
        if history.down_since != self._down_since:
            history.down_since = self._down_since
            self._down_calls += 1
        if error.kind in DOWN_KINDS and self._down_attempts == 1 + self.has_answered:
            # One failure of a connection says little, and is over with the next answer.
            self._tell_down(error)

    def _tell_down(self, error: CallError) -> None:
        if not self.has_answered:
            words = f"the endpoint loads its model ({error.kind}); calls wait for it for {RESTART_S:.0f} s"
            self._observer.reply_noticed(words)
            return
        until = f"answered until {self._answered_until}"
        state = "loads its model" if _is_loading(error) else "is down"
        self._observer.reply_noticed(
            f"the endpoint {until} and {state} ({error.kind}); calls wait for it, up to {RESTART_S:.0f} s"
        )
        self._observer.endpoint_down(until, RESTART_S)

    @property
    def is_down(self) -> bool:
        """Whether an endpoint that has answered fails at so many attempts that one call at a time need ask for it."""
        many = self._down_attempts >= PROBE_CONCURRENCY and self._down_calls >= FEWEST_CALLS_DOWN
        return self.has_answered and many

    def waits_for(self, error: CallError, now: float) -> bool:
        """Whether a failed attempt met an endpoint that has answered before and is down, or one that loads its model, for
        less than a minute."""
        kinds = DOWN_KINDS | GATEWAY_KINDS if self.is_down else DOWN_KINDS
        if error.final or error.kind not in kinds or self._down_since is None:
            return False
        return now - self._down_since < RESTART_S

    def gone(self, error: CallError, now: float) -> str:
        """Why no more calls are made to an endpoint that has answered and then failed for a minute; empty where some are.

        Only while no attempt is in flight, which may be a slow good answer.
        """
        if self._down_since is None or not self.has_answered or error.kind not in GONE_KINDS:
            return ""
        few = self._down_calls < FEWEST_CALLS_DOWN or self._give_up_after_s == inf
        seconds = now - self._down_since
        if few or self._in_flight or seconds < RESTART_S:
            return ""
        self.is_gone = True
        return (
            f"the endpoint answered until {self._answered_until}, then nothing for {seconds:.0f} s, the last failure:"
            f" {error.kind} ({error})"
        )

    def _no_answer(self, error: CallError, waited: float) -> GivenUpError:
        tries = self._failed_attempts.total()
        within = f" within {waited:.0f} s" if waited >= 1 else ""
        helps = f"once the endpoint answers, {Advice.SAME_COMMAND}"
        if error.advised or names_remedy(str(error)):
            helps = RUN_CORRECTED
        return GivenUpError(
            f"the model never answered: all {tries} tries failed{within}, the last by {error.kind} ({error})",
            f". Nothing is counted as a result; {helps}",
        )


def all_refused(error: CallError | InfraError) -> AllRefusedError:
    """What to tell of a model that refused every call."""
    words = str(error)
    advice = _ADVICE.get(error.kind, "check the key, the model's name and the endpoint")
    # Nothing is recorded, so the run may continue with other settings.
    step = RUN_CORRECTED if error.advised or names_remedy(words) else f"{advice}, then {RUN_AGAIN}"
    return AllRefusedError(f"every call was refused ({error.kind}: {words})", f"; {step}")


_ADVICE = {
    **dict.fromkeys(
        ("http 400", "http 413", "http 422", "http 500", "http 501"), Advice.WITHOUT_NATIVE_CALLS
    ),
    **dict.fromkeys(("http 401", "http 403"), Advice.RIGHT_KEY),
    **dict.fromkeys(("http 404", "http 405"), Advice.RIGHT_NAME),
    "network": Advice.RIGHT_ADDRESS,
    "unsendable request": "choose items that it can be sent",
}
"""What to do where an endpoint refuses every call, by the kind of the refusal."""


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
    on_lost_usage: Callable[[Mapping[str, Any]], None] = lambda usage: None,
    on_failed_attempt: Callable[[CallError], None] = lambda failure: None,
) -> Reply:
    """Asks a model until it answers. Each attempt waits for its turn at the rate limiter, and releases it before the
    next.

    An attempt that the endpoint turns away because of its load does not count: the call goes back into the queue, for
    as long as other calls are answered. Where most calls are answered, it waits for a moment first.

    Args:
        tokens: expected for one attempt.
        health: of this model; without one it is never given up.
        on_lost_usage: takes the usage that the provider reported of an attempt that failed.
        on_failed_attempt: takes the failure of each attempt, the last included.

    Raises InfraError after the last attempt, RefusedError at once where the endpoint says that retrying is pointless,
    LimitError where the rate limiter was closed or the account is empty, and GivenUpError where the model never
    answers. Anything but a CallError that a model raises is a bug of its adapter and passes through.
    """
    if health is None:
        health = Health()
        health.has_answered = True
    history = CallHistory()
    lost_usage: Mapping[str, Any] = {}
    last_failure: CallError | None = None

    async def attempt() -> Reply:
        """One attempt that counts, after those that are turned away."""
        nonlocal lost_usage, last_failure
        while True:
            try:
                admitted_at = await limiter.acquire(tokens)
            except LimitError:
                if last_failure is None or not health.is_gone or history.waits < policy.max_attempts:
                    raise
                # Tried often enough, it has failed: a later run must know that it may do so for a reason of its own.
                raise InfraError(
                    last_failure.kind, str(last_failure), attempts=history.attempts, usage=lost_usage
                ) from None
            if health.given_up is not None:
                limiter.release()
                raise LimitError(health.given_up, LimitOf.ENDPOINT)
            history.attempts += 1
            health.on_attempt()
            try:
                async with asyncio.timeout(policy.timeout_s):
                    reply = await model.complete(request)
            except (CallError, TimeoutError) as error:
                late = f"no complete answer within {policy.timeout_s:g} s"
                failure = error if isinstance(error, CallError) else CallError("timeout", late)
                health.on_attempt_end(failure)
                last_failure = failure
                on_failed_attempt(failure)
                if failure.usage:
                    lost_usage = summed_usage(lost_usage, failure.usage)
                    on_lost_usage(failure.usage)
                if failure.kind == QUOTA_USED_UP:
                    limiter.close(str(failure), LimitOf.ENDPOINT)
                    raise LimitError(str(failure), LimitOf.ENDPOINT) from None
                turned_away = policy.max_attempts > 1 and limiter.on_error(failure, admitted_at, history)
                if policy.max_attempts > 1 and not turned_away:
                    health.on_down(failure, limiter.now(), history)
                    if health.is_down and failure.kind in DOWN_KINDS | GATEWAY_KINDS:
                        limiter.hold_back()
            except BaseException:
                health.on_attempt_end()
                raise
            else:
                health.on_attempt_end(answered=True)
                limiter.on_success(admitted_at)
                return reply
            finally:
                limiter.release()
            waits = False
            if policy.max_attempts > 1 and not turned_away:
                gone = health.gone(failure, limiter.now())
                if gone:
                    limiter.close(gone, LimitOf.DOWN)
                waits = health.waits_for(failure, limiter.now()) and history.waits < MAX_WAITS
            history.waits += waits
            history.counted += not (turned_away or waits)
            lost = failure.final or history.counted >= policy.max_attempts
            health.on_error(failure, admitted_at, limiter.now(), lost=lost, rate_limited=turned_away)
            if lost or not (turned_away or waits):
                raise failure
            pause = 0.0
            if waits:
                pause = RESTART_PAUSE_S * (0.5 + policy.jitter())
            elif history.dropped:
                pause = pause_s(history.dropped, policy.jitter())
            on_retry(failure.kind, pause or limiter.wait_s)
            if pause:
                await policy.sleep(pause)

    try:
        reply = await retry(attempt, policy, on_retry)
    except CallError as error:
        refused = error.final and error.kind not in NOT_REFUSALS
        raise (RefusedError if refused else InfraError)(
            error.kind, str(error), attempts=history.attempts, usage=lost_usage, advised=error.advised
        ) from error
    if history.attempts == 1:
        return reply
    return replace(reply, attempts=history.attempts, lost_usage=lost_usage)


async def retry(
    task: Callable[[], Awaitable[Answer]], policy: RetryPolicy, on_retry: Callable[[str, float], None]
) -> Answer:
    """Does something until it succeeds, with waits between. Raises CallError after the last attempt."""
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


def wait_s(attempt: int, retry_after_s: float | None, jitter: float) -> float:
    """Seconds to wait after a failed attempt; never sooner than the server asked, within the cap."""
    backoff = jitter * min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(attempt - 1, 16))
    if retry_after_s is None:
        return backoff
    # Jitter on top, so that calls with the same Retry-After do not come back all at once.
    return min(LONGEST_RETRY_AFTER_S, max(retry_after_s, 0.0) + backoff)


def endpoint_of(model: Model) -> str | None:
    """The address of a model's API; None for a model without network."""
    url = model.settings().get("base_url")
    return url if isinstance(url, str) else None


class Invocation:
    """One start of the command."""

    def __init__(self, budget: Budget | None = None, cache: ReplyCache | None = None) -> None:
        self.budget = budget or Budget()
        self.cache = cache
        self._limiters: dict[object, RateLimiter] = {}

    def limiter(self, model: Model, width: int, rates: Rates) -> RateLimiter:
        """The rate limiter of a model: one for all models at the same endpoint, with their lowest rates.

        Args: width: calls in flight at most.
        """
        endpoint = endpoint_of(model)
        # Only the network has rates; another model is on its own.
        key = id(model) if endpoint is None else endpoint
        limiter = self._limiters.get(key)
        if limiter is None:
            adaptive = endpoint is not None
            limiter = self._limiters[key] = RateLimiter(
                width, rates if adaptive else Rates(), adaptive=adaptive
            )
            self.budget.on_stop.append(limiter.close)
        else:
            limiter.widen(width, rates)
        return limiter


class ModelClient:
    """A model with its rate limiter, its price, the budget and the cache."""

    def __init__(
        self,
        model: Model,
        invocation: Invocation,
        health: Health,
        *,
        concurrency: int,
        rates: Rates,
        price: Price | None,
        batched: bool,
        spent: Spend,
    ) -> None:
        """Args:
        health: of the model, shared by all its roles.
        concurrency: calls in flight at most.
        rates: of its endpoint; they do not hold for batches.
        price: None where it is unknown.
        batched: whether it is called by batches.
        spent: what the calls of the run took, which grows with each of them.
        """
        self._spent = spent
        self.health = health
        self.batched = batched
        self.price = price
        self._model = model
        self._budget = invocation.budget
        # A request that waits for its batch takes nothing from the endpoint.
        self._limiter = RateLimiter(sys.maxsize) if batched else invocation.limiter(model, concurrency, rates)
        if not batched and endpoint_of(model) is not None:
            self._limiter.probe()
        estimates = invocation.budget.limits_spending or (rates.tpm is not None and not batched)
        self._estimator = UsageEstimator(price, batched=batched) if estimates else None
        # A model without an endpoint may answer by more than the request says.
        self._cache = invocation.cache if endpoint_of(model) is not None else None
        self._model_digest = model_digest(model) if self._cache else ""
        self._reservations: dict[Address | None, Reservation] = {}

    def cache_key(self, address: Address, request: str) -> str | None:
        """The key of a request in the cache; None for a request that is not cached, as in repeats after the first.

        Args: request: its hash.
        """
        if self._cache is None or address.repeat:
            return None
        return self._cache.key(self._model_digest, request)

    def lookup(self, key: str) -> Reply | None:
        """The reply under a key of the cache, where there is one."""
        return self._cache.get(key) if self._cache else None

    def store(self, key: str, reply: Reply) -> None:
        """Puts a reply under a key of the cache."""
        if self._cache:
            self._cache.put(key, replace(reply, lost_usage={}))

    async def call(
        self,
        request: Request,
        policy: RetryPolicy,
        on_retry: Callable[[str, float], None],
        on_failed_attempt: Callable[[CallError], None] = lambda failure: None,
    ) -> Reply:
        """Calls the model within all limits. Raises InfraError, and LimitError if the call was not made.

        Args: on_failed_attempt: takes the failure of each attempt, the last included.
        """
        expected = await self._expected(request)
        if self.batched:
            reply = await self._call_by_batch(request, expected, policy, on_retry, on_failed_attempt)
        else:
            with self._hold(expected):
                reply = await call_with_retry(
                    self._model,
                    request,
                    policy,
                    on_retry,
                    self._limiter,
                    expected.tokens,
                    self.health,
                    on_lost_usage=self._add_lost,
                    on_failed_attempt=on_failed_attempt,
                )
                self._add_spend(reply, expected)
        if self._estimator:
            self._estimator.update(expected, reply.usage)
        used = sum(token_counts(reply.usage)) or expected.tokens
        self._limiter.adjust(expected.tokens, used, reply.requests)
        return reply

    def give_up(self, reason: str) -> None:
        """Makes no more calls; those that wait for their turn fail too."""
        self.health.given_up = reason
        self._limiter.end_probe()

    @contextmanager
    def reserve(self, request: Request) -> Generator[None]:
        """Reserves what a request that is in `call` is expected to take, while it is in a new batch."""
        with self._hold(self._reservations.get(request.address, NO_RESERVATION)):
            yield

    async def _call_by_batch(
        self,
        request: Request,
        reservation: Reservation,
        policy: RetryPolicy,
        on_retry: Callable[[str, float], None],
        on_failed_attempt: Callable[[CallError], None],
    ) -> Reply:
        """The same through a batch, whose sender reserves the budget: it knows which requests are paid already."""
        self._reservations[request.address] = reservation
        try:
            endless = replace(policy, timeout_s=inf)
            reply = await call_with_retry(
                self._model,
                request,
                endless,
                on_retry,
                self._limiter,
                health=self.health,
                on_lost_usage=self._add_lost,
                on_failed_attempt=on_failed_attempt,
            )
        finally:
            del self._reservations[request.address]
        self._add_spend(reply, reservation)
        return reply

    async def _expected(self, request: Request) -> Reservation:
        """What a call is expected to take, once the budget has room for it."""
        estimator = self._estimator
        if estimator is None:
            return NO_RESERVATION
        if self.batched:
            return estimator.estimate(request)
        return await self._budget.room_for(lambda: estimator.estimate(request))

    @contextmanager
    def _hold(self, reservation: Reservation) -> Generator[None]:
        self._budget.reserve(reservation)
        try:
            yield
        finally:
            self._budget.release(reservation)

    def _add_spend(self, reply: Reply, reservation: Reservation) -> None:
        taken = Spend()
        taken.add(reply.usage, self.price, batched=reply.batched)
        self._spent.include(taken)
        if taken.uncounted or not taken.tokens:
            # Without token counts from the endpoint the estimate counts, or no limit would ever be reached.
            taken = Spend()
            taken.add(reservation.usage, self.price, batched=reply.batched)
        self._budget.spent.include(taken)

    def _add_lost(self, usage: Mapping[str, Any]) -> None:
        """Counts an attempt that the provider did not finish and has tokens for."""
        for spend in (self._budget.spent, self._spent):
            spend.add(usage, self.price, batched=self.batched)
