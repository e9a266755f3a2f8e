"""Answers as they arrived: raw bytes, and what they say in the terms of chat completions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.json_codec import (
    REPLY_LIMITS,
    as_list,
    as_object,
    as_objects,
    canonical_json,
    loads,
    loads_within,
)
from wildtool.models.http import hints
from wildtool.models.http.deltas import UNCLEAR_CALLS
from wildtool.models.http.failures import failure_in_answer, failure_of_error
from wildtool.models.http.streams import BrokenStreamError, JoinedAnswer, events, is_event_stream, join_chat
from wildtool.sanitize import single_line
from wildtool.types import REASONING_KEYS, Message

MARKUP = re.compile(
    r"<\|?tool[_▁]calls?|<\|channel\|>commentary to=|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<｜tool|```tool_code"
    r"|\"(?:name|function)\"\s*:\s*\"[^\"]+\"\s*,\s*\"(?:arguments|parameters|args)\"\s*:"
)
"""How models write calls as text."""
THOUGHTS = re.compile(r"</?think(?:ing)?>|\[/?THINK\]|<\|channel\|>analysis|◁/?think▷")
"""Marks of reasoning, which belong to no text."""
_SHOWN_BYTES = 100
"""Of an answer that is no JSON, to tell what it is."""


@dataclass(frozen=True, slots=True)
class ReceivedCall:
    """One call of an answer, as it is on the wire."""

    name: str
    id: Any
    """None if it is missing."""
    arguments: Any
    """None if they are missing; a text where the endpoint follows the protocol."""

    @property
    def values(self) -> Any:
        """The arguments as JSON values; None if they are not JSON."""
        if not isinstance(self.arguments, str):
            return self.arguments
        try:
            return loads(self.arguments) if self.arguments.strip() else {}
        except ValueError:
            return None

    @property
    def key(self) -> str:
        """The call as a text that is equal for equal calls."""
        values = self.values
        return f"{self.name} {self.arguments if values is None else canonical_json(values).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """What came back on one request."""

    probe: str
    sent: Mapping[str, Any]
    """The body's fields, without the model."""
    raw: bytes = b""
    """Without keys; empty if the endpoint refused."""
    failure: str = ""
    """Why there is no reply; empty if there is one."""
    status: int | None = None
    """HTTP status of a refusal; None for a reply and for a failed connection."""
    error_inside: bool = False
    """Whether an error came with HTTP 200."""
    timed_out: bool = False
    """Whether no answer came in time, which says nothing about the request."""
    message: Message = field(default_factory=Message)
    finish: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    deltas: Sequence[Mapping[str, Any]] = ()
    """Pieces of calls in a stream, in order."""
    oddities: Sequence[str] = ()
    """Names of what is odd about those pieces, as the client of a run reads them (`wildtool.models.http.deltas`)."""

    @property
    def streamed(self) -> bool:
        return self.sent.get("stream") is True

    @property
    def ambiguous(self) -> bool:
        """Whether those pieces break the protocol so that it is not sure to which call each belongs."""
        return UNCLEAR_CALLS in self.oddities

    @property
    def complete(self) -> bool:
        """Whether it is a reply that no token limit cut, and whose calls can be told apart."""
        return not self.failure and self.finish != "length" and not self.ambiguous

    @property
    def rate_limited(self) -> bool:
        """Whether the endpoint wants fewer requests, which says nothing about this one."""
        return self.status == 429

    @property
    def refused(self) -> bool:
        """Whether the endpoint refused the request or failed on it, other than for its rate limit."""
        return self.error_inside or (self.status is not None and not self.rate_limited)

    @property
    def unusable(self) -> bool:
        """Whether a run could not go on after it: refused, failed, hung up on, or an answer without a message."""
        return bool(self.failure) and not self.rate_limited and not self.timed_out

    @property
    def calls(self) -> list[ReceivedCall]:
        calls = as_objects(self.message.get("tool_calls"))
        return [
            ReceivedCall(str(function.get("name") or ""), call.get("id"), function.get("arguments"))
            for call in calls
            for function in [as_object(call.get("function"))]
        ]

    @property
    def keys(self) -> tuple[str, ...]:
        """Its calls as comparable texts."""
        return tuple(call.key for call in self.calls)

    @property
    def text(self) -> str:
        content = self.message.get("content")
        parts = [content] if isinstance(content, str) else [p.get("text") for p in as_objects(content)]
        return "".join(part for part in parts if isinstance(part, str))

    @property
    def reasoning(self) -> str:
        texts = (self.message.get(key) for key in REASONING_KEYS)
        return next((text for text in texts if isinstance(text, str) and text), "")

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens that its usage calls cached."""
        count = as_object(self.usage.get("prompt_tokens_details")).get("cached_tokens")
        return count if isinstance(count, int) else 0

    def tokens(self, kind: str) -> int | None:
        """A count of its usage, such as `prompt_tokens`; None if it is missing."""
        count = self.usage.get(kind)
        return count if isinstance(count, int) and not isinstance(count, bool) else None


Answers = Mapping[str, Sequence[RawAnswer]]
"""By name of the probe, in the order of sending."""


def read_raw_answer(probe: str, sent: Mapping[str, Any], raw: bytes) -> RawAnswer:
    """An answer with HTTP 200. Bytes that are not UTF-8 are read as U+FFFD."""
    readable = raw.decode("utf-8", "replace").encode()
    deltas: list[Mapping[str, Any]] = []
    try:
        if is_event_stream(readable):
            chunks = list(events(readable))
            for chunk in chunks:
                for choice in as_objects(as_object(chunk).get("choices")):
                    deltas += as_objects(as_object(choice.get("delta")).get("tool_calls"))
            parsed = join_chat(chunks)
        else:
            parsed = loads_within(readable, REPLY_LIMITS)
    except BrokenStreamError as error:
        return RawAnswer(probe=probe, sent=sent, raw=raw, deltas=deltas, failure=str(error))
    except ValueError as error:
        advice = hints.for_text(readable[:_SHOWN_BYTES].decode("utf-8", "replace")) or f" ({error})"
        failure = f"the answer is not JSON{advice}: {_shown(readable)}"
        return RawAnswer(probe=probe, sent=sent, raw=raw, deltas=deltas, failure=failure)
    choice = as_object(next(iter(as_list(as_object(parsed).get("choices"))), None))
    if failure := failure_in_answer(parsed) or failure_of_error(choice.get("error")):
        return RawAnswer(probe=probe, sent=sent, raw=raw, failure=failure.message, error_inside=True)
    if not isinstance(choice.get("message"), dict):
        return RawAnswer(
            probe=probe, sent=sent, raw=raw, failure=f"the answer holds no message: {_shown(readable)}"
        )
    finish: object = choice.get("finish_reason")
    return RawAnswer(
        probe=probe,
        sent=sent,
        raw=raw,
        message=choice["message"],
        finish=finish if isinstance(finish, str) else None,
        usage=as_object(as_object(parsed).get("usage")),
        deltas=deltas,
        oddities=parsed.oddities if isinstance(parsed, JoinedAnswer) else (),
    )


def _shown(answer: bytes) -> str:
    """The beginning of an answer on one line."""
    return single_line(answer[:_SHOWN_BYTES].decode("utf-8", "replace"))
