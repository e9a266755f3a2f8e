"""OpenAI's Responses API: converts OpenAI-shaped chats and items, keeps encrypted reasoning, stores nothing there."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, cast

from wildtool.json_codec import as_list, as_object, dumps
from wildtool.models.batch.openai import OpenAIBatchClient
from wildtool.models.http.streams import join_responses
from wildtool.models.openai_messages import (
    MESSAGE_KEYS,
    CallIds,
    Changes,
    UnsendableError,
    assistant_message,
    chat_finish_reason,
    content_text,
    functions_of,
    history_calls,
    openai_call,
    provider_content_of,
    record_dropped,
    same_calls,
)
from wildtool.models.providers.base import HttpModel, WireRequest
from wildtool.types import Message, Reply, Request

PROVIDER = "openai_responses"
_OPTIONS = {"temperature": "temperature", "max_tokens": "max_output_tokens"}
_ID = "\\x21-\\x7e"
_UNENCRYPTED = "unencrypted"
_ENCRYPTED = "reasoning.encrypted_content"
_NOT_ENCRYPTED = "Encrypted content is not supported"
"""OpenAI's words when encrypted reasoning is requested from a model that does not reason."""


class ResponsesModel(HttpModel):
    """A model at `POST {base_url}/responses`. Each request holds the whole chat; `store` is false."""

    path = "/responses"
    batch_client = OpenAIBatchClient
    reserved = ("model", "input", "instructions", "tools", "previous_response_id", "conversation")
    join_stream = staticmethod(join_responses)
    has_seed = False
    names_end = False  # its `status` is optional
    fallbacks: ClassVar[Mapping[str, re.Pattern[str]]] = {_UNENCRYPTED: re.compile(_NOT_ENCRYPTED)}

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """`max_tokens` is called `max_output_tokens` here."""
        return {_OPTIONS[option]: value for option, value in settings.items()}

    def build(self, request: Request) -> WireRequest:
        """Messages, calls and results as items of `input`; tools are flat, and not strict unless they say so."""
        changes: Changes = {}
        fields: dict[str, Any] = {
            "model": self._model,
            "input": list(_ItemBuilder(changes).build(request)),
            "store": False,
        }
        if _UNENCRYPTED not in self._active_fallbacks:
            fields["include"] = [_ENCRYPTED]
        if request.tools:
            fields["tools"] = [_tool(function, changes) for function in functions_of(request)]
        return WireRequest(fields, tuple(changes))

    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        """Texts, calls and reasoning summaries; the items are kept too."""
        match parsed:
            case {"output": list()}:
                answer = cast(dict[str, Any], parsed)
            case _:
                return None
        message = _message(answer["output"])
        return Reply(
            message=message,
            finish_reason=_finish_reason(answer, message),
            usage=_usage(as_object(answer.get("usage"))),
        )


class _ItemBuilder:
    """Turns one chat into input items."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._ids = CallIds(_ID)

    def build(self, request: Request) -> Iterator[Any]:
        for message in request.messages:
            match message.get("role"):
                case "system" | "developer" | "user" as role:
                    record_dropped("message-key-dropped", message, MESSAGE_KEYS, self._changes)
                    yield {"role": role, "content": content_text(message.get("content"))}
                case "assistant":
                    yield from self._assistant(message)
                case "tool":
                    keys = (*MESSAGE_KEYS, "tool_call_id", "name")
                    record_dropped("message-key-dropped", message, keys, self._changes)
                    id_, _ = self._ids.for_result(message.get("tool_call_id"), self._changes)
                    output = content_text(message.get("content"))
                    yield {"type": "function_call_output", "call_id": id_, "output": output}
                case role:
                    raise UnsendableError(f"there is no role {role!r} in this protocol")

    def _assistant(self, message: Message) -> Iterator[Any]:
        items = provider_content_of(PROVIDER, message)
        if items is not None and self._matches(message, items):
            yield from self._items_to_send(items)
            return
        record_dropped("message-key-dropped", message, (*MESSAGE_KEYS, "tool_calls"), self._changes)
        calls = list(history_calls(message, self._changes))
        text = content_text(message.get("content"))
        if text or not calls:
            yield {"role": "assistant", "content": text}
        for call in calls:
            arguments = call.arguments
            if not isinstance(arguments, str):
                self._changes["arguments-as-text"] = None
                arguments = dumps(arguments).decode()
            id_ = self._ids.for_call(call.id, call.name, self._changes)
            yield {"type": "function_call", "call_id": id_, "name": call.name, "arguments": arguments}

    def _matches(self, message: Message, items: list[Any]) -> bool:
        """Whether items and message have the same content; if so, their calls are registered."""
        original = _message(items)
        calls: list[dict[str, Any]] = original.get("tool_calls") or []
        if original["content"] != message.get("content") or not same_calls(message, calls):
            return False
        for call in calls:
            self._ids.register(call["id"], call["id"], call["function"]["name"])
        return True

    def _items_to_send(self, items: list[Any]) -> Iterator[Any]:
        """The items, except reasoning that is neither stored there nor encrypted, which would be refused."""
        for item in items:
            if item.get("type") == "reasoning" and not item.get("encrypted_content"):
                self._changes["unencrypted-reasoning-dropped"] = None
            else:
                yield item


def _tool(function: dict[str, Any], changes: Changes) -> dict[str, Any]:
    tool = {"type": "function", **function}
    # Here a tool is strict by default, which rewrites its schema; in chat completions it is not.
    if tool.get("strict") is None:
        changes["strict-set-to-false"] = None
        tool["strict"] = False
    tool.setdefault("parameters", {"type": "object", "properties": {}})
    if "parameters" not in function:
        changes["empty-schema-added"] = None
    return tool


def _message(items: list[Any]) -> Message:
    """The assistant message in output items."""
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    plain = True
    for item in items:
        match item:
            case {"type": "message", "content": list()}:
                parts = cast(list[Any], item["content"])
                texts += _values(parts, "output_text", "text")
                refusals += _values(parts, "refusal", "refusal")
            case {"type": "function_call", "name": str() as name, "call_id": str() as id_}:
                calls.append(openai_call(id_, name, cast(dict[str, Any], item).get("arguments")))
                plain = False
            case {"type": "reasoning"}:
                summary = cast(dict[str, Any], item).get("summary")
                thoughts += _values(summary, "summary_text", "text")
                plain = False
            case _:
                plain = False
    exact = not plain and all(isinstance(item, dict) for item in items)
    return assistant_message(PROVIDER, texts, calls, thoughts, items if exact else None, "".join(refusals))


def _values(parts: Any, kind: str, name: str) -> Iterator[str]:
    """The texts under a key in the parts of one type."""
    for part in as_list(parts):
        fields = as_object(part)
        if fields.get("type") == kind and isinstance(fields.get(name), str):
            yield fields[name]


def _finish_reason(answer: dict[str, Any], message: Message) -> str | None:
    match answer:
        case {"status": "incomplete", "incomplete_details": {"reason": str() as reason}}:
            return chat_finish_reason(reason, message)
        case {"status": "completed"} if message.get("refusal"):
            return "content_filter"
        case _:
            return chat_finish_reason(answer.get("status"), message)


def _usage(counts: dict[str, Any]) -> dict[str, Any]:
    """The provider's counts, also under the names of chat completions."""
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
    return {**{ours: counts[name] for ours, name in names.items() if name in counts}, **counts}
