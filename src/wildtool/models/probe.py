"""Tests an endpoint with one small tool call: what works and what does not."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from wildtool.errors import CallError
from wildtool.json_codec import loads
from wildtool.models.openai_messages import Changes, HistoryCall, UnsendableError, history_calls
from wildtool.models.prompted import PromptedModel
from wildtool.models.token_usage import token_usage
from wildtool.tool_formats import CALL_FORMATS
from wildtool.tool_formats.any_format import calls_in_text
from wildtool.tool_formats.detect import known_format
from wildtool.types import (
    FORMAT_CHANGE,
    REASONING_DETAILS,
    REASONING_KEYS,
    Message,
    Model,
    Reply,
    Request,
    Tool,
)

SYSTEM_WORD = "kiwi"
"""Given only in the system message, to see whether it is followed."""
PROBE_MESSAGES: tuple[Message, ...] = (
    {"role": "system", "content": f'The value of the argument "code" is always "{SYSTEM_WORD}".'},
    {"role": "user", "content": "Look up the weather in Lisbon and in Oslo, both at once."},
)
PROBE_TOOL: Tool = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in one city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "code": {"type": "string"}},
            "required": ["city", "code"],
        },
    },
}
PROBE_RESULT = "Sunny, 21 degrees."


TRIED_FORMATS = ("hermes", "llama3-json", "pythonic")
"""Formats that a model without native calls is tried with, behind the one that its name or its reply suggests."""

_TRY_S = 20.0
"""How long a model may write in a format that is tried."""


async def probe(model: Model) -> Mapping[str, str]:
    """What works, by feature, as text. Calls twice: for tool calls, and with their results; without native calls once
    more for each format that is tried.

    Raises CallError if the first call fails.
    """
    reply = await model.complete(Request(PROBE_MESSAGES, (PROBE_TOOL,)))
    calls = _calls(reply.message)
    counts = (reply.usage.get("prompt_tokens"), reply.usage.get("completion_tokens"))
    format = next(
        (name.removeprefix(FORMAT_CHANGE) for name in reply.changes if name.startswith(FORMAT_CHANGE)), None
    )
    results = {
        **(_kind_of_calls(bool(calls), format) if calls or format else await _calls_as_text(model, reply)),
        "parallel calls": f"yes, {len(calls)} in one reply" if len(calls) > 1 else "not seen",
        "system message": "followed" if calls and all(map(_has_word, calls)) else "not seen to be followed",
        "usage": "not reported" if None in counts else f"{counts[0]} tokens in, {counts[1]} out",
        "reasoning": "shown" if _reasons(reply) else "not seen",
        "finish reason": str(reply.finish_reason),
        "changed on the way": ", ".join(reply.changes) or "nothing",
    }
    if calls:
        results["results"] = await _results(model, reply, calls)
    return results


async def _results(model: Model, reply: Reply, calls: list[HistoryCall]) -> str:
    """Whether the endpoint accepts its own calls with results."""
    results: list[Message] = [
        {"role": "tool", "tool_call_id": call.id, "content": PROBE_RESULT} for call in calls
    ]
    try:
        await model.complete(Request((*PROBE_MESSAGES, reply.message, *results), (PROBE_TOOL,)))
    except CallError as error:
        return f"refused: {error}"
    return "accepted"


async def _calls_as_text(model: Model, reply: Reply) -> Mapping[str, str]:
    """Which format a model without native calls writes, tried until one works."""
    text = reply.message.get("content")
    written = calls_in_text(text, (PROBE_TOOL,)) if isinstance(text, str) else ()
    suggested = (*(call.format for call in written), known_format(model.name), *TRIED_FORMATS)
    tried = [name for name in dict.fromkeys(suggested) if name]
    for name in tried:
        prompted = PromptedModel(model, CALL_FORMATS[name])
        try:
            async with asyncio.timeout(_TRY_S):
                answer = await prompted.complete(Request(PROBE_MESSAGES, (PROBE_TOOL,)))
        except TimeoutError:
            continue  # a small model may write without an end
        except CallError as error:
            return {"native calls": "no", "calls as text": f"not known: {error}"}
        if _calls(answer.message):
            return {"native calls": "no", "calls as text": f"yes, with `--tool-format {name}`"}
    return {"native calls": "no", "calls as text": f"none read; tried {', '.join(tried)}"}


def _kind_of_calls(ok: bool, format: str | None) -> Mapping[str, str]:
    if format is None:
        return {"native calls": "yes"}
    return {"calls as text": f"yes, in the format {format}" if ok else f"none read in the format {format}"}


def _calls(message: Message) -> list[HistoryCall]:
    changes: Changes = {}
    try:
        return list(history_calls(message, changes))
    except UnsendableError:
        return []


def _has_word(call: HistoryCall) -> bool:
    try:
        arguments = loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    except ValueError:
        return False
    return isinstance(arguments, dict) and cast(dict[str, Any], arguments).get("code") == SYSTEM_WORD


def _reasons(reply: Reply) -> bool:
    """Whether the reply has reasoning text, or tokens counted for it."""
    names = (*REASONING_KEYS, REASONING_DETAILS)
    return any(reply.message.get(name) for name in names) or token_usage(reply.usage).reasoning > 0
