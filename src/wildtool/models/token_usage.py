"""The tokens of one call by kind of price, read from what any protocol reports, and what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from wildtool.json_codec import as_list, as_object

_LARGEST = 10**12
_MILLION = 1_000_000
_PLAIN = {"prompt_tokens", "completion_tokens", "total_tokens"}
"""What many endpoints report alone; each reply is counted several times."""
_PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_COMPLETION_DETAILS = ("completion_tokens_details", "output_tokens_details")
_CACHED = (
    "cached_tokens",
    "cache_read_input_tokens",
    "prompt_cache_hit_tokens",
    "cachedContentTokenCount",
    "input_tokens_cache_read",
)
_WRITTEN = ("cache_write_tokens", "cache_creation_input_tokens", "input_tokens_cache_write")
_REASONING = ("reasoning_tokens", "thinking_tokens", "thoughtsTokenCount")


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one call; each is counted once, so prompt and completion are sums."""

    fresh: int = 0
    """Text of the prompt that was neither read from a cache nor written to one."""
    cached: int = 0
    """Of the prompt, read from the provider's cache."""
    cache_written: int = 0
    """Of the prompt, written to the cache for minutes."""
    cache_written_1h: int = 0
    """Of the prompt, written to the cache for an hour."""
    audio_input: int = 0
    written: int = 0
    """Text of the reply."""
    reasoning: int = 0
    """Of the reply, thoughts."""
    audio_output: int = 0

    @property
    def prompt(self) -> int:
        return self.fresh + self.cached + self.cache_written + self.cache_written_1h + self.audio_input

    @property
    def completion(self) -> int:
        return self.written + self.reasoning + self.audio_output


