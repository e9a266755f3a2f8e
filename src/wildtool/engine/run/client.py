"""Where one role of a run is asked: its model within all limits, and the cache before it."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from math import inf

from wildtool.engine.call.budget import NO_RESERVATION, Budget, Reservation, UsageEstimator
from wildtool.engine.call.cache import ReplyCache, model_digest
from wildtool.engine.call.pricing import token_counts
from wildtool.engine.call.rate_limit import RateLimiter
from wildtool.engine.call.retry import Health, RetryPolicy, call_with_retry
from wildtool.engine.plan import Plan
from wildtool.models.settings import Rates
from wildtool.types import Address, Model, Reply, Request


def endpoint_of(model: Model) -> str | None:
    """The address that a model is asked at; None for one that is asked over no network."""
    url = model.settings().get("base_url")
    return url if isinstance(url, str) else None


class Invocation:
    """One start of the command."""

    def __init__(self, budget: Budget | None = None, cache: ReplyCache | None = None) -> None:
        self.budget = budget or Budget()
        self.cache = cache
        self._limiters: dict[object, RateLimiter] = {}

    def limiter(self, model: Model, width: int, rates: Rates) -> RateLimiter:
        """The gate to a model: one for all at the same endpoint, by their lowest rates.

        Args: width: calls in flight at most.
        """
        endpoint = endpoint_of(model)
        # Only the network has rates; another model is on its own.
        key = id(model) if endpoint is None else endpoint
        gate = self._limiters.get(key)
        if gate is None:
            learns = endpoint is not None
            gate = self._limiters[key] = RateLimiter(width, rates if learns else Rates(), adaptive=learns)
            self.budget.on_stop.append(gate.close)
        else:
            gate.widen(width, rates)
        return gate


class ModelClient:
    """A model with the gate to its endpoint, its price, the budget and the cache."""

    def __init__(self, plan: Plan, role: str, model: Model, invocation: Invocation, health: Health) -> None:
        """Args: health: of the model, in whatever roles it is asked."""
        self.health = health
        self.batched = role in plan.batched
        rates = Rates() if self.batched else plan.rates.get(role, Rates())
        self.price = plan.prices.get(role)
        self._model = model
        self._budget = invocation.budget
        # Nothing goes to the endpoint while a request waits for its batch.
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
        """What names a request in the cache; None where it has no place there, as in repeats after the first.

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
        """Asks the model within all limits. Raises InfraError, and LimitError where the call was not made."""
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
        """Makes no more calls, also of those that wait for their turn."""
        self.health.given_up = why
        self._limiter.end_probe()

    @contextmanager
    def reserve(self, request: Request) -> Generator[None]:
        """Sets aside what a request takes that is being asked by `call`, while it goes by a new batch."""
        with self._hold(self._reservations.get(request.address, NO_RESERVATION)):
            yield

    async def _call_by_batch(
        self,
        request: Request,
        reservation: Reservation,
        policy: RetryPolicy,
        on_retry: Callable[[str, float], None],
    ) -> Reply:
        """The same where batches are sent: only who sends them knows whether a request is new or paid for already."""
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
        # An endpoint that tells no tokens is taken at our guess, or no limit would ever be reached.
        told = reply.usage if any(token_counts(reply.usage)) else reservation.usage
        self._budget.spent.add(told, self.price, batched=reply.batched)
