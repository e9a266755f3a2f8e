"""A model through Inspect: `inspect/PROVIDER/MODEL`, extra `[inspect]`. Not wire-exact: Inspect converts requests."""

import os
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

from wildtool.errors import CallError, UsageError
from wildtool.json_codec import as_list, dumps
from wildtool.models.extras import import_for
from wildtool.models.http.endpoint import RETRYABLE_STATUSES
from wildtool.models.openai_messages import (
    CallIds,
    Changes,
    UnsendableError,
    arguments_object,
    content_text,
    functions_of,
    history_calls,
    openai_call,
    provider_content_of,
    record_dropped,
)
from wildtool.models.settings import UNSET, Sampling
from wildtool.types import PROVIDER_CONTENT, Message, Reply, Request

NOT_WIRE_EXACT = "not-wire-exact"
"""Recorded with every step: Inspect decides what is sent."""
_PROVIDER = "inspect"
_FINISHES = {"max_tokens": "length", "model_length": "length"}
_SCHEMA_KEYS = ("type", "properties", "required", "additionalProperties")


class InspectModel:
    """Converts requests into Inspect's messages and tools, and its answers into OpenAI's shape."""

    def __init__(
        self,
        name: str,
        inner: Any,
        sampling: Sampling = UNSET,
    ) -> None:
        """Args: inner: what `inspect_ai.model.get_model` returned."""
        self.name = name
        self._inner = inner
        self._chat: Any = import_module("inspect_ai.model")
        self._tools: Any = import_module("inspect_ai.tool")
        self._sampling = sampling

    def settings(self) -> Mapping[str, Any]:
        """The provider, Inspect's version, and sampling; never a key."""
        provider, _, model = str(self._inner).partition("/")
        return {
            # Marks it as a network model, so that limits and prices apply; only Inspect knows the address.
            "base_url": f"inspect:{provider}",
            "sent_as": model,
            "library": f"inspect_ai {import_module('inspect_ai').__version__}",
            "wire_exact": False,
            **self._sampling.limits(),
            **({} if self._sampling.seed is None else {"seed": self._sampling.seed}),
            "extra_body": self._sampling.body,
        }

    async def complete(self, request: Request) -> Reply:
        """Calls once. Raises CallError if Inspect cannot express the request, or the call failed."""
        changes: Changes = {NOT_WIRE_EXACT: None}
        try:
            ids = CallIds(r"\s\S", 10_000)
            messages = [self._message(message, ids, changes) for message in request.messages]
            tools = [self._tool(function, changes) for function in functions_of(request)]
            config = self._config(request)
        except (ValueError, TypeError) as error:
            message = f"the request cannot be sent through Inspect: {error}"
            raise CallError("unsendable request", message, final=True) from error
        started = time.perf_counter()
        try:
            output = await self._inner.generate(messages, tools=tools, config=config)
        except Exception as error:
            # Each provider's library raises its own classes.
            raise self._call_error(error) from error
        reply = self._reply(output, changes)
        return replace(reply, latency_s=time.perf_counter() - started, changes=tuple(changes))

    async def close(self) -> None:
        """Closes the provider's connections."""
        await self._inner.api.aclose()

    def _config(self, request: Request) -> Any:
        limits = self._sampling.limits()
        if (seed := self._sampling.seed_of(request)) is not None:
            limits["seed"] = seed
        if body := self._sampling.body:
            limits["extra_body"] = body
        # The engine retries and counts retries.
        return self._chat.GenerateConfig(max_retries=0, **limits)

    def _message(self, message: Message, ids: CallIds, changes: Changes) -> Any:
        role, content = message.get("role"), message.get("content")
        if role == "assistant":
            return self._assistant(message, ids, changes)
        text = content_text(content)
        if content is not None and not isinstance(content, str):
            changes["content-parts-joined"] = None
        keys = ("role", "content", "tool_call_id", "name") if role == "tool" else ("role", "content")
        record_dropped("message-key-dropped", message, keys, changes)
        if role == "tool":
            id_, name = ids.for_result(message.get("tool_call_id"), changes)
            return self._chat.ChatMessageTool(content=text, tool_call_id=id_, function=name)
        if role == "user":
            return self._chat.ChatMessageUser(content=text)
        if role not in ("system", "developer"):
            raise UnsendableError(f"there is no role {role!r}")
        if role == "developer":
            changes["developer-as-system"] = None
        return self._chat.ChatMessageSystem(content=text)

    def _assistant(self, message: Message, ids: CallIds, changes: Changes) -> Any:
        content = provider_content_of(_PROVIDER, message)
        if content:
            original = self._chat.ChatMessageAssistant.model_validate(content[0])
            if _openai_message(original, {}) == {
                key: value for key, value in message.items() if key != PROVIDER_CONTENT
            }:
                for call in _calls(original):
                    ids.register(call.id, call.id, call.function)
                return original
        record_dropped("message-key-dropped", message, ("role", "content", "tool_calls"), changes)
        calls = [
            self._tools.ToolCall(
                id=ids.for_call(call.id, call.name, changes),
                function=call.name,
                arguments=arguments_object(call.arguments, changes),
            )
            for call in history_calls(message, changes)
        ]
        return self._chat.ChatMessageAssistant(
            content=content_text(message.get("content")), tool_calls=calls or None
        )

    def _tool(self, function: Mapping[str, Any], changes: Changes) -> Any:
        schema: dict[str, Any] = function.get("parameters") or {}
        parameters = self._tools.ToolParams.model_validate(
            {key: value for key, value in schema.items() if key in _SCHEMA_KEYS}
        )
        if parameters.model_dump(exclude_none=True, exclude_unset=True) != schema:
            changes["schema-remodelled"] = None
        return self._tools.ToolInfo(
            name=function["name"], description=function.get("description") or "", parameters=parameters
        )

    def _reply(self, output: Any, changes: Changes) -> Reply:
        if not output.choices:
            raise CallError("wrong shape", f"{self.name} gave no reply: {output.error or 'no choice'}")
        choice = output.choices[0]
        message = _openai_message(choice.message, changes)
        dumped = choice.message.model_dump(mode="json", exclude_none=True)
        if not isinstance(choice.message.content, str):
            message[PROVIDER_CONTENT] = {_PROVIDER: [dumped]}
        return Reply(
            message,
            raw=dumps(output.model_dump(mode="json", exclude_none=True)).decode("utf-8", "replace"),
            finish_reason=_FINISHES.get(choice.stop_reason, choice.stop_reason),
            usage=_usage(output.usage),
        )

    def _call_error(self, error: Exception) -> CallError:
        """The error of a call; without a status, Inspect's adapter says whether a retry may help."""
        last = getattr(error, "last_attempt", None)
        cause: Any = error if last is None else last.exception()
        status = getattr(cause, "status_code", None)
        message = f"{self.name} through Inspect: {type(cause).__name__}: {_without_keys(str(cause))[:500]}"
        if isinstance(status, int):
            return CallError(
                f"http {status}", message, final=300 <= status < 500 and status not in RETRYABLE_STATUSES
            )
        return CallError("provider error", message, final=not self._inner.api.should_retry(cause))


