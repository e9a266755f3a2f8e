"""What the writers of all wires share: JSON and events in bytes, ids, the calls of a reply, ends and token counts."""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from wildtool.agents.wires.base import WireAnswer
from wildtool.json_codec import REPLY_LIMITS, as_object, as_objects, check_limits, dumps, one_line
from wildtool.reply_ends import End, reason_end
from wildtool.types import Message

_OPENAI_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
EVENTS = "text/event-stream"
WRAPPED_ARGUMENTS, EMPTY_ARGUMENTS = "malformed-arguments-wrapped", "empty-arguments-as-object"
"""Names of changes to arguments that a wire cannot carry, as those of requests are named."""
_WRAPPER = "malformed_arguments"
"""The key under which arguments are wrapped that a wire cannot carry, as in requests to providers."""


@dataclass(frozen=True, slots=True)
class ReplyCall:
    """A call of a reply."""

    id: str
    name: str
    arguments: str
    """As the model wrote them; may be no JSON."""

    @property
    def is_json(self) -> bool:
        """Whether the arguments are JSON that every reader accepts."""
        try:
            strict_value(self.arguments)
        except ValueError:
            return False
        return True


def calls_of(message: Message) -> list[ReplyCall]:
    """The calls of a reply."""
    calls: list[ReplyCall] = []
    for call in as_objects(message.get("tool_calls")):
        function = as_object(call.get("function"))
        id_, name, arguments = call.get("id"), function.get("name"), function.get("arguments", "")
        text = arguments if isinstance(arguments, str) else dumps(arguments).decode()
        calls.append(ReplyCall(str(id_ or new_id("call_")), str(name or ""), text))
    return calls


def said_text(message: Message) -> str:
    """The text of a reply, also where it comes in parts; empty for none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in as_objects(content) if isinstance(part.get("text"), str))


def wrapped_arguments(text: str) -> dict[str, str]:
    """The object in which arguments arrive that a wire cannot carry."""
    return {_WRAPPER: text}


def unwrapped_arguments(value: Any) -> Any:
    """What was wrapped in an object of arguments; any other value as it is."""
    held = as_object(value)
    return held[_WRAPPER] if held.keys() == {_WRAPPER} and isinstance(held[_WRAPPER], str) else value


def strict_value(text: str) -> Any:
    """The value of a JSON text that every reader accepts. Raises ValueError for any other text."""
    check_limits(text.encode("utf-8", "surrogatepass"), REPLY_LIMITS)
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep to be read as JSON") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


class JsonWriter:
    """Writes JSON that holds other JSON texts as they stand: their numbers keep their spelling, and their keys their
    order, even one that occurs twice."""

    def __init__(self) -> None:
        self._texts: dict[bytes, bytes] = {}
        """By the mark that is written for a text first, quotes included, the text."""

    def held(self, text: str) -> str:
        """What stands for a JSON text in values that are given to `dumps`."""
        mark = secrets.token_hex(16)
        # Between values a line may break, which would end an event.
        line = text.replace("\r", " ").replace("\n", " ")
        self._texts[f'"{mark}"'.encode()] = line.encode("utf-8", "backslashreplace")
        return mark

    def dumps(self, value: Any) -> bytes:
        """JSON on one line, for every reader of lines."""
        data = dumps(value)
        for mark, text in self._texts.items():
            data = data.replace(mark, text)
        return one_line(data)


def new_id(prefix: str) -> str:
    """An id that no other answer has."""
    return f"{prefix}{secrets.token_hex(12)}"


def whole_answer(value: Any, changes: Iterable[str] = (), writer: JsonWriter | None = None) -> WireAnswer:
    """An answer that is one JSON value."""
    return WireAnswer((writer or JsonWriter()).dumps(value), changes=tuple(dict.fromkeys(changes)))


def streamed_answer(
    events: Iterable[Mapping[str, Any]],
    *,
    with_names: bool,
    end: bytes = b"",
    changes: Iterable[str] = (),
    writer: JsonWriter | None = None,
) -> WireAnswer:
    """An answer of server-sent events.

    Args:
        with_names: whether each event has its `type` as a name.
        end: bytes after the last one.
    """
    writer = writer or JsonWriter()
    parts: list[bytes] = []
    for event in events:
        name = f"event: {event['type']}\n".encode() if with_names else b""
        parts.append(b"%bdata: %b\n\n" % (name, writer.dumps(event)))
    return WireAnswer(b"".join(parts) + end, EVENTS, changes=tuple(dict.fromkeys(changes)))


def failure(value: Mapping[str, Any], status: int) -> WireAnswer:
    """The answer that an endpoint failed."""
    return WireAnswer(JsonWriter().dumps(value), status=status)


def end_of_message(message: Message, reason: str | None) -> End:
    """How a reply ended: by its calls where it has any and nothing cut it; complete where nothing is known."""
    end = reason_end(reason)
    if message.get("refusal"):
        end = End.REFUSED
    if end in (None, End.COMPLETE, End.CALLS, End.UNKNOWN):
        return End.CALLS if message.get("tool_calls") else End.COMPLETE
    return end


def counted_tokens(usage: Mapping[str, Any]) -> tuple[int, int] | None:
    """Tokens of prompt and completion; None where nobody counted them."""
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if not any(isinstance(count, int) for count in counts):
        return None
    prompt, completion = (count if isinstance(count, int) else 0 for count in counts)
    return prompt, completion


def openai_error(status: int, text: str) -> dict[str, Any]:
    """The body of a failure, as OpenAI's clients read it."""
    kind = _OPENAI_ERRORS.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}
