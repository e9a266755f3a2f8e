"""A model at an HTTP endpoint: settings, calls, reading of answers. Each protocol is a subclass."""

import asyncio
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, cast

from wildtool.errors import CallError, UsageError
from wildtool.json_codec import REPLY_LIMITS, TooLargeError, as_object, dumps, loads_within
from wildtool.models.batch.protocol import BatchClient, BatchSend
from wildtool.models.headers import Header
from wildtool.models.http import hints
from wildtool.models.http.endpoint import Endpoint
from wildtool.models.http.failures import ProviderFailure, failure_in_answer
from wildtool.models.http.streams import BrokenStreamError, JoinedAnswer, events, is_event_stream
from wildtool.models.prompted import PromptedModel
from wildtool.models.secrets import keyed_digest
from wildtool.models.settings import UNSET, Sampling
from wildtool.reply_ends import NO_REPLY, End, end_of, error_class, lasting_refusal
from wildtool.types import STREAM_CHANGE, Model, Reply, Request

MAX_BODY_BYTES = REPLY_LIMITS.bytes
THREAD_BYTES = 1024 * 1024
"""Longer answers, in bytes, are parsed in a thread."""
_SEVERAL_REPLIES = ("n", "candidateCount", "candidate_count")
"""Fields that ask for several replies to one request."""
QUOTE_BYTES = 10_000
"""Bytes at the beginning of an answer from which messages quote."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request in a provider's own protocol."""

    fields: dict[str, Any]
    changes: tuple[str, ...] = ()
    """Names of the changes that the protocol forced on the request."""
    tool_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The tool's own name by the name that is sent."""
    message_count: int = 0
    """Number of messages in the request; part of the ids of calls that come without one."""
    parameter_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """By the sent name of a tool: its parameters' own names by the sent ones."""


