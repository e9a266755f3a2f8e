"""What a command may spend in all: money, tokens and time; and what it has spent so far."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wildtool.engine.call.pricing import Price, estimate_tokens, token_counts
from wildtool.engine.call.rate_limit import LimitError
from wildtool.types import Request

FIRST_REPLY_TOKENS = 200.0
"""How long a reply is taken to be before any came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingLimits:
    """What the user allows a command in all; None: any amount."""

    max_cost: float | None = None
    """USD, what the record has cost already included."""
    max_tokens_total: int | None = None
    """Tokens of prompts and replies, those in the record included."""
    deadline_s: float | None = None
    """Seconds from the start after which no call is begun."""


@dataclass(slots=True)
class Spend:
    """Tokens and money."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """USD, of those tokens that have a price."""
    unpriced: int = 0
    """Tokens whose price is not known."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def add(self, usage: Mapping[str, Any], price: Price | None, *, batched: bool = False) -> None:
        """Adds what a reply took, as the endpoint reported it; `batched` where it came by a batch."""
        prompt, completion = token_counts(usage)
        self.prompt_tokens += prompt
        self.completion_tokens += completion
        if price is None:
            self.unpriced += prompt + completion
        else:
            self.cost += price.cost(usage, batched=batched)


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one call is expected to take, and is set aside for it while it is under way."""

    tokens: float = 0.0
    cost: float = 0.0
    character_estimate: float = 0.0
    """The prompt's tokens by its letters alone."""
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The tokens as an endpoint would report them."""


NO_RESERVATION = Reservation()


class UsageEstimator:
    """Estimates what the next call to a model takes, from what earlier calls took."""

    def __init__(self, price: Price | None, *, batched: bool = False) -> None:
        """Args: batched: whether its replies come by batches."""
        self.price = price
        self._batched = batched
        self._guessed = self._reported = 0.0
        self._replies, self._reply_tokens = 1, FIRST_REPLY_TOKENS

    def estimate(self, request: Request) -> Reservation:
        """Tokens and money of a request and its reply."""
        letters = estimate_tokens(request)
        prompt = letters * (self._reported / self._guessed if self._guessed else 1.0)
        reply = self._reply_tokens / self._replies
        usage = {"prompt_tokens": round(prompt), "completion_tokens": round(reply)}
        cost = self.price.cost(usage, batched=self._batched) if self.price else 0.0
        return Reservation(prompt + reply, cost, letters, usage)

    def update(self, reservation: Reservation, usage: Mapping[str, Any]) -> None:
        """Takes in what a call took."""
        prompt, completion = token_counts(usage)
        if prompt:
            self._guessed += reservation.character_estimate
            self._reported += prompt
            self._replies += 1
            self._reply_tokens += completion


class Budget:
    """Watches over the limits of a command; all of its runs share one.

    A call is begun only if it fits beside what is spent and what calls under way are expected to take. So the limits
    hold up to the error of that guess.
    """

    def __init__(
        self, limits: SpendingLimits | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits = limits or SpendingLimits()
        self.spent = Spend()
        self.stopped: str | None = None
        """The limit that was reached, in words; None while there is room."""
        self.on_stop: list[Callable[[str], None]] = []
        """Called once with these words when a limit is reached."""
        self._tokens = self._cost = 0.0
        self._clock = clock
        self._deadline = None if self.limits.deadline_s is None else clock() + self.limits.deadline_s

    @property
    def limits_spending(self) -> bool:
        """Whether tokens or money are limited, so that calls must be guessed."""
        return self.limits.max_cost is not None or self.limits.max_tokens_total is not None

    @property
    def remaining_s(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self._deadline is None else max(0.0, self._deadline - self._clock())

    def check_deadline(self) -> None:
        """Stops the command where its deadline is over."""
        if self._deadline is not None and self._clock() >= self._deadline:
            self.stop(f"the deadline of {self.limits.deadline_s:g} s is over (--deadline)")

    def reserve(self, reservation: Reservation) -> None:
        """Sets aside what a call is expected to take. Raises LimitError where it does not fit any more."""
        self.check_deadline()
        if self.stopped is None:
            self._check(reservation)
        if self.stopped is not None:
            raise LimitError(self.stopped)
        self._tokens += reservation.tokens
        self._cost += reservation.cost

    def release(self, reservation: Reservation) -> None:
        """A call is over: nothing is set aside for it any more."""
        self._tokens -= reservation.tokens
        self._cost -= reservation.cost

    def stop(self, why: str) -> None:
        """Lets no call begin any more."""
        if self.stopped is None:
            self.stopped = why
            for notify in self.on_stop:
                notify(why)

    def _check(self, reservation: Reservation) -> None:
        limits, spent = self.limits, self.spent
        if limits.max_tokens_total is not None:
            wanted = spent.tokens + self._tokens + reservation.tokens
            if wanted > limits.max_tokens_total:
                room = "leaves no room for the next call"
                self.stop(f"the limit of {limits.max_tokens_total:,} tokens (--max-tokens-total) {room}")
        if limits.max_cost is not None and spent.cost + self._cost + reservation.cost > limits.max_cost:
            self.stop(f"the limit of {limits.max_cost:g} USD (--max-cost) leaves no room for the next call")
