"""What tokens cost, what calls took, and the limits on both that all runs of a command share."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wildtool import json_codec
from wildtool.data.files import read_json, read_toml
from wildtool.errors import DataError, LimitError, UsageError
from wildtool.models.token_usage import FREE, Price, is_counted, reported_cost, token_usage
from wildtool.types import Request

if TYPE_CHECKING:
    import asyncio

SHIPPED_PRICES = Path(__file__).parents[2] / "data" / "prices.json"
OPTIONAL_PRICE_FIELDS = (
    "cached_input",
    "cache_write",
    "cache_write_1h",
    "audio_input",
    "audio_output",
    "reasoning",
    "batch",
)
PRICE_FIELDS = ("input", "output", *OPTIONAL_PRICE_FIELDS)
PRICE_FILE_EXAMPLE = '{"models": {"NAME": {"input": 2.5, "output": 10}}}'


def token_counts(usage: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens of prompt and reply as the endpoint reported them; 0 for anything that is not a sensible number."""
    tokens = token_usage(usage)
    return tokens.prompt, tokens.completion


def read_prices(file: Path | None) -> dict[str, Price]:
    """Prices by model name: the shipped ones, and those of a TOML or JSON file in their place.

    Raises UsageError naming file, model and field of what cannot be a price.
    """
    table = _prices(SHIPPED_PRICES)
    return table if file is None else table | _prices(file)


def price_of(names: tuple[str, ...], prices: Mapping[str, Price]) -> Price | None:
    """The price under the first of a model's names that has one."""
    return next((prices[name] for name in names if name in prices), None)


def parse_price(where: str, entry: Any, origin: str) -> Price:
    """A price as it stands in a file. Raises UsageError; `where` names its place."""
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: must be a table with input and output, in USD for a million tokens")
    fields = cast(dict[str, Any], entry)
    for name in PRICE_FIELDS:
        value = fields.get(name)
        if value is None and name in OPTIONAL_PRICE_FIELDS:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
            raise UsageError(f"{where}.{name}: must be a number from 0, in USD for a million tokens")
        if name == "batch" and value > 1:
            raise UsageError(f"{where}.batch: must be a share from 0 to 1 of the prices, such as 0.5")
    if unknown := fields.keys() - {*PRICE_FIELDS, "as_of", "source"}:
        raise UsageError(f"{where}.{min(unknown)}: unknown key; a price has {', '.join(PRICE_FIELDS)}")
    return Price(
        **{name: float(fields[name]) for name in PRICE_FIELDS if fields.get(name) is not None}, origin=origin
    )


def _prices(file: Path) -> dict[str, Price]:
    try:
        parsed: Any = read_toml(file) if file.suffix == ".toml" else read_json(file)
    except DataError as error:
        raise UsageError(str(error)) from error
    models = cast(dict[str, Any], parsed).get("models") if isinstance(parsed, dict) else None
    if not isinstance(models, dict):
        raise UsageError(f"{file}: no table `models`; expected such as {PRICE_FILE_EXAMPLE}")
    prices: dict[str, Price] = {}
    for name, entry in cast(dict[str, Any], models).items():
        day = cast(dict[str, Any], entry).get("as_of") if isinstance(entry, dict) else None
        origin = f"{file.name} of {day}" if day else str(file.name)
        prices[name] = parse_price(f"{file}: models.{name}", entry, origin)
    return prices


ASCII_PER_TOKEN = 4.0
TOKENS_PER_WIDE_CHARACTER = 0.8
"""Tokens of a character outside ASCII."""
TOKEN_ESTIMATE_METHOD = "estimated from characters"
"""How the guess is called where it is shown."""
TOKEN_ESTIMATE_ERROR = "17 % too low to 16 % too high in tests against three tokenizers"
"""Prompts of wild-mini and ACEBench, English and Chinese, against cl100k, o200k and Qwen's (docs/limits.md)."""


def estimate_tokens(request: Request) -> float:
    """Tokens of a request's messages and tools."""
    return tokens_of([list(request.messages), list(request.tools)])


def tokens_of(value: Any) -> float:
    """Tokens of a JSON value as it is sent."""
    data = json_codec.dumps(value)
    if data.isascii():
        return len(data) / ASCII_PER_TOKEN
    # Nearly all of them are Chinese here, which take three bytes each.
    wide = len(data) - len(data.decode("utf-8", "replace"))
    wide //= 2
    return (len(data) - 3 * wide) / ASCII_PER_TOKEN + wide * TOKENS_PER_WIDE_CHARACTER