def inspect_model(name: str, model: str, sampling: Sampling) -> InspectModel:
    """Inspect's model `PROVIDER/MODEL`.

    Raises UsageError if Inspect, the provider's library or its key is missing, or Inspect has no such provider.
    """
    chat = import_for(name, "inspect_ai.model", "inspect")
    try:
        # Not shared: each run closes its own.
        inner = chat.get_model(model, memoize=False)
    except Exception as error:
        # Inspect does not publish the class it raises when the provider's library or key is missing.
        cause = getattr(error, "message", error)
        raise UsageError(f"model {name!r} cannot be called through Inspect: {cause}") from error
    return InspectModel(name, inner, sampling)


def _without_keys(text: str) -> str:
    """A text without the keys of the environment, one of which Inspect used."""
    for name, value in os.environ.items():
        if len(value) >= 8 and re.search("KEY|TOKEN|SECRET|PASSWORD", name, re.IGNORECASE):
            text = text.replace(value, "***")
    return text


def _openai_message(message: Any, changes: Changes) -> Message:
    """An Inspect message in OpenAI's shape."""
    content: Any = message.content
    parts = as_list(content)
    thoughts = [part.reasoning for part in parts if part.type == "reasoning" and not part.redacted]
    reply_text = message.text or (None if message.tool_calls else "")
    converted: Message = {"role": "assistant", "content": reply_text}
    if thoughts:
        converted["reasoning_content"] = "\n".join(thoughts)
    calls: list[dict[str, Any]] = []
    for call in _calls(message):
        if call.parse_error:
            # Inspect drops text that it cannot parse; its error message does not parse either, as the judge will find.
            changes["malformed-arguments-lost"] = None
        calls.append(openai_call(call.id, call.function, call.parse_error or call.arguments))
    if calls:
        converted["tool_calls"] = calls
    return converted


def _calls(message: Any) -> list[Any]:
    return cast(list[Any], message.tool_calls or [])


def _usage(usage: Any) -> dict[str, Any]:
    """Counts under the names of chat completions, cached tokens included, beside Inspect's own."""
    if usage is None:
        return {}
    own = cast(dict[str, Any], usage.model_dump(mode="json", exclude_none=True))
    cached = [own.get(f"input_tokens_cache_{way}", 0) for way in ("read", "write")]
    return {
        "prompt_tokens": own["input_tokens"] + sum(cached),
        "completion_tokens": own["output_tokens"],
        "total_tokens": own["total_tokens"],
        "inspect": own,
    }
