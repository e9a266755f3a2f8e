"""Messages of a conversation as its agent has them, and as the benchmark has them."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any

from wildtool.episode import written_text
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes import tool_name
from wildtool.shapes.keys import FUNCTION
from wildtool.types import Message

INSTRUCTION_ROLES = ("system", "developer")
"""Roles of messages that are no turn of anybody."""


def with_names(message: Message, names: Mapping[str, str]) -> Message:
    """A message whose calls name tools otherwise. Args: names: by the name in the message the other one."""

    def its(number: int, call: dict[str, Any]) -> dict[str, Any]:
        name = tool_name(call)
        return (
            {**call, FUNCTION: {**as_object(call.get(FUNCTION)), "name": names[name]}}
            if name in names
            else call
        )

    return _with_calls(message, its)


def with_ids(message: Message) -> Message:
    """A message whose calls have an id each, which agents need."""

    def its(number: int, call: dict[str, Any]) -> dict[str, Any]:
        digest = sha256(repr(call).encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return call if call.get("id") else {**call, "id": f"call_{number}_{digest}"}

    return _with_calls(message, its)


def without_calls(message: Message, tools: frozenset[str]) -> Message:
    """A message without its calls of some tools."""
    calls = as_list(message.get("tool_calls"))
    kept = [call for call in calls if tool_name(as_object(call)) not in tools]
    if len(kept) == len(calls):
        return message
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**rest, "tool_calls": kept} if kept else rest


def _with_calls(message: Message, its: Callable[[int, dict[str, Any]], dict[str, Any]]) -> Message:
    """A message with other calls; what is no call stays as the model wrote it, for the judge."""
    calls = as_list(message.get("tool_calls"))
    if not calls:
        return message
    return {
        **message,
        "tool_calls": [
            its(number, as_object(call)) if isinstance(call, dict) else call
            for number, call in enumerate(calls)
        ],
    }


def same_conversation(first: Sequence[Message], second: Sequence[Message]) -> bool:
    """Whether two conversations are the same to who lives through them; results of one step have no order."""
    return _essences(first) == _essences(second)


def is_repeated(message: Message, said: Message) -> bool:
    """Whether a message of the benchmark is what the model said; benchmarks may leave calls and texts out."""
    role, text, calls = _essence(message)
    _, said_text, said_calls = _essence(said)
    return role == "assistant" and text in ("", said_text) and all(call in said_calls for call in calls)


def _essences(messages: Sequence[Message]) -> list[Any]:
    found: list[Any] = []
    for is_results, run in groupby(messages, lambda message: message.get("role") == "tool"):
        essences = map(_essence, run)
        found += sorted(essences, key=repr) if is_results else essences
    return found


def _essence(message: Message) -> tuple[Any, str, list[Any]]:
    """Role, text and calls of a message."""
    calls = [as_object(call.get(FUNCTION)) for call in as_objects(message.get("tool_calls"))]
    return (
        message.get("role"),
        written_text(message) or "",
        [(call.get("name"), call.get("arguments")) for call in calls],
    )
