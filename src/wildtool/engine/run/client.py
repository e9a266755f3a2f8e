"""Where one role of a run is asked: its model within all limits, and the cache before it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from math import inf

from wildtool.engine.call.budget import NOTHING, Budget, Expected, Forecast
from wildtool.engine.call.cache import Cache, whose
from wildtool.engine.call.health import Health
from wildtool.engine.call.pricing import token_counts
from wildtool.engine.call.rate_limit import Gate
from wildtool.engine.call.rates import Rates
from wildtool.engine.call.retry import Patience, call
from wildtool.engine.plan import Plan
from wildtool.types import Address, Model, Reply, Request


def endpoint_of(model: Model) -> str | None:
    """The address that a model is asked at; None for one that is asked over no network."""
    url = model.settings().get("base_url")
    return url if isinstance(url, str) else None


class Sitting:
    """One start of the command."""

    def __init__(self, budget: Budget | None = None, cache: Cache | None = None) -> None:
        self.budget = budget or Budget()
        self.cache = cache
        self._gates: dict[object, Gate] = {}

    def gate(self, model: Model, width: int, rates: Rates) -> Gate:
        """The gate to a model: one for all at the same endpoint, by their lowest rates.

        Args: width: calls in flight at most.
        """
        endpoint = endpoint_of(model)
        # Only the network has rates; another model is on its own.
        key = id(model) if endpoint is None else endpoint
        gate = self._gates.get(key)
        if gate is None:
            learns = endpoint is not None
            gate = self._gates[key] = Gate(width, rates if learns else Rates(), learns=learns)
            self.budget.on_stop.append(gate.close)
        else:
            gate.widen(width, rates)
        return gate


ALL_AT_ONCE = 1 << 40
"""Requests that wait for a batch: any number."""


class Desk:
    """A model with the gate to its endpoint, its price, the budget and the cache."""

    def __init__(self, plan: Plan, role: str, model: Model, sitting: Sitting, health: Health) -> None:
        """Args: health: of the model, in whatever roles it is asked."""
        self.health = health
        self.batched = role in plan.batched
        rates = Rates() if self.batched else plan.rates.get(role, Rates())
        self.price = plan.prices.get(role)
        self._model = model
        self._budget = sitting.budget
        # Nothing goes to the endpoint while a request waits for its batch.
        self._gate = Gate(ALL_AT_ONCE) if self.batched else sitting.gate(model, plan.concurrency, rates)
        if not self.batched and endpoint_of(model) is not None:
            self._gate.probe()
        self._forecast = Forecast(self.price, batched=self.batched)
        self._guesses = sitting.budget.counts or rates.tpm is not None
        # A model without an endpoint may answer by more than the request says.
        self._cache = sitting.cache if endpoint_of(model) is not None else None
        self._who = whose(model)
        self._expected: dict[Address | None, Expected] = {}

    def cache_key(self, address: Address, request: str) -> str | None:
        """What names a request in the cache; None where it has no place there, as in repeats after the first.

        Args: request: its hash.
        """
        if self._cache is None or address.repeat:
            return None
        return self._cache.key(self._who, request)

    def cached(self, key: str) -> Reply | None:
        """The reply under a key of the cache, where there is one."""
        return self._cache.get(key) if self._cache else None

    def keep(self, key: str, reply: Reply) -> None:
        """Puts a reply under a key of the cache."""
        if self._cache:
            self._cache.put(key, reply)

    async def call(
        self, request: Request, patience: Patience, on_retry: Callable[[str, float], None]
    ) -> Reply:
        """Asks the model within all limits. Raises InfraError, and LimitError where the call was not made."""
        expected = self._forecast.of(request) if self._guesses else NOTHING
        if self.batched:
            reply = await self._call_by_batch(request, expected, patience, on_retry)
        else:
            with self._set_aside(expected):
                reply = await call(
                    *(self._model, request, patience, on_retry, self._gate, expected.tokens, self.health)
                )
                self._spend(reply, expected)
        if self._guesses:
            self._forecast.learn(expected, reply.usage)
            self._gate.correct(expected.tokens, sum(token_counts(reply.usage)) or expected.tokens)
        return reply

    def give_up(self, why: str) -> None:
        """Makes no more calls, also of those that wait for their turn."""
        self.health.given_up = why
        self._gate.end_probe()

    @contextmanager
    def reserved(self, request: Request) -> Generator[None]:
        """Sets aside what a request takes that is being asked by `call`, while it goes by a new batch."""
        with self._set_aside(self._expected.get(request.address, NOTHING)):
            yield

    async def _call_by_batch(
        self, request: Request, expected: Expected, patience: Patience, on_retry: Callable[[str, float], None]
    ) -> Reply:
        """The same where batches are sent: only who sends them knows whether a request is new or paid for already."""
        self._expected[request.address] = expected
        try:
            endless = replace(patience, timeout_s=inf)
            reply = await call(self._model, request, endless, on_retry, self._gate, health=self.health)
        finally:
            del self._expected[request.address]
        self._spend(reply, expected)
        return reply

    @contextmanager
    def _set_aside(self, expected: Expected) -> Generator[None]:
        self._budget.begin(expected)
        try:
            yield
        finally:
            self._budget.end(expected)

    def _spend(self, reply: Reply, expected: Expected) -> None:
        # An endpoint that tells no tokens is taken at our guess, or no limit would ever be reached.
        told = reply.usage if any(token_counts(reply.usage)) else expected.usage
        self._budget.spent.add(told, self.price, batched=reply.batched)
