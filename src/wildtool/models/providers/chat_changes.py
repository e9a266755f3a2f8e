"""Changes that some servers and chat templates force on an OpenAI-shaped chat: ids of nine characters, one call per
message, reasoning or a signature where a reply had none, no reasoning. Nothing else in the messages is changed."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from wildtool.advice import Advice
from wildtool.episode import belongs_to_reasoning
from wildtool.json_codec import as_list, as_object
from wildtool.models.openai_messages import CallIds, Changes
from wildtool.models.thought_signatures import are_signed, with_placeholder
from wildtool.types import Message

SHORT_ID_CHARACTERS = "a-zA-Z0-9"
"""Characters of an id, as Mistral's tokenizers up to version 11 demand."""
SIGNATURES_REFUSED = ("it refuses the placeholder of a signature, too", Advice.NO_THINKING)
"""Cause and remedy where an endpoint refuses the placeholder as well."""
_DEMANDED_REASONING = "reasoning_content"


def with_short_ids(messages: Sequence[Message], changes: Changes) -> list[Message]:
    """The messages with each call's id in nine letters and digits, and the same for its result."""
    ids = CallIds(SHORT_ID_CHARACTERS, exactly=9)
    merged: list[Message] = []
    for message in messages:
        if calls := as_list(message.get("tool_calls")):
            message = {**message, "tool_calls": [_renamed(call, ids, changes) for call in calls]}
        elif message.get("role") == "tool":
            id_, _ = ids.for_result(message.get("tool_call_id"), changes)
            message = {**message, "tool_call_id": id_}
        merged.append(message)
    return merged


def _renamed(call: Any, ids: CallIds, changes: Changes) -> Any:
    if not isinstance(call, dict):
        return call
    fields = cast(dict[str, Any], call)
    return {**fields, "id": ids.for_call(fields.get("id"), "", changes)}


def split_parallel_calls(messages: Sequence[Message], changes: Changes) -> list[Message]:
    """The messages with parallel calls one after another, each before its own result."""
    sequential: list[Message] = []
    waiting = list(reversed(messages))
    while waiting:
        message = waiting.pop()
        calls = as_list(message.get("tool_calls"))
        if len(calls) < 2:
            sequential.append(message)
            continue
        changes["parallel-calls-split"] = None
        results: list[Message] = []
        while waiting and waiting[-1].get("role") == "tool":
            results.append(waiting.pop())
        sequential += _split_calls(message, calls, results)
    return sequential


def _split_calls(message: Message, calls: list[Any], results: list[Message]) -> Iterator[Message]:
    pending = list(results)
    for number, call in enumerate(calls):
        # The text beside the calls is kept with the first one.
        yield {**message, **({"content": ""} if number else {}), "tool_calls": [call]}
        id_ = as_object(call).get("id")
        mine = next((result for result in pending if result.get("tool_call_id") == id_), None)
        if mine is not None:
            pending.remove(mine)
            yield mine
    yield from pending


def with_empty_reasoning(messages: Sequence[Message], changes: Changes) -> list[Message]:
    """The messages with an empty reasoning in each reply that has none, as clients send it for replies of others."""
    return [
        message
        if message.get("role") != "assistant" or _DEMANDED_REASONING in message
        else _changed({**message, _DEMANDED_REASONING: ""}, "empty-reasoning-added", changes)
        for message in messages
    ]


def without_reasoning(messages: Sequence[Message], changes: Changes) -> list[Message]:
    """The messages without the reasoning of earlier replies."""
    messages_sent: list[Message] = []
    for message in messages:
        reasoning = [key for key in message if belongs_to_reasoning(key)]
        for key in reasoning:
            changes[f"message-key-dropped:{key}"] = None
        messages_sent.append({key: value for key, value in message.items() if key not in reasoning})
    return messages_sent


def with_signatures(messages: Sequence[Message], changes: Changes) -> list[Message]:
    """The messages with Google's placeholder in the calls of each reply that has no thought signature."""
    signed: list[Message] = []
    for message in messages:
        calls = as_list(message.get("tool_calls"))
        if any(as_object(call) for call in calls) and not are_signed(calls):
            message = {**message, "tool_calls": list(map(with_placeholder, calls))}
            changes["thought-signature-added"] = None
        signed.append(message)
    return signed


def _changed(fields: dict[str, Any], change: str, changes: Changes) -> dict[str, Any]:
    changes[change] = None
    return fields
