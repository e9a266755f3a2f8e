"""Chat completions, of OpenAI and every compatible server, with requests and replies unchanged; and completions, which
continue one raw text without a chat template, as base models need it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from wildtool.advice import Advice
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.models.batch.openai import OpenAIBatchClient
from wildtool.models.http.deltas import objects
from wildtool.models.http.failures import ProviderFailure, failure_of_error
from wildtool.models.http.streams import join_chat
from wildtool.models.openai_messages import Changes
from wildtool.models.providers.base import HttpModel, WireRequest
from wildtool.models.providers.chat_changes import (
    SIGNATURES_REFUSED,
    split_parallel_calls,
    with_empty_reasoning,
    with_short_ids,
    with_signatures,
    without_reasoning,
)
from wildtool.types import Reply, Request

_SHORT_IDS, _SINGLE_CALLS = "short ids", "one call a message"
_NO_REASONING, _REASONING, _SIGNATURES = "no reasoning", "reasoning in every reply", "thought signatures"
_KEY_IN_MESSAGE = r"\bmessages\b\W{0,4}\d.{0,200}\b\w{0,30}(?:reasoning|thinking|thought|encrypted)\w{0,30}\b"
_REFUSED = r"\b(?:unsupported|not supported|not permitted|not allowed|unexpected|unknown|unrecognized)\b"


class OpenAIModel(HttpModel):
    """A model at `POST {base_url}/chat/completions`. Only calls in the history that the endpoint refuses are changed."""

    path = "/chat/completions"
    batch_client = OpenAIBatchClient
    stream_fields: ClassVar[Mapping[str, Any]] = {"stream": True, "stream_options": {"include_usage": True}}
    reserved = ("model", "messages", "tools")
    names_end = False  # compatible servers may leave it out
    join_stream = staticmethod(join_chat)
    refused_still: ClassVar[Mapping[str, tuple[str, str]]] = {
        _REASONING: (
            "it refuses earlier replies with an empty reasoning, too",
            Advice.NO_THINKING,
        ),
        _SIGNATURES: SIGNATURES_REFUSED,
    }
    fallbacks: ClassVar[Mapping[str, re.Pattern[str]]] = {
        _SHORT_IDS: re.compile(
            r"(?i)tool call ids?\b.{0,200}\b(?:length (?:of )?9\b|has to be defined|non-empty)"
        ),
        _SINGLE_CALLS: re.compile(r"(?i)only supports single tool.calls at once"),
        _REASONING: re.compile(
            r"(?i)\bmissing\b.{0,40}\breasoning_content\b|\breasoning_content\b.{0,80}\b(?:must be|required|missing)\b"
        ),
        _NO_REASONING: re.compile(rf"(?is)\A(?=.*{_REFUSED}).*{_KEY_IN_MESSAGE}"),
        _SIGNATURES: re.compile(r"(?i)\bmissing\b.{0,20}\bthought_?signature\b"),
    }

    def build(self, request: Request) -> WireRequest:
        """Model, messages, and tools if any; nothing else."""
        changes: Changes = {}
        messages = request.messages
        if _SINGLE_CALLS in self._active_fallbacks:
            messages = split_parallel_calls(messages, changes)
        if _SHORT_IDS in self._active_fallbacks:
            messages = with_short_ids(messages, changes)
        if _NO_REASONING in self._active_fallbacks:
            messages = without_reasoning(messages, changes)
        if _REASONING in self._active_fallbacks:
            messages = with_empty_reasoning(messages, changes)
        if _SIGNATURES in self._active_fallbacks:
            messages = with_signatures(messages, changes)
        fields: dict[str, Any] = {"model": self._model, "messages": messages}
        if request.tools:
            fields["tools"] = request.tools
        return WireRequest(fields, tuple(changes))

    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        """The first choice's message as it is."""
        match parsed:
            case {"choices": [{"message": dict()} as message, *_]}:
                choice = as_object(message)
            case _:
                return None
        finish_reason: object = choice.get("finish_reason")
        return Reply(
            message=choice["message"],
            finish_reason=finish_reason if isinstance(finish_reason, str) else None,
            usage=as_object(as_object(parsed).get("usage")),
        )

    def failure(self, parsed: Any) -> ProviderFailure | None:
        """Also in the first choice: gateways answer 200 before the provider behind them fails."""
        if own := super().failure(parsed):
            return own
        answer = as_object(parsed)
        choice = as_object(next(iter(as_list(answer.get("choices"))), None))
        message = as_object(choice.get("message"))
        inside = [choice.get("error"), message.get("error")]
        if failure := next(filter(None, map(failure_of_error, inside)), None):
            return failure
        has_content = message.get("content") or message.get("tool_calls")
        if _is_filtered(answer.get("prompt_filter_results")) and not has_content:
            return ProviderFailure("the prompt was filtered", blocked=True)
        return None


def _is_filtered(results: Any) -> bool:
    """Whether the endpoint filtered the prompt, as Azure says beside the choices."""
    for result in objects(as_list(results)):
        checks = as_object(result.get("content_filter_results")).values()
        if any(check.get("filtered") is True for check in objects(checks)):
            return True
    return False


COMPLETION_TOKENS = 512
"""Tokens per reply by default: without a limit servers stop after 16, or never."""


class CompletionsModel(OpenAIModel):
    """A model at `POST {base_url}/completions`. The text of a request's one message is the prompt."""

    path = "/completions"
    batch_client = None
    reserved = ("model", "prompt")
    fallbacks: ClassVar[Mapping[str, re.Pattern[str]]] = {}

    def build(self, request: Request) -> WireRequest:
        """Model and prompt. Raises ValueError for tools, for several messages and for one that is no text."""
        return WireRequest({"model": self._model, "prompt": prompt_of(request)})

    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        """The first choice's text; a prompt that the server repeats before it is cut off."""
        reply = super().parse(_as_chat(parsed, "message"), request)
        if reply is None:
            return None
        text, prompt = reply.message["content"], request.fields["prompt"]
        if not text.startswith(prompt):
            return reply
        message = {**reply.message, "content": text.removeprefix(prompt)}
        return Reply(
            message, finish_reason=reply.finish_reason, usage=reply.usage, changes=("repeated-prompt-cut",)
        )

    def join_stream(self, parts: Iterable[Any]) -> Any:
        """The answer in chunks, as a chat completion."""
        return join_chat(_as_chat(part, "delta") for part in parts)

    def default_max_tokens(self, max_tokens: int | None) -> int | None:
        return COMPLETION_TOKENS if max_tokens is None else max_tokens

    def settings(self) -> Mapping[str, Any]:
        return {**super().settings(), "api": "completions"}


def prompt_of(request: Request) -> str:
    """The raw text that a request wants to be continued. Raises ValueError if it is not one text."""
    texts = [message.get("content") for message in request.messages]
    if len(texts) != 1 or not isinstance(texts[0], str) or request.tools:
        raise ValueError("a completion takes one text and no tools")
    return texts[0]


def _as_chat(answer: Any, key: str) -> Any:
    """An answer with the text of each choice where chat completions have it; unchanged if there is none."""
    fields = as_object(answer)
    return {**fields, "choices": list(_choices(fields["choices"], key))} if "choices" in fields else answer


def _choices(choices: Any, key: str) -> Iterator[dict[str, Any]]:
    for choice in as_objects(choices):
        text = choice.get("text")
        yield {**choice, key: {"role": "assistant", "content": text}} if isinstance(text, str) else choice
