"""Chats of Gemini CLI: one document, or lines of which each changes what was before."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.reading import Reading, part_type
from wildtool.shapes.sessions.base import MESSAGES, RESULT, TAKEN_BACK, other_keys

_CALL = "functionCall"
_CHAT_KEYS = frozenset(
    {
        "id",
        "timestamp",
        "type",
        "content",
        "displayContent",
        "thoughts",
        "tokens",
        "model",
        "toolCalls",
    }
)
_BESIDE_CALL = frozenset(
    {
        "result",
        "status",
        "timestamp",
        "resultDisplay",
        "description",
        "displayName",
        "renderOutputAsMarkdown",
        "agentId",
    }
)
"""Keys of a call that hold its result, or what is shown to the user."""
_CONTEXT = "<session_context>"
"""How the first message begins, in which no user speaks."""


def is_chat_head(row: Mapping[str, Any]) -> bool:
    """Whether a row begins a chat of Gemini CLI, or is a whole one."""
    return {"sessionId", "projectHash"} <= row.keys()


def is_chat(row: Mapping[str, Any]) -> bool:
    return is_chat_head(row) and isinstance(row.get(MESSAGES), list)


def chat_of(row: Mapping[str, Any], reading: Reading) -> Iterator[Mapping[str, Any]]:
    return chats_of([row], reading)


def chats_of(rows: Iterable[Mapping[str, Any]], reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The chats in the lines of a file, or in one document.

    A line is a message, replaces all of them, or takes some back; of several with one id the last counts.
    """
    chats: dict[str, dict[str, Mapping[str, Any]]] = {}
    messages: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        changes = as_object(row.get("$set"))
        if is_chat_head(row):
            messages = chats.setdefault(str(row["sessionId"]), {})
            messages |= _by_id(row.get(MESSAGES))
        elif isinstance(changes.get(MESSAGES), list):
            messages.clear()
            messages |= _by_id(changes[MESSAGES])
        elif isinstance(row.get("$rewindTo"), str):
            _take_back(messages, row["$rewindTo"], reading)
        elif isinstance(row.get("id"), str):
            messages[row["id"]] = row
        elif MESSAGES in changes or not changes:
            reading.lose("line of another type")
    yield from ({MESSAGES: list(_chat(chat.values(), reading))} for chat in chats.values())


def _take_back(messages: dict[str, Mapping[str, Any]], first: str, reading: Reading) -> None:
    """Removes a message and all after it; without a message of that id all, as the program does."""
    ids = list(messages)
    for id_ in ids[ids.index(first) if first in messages else 0 :]:
        reading.lose(TAKEN_BACK)
        del messages[id_]


def _by_id(messages: Any) -> dict[str, Mapping[str, Any]]:
    return {str(message.get("id", number)): message for number, message in enumerate(as_objects(messages))}


def _chat(messages: Iterable[Mapping[str, Any]], reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The messages of a chat in Gemini's shape. A result stands with its call, in a message after it, or in both."""
    answered: set[str] = set()
    for message in messages:
        kind = part_type(message)
        if kind not in ("user", "gemini"):
            reading.lose(f"message of type {kind or 'none'}")
            continue
        around = {**other_keys(message, _CHAT_KEYS), "timestamp": message.get("timestamp")}
        parts = _parts(message.get("content"))
        if kind == "gemini":
            answered = set()  # of this message: models may give each of theirs the same ids
            calls = as_objects(message.get("toolCalls"))
            if message.get("toolCalls") and not calls:
                around["tool_calls"] = message["toolCalls"]
            parts = [*_thoughts(message), *parts, *_missing_calls(calls, parts)]
            yield {**around, "role": "model", "parts": parts}
            results = [part for call in calls for part in _results(call, reading)]
        elif parts and str(as_object(parts[0]).get("text")).startswith(_CONTEXT):
            yield {**around, "role": "system", "parts": parts}
            continue
        else:
            results = [part for part in parts if RESULT in as_object(part)]
            words = [part for part in parts if RESULT not in as_object(part)]
            if words or not results:
                yield {**around, "role": "user", "parts": words}
        new = [part for part in results if _id_of(part) not in answered]
        answered |= set(map(_id_of, new)) - {""}
        if new:
            yield {"role": "user", "parts": new}


def _id_of(result: Mapping[str, Any]) -> str:
    return str(as_object(result[RESULT]).get("id") or "")


def _parts(content: Any) -> list[Any]:
    """The parts of what is a text, a part, or a list of both."""
    several = as_list(content) if isinstance(content, list) else [content]
    return [{"text": part} if isinstance(part, str) else part for part in several if part is not None]


def _thoughts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    texts = [str(each.get("description") or "") for each in as_objects(message.get("thoughts"))]
    return [{"text": text, "thought": True} for text in texts if text]


def _missing_calls(calls: Sequence[Mapping[str, Any]], parts: Sequence[Any]) -> list[Mapping[str, Any]]:
    """The calls of a message that are not among its parts, too."""
    ids = [as_object(as_object(part).get(_CALL)).get("id") for part in parts]
    return [
        {_CALL: other_keys(call, _BESIDE_CALL)}
        for call in calls
        if call.get("id") is None or call["id"] not in ids
    ]


def _results(call: Mapping[str, Any], reading: Reading) -> list[Any]:
    """The results that stand with a call."""
    if call.get("result") is None:
        reading.lose("call without a result beside it")
        return []
    parts = _parts(call["result"])
    if parts and all(isinstance(as_object(part).get(RESULT), dict) for part in parts):
        return parts
    are_texts = all(as_object(part).keys() == {"text"} for part in parts)
    output = "".join(str(part["text"]) for part in parts) if are_texts else call["result"]
    return [{RESULT: {"id": call.get("id"), "name": call.get("name"), "response": {"output": output}}}]