class HttpModel(ABC):
    """Sends requests in one provider's protocol. A subclass implements `build`, `parse` and `join_stream`."""

    path: ClassVar[str]
    """Appended to the base URL; `{model}` is replaced by the model's name."""
    stream_path: ClassVar[str | None] = None
    """The path for streams, if it differs."""
    stream_query: ClassVar[Mapping[str, str]] = {}
    stream_fields: ClassVar[Mapping[str, Any]] = {"stream": True}
    reserved: ClassVar[tuple[str, ...]]
    """Body fields that the extra body may not set, so that the record says what was sent."""
    key_header: ClassVar[str] = "Authorization"
    headers: ClassVar[Mapping[str, str]] = {}
    batch_client: ClassVar[Callable[[Endpoint, str], BatchClient] | None] = None
    """Makes the client of the provider's batch API, from the endpoint and its path; None if it is not supported."""
    refused_still: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """By name of a fallback the cause and the remedy where the endpoint refuses the call in that way, too."""
    fallbacks: ClassVar[Mapping[str, re.Pattern[str]]] = {}
    """By name, the words of a refusal after which this call is repeated, and all others made, in another way."""
    has_seed: ClassVar[bool] = True
    """Whether the protocol has a seed; if not, each reply records that none was sent."""
    names_end: ClassVar[bool] = True
    """Whether the protocol demands a reason of every end, so that a reply without one is not finished."""

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str | None = None,
        sampling: Sampling = UNSET,
        *,
        sent_as: str | None = None,
        key_header: str | None = None,
        extra_headers: Sequence[Header] = (),
        timeout_s: float = 600.0,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        """Checks the settings; nothing is opened before the first call.

        Args:
            name: the user's name for it.
            api_key: None sends none.
            sent_as: the endpoint's name for it, letter for letter; None: the same.
            key_header: the header of the key, where it is not the protocol's own.
            extra_headers: sent with every request beside the protocol's own.
            timeout_s: seconds for one whole call.
            max_body_bytes: longest answer that is read.

        Raises:
            UsageError: the URL, the key or a header cannot be used, a number is not finite, or the extra body sets what
                is set elsewhere.
        """
        self.name = name
        self._model = name if sent_as is None else sent_as
        self._sampling = replace(sampling, max_tokens=self.default_max_tokens(sampling.max_tokens))
        self._stream = sampling.stream
        self._extra = sampling.body
        self._given = self._sampling.limits()
        self._send: BatchSend | None = None
        self._active_fallbacks: set[str] = set()
        self._check_extra()
        finite = {"temperature": sampling.temperature, "timeout": timeout_s, "extra body": self._extra}
        for setting, value in finite.items():
            _check_finite(setting, value)
        path = (self.stream_path or self.path) if self._stream else self.path
        self._endpoint = Endpoint(
            base_url,
            self.model_path(path),
            api_key=api_key,
            timeout_s=timeout_s,
            max_body_bytes=max_body_bytes,
            key_header=key_header or self.key_header,
            headers=self.headers,
            query=self.stream_query if self._stream else None,
            extra_headers=extra_headers,
        )

    @abstractmethod
    def build(self, request: Request) -> WireRequest:
        """Messages and tools in the protocol's shape. Raises ValueError for what it cannot express."""

    @abstractmethod
    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        """The reply in an answer's JSON; None if it does not have the protocol's shape."""

    @staticmethod
    @abstractmethod
    def join_stream(parts: Iterable[Any]) -> Any:
        """The answer of a whole stream. Raises BrokenStreamError if its end is missing."""

    def failure(self, parsed: Any) -> ProviderFailure | None:
        """The provider's failure in an answer's JSON, whatever else it contains; None for a reply."""
        return failure_in_answer(parsed)

    def on_fallback(self, fallback: str) -> None:
        """Called when a fallback becomes active, for what `build` cannot do; by default nothing."""
        return

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Body fields for `temperature`, `max_tokens` and `seed`, in the protocol's names."""
        return dict(settings)

    def default_max_tokens(self, max_tokens: int | None) -> int | None:
        """The limit to send, given the user's, which may be None."""
        return max_tokens

    def model_path(self, path: str) -> str:
        """The path with the model's name, if the protocol puts it there."""
        return path

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._endpoint.redacted_url!r})"

    def settings(self) -> Mapping[str, Any]:
        """Endpoint, sampling and extra body; never a key.

        Of a query in the base URL only the names are given, since a value may be a key. A keyed digest then tells the
        address from others.
        """
        hidden = self._endpoint.private_url
        secret = {} if hidden is None else {"address_digest": keyed_digest(hidden)}
        seed = {} if self._sampling.seed is None else {"seed": self._sampling.seed}
        stream = {"stream": True} if self._stream else {}
        sent = {} if self._model == self.name else {"sent_as": self._model}
        return {
            "base_url": self._endpoint.redacted_url,
            **secret,
            **self._given,
            **seed,
            **stream,
            **sent,
            "extra_body": self._extra,
        }

    def use_port(self, port: int) -> None:
        """Sends all later calls to a port of the same host, where the base URL leaves it open by port 0."""
        self._endpoint.use_port(port)

    @property
    def can_batch(self) -> bool:
        """Whether its requests can be sent by batches; streams cannot."""
        return type(self).batch_client is not None and not self._stream

    def use_batches(self, send: BatchSend) -> BatchClient:
        """Sends all later requests through `send`. Returns the client of its endpoint's batch API.

        Raises ValueError if `can_batch` is false.
        """
        make = type(self).batch_client
        if make is None or not self.can_batch:
            raise ValueError(f"{self.name} cannot be called by batches")
        self._send = send
        return make(self._endpoint, self.path)

    def body(self, request: Request) -> bytes:
        """The request's bytes. Raises ValueError or TypeError for what cannot be sent."""
        return self._wire_request(request)[0]

    async def complete(self, request: Request) -> Reply:
        """Calls once, and again for each fallback that a refusal makes active.

        Raises:
            CallError: the call failed, or its answer does not follow the protocol.
        """
        while True:
            # Other calls in flight may have activated it meanwhile.
            before = frozenset(self._active_fallbacks)
            try:
                return self._finished(await self._complete(request))
            except CallError as error:
                matching = [name for name, words in self.fallbacks.items() if words.search(str(error))]
                fallback = next((name for name in matching if name not in before), None)
                if fallback is None:
                    raise self._refused_still(error, matching) from None
            self._active_fallbacks.add(fallback)
            self.on_fallback(fallback)

    def _refused_still(self, error: CallError, active: Iterable[str]) -> CallError:
        """The error of a call that was made in another way already and is refused for the same reason."""
        lasting = next((name for name in active if name in self.refused_still), None)
        if lasting is None:
            return error
        return CallError(error.kind, f"{error}{lasting_refusal(*self.refused_still[lasting])}", final=True)

    async def _complete(self, request: Request) -> Reply:
        try:
            body, wire = self._wire_request(request)
        except (ValueError, TypeError) as error:
            message = f"the request cannot be sent: {error}"
            raise CallError("unsendable request", message, final=True) from error
        send = self._send
        sending = self._endpoint.post(body) if send is None else send(body, request)
        # Thousands of calls may wait for a batch, whose file holds the body.
        del body
        answer, latency_s, *costs = await sending
        read = partial(self._reply, answer, wire, latency_s=latency_s, batched=send is not None)
        reply = await asyncio.to_thread(read) if len(answer) > THREAD_BYTES else read()
        # A gateway may name the cost in a header alone.
        if costs and costs[0] is not None and reply.usage.get("cost") is None:
            reply = replace(reply, usage={**reply.usage, "cost": costs[0]})
        return reply

    def read(self, answer: bytes, request: Request) -> Reply:
        """The reply in a recorded answer to a request; nothing is called.

        Raises CallError if there is none, ValueError or TypeError for a request that the protocol cannot express.
        """
        return self._reply(answer, self.build(request))

    def _reply(
        self, answer: bytes, wire: WireRequest, *, latency_s: float = 0.0, batched: bool = False
    ) -> Reply:
        """The reply in an answer's bytes. Raises CallError if there is none."""
        parsed = self._parsed(answer)
        if failure := self.failure(parsed):
            raise self._endpoint.failure_error(failure, inside=True)
        reply = self.parse(parsed, wire)
        if reply is None:
            raise self._endpoint.error(
                "wrong shape", "the answer holds no reply of a model", _text(answer[:QUOTE_BYTES])
            )
        oddities = parsed.oddities if isinstance(parsed, JoinedAnswer) else ()
        streamed = [f"{STREAM_CHANGE}{name}" for name in oddities]
        changes = tuple(dict.fromkeys((*wire.changes, *reply.changes, *streamed)))
        return replace(reply, raw=_text(answer), changes=changes, latency_s=latency_s, batched=batched)

    def _finished(self, reply: Reply) -> Reply:
        """The reply itself. Raises CallError if the provider did not finish it."""
        reason = reply.finish_reason
        end = End.UNFINISHED if reason is None and self.names_end else end_of(reply)
        if end in NO_REPLY:
            error = self._endpoint.error(error_class(end), f"the reply ended with the finish reason {reason}")
            error.usage = reply.usage
            raise error
        return reply

    @property
    def endpoint_name(self) -> str:
        """The endpoint's name for the model."""
        return self._model

    def takes_as_is(self, *, stream: bool) -> bool:
        """Whether requests that another program wrote in this protocol can be sent as they are: the user has set nothing
        for them, and the address is the same.

        Args:
            stream: whether they ask for a stream.
        """
        has_own = bool(self._given or self._extra or self._sampling.seed is not None)
        return not has_own and (self.stream_path is None or stream == self._stream)

    async def forward(self, body: bytes, request: Request) -> Reply:
        """Sends a request that another program wrote in this protocol, to the byte; its `raw` is the answer.

        Args:
            request: what the body asks.

        Raises CallError as `complete`, but no refusal makes a fallback active.
        """
        answer, latency_s, cost = await self._endpoint.post(body)
        wire = WireRequest({}, message_count=len(request.messages))
        reply = self._finished(self._reply(answer, wire, latency_s=latency_s))
        if cost is not None and reply.usage.get("cost") is None:
            reply = replace(reply, usage={**reply.usage, "cost": cost})
        return reply

    async def answer_to(self, fields: Mapping[str, Any]) -> bytes:
        """The raw answer to a body of these fields, the model's name and the extra ones. Raises CallError."""
        answer, *_ = await self._endpoint.post(dumps(_merged({"model": self._model, **fields}, self._extra)))
        return answer

    async def close(self) -> None:
        """Releases the connections."""
        await self._endpoint.close()

    def _wire_request(self, request: Request) -> tuple[bytes, WireRequest]:
        wire = self.build(request)
        seed = self._sampling.seed_of(request)
        settings = {**self._given, "seed": seed} if seed is not None and self.has_seed else self._given
        stream: Mapping[str, Any] = self.stream_fields if self._stream else {}
        fields = {**wire.fields, **self.sampling(settings), **stream}
        fields = _merged(fields, self._extra) if self._extra else fields
        if seed is not None and not self.has_seed:
            wire = replace(wire, changes=(*wire.changes, "seed-not-sent"))
        return dumps(fields), wire

    def _check_extra(self) -> None:
        """Refuses extra fields that would replace others, so that the record says what was sent."""
        if reserved := [field for field in (*self.reserved, "stream") if field in self._extra]:
            raise UsageError(f"the extra body may not set {', '.join(reserved)}; leave it out")
        fields = self._extra | as_object(self._extra.get("generationConfig"))
        if several := [name for name in _SEVERAL_REPLIES if fields.get(name) not in (None, 1)]:
            raise UsageError(
                f"{several[0]} in the extra body asks for several replies, of which only the first would be read; leave "
                "it out, and take several samples by --repeats"
            )
        seed = {"seed": self._sampling.seed} if self._sampling.seed is not None and self.has_seed else {}
        if twice := _clashes(self.sampling({**self._given, **seed}), self._extra):
            raise UsageError(
                f"{', '.join(twice)} is given both by its own option and in the extra body; give it only once"
            )

    def _parsed(self, answer: bytes) -> Any:
        kind = "invalid JSON"
        try:
            return (
                self.join_stream(events(answer))
                # Some servers stream unrequested, some refuse with plain JSON.
                if is_event_stream(answer) or (self._stream and not answer.lstrip().startswith((b"{", b"[")))
                else loads_within(answer, REPLY_LIMITS)
            )
        except BrokenStreamError as error:
            kind, problem = "truncated body", str(error)
        except TooLargeError as error:
            raise self._endpoint.error("body too large", f"the answer holds {error}") from None
        except ValueError as error:
            problem = f"the answer is not JSON{hints.for_text(_text(answer[:100])) or f' ({error})'}"
        # Raised here, because the parser's exception holds the whole text and must not be attached.
        raise self._endpoint.error(kind, problem, _text(answer[:QUOTE_BYTES]))


