"""Reads server-sent events, and joins the streams of the four protocols to whole answers.

Each `join_*` takes events one by one, needs time proportional to them, and keeps no more than the answer.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from wildtool.json_codec import REPLY_LIMITS, TooLargeError, as_list, as_object, check_limits, loads
from wildtool.models.http.deltas import (
    MAX_REPLY_PARTS,
    BlockDeltas,
    ItemDeltas,
    MessageDeltas,
    PartDeltas,
    append_bounded,
    objects,
    too_many_parts,
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
    for found in _BLOCK.finditer(body):
        data, is_error = _data(found[0])
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
            if found.end() >= len(body) - 1:
                raise BrokenStreamError("the stream broke off inside an event") from None
            raise
        # Some servers name a failure only in the event's own field.
        yield {"error": event} if is_error and "error" not in as_object(event) else event


def _data(block: bytes) -> tuple[bytes, bool]:
    """The data of an event, and whether its name is `error`."""
    if b"\n" not in block:
        return (block[5:].strip() if block.startswith(b"data:") else b""), False
    data: list[bytes] = []
    named = False
    for field in _FIELD.finditer(block):
        if field[1] == b"data":
            append_bounded(data, field[2])
        else:
            named = field[2].strip() == b"error"
    return b"\n".join(data).strip(), named


def join_chat(parts: Iterable[Any]) -> Any:
    """The chat completion in its chunks. Raises BrokenStreamError if its end is missing."""
    whole: dict[str, Any] = {}
    message = MessageDeltas()
    choice: dict[str, Any] = {"index": 0}
    begun = ended = False
    for part in parts:
        if part == DONE:
            ended = True
            continue
        found = as_object(part)
        if found.get("error"):
            return found
        for name in ("id", "created", "model", "usage", "prompt_filter_results"):
            if found.get(name) is not None:
                whole[name] = found[name]
        for chunk in _first_of(found.get("choices")):
            begun = True
            if isinstance(chunk.get("message"), dict) and not chunk.get("delta"):
                message.replace(chunk["message"])
            message.add(as_object(chunk.get("delta")))
            if reason := chunk.get("finish_reason"):
                choice["finish_reason"], ended = reason, True
            if chunk.get("error"):
                choice["error"], ended = chunk["error"], True
    if not (begun and ended):
        raise BrokenStreamError("the stream has no end" if begun else "the stream holds no reply")
    choice = {**choice, "message": message.build(), "finish_reason": choice.get("finish_reason")}
    return {**whole, "object": "chat.completion", "choices": [choice]}


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
    for part in objects(parts):
        if part.get("error") or part.get("type") == "error":
            return part if part.get("error") else {"error": part}
        index = part.get("index")
        index = index if isinstance(index, int | str) else None
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
                return {**message, "content": [block.build() for block in blocks]}
            case _:
                pass
    raise BrokenStreamError("the stream has no message_stop")


def join_gemini(parts: Iterable[Any]) -> Any:
    """The response in its chunks. Raises BrokenStreamError if no finish reason arrived."""
    whole: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    content = PartDeltas()
    ended = False
    for part in objects(parts):
        if part.get("error"):
            return part
        whole |= {name: value for name, value in part.items() if name != "candidates"}
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
        whole["candidates"] = [{**candidate, "content": {"role": "model", "parts": content.build()}}]
    return whole


def _item_key(event: dict[str, Any], count: int) -> Any:
    """The key of an event's item: its index, else its id, else a new number."""
    index, id_ = event.get("output_index"), event.get("item_id", as_object(event.get("item")).get("id"))
    return index if isinstance(index, int) else id_ if isinstance(id_, str) else count


_ITEM_EVENTS = frozenset(
    (
        *("response.output_item.added", "response.output_item.done"),
        *("response.output_text.delta", "response.output_text.done"),
        *("response.function_call_arguments.delta", "response.function_call_arguments.done"),
    )
)


def join_responses(parts: Iterable[Any]) -> Any:
    """The response of the last event; if it lists no items, those of earlier events.

    Raises BrokenStreamError if no event ends it.
    """
    items: dict[Any, ItemDeltas] = {}
    for part in objects(parts):
        kind = part.get("type")
        if part.get("error") or kind == "error":
            return part if part.get("error") else {"error": part}
        if kind in ("response.completed", "response.incomplete", "response.failed", "response.cancelled"):
            response: object = part.get("response")
            if isinstance(response, dict) and not as_object(response).get("output"):
                return {**as_object(response), "output": [item.build() for item in items.values()]}
            return cast(Any, response)
        if isinstance(kind, str) and kind in _ITEM_EVENTS:
            place = _item_key(part, len(items))
            if place not in items:
                if len(items) >= MAX_REPLY_PARTS:
                    raise too_many_parts()
                items[place] = ItemDeltas(as_object(part.get("item")))
            items[place].add(kind, part)
    raise BrokenStreamError("the stream has no response.completed")