def token_usage(usage: Mapping[str, Any]) -> TokenUsage:
    """The tokens of a recorded usage; what is not a sensible number counts as nothing, and no part exceeds its whole."""
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if usage.keys() <= _PLAIN:
        return TokenUsage(fresh=prompt, written=completion)
    prompt_parts, told = _with_details(usage, _PROMPT_DETAILS), _with_details(usage, _COMPLETION_DETAILS)
    lasting = _count(as_object(usage.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    short = _count(as_object(usage.get("cache_creation")).get("ephemeral_5m_input_tokens"))
    reasoning = _most(told, _REASONING)
    if usage.get("total_tokens") == prompt + completion + reasoning:
        # Some servers count thoughts beside the reply.
        completion += reasoning
    cached, rest = _split_off(_most(prompt_parts, _CACHED), prompt)
    lasting, rest = _split_off(lasting, rest)
    short, rest = _split_off(max(short, _most(prompt_parts, _WRITTEN) - lasting), rest)
    heard, fresh = _split_off(_audio(prompt_parts, "promptTokensDetails"), rest)
    reasoning, rest = _split_off(reasoning, completion)
    spoken, plain = _split_off(_audio(told, "candidatesTokensDetails"), rest)
    return TokenUsage(fresh, cached, short, lasting, heard, plain, reasoning, spoken)


def counted_tokens(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Tokens of prompt and reply; None for what the endpoint did not count. No prompt has 0 tokens: some servers report 0
    of both for what they do not count."""
    prompt = sensible_count(usage.get("prompt_tokens"))
    completion = sensible_count(usage.get("completion_tokens"))
    if not prompt:
        return None, completion or None
    return prompt, completion


def is_counted(usage: Mapping[str, Any]) -> bool:
    """Whether the endpoint reported sensible counts of prompt and reply."""
    return None not in counted_tokens(usage)


def whole_usage(usages: Sequence[Mapping[str, Any]]) -> TokenUsage | None:
    """The tokens of several replies together; None where the endpoint did not count those of each."""
    if not all(map(is_counted, usages)):
        return None
    counts = list(map(token_usage, usages))
    return TokenUsage(
        **{kind.name: sum(getattr(each, kind.name) for each in counts) for kind in fields(TokenUsage)}
    )


def reported_cost(usage: Mapping[str, Any]) -> float | None:
    """What the endpoint says that a reply cost, in USD: `cost`, as OpenRouter and LiteLLM's proxy report it (the proxy
    in a header of whole replies, which is put there), with what an own key behind a gateway is charged; None where it
    says nothing sensible."""
    details = as_object(usage.get("cost_details"))
    own_key = details.get("upstream_inference_cost") if usage.get("is_byok") else None
    charges = [_charge(usage.get("cost")), _charge(own_key)]
    return None if charges[0] is None else sum(charge or 0.0 for charge in charges)


def _charge(value: Any) -> float | None:
    sensible = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST
    return float(value) if sensible else None


def summed_usage(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of two calls together, at any depth; what is no count is the second's."""
    total = {**earlier, **later}
    for name in earlier.keys() & later.keys():
        match earlier[name], later[name]:
            case (int() | float() as first, int() | float() as second):
                total[name] = first + second
            case ({**first}, {**second}):
                total[name] = summed_usage(cast(dict[str, Any], first), cast(dict[str, Any], second))
            case _:
                pass
    return total


def _with_details(usage: Mapping[str, Any], names: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """The usage and the parts of it that break one total down."""
    return [usage, as_object(usage.get("inspect")), *(as_object(usage.get(name)) for name in names)]


def _most(places: list[Mapping[str, Any]], names: tuple[str, ...]) -> int:
    """The count under these names; gateways repeat one under several."""
    return max(_count(place.get(name)) for place in places for name in names)


def _audio(places: list[Mapping[str, Any]], by_kind: str) -> int:
    kinds = [as_object(part) for part in as_list(places[0].get(by_kind))]
    heard = sum(_count(part.get("tokenCount")) for part in kinds if part.get("modality") == "AUDIO")
    return max(heard, _most(places[2:], ("audio_tokens",)))


def _split_off(part: int, total: int) -> tuple[int, int]:
    """As much of a part as its whole has, and what is left of that."""
    part = max(0, min(part, total))
    return part, total - part


def sensible_count(value: Any) -> int | None:
    """A count that an endpoint reports, which may send anything; None for what is no sensible number."""
    sensible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST
    return value if sensible else None


def _count(value: Any) -> int:
    return sensible_count(value) or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of a model, in USD for a million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """Of prompt tokens that the endpoint read from its cache; None: as any others."""
    cache_write: float | None = None
    """Of prompt tokens that it wrote to its cache; None: as any others."""
    cache_write_1h: float | None = None
    """Of those that it keeps for an hour; None: as other written ones."""
    audio_input: float | None = None
    """Of audio in the prompt; None: as text."""
    audio_output: float | None = None
    """Of audio in the reply; None: as text."""
    reasoning: float | None = None
    """Of the thoughts in the reply; None: as text."""
    batch: float | None = None
    """Share of these prices, from 0 to 1, that replies by a batch cost; None: nobody said, and the whole is counted."""
    origin: str = ""
    """Whose price it is, for the reader."""

    def cost(self, usage: Mapping[str, Any], *, batched: bool = False) -> float:
        """What the tokens of a reply cost, in USD; `batched` for one that came by a batch."""
        tokens = token_usage(usage)
        cache_write = _first(self.cache_write, self.input)
        priced = (
            (tokens.fresh, self.input),
            (tokens.cached, _first(self.cached_input, self.input)),
            (tokens.cache_written, cache_write),
            (tokens.cache_written_1h, _first(self.cache_write_1h, cache_write)),
            (tokens.audio_input, _first(self.audio_input, self.input)),
            (tokens.written, self.output),
            (tokens.reasoning, _first(self.reasoning, self.output)),
            (tokens.audio_output, _first(self.audio_output, self.output)),
        )
        share = self.batch if batched and self.batch is not None else 1.0
        return share * sum(count * price for count, price in priced) / _MILLION


FREE = Price(input=0.0, output=0.0, origin="no network")


def _first(price: float | None, default: float) -> float:
    return default if price is None else price
