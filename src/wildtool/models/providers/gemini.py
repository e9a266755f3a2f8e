"""Google's generateContent: converts OpenAI-shaped chats and parts, and keeps thought signatures."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, cast
from urllib.parse import quote

from wildtool.json_codec import as_object
from wildtool.models.http.failures import ProviderFailure, failure_of_error
from wildtool.models.http.streams import join_gemini
from wildtool.models.openai_messages import (
    Changes,
    arguments_object,
    assistant_message,
    chat_finish_reason,
    functions_of,
    openai_call,
    record_dropped,
    usage_with_totals,
    wire_names,
)
from wildtool.models.providers.base import HttpModel, WireRequest
from wildtool.models.providers.chat_changes import SIGNATURES_REFUSED
from wildtool.models.providers.turn_builder import TurnBuilder, TurnPart
from wildtool.models.thought_signatures import NO_SIGNATURE
from wildtool.types import Message, Reply, Request

PROVIDER = "gemini"
_NAME, _LONGEST_NAME, _NAME_BEGINS = "a-zA-Z0-9_.-", 64, "a-zA-Z_"
_PROMPT_COUNTS = ("promptTokenCount", "toolUsePromptTokenCount")
_COMPLETION_COUNTS = ("candidatesTokenCount", "thoughtsTokenCount")
_OPTIONS = {"temperature": "temperature", "max_tokens": "maxOutputTokens", "seed": "seed"}
_SIGNATURES = "thought signatures"
_FAILED = {"MISSING_THOUGHT_SIGNATURE": 400, "PUP_LIMITED_DISABLED": 403}
"""Finish reasons that say nothing about the model, with the HTTP status of each."""


class GeminiModel(HttpModel):
    """A model behind `POST {base_url}/models/NAME:generateContent`."""

    path = "/{model}:generateContent"
    stream_path = "/{model}:streamGenerateContent"
    stream_query: ClassVar[Mapping[str, str]] = {"alt": "sse"}
    stream_fields: ClassVar[Mapping[str, Any]] = {}
    reserved = ("contents", "systemInstruction", "system_instruction", "tools")
    key_header = "x-goog-api-key"
    join_stream = staticmethod(join_gemini)
    refused_still: ClassVar[Mapping[str, tuple[str, str]]] = {_SIGNATURES: SIGNATURES_REFUSED}
    fallbacks: ClassVar[Mapping[str, re.Pattern[str]]] = {
        _SIGNATURES: re.compile(r"(?i)\bmissing\b.{0,20}\bthought_?signature\b|\bMISSING_THOUGHT_SIGNATURE\b")
    }

    def model_path(self, path: str) -> str:
        """The path with `models/NAME`; a name with a slash is used whole."""
        name = self._model if "/" in self._model else f"models/{self._model}"
        return path.replace("{model}", quote(name, safe="/"))

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All of them, in `generationConfig`."""
        config = {_OPTIONS[option]: value for option, value in settings.items()}
        return {"generationConfig": config} if config else {}

    def build(self, request: Request) -> WireRequest:
        """The system instruction, contents of parts, tools with `parametersJsonSchema`."""
        changes: Changes = {}
        names = wire_names(request, changes, _NAME, _LONGEST_NAME, _NAME_BEGINS)
        builder = _ContentBuilder(names, changes)
        builder.signs_calls = _SIGNATURES in self._active_fallbacks
        system, contents = builder.build(request)
        fields: dict[str, Any] = {"contents": contents}
        if system:
            fields["systemInstruction"] = {"parts": system}
        if request.tools:
            declared = [_declaration(function, names, changes) for function in functions_of(request)]
            fields["tools"] = [{"functionDeclarations": declared}]
        return WireRequest(
            fields, tuple(changes), {sent: name for name, sent in names.items()}, len(request.messages)
        )

    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        """Texts, calls and thoughts of the first candidate; a filtered answer is an empty one."""
        if not isinstance(parsed, dict):
            return None
        answer = cast(dict[str, Any], parsed)
        usage = usage_with_totals(answer.get("usageMetadata"), _PROMPT_COUNTS, _COMPLETION_COUNTS)
        match answer:
            case {"candidates": [dict(), *_]}:
                candidate: dict[str, Any] = answer["candidates"][0]
            case _:
                return None
        match candidate.get("content"):
            case {"parts": list()}:
                message = _message(candidate["content"]["parts"], request.tool_names, request.message_count)
            case _:
                message = {"role": "assistant", "content": ""}
        # A blocked prompt decides, whatever was written all the same.
        reason = "SAFETY" if _block_reason(answer) else candidate.get("finishReason")
        return Reply(message, "", chat_finish_reason(reason, message), usage)

    def failure(self, parsed: Any) -> ProviderFailure | None:
        """Also a blocked prompt, which has no candidates."""
        if failure := super().failure(parsed):
            return failure
        match parsed:
            case {"candidates": [{"error": error}, *_]} if error:
                return failure_of_error(error)
            case {"candidates": [{"finishReason": str() as reason}, *_]} if reason in _FAILED:
                return ProviderFailure(f"the reply ended with the finish reason {reason}", _FAILED[reason])
            case {"candidates": [dict(), *_]}:
                return None
            case _:
                reason = _block_reason(parsed)
                return ProviderFailure(f"block reason {reason}", blocked=True) if reason else None


