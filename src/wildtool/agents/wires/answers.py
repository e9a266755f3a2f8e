"""What the writers of all wires share: what the model said, ids, and JSON and events in bytes."""

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from wildtool.agents.wires.base import WireAnswer
from wildtool.episode import belongs_to_reasoning, written_text
from wildtool.json_codec import REPLY_LIMITS, as_list, as_object, check_limits, dumps, one_line
from wildtool.models.openai_messages import Changes, arguments_object, record_dropped
from wildtool.reply_ends import End, end_of
from wildtool.shapes.keys import FUNCTION
from wildtool.types import PROVIDER_CONTENT, Message, Reply

_OPENAI_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
EVENTS = "text/event-stream"
SURROGATE_REPLACED = "lone-surrogate-replaced"
"""Name of the change of half a surrogate pair, which strict readers refuse, to U+FFFD."""
NUMBER_AS_NULL = "number-without-json-as-null"
"""Name of the change of NaN or an infinity, which JSON lacks, to null."""
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""A pair of surrogates, a lone one, or any other escape of a JSON text."""
_STRING_OR_NO_NUMBER = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(?P<none>NaN|-?Infinity)', re.DOTALL)
"""A string of a JSON text, or a number that JSON lacks."""
_CARRIED = ("role", "content", "tool_calls", PROVIDER_CONTENT)
"""Keys of a message that every wire carries, beside its reasoning."""


@dataclass(frozen=True, slots=True)
class ReplyCall:
    """A call of a reply."""

    id: str
    name: str
    arguments: str
    """As the model wrote them; may be no JSON."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said."""

    message: Message
    usage: Mapping[str, Any]
    reason: str | None
    """Its finish reason, in any provider's word; None where it gave none."""

    @property
    def text(self) -> str:
        """The text of the reply, also where it comes in parts; empty for none."""
        return written_text(self.message) or ""

    @property
    def end(self) -> End:
        """How the reply ended: by its calls where it has any and nothing cut it; complete where nothing is known."""
        end = end_of(Reply(self.message, finish_reason=self.reason))
        if end in (End.COMPLETE, End.CALLS, End.UNKNOWN):
            return End.CALLS if self.calls() else End.COMPLETE
        return end

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens of prompt and completion; None where nobody counted them."""
        counts = [self.usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        if not any(isinstance(count, int) for count in counts):
            return None
        prompt, completion = (count if isinstance(count, int) else 0 for count in counts)
        return prompt, completion

    def calls(self) -> list[ReplyCall]:
        """Its calls, each with an id, without what is no object."""
        calls: list[ReplyCall] = []
        for call in call_objects(self.message.get("tool_calls")):
            function = as_object(call.get(FUNCTION))
            id_, name, arguments = call.get("id"), function.get("name"), function.get("arguments", "")
            text = arguments if isinstance(arguments, str) else dumps(arguments).decode()
            calls.append(ReplyCall(str(id_ or new_id("call_")), str(name or ""), text))
        return calls


def call_objects(held: Any) -> list[dict[str, Any]]:
    """What can be a call in `tool_calls`, whatever a model put there."""
    return [as_object(entry) for entry in as_list(held) if isinstance(entry, dict)]


def strict_object(text: str) -> dict[str, Any] | None:
    """The object of a JSON text; None for any other text, also for one that only lax readers accept."""
    try:
        check_limits(text.encode("utf-8", "surrogatepass"), REPLY_LIMITS)
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


class AnswerWriter:
    """Writes one answer as JSON that every reader accepts, and names what was changed of what the model said.

    Arguments that are a JSON object stay as the model wrote them also where a wire wants a value: numbers keep their
    spelling, and keys their order, even one that occurs twice.
    """

    def __init__(self) -> None:
        self.changes: Changes = {}
        self._held: dict[bytes, bytes] = {}
        """By the mark that is written for a JSON text first, quotes included, the text."""

    def name_dropped(self, message: Message, *carried: str) -> None:
        """Names the keys of a message and its calls that a wire has no place for, beside reasoning, which is sealed; and
        `tool_calls` where something in it is no call.

        Args:
            carried: keys for which the wire has one.
        """
        said = {key: value for key, value in message.items() if value and not belongs_to_reasoning(key)}
        record_dropped("message-key-dropped", said, (*_CARRIED, *carried), self.changes)
        held = message.get("tool_calls")
        calls = call_objects(held)
        if held and len(calls) < len(as_list(held) or [held]):
            self.changes["message-key-dropped:tool_calls"] = None
        for call in calls:
            named = {key: value for key, value in call.items() if not belongs_to_reasoning(key)}
            record_dropped("call-key-dropped", named, ("id", "type", FUNCTION, "index"), self.changes)
            function = as_object(call.get(FUNCTION))
            record_dropped("call-key-dropped", function, ("name", "arguments"), self.changes)

    def arguments(self, call: ReplyCall) -> Any:
        """The arguments of a call on a wire that wants an object; what is none is wrapped, and that is named."""
        if strict_object(call.arguments) is None:
            return arguments_object(call.arguments, self.changes)
        mark = secrets.token_hex(16)
        # Between values a line may break, which would end an event.
        line = call.arguments.replace("\r", " ").replace("\n", " ")
        self._held[f'"{mark}"'.encode()] = line.encode("utf-8", "backslashreplace")
        return mark

    def whole(self, value: Any) -> WireAnswer:
        """An answer that is one JSON value."""
        body = self._dumps(value)
        return WireAnswer(body, changes=tuple(self.changes))

    def streamed(
        self, events: Iterable[Mapping[str, Any]], *, with_names: bool, end: bytes = b""
    ) -> WireAnswer:
        """An answer of server-sent events.

        Args:
            with_names: whether each event has its `type` as a name.
            end: bytes after the last one.
        """
        parts: list[bytes] = []
        for event in events:
            name = f"event: {event['type']}\n".encode() if with_names else b""
            parts.append(b"%bdata: %b\n\n" % (name, self._dumps(event)))
        return WireAnswer(b"".join(parts) + end, EVENTS, changes=tuple(self.changes))

    def _dumps(self, value: Any) -> bytes:
        """JSON on one line, for every reader of lines."""
        data = dumps(value)
        if b"NaN" in data or b"Infinity" in data:
            data = _STRING_OR_NO_NUMBER.sub(self._with_null, data)
        for mark, text in self._held.items():
            data = data.replace(mark, text)
        if b"\\ud" in data or b"\\uD" in data:
            data = _ESCAPE.sub(self._without_lone, data)
        return one_line(data)

    def _with_null(self, token: re.Match[bytes]) -> bytes:
        if token["none"] is None:
            return token[0]
        self.changes[NUMBER_AS_NULL] = None
        return b"null"

    def _without_lone(self, escape: re.Match[bytes]) -> bytes:
        if escape["lone"] is None:
            return escape[0]
        self.changes[SURROGATE_REPLACED] = None
        return "\ufffd".encode()


def new_id(prefix: str) -> str:
    """An id that no other answer has."""
    return f"{prefix}{secrets.token_hex(12)}"


def plain_answer(value: Any, status: int = 200) -> WireAnswer:
    """An answer in which no model says anything."""
    return replace(AnswerWriter().whole(value), status=status)


def openai_error(status: int, text: str) -> WireAnswer:
    """The answer that an endpoint failed, as OpenAI's clients read it."""
    kind = _OPENAI_ERRORS.get(status, "invalid_request_error" if status < 500 else "server_error")
    return plain_answer({"error": {"message": text, "type": kind, "param": None, "code": None}}, status)
