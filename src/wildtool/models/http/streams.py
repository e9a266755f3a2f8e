"""Reads server-sent events, and joins the streams of the four protocols to whole answers.

Each `join_*` takes events one by one, needs time proportional to them, and keeps no more than the answer.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from wildtool.json_codec import REPLY_LIMITS, TooLargeError, as_list, as_object, check_limits, loads
from wildtool.models.http.deltas import (
    INDEX_AS_TEXT,
    BlockDeltas,
    ItemDeltas,
    MessageDeltas,
    PartDeltas,
    append_bounded,
    number_of_index,
    objects,
)

DONE = "[DONE]"
"""The event that ends a stream of chat completions."""
MAX_STREAM_VALUES = 5_000_000
"""Limit of JSON values in all events together."""
_FIELD = re.compile(rb"^(data|event):[ ]?([^\n]*+)$", re.MULTILINE)
_BLOCK = re.compile(rb"[^\n]++(?:\n[^\n]++)*+")
_LOOKS_LIKE_EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:data|event|id|retry)?+:")


class BrokenStreamError(ValueError):
    """A stream without its end."""


def is_event_stream(body: bytes) -> bool:
    """Whether a body begins like events."""
    return _LOOKS_LIKE_EVENTS.match(body) is not None


def events(body: bytes) -> Iterator[Any]:
    """The JSON of each event, in order; the closing mark of chat completions as the text `[DONE]`.

    Raises:
        BrokenStreamError: the last event is not complete.
        TooLargeError: an event, or all of them together, exceed the limits of a reply.
        ValueError: an event is not JSON.
    """
    body = body.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    values = 0
    for block in _BLOCK.finditer(body):
        data, is_error = _data(block[0])
        if not data:
            continue
        if data == DONE.encode():
            yield DONE
            continue
        values += check_limits(data, REPLY_LIMITS)
        if values > MAX_STREAM_VALUES:
            raise TooLargeError(f"a stream of more than {MAX_STREAM_VALUES:,} JSON values")
        try:
            event = loads(data)
        except ValueError:
            if block.end() >= len(body) - 1:
                raise BrokenStreamError("the stream broke off inside an event") from None
            raise
        # Some servers name a failure only in the event's own field.
        yield {"error": event} if is_error and "error" not in as_object(event) else event


def _data(block: bytes) -> tuple[bytes, bool]:
    """The data of an event, and whether its name is `error`."""
    if b"\n" not in block:
        return (block[5:].strip() if block.startswith(b"data:") else b""), False
    data: list[bytes] = []
    is_error = False
    for field in _FIELD.finditer(block):
        if field[1] == b"data":
            append_bounded(data, field[2])
        else:
            is_error = field[2].strip() == b"error"
    return b"\n".join(data).strip(), is_error


class JoinedAnswer(dict[str, Any]):
    """An answer that came in events."""

    oddities: tuple[str, ...] = ()
    """Names of what was odd about its calls, and read where one reading exists."""


def join_chat(parts: Iterable[Any]) -> Any:
    """The chat completion in its chunks, a `JoinedAnswer`, or the error in them.

    Raises BrokenStreamError if its end is missing.
    """
    answer: dict[str, Any] = {}
    message = MessageDeltas()
    choice: dict[str, Any] = {"index": 0}
    begun = ended = False
    for part in parts:
        if part == DONE:
            ended = True
            continue
        fields = as_object(part)
        if fields.get("error"):
            return fields
        for name in ("id", "created", "model", "usage", "prompt_filter_results"):
            if fields.get(name) is not None:
                answer[name] = fields[name]
        for chunk in _first_of(fields.get("choices")):
            begun = True
            if isinstance(chunk.get("message"), dict):
                (message.offer if chunk.get("delta") else message.replace)(chunk["message"])
            message.add(as_object(chunk.get("delta")))
            if reason := chunk.get("finish_reason"):
                choice["finish_reason"], ended = reason, True
            if chunk.get("error"):
                choice["error"], ended = chunk["error"], True
    if not (begun and ended):
        raise BrokenStreamError("the stream has no end" if begun else "the stream holds no reply")
    choice = {**choice, "message": message.build(), "finish_reason": choice.get("finish_reason")}
    joined = JoinedAnswer({**answer, "object": "chat.completion", "choices": [choice]})
    joined.oddities = message.oddities
    return joined


def _first_of(choices: Any) -> Iterator[dict[str, Any]]:
    """The pieces of the first choice or candidate; others may arrive if several were requested."""
    for chunk in objects(as_list(choices)):
        if chunk.get("index") in (None, 0) or not isinstance(chunk.get("index"), int):
            yield chunk


def join_anthropic(parts: Iterable[Any]) -> Any:
    """The message in its events. Raises BrokenStreamError if `message_stop` is missing."""
    message: dict[str, Any] = {}
    blocks: list[BlockDeltas] = []
    at: dict[Any, BlockDeltas] = {}
    oddities: dict[str, None] = {}
    for part in objects(parts):
        if part.get("error") or part.get("type") == "error":
            return part if part.get("error") else {"error": part}
        index = number_of_index(part.get("index"))
        if index != part.get("index"):
            oddities[INDEX_AS_TEXT] = None
        match part.get("type"):
            case "message_start":
                message = dict(as_object(part.get("message")))
            case "content_block_start":
                at[index] = BlockDeltas(as_object(part.get("content_block")))
                append_bounded(blocks, at[index])
            case "content_block_delta":
                if index not in at:
                    raise BrokenStreamError("the stream has a piece of a block that never started")
                at[index].add(as_object(part.get("delta")))
            case "message_delta":
                usage = {**as_object(message.get("usage")), **as_object(part.get("usage"))}
                message |= {**as_object(part.get("delta")), "usage": usage}
            case "message_stop":
                joined = JoinedAnswer({**message, "content": [block.build() for block in blocks]})
                joined.oddities = tuple(oddities)
                return joined
            case _:
                pass
    raise BrokenStreamError("the stream has no message_stop")


def join_gemini(parts: Iterable[Any]) -> Any:
    """The response in its chunks. Raises BrokenStreamError if no finish reason arrived."""
    answer: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    content = PartDeltas()
    ended = False
    for part in objects(parts):
        if part.get("error"):
            return part
        answer |= {name: value for name, value in part.items() if name != "candidates"}
        ended = ended or bool(as_object(part.get("promptFeedback")).get("blockReason"))
        for chunk in _first_of(part.get("candidates")):
            ended = ended or bool(chunk.get("finishReason"))
            pieces: object = as_object(chunk.get("content")).get("parts")
            for piece in as_list(pieces):
                content.add(piece)
            candidate |= chunk
    if not ended:
        raise BrokenStreamError("the stream has no finishReason")
    if candidate:
        answer["candidates"] = [{**candidate, "content": {"role": "model", "parts": content.build()}}]
    return answer


_ITEM_EVENT = re.compile(
    r"response\.(output_item|content_part|output_text|refusal|function_call_arguments)\.(added|delta|done)"
)


class _StreamedItems:
    """The output items of a stream of Responses, in the order of their beginnings."""

    def __init__(self) -> None:
        self._items: list[ItemDeltas] = []
        self._at: dict[object, ItemDeltas] = {}

    def add(self, kind: str, event: dict[str, Any]) -> None:
        """Adds an event to its item, which it names by place, by id or, at some servers, not at all."""
        names = [
            number_of_index(event.get("output_index")),
            event.get("item_id", as_object(event.get("item")).get("id")),
        ]
        names = [name for name in names if isinstance(name, int | str) and name != ""]
        item = next((self._at[name] for name in names if name in self._at), None)
        if item is None and (names or not self._items or event["type"] == "response.output_item.added"):
            item = ItemDeltas()
            append_bounded(self._items, item)
        item = item or self._items[-1]
        self._at |= dict.fromkeys(names, item)
        item.add(kind, event)

    def build(self) -> list[dict[str, Any]]:
        return [item.build() for item in self._items]


def join_responses(parts: Iterable[Any]) -> Any:
    """The response of the last event; if its items are missing or empty, with those of earlier events.

    Raises BrokenStreamError if no event ends it.
    """
    items = _StreamedItems()
    for part in objects(parts):
        kind = part.get("type")
        if part.get("error") or kind == "error":
            return part if part.get("error") else {"error": part}
        if kind in ("response.completed", "response.incomplete", "response.failed", "response.cancelled"):
            response = {"status": kind.partition(".")[2], **as_object(part.get("response"))}
            output = as_list(response.get("output"))
            if not output or any(
                not item.get("content") and item.get("type") == "message" for item in objects(output)
            ):
                response["output"] = items.build() or output
            return response
        if isinstance(kind, str) and (match := _ITEM_EVENT.fullmatch(kind)):
            items.add(match[1], part)
    raise BrokenStreamError("the stream has no response.completed")