class _ContentBuilder(TurnBuilder):
    provider = PROVIDER
    model_role = "model"
    parts_key = "parts"
    id_characters = "\\x21-\\x7e"
    signs_calls = False
    """Whether a call that no Gemini model made gets the placeholder for its signature."""

    def is_empty(self, text: str) -> bool:
        return not text

    def text_part(self, text: str) -> TurnPart:
        return {"text": text}

    def call_part(self, id_: str, name: str, arguments: dict[str, Any]) -> TurnPart:
        call: TurnPart = {"functionCall": {"id": id_, "name": name, "args": arguments}}
        if self.signs_calls:
            self._changes["thought-signature-added"] = None
            call["thoughtSignature"] = NO_SIGNATURE
        return call

    def result_part(self, id_: str | None, name: str, text: str) -> TurnPart:
        # A result must be an object, whatever the tool returned.
        self._changes["tool-result-wrapped"] = None
        answered: TurnPart = {} if id_ is None else {"id": id_}
        return {"functionResponse": {**answered, "name": name, "response": {"output": text}}}

    def is_result(self, part: TurnPart) -> bool:
        return "functionResponse" in part

    def parse_message(self, parts: list[Any], names: Mapping[str, str]) -> Message:
        return _message(parts, names, 0)

    def call_ids(self, parts: list[Any]) -> list[str | None]:
        calls = (as_object(as_object(part).get("functionCall")) for part in parts)
        return [_given_id(call) for call in calls if isinstance(call.get("name"), str)]

    def part_to_send(self, part: Any) -> Any:
        match part:
            case {"text": ""} if len(cast(TurnPart, part)) == 1:
                self._changes["empty-content-dropped"] = None
                return None
            case {"functionCall": {"args": arguments} as call} if not isinstance(arguments, dict):
                mended = {**cast(TurnPart, call), "args": arguments_object(arguments, self._changes)}
                return {**cast(TurnPart, part), "functionCall": mended}
            case _:
                return part


def _declaration(function: dict[str, Any], names: Mapping[str, str], changes: Changes) -> dict[str, Any]:
    record_dropped("tool-key-dropped", function, ("name", "description", "parameters"), changes)
    declared: dict[str, Any] = {"name": names[function["name"]]}
    if function.get("description") is not None:
        declared["description"] = function["description"]
    if function.get("parameters") is not None:
        declared["parametersJsonSchema"] = function["parameters"]
    return declared


def _given_id(call: dict[str, Any]) -> str | None:
    id_ = call.get("id")
    return id_ if isinstance(id_, str) and id_ else None


def _message(parts: list[Any], names: Mapping[str, str], place: int) -> Message:
    """The assistant message in parts; a call without an id gets one made of its place."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    plain = True
    for part in parts:
        match part:
            case {"functionCall": {"name": str() as name} as function}:
                call = cast(dict[str, Any], function)
                id_ = _given_id(call) or f"call_{place}_{len(calls)}"
                calls.append(openai_call(id_, names.get(name, name), call.get("args") or {}))
                plain = False
            case {"text": str() as text, "thought": True}:
                thoughts.append(text)
                plain = False
            case {"text": str() as text}:
                texts.append(text)
                plain = plain and len(cast(dict[str, Any], part)) == 1
            case _:
                plain = False
    return assistant_message(PROVIDER, texts, calls, thoughts, None if plain else parts)


def _block_reason(answer: Any) -> str:
    """Why the prompt was blocked; empty if it was not."""
    reason = as_object(as_object(answer).get("promptFeedback")).get("blockReason")
    return reason if isinstance(reason, str) and reason != "BLOCKED_REASON_UNSPECIFIED" else ""