def batchable_model(model: Model) -> HttpModel | None:
    """The model whose requests can be sent by batches: this one, or the one inside its format; None if none can."""
    inner = endpoint_model(model)
    return inner if inner is not None and inner.can_batch else None


def endpoint_model(model: Model) -> HttpModel | None:
    """The model that calls an endpoint: this one, or the one inside its format; None if none does."""
    inner = model.inner if isinstance(model, PromptedModel) else model
    return inner if isinstance(inner, HttpModel) else None


def _merged(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The fields and the extra ones; objects that both have are merged."""
    merged = dict(fields)
    for name, value in extra.items():
        both = (merged.get(name), value)
        if all(isinstance(part, dict) for part in both):
            value = _merged(cast(dict[str, Any], both[0]), cast(dict[str, Any], both[1]))
        merged[name] = value
    return merged


def _clashes(settings: Mapping[str, Any], extra: Mapping[str, Any]) -> list[str]:
    """Names of fields that both set; objects that both have are compared field by field."""
    clashes: list[str] = []
    for name in settings.keys() & extra.keys():
        value, other = settings[name], extra[name]
        if isinstance(value, dict) and isinstance(other, dict):
            clashes += _clashes(cast(dict[str, Any], value), cast(dict[str, Any], other))
        else:
            clashes.append(name)
    return sorted(clashes)


def _check_finite(setting: str, value: Any) -> None:
    """Refuses NaN and infinities at any depth, which JSON cannot express."""
    values: list[Any] = [value]
    # Grows during the loop, so that no recursion is needed.
    for each in values:
        if isinstance(each, dict):
            values += cast(dict[Any, Any], each).values()
        elif isinstance(each, list | tuple):
            values += cast(list[Any], each)
        elif isinstance(each, float) and not math.isfinite(each):
            raise UsageError(f"{setting} holds the number {each}; give a finite one")


def _text(answer: bytes) -> str:
    return answer.decode("utf-8", "replace")
