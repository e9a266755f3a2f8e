"""Messages, tools and replies in the format of Inspect's log, as JSON values that its own classes validate.

Inspect has arguments as objects and content as texts or parts. What does not fit is converted as closely as possible;
the original reply is in the `call` of its event.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

from wildtool import json_codec
from wildtool.engine.record.reader import LoggedFailure, LoggedReply
from wildtool.episode import written_reasoning
from wildtool.export.files import portable_value, strict_json
from wildtool.json_codec import as_object
from wildtool.models.token_usage import sensible_count
from wildtool.types import Message, Tool

_ROLES = ("system", "user", "assistant", "tool")
_STOPS = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}


def inspect_message_list(messages: Sequence[Message], sample: str) -> list[dict[str, Any]]:
    """A list of messages of a sample; a message that follows the same messages in two lists has one id."""
    name = sample
    entries: list[dict[str, Any]] = []
    for message in messages:
        name = sha256(name.encode(errors="replace") + strict_json(message)).hexdigest()[:22]
        entries.append({"id": name, **message_of(message)})
    return entries


def message_of(message: Message) -> dict[str, Any]:
    """One message; a role unknown to Inspect becomes `user` with the role as metadata."""
    role = message.get("role")
    if role not in _ROLES:
        return {"role": "user", "content": _content(message), "metadata": {"role": _text(role)}}
    entry: dict[str, Any] = {"role": role, "content": _content(message)}
    if role == "assistant":
        calls = message.get("tool_calls")
        if isinstance(calls, list) and calls:
            entry["tool_calls"] = [_call(call, n) for n, call in enumerate(cast(list[Any], calls))]
        entry["source"] = "generate"
    if role == "tool":
        entry["tool_call_id"] = _text(message.get("tool_call_id", ""))
        if isinstance(message.get("name"), str):
            entry["function"] = portable_value(message["name"])
    return entry


def output_of(step: LoggedReply | LoggedFailure, model: str) -> dict[str, Any]:
    """The result of a call."""
    if isinstance(step, LoggedFailure):
        return {"model": model, "choices": [], "error": portable_value(step.message)}
    reply = step.reply
    message = message_of({**reply.message, "role": "assistant"}) | {"model": model}
    stop = _STOPS.get(str(reply.finish_reason), "unknown")
    output = {"model": model, "choices": [{"message": message, "stop_reason": stop}], "time": reply.latency_s}
    usage = usage_of(reply.usage)
    return {**output, "usage": usage} if usage else output


def usage_of(usage: Mapping[str, Any]) -> dict[str, int]:
    """Token counts as far as the endpoint reported them and they are plausible."""
    reported = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
        "total_tokens": usage.get("total_tokens"),
        "input_tokens_cache_read": _inner(usage, "prompt_tokens_details", "cached_tokens"),
        "reasoning_tokens": _inner(usage, "completion_tokens_details", "reasoning_tokens"),
    }
    found = {name: sensible_count(value) for name, value in reported.items()}
    counts = {name: count for name, count in found.items() if count is not None}
    if counts and "total_tokens" not in counts:
        counts["total_tokens"] = counts.get("input_tokens", 0) + counts.get("output_tokens", 0)
    return counts


def _inner(usage: Mapping[str, Any], part: str, name: str) -> Any:
    return as_object(usage.get(part)).get(name)


def tool_of(tool: Tool) -> dict[str, Any]:
    """A tool's name and description; the caller adds its schema."""
    function: Any = tool.get("function", tool)
    fields = as_object(function)
    return {"name": _text(fields.get("name", "")), "description": _text(fields.get("description", ""))}


def _content(message: Message) -> Any:
    content = message.get("content")
    parts = cast(list[Any], content) if isinstance(content, list) else [content]
    entries: list[dict[str, Any]] = []
    thought = written_reasoning(message)
    if isinstance(thought, str):
        entries.append({"type": "reasoning", "reasoning": portable_value(thought)})
    for part in parts:
        text: Any = cast(dict[str, Any], part).get("text") if isinstance(part, dict) else part
        if text is not None:
            entries.append({"type": "text", "text": _text(text)})
    if all(part["type"] == "text" for part in entries) and len(entries) < 2:
        return entries[0]["text"] if entries else ""
    return entries


def _call(call: Any, number: int) -> dict[str, Any]:
    fields = as_object(call)
    function = as_object(fields.get("function"))
    arguments, problem = _arguments(function.get("arguments"))
    entry = {
        "id": _text(fields.get("id") or f"call_{number}"),
        "function": _text(function.get("name", "")),
        "arguments": arguments,
        "type": "function",
    }
    return {**entry, "parse_error": problem} if problem else entry


def _arguments(arguments: Any) -> tuple[dict[str, Any], str | None]:
    """Arguments as an object, and why they are not valid, if so."""
    try:
        value = json_codec.loads(arguments) if isinstance(arguments, str) else arguments
        problem = None if isinstance(value, dict) else "the arguments are not a JSON object"
    except ValueError as error:
        value, problem = None, f"the arguments are not JSON: {error}"
    if problem is None:
        return portable_value(value), None
    return {"text": _text(arguments)}, portable_value(problem)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return portable_value(value)
    return "" if value is None else json.dumps(portable_value(value), ensure_ascii=False)
