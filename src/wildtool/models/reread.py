"""Reads the raw text of a recorded reply again, by whichever protocol it follows, as it was read when it came."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from wildtool.errors import CallError
from wildtool.json_codec import REPLY_LIMITS, as_list, as_object, loads_within
from wildtool.models.http.streams import events, is_event_stream
from wildtool.models.prompted import has_calls, parse_message, plain_chat
from wildtool.tool_formats import CALL_FORMATS
from wildtool.types import FORMAT_CHANGE, Reply, Request

if TYPE_CHECKING:
    from wildtool.models.providers.base import HttpModel


def read_raw(reply: Reply, request: Request, format_name: str = "") -> Iterator[Reply]:
    """Each reply that a recorded raw text can be read as; none for a text in a protocol that is not known here.

    Args:
        reply: as it is recorded; of it only `raw`, and the tool format that `changes` name, are used.
        request: what it answers, in the benchmark's terms.
        format_name: the tool format of local weights, whose template writes calls as text.
    """
    named = (each.removeprefix(FORMAT_CHANGE) for each in reply.changes if each.startswith(FORMAT_CHANGE))
    format = CALL_FORMATS.get(next(named, format_name))
    sent = request
    if format is not None and (request.tools or any(map(has_calls, request.messages))):
        sent = replace(request, messages=plain_chat(request, format)[0], tools=())
    for received in _received(reply, sent):
        yield received
        if format is not None:
            message, _ = parse_message(received.message, format, request)
            yield replace(received, message=message)


def served_model(raw: str) -> str:
    """The model that an answer says it is of; empty where it says none."""
    text = raw.encode("utf-8", "replace")
    try:
        answer = as_object(
            next(events(text), None) if is_event_stream(text) else loads_within(text, REPLY_LIMITS)
        )
    except (ValueError, CallError):
        return ""
    # Anthropic's streams begin with a message.
    answer = as_object(answer.get("message")) or answer
    name = answer.get("model") or answer.get("modelVersion")
    return name if isinstance(name, str) else ""


def _received(reply: Reply, request: Request) -> Iterator[Reply]:
    """The reply as the first protocol reads it that finds one; the text itself where it is no JSON and no stream."""
    answer = reply.raw.encode("utf-8", "replace")
    for protocol in _protocols():
        try:
            received = protocol.read(answer, request)
        except (CallError, ValueError, TypeError):
            continue
        if not _is_of_inspect(reply.raw):
            yield received
        return
    if not reply.raw.lstrip().startswith(("{", "[", "data:", "event:")):
        message = {"role": "assistant", "content": reply.raw}
        yield Reply(message, finish_reason=reply.finish_reason, usage=reply.usage)


@cache
def _protocols() -> "tuple[HttpModel, ...]":
    """A model of each protocol that is never called."""
    from wildtool.models.providers.anthropic import AnthropicModel  # the network library is slow to load
    from wildtool.models.providers.gemini import GeminiModel
    from wildtool.models.providers.openai_chat import CompletionsModel, OpenAIModel
    from wildtool.models.providers.openai_responses import ResponsesModel

    classes = (OpenAIModel, CompletionsModel, ResponsesModel, AnthropicModel, GeminiModel)
    return tuple(each("recorded", "http://127.0.0.1/v1") for each in classes)


def _is_of_inspect(raw: str) -> bool:
    """Whether an answer is an output of Inspect, which has choices, too, but calls of another shape."""
    try:
        choice = as_object(
            next(iter(as_list(as_object(loads_within(raw, REPLY_LIMITS)).get("choices"))), None)
        )
    except ValueError:
        return False
    return "stop_reason" in choice and "finish_reason" not in choice