FIRST_REPLY_TOKENS = 200.0
"""How long a reply is taken to be before any came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingLimits:
    """Limits of a command, set by the user; None: no limit."""

    max_cost: float | None = None
    """USD, what the record has cost already included."""
    max_tokens_total: int | None = None
    """Tokens of prompts and replies, those in the record included."""
    deadline_s: float | None = None
    """Seconds from the start after which no call is started."""


@dataclass(slots=True)
class Spend:
    """Tokens and money."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """USD, of those tokens that have a price, and of replies whose cost the endpoint reports."""
    reported: float = 0.0
    """The part of it that endpoints reported."""
    unpriced: int = 0
    """Tokens whose price is not known."""
    uncounted: int = 0
    """Calls to an endpoint that reported neither what they cost nor sensible counts of their tokens."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def add(self, usage: Mapping[str, Any], price: Price | None, *, batched: bool = False) -> None:
        """Adds what a reply took, as the endpoint reported it; `batched` where it came by a batch."""
        tokens = token_usage(usage)
        self.prompt_tokens += tokens.prompt
        self.completion_tokens += tokens.completion
        if (charged := reported_cost(usage)) is not None:
            self.cost += charged
            self.reported += charged
            return
        if price is not FREE and not is_counted(usage):
            self.uncounted += 1
        if price is None:
            self.unpriced += tokens.prompt + tokens.completion
        else:
            self.cost += price.cost(usage, batched=batched)

    def include(self, other: "Spend") -> None:
        """Adds what other calls took."""
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cost += other.cost
        self.reported += other.reported
        self.unpriced += other.unpriced
        self.uncounted += other.uncounted


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one call is expected to take, and is set aside for it while it is under way."""

    tokens: float = 0.0
    cost: float = 0.0
    character_estimate: float = 0.0
    """The prompt's tokens, estimated from its characters."""
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
        self._listed = self._charged = 0.0
        """Cost of earlier calls, had the endpoint cached nothing, and as it was."""
        self._replies, self._reply_tokens = 1, FIRST_REPLY_TOKENS

    def estimate(self, request: Request) -> Reservation:
        """Tokens and money of a request and its reply."""
        letters = estimate_tokens(request)
        prompt = letters * (self._reported / self._guessed if self._guessed else 1.0)
        reply = self._reply_tokens / self._replies
        usage = {"prompt_tokens": round(prompt), "completion_tokens": round(reply)}
        cost = self.price.cost(usage, batched=self._batched) if self.price else 0.0
        cost *= self._charged / self._listed if self._listed else 1.0
        return Reservation(prompt + reply, cost, letters, usage)

    def update(self, reservation: Reservation, usage: Mapping[str, Any]) -> None:
        """Learns from the usage of a call."""
        prompt, completion = token_counts(usage)
        if prompt:
            self._guessed += reservation.character_estimate
            self._reported += prompt
            self._replies += 1
            self._reply_tokens += completion
            if self.price:
                self._charged += self.price.cost(usage, batched=self._batched)
                plain = {"prompt_tokens": prompt, "completion_tokens": completion}
                self._listed += self.price.cost(plain, batched=self._batched)


class Budget:
    """Enforces the limits of a command; all of its runs share one.

    A call is started only if it fits into what all spending and the expected use of running calls leave. So the limits
    hold up to the error of that estimate. What running calls leave no room for waits for them, as they may take less.
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
        self._held = 0
        """Calls that something is set aside for."""
        self._waiting: list[asyncio.Future[None]] = []
        """One for each call that waits until another is over."""
        self._clock = clock
        self._deadline = None if self.limits.deadline_s is None else clock() + self.limits.deadline_s
        self.limits_spending = (self.limits.max_cost, self.limits.max_tokens_total) != (None, None)
        """Whether tokens or money are limited, so that calls must be guessed."""

    @property
    def remaining_s(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self._deadline is None else max(0.0, self._deadline - self._clock())

    def check_deadline(self) -> None:
        """Stops the command where its deadline is over."""
        if self._deadline is not None and self._clock() >= self._deadline:
            self.stop(f"the deadline of {self.limits.deadline_s:g} s is over (--deadline)")

    async def room_for(self, estimate: Callable[[], Reservation]) -> Reservation:
        """What a call is expected to take, once it fits in beside the others or none is left to wait for.

        Args: estimate: asked again after each call that ends meanwhile, since it learns from them.
        """
        import asyncio  # what only reads prices loads this module, too

        expected = estimate()
        while self._held and self.stopped is None and self._exceeded_with(expected):
            end_of_another: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(end_of_another)
            await end_of_another
            expected = estimate()
        return expected

    def reserve(self, reservation: Reservation) -> None:
        """Sets aside what a call is expected to take. Raises LimitError where it does not fit any more."""
        self.check_deadline()
        exceeded = self._exceeded_with(reservation)
        if self.stopped is None and exceeded:
            self.stop(f"the limit of {exceeded} leaves no room for the next call")
        if self.stopped is not None:
            raise LimitError(self.stopped)
        self._held += 1
        self._tokens += reservation.tokens
        self._cost += reservation.cost

    def release(self, reservation: Reservation) -> None:
        """A call is over: nothing is set aside for it any more."""
        self._held -= 1
        self._tokens -= reservation.tokens
        self._cost -= reservation.cost
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            if not call.done():
                call.set_result(None)

    def stop(self, reason: str) -> None:
        """Lets no further call start."""
        if self.stopped is None:
            self.stopped = reason
            for notify in self.on_stop:
                notify(reason)

    def _exceeded_with(self, reservation: Reservation) -> str:
        """The limit, in words, that is exceeded if a call takes what is expected; empty if none is."""
        limits, spent = self.limits, self.spent
        tokens = spent.tokens + self._tokens + reservation.tokens
        if limits.max_tokens_total is not None and tokens > limits.max_tokens_total:
            return f"{limits.max_tokens_total:,} tokens (--max-tokens-total)"
        if limits.max_cost is not None and spent.cost + self._cost + reservation.cost > limits.max_cost:
            return f"{limits.max_cost:g} USD (--max-cost)"
        return ""
