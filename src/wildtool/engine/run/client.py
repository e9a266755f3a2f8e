"""Client for one role: cache, budget, rate limit and retries around its model."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from math import inf

from wildtool.engine.call.budget import NO_RESERVATION, Budget, Reservation, UsageEstimator, token_counts
from wildtool.engine.call.cache import ReplyCache, model_digest
from wildtool.engine.call.rate_limit import RateLimiter
from wildtool.engine.call.retry import Health, RetryPolicy, call_with_retry
from wildtool.engine.plan import Plan
from wildtool.models.settings import Rates
from wildtool.types import Address, Model, Reply, Request


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

    def __init__(self, plan: Plan, role: str, model: Model, invocation: Invocation, health: Health) -> None:
        """Args: health: of the model, shared by all its roles."""
        self.health = health
        self.batched = role in plan.batched
        rates = Rates() if self.batched else plan.rates.get(role, Rates())
        self.price = plan.prices.get(role)
        self._model = model
        self._budget = invocation.budget
        # A request that waits for its batch takes nothing from the endpoint.
        self._limiter = (
            RateLimiter(sys.maxsize) if self.batched else invocation.limiter(model, plan.concurrency, rates)
        )
        if not self.batched and endpoint_of(model) is not None:
            self._limiter.probe()
        self._estimator = UsageEstimator(self.price, batched=self.batched)
        self._estimates_usage = invocation.budget.limits_spending or rates.tpm is not None
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
            self._cache.put(key, reply)

    async def call(
        self, request: Request, policy: RetryPolicy, on_retry: Callable[[str, float], None]
    ) -> Reply:
        """Calls the model within all limits. Raises InfraError, and LimitError if the call was not made."""
        expected = self._estimator.estimate(request) if self._estimates_usage else NO_RESERVATION
        if self.batched:
            reply = await self._call_by_batch(request, expected, policy, on_retry)
        else:
            with self._hold(expected):
                reply = await call_with_retry(
                    *(self._model, request, policy, on_retry, self._limiter, expected.tokens, self.health)
                )
                self._add_spend(reply, expected)
        if self._estimates_usage:
            self._estimator.update(expected, reply.usage)
            self._limiter.adjust(expected.tokens, sum(token_counts(reply.usage)) or expected.tokens)
        return reply

    def give_up(self, why: str) -> None:
        """Makes no more calls; those that wait for their turn fail too."""
        self.health.given_up = why
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
    ) -> Reply:
        """The same through a batch, whose sender reserves the budget: it knows which requests are paid already."""
        self._reservations[request.address] = reservation
        try:
            endless = replace(policy, timeout_s=inf)
            reply = await call_with_retry(
                self._model, request, endless, on_retry, self._limiter, health=self.health
            )
        finally:
            del self._reservations[request.address]
        self._add_spend(reply, reservation)
        return reply

    @contextmanager
    def _hold(self, reservation: Reservation) -> Generator[None]:
        self._budget.reserve(reservation)
        try:
            yield
        finally:
            self._budget.release(reservation)

    def _add_spend(self, reply: Reply, reservation: Reservation) -> None:
        # Without token counts from the endpoint the estimate counts, or no limit would ever be reached.
        usage = reply.usage if any(token_counts(reply.usage)) else reservation.usage
        self._budget.spent.add(usage, self.price, batched=reply.batched)
