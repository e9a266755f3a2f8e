"""Anthropic's Messages API: converts OpenAI-shaped chats and content blocks, and keeps signed thinking.

Parameters whose names it refuses are sent under similar names, and translated back.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, cast

from wildtool.errors import CallError
from wildtool.json_codec import as_object
from wildtool.models.batch.anthropic import AnthropicBatchClient
from wildtool.models.http.failures import ProviderFailure
from wildtool.models.http.streams import join_anthropic
from wildtool.models.openai_messages import (
    Changes,
    arguments_object,
    assistant_message,
    chat_finish_reason,
    functions_of,
    openai_call,
    provider_content_of,
    record_dropped,
    usage_with_totals,
    wire_names,
)
from wildtool.models.providers.base import HttpModel, WireRequest
from wildtool.models.providers.turn_builder import TurnBuilder, TurnPart
from wildtool.models.token_usage import summed_usage
from wildtool.reply_ends import End, reason_end
from wildtool.types import Message, Reply, Request

ParameterNames = Mapping[str, Mapping[str, str]]
"""By the sent name of a tool: the name to send for each refused parameter."""


def refused_parameters(
    schemas: Iterable[tuple[str, Any]], allowed: str, longest: int
) -> dict[str, dict[str, str]]:
    """The parameters of each tool that cannot keep their names; tools without such parameters are left out.

    Args:
        schemas: sent name and schema of each tool; only names at the top level are checked.
        allowed: characters of a name, as the inside of a regular expression's class.
        longest: maximum length.
    """
    renames: dict[str, dict[str, str]] = {}
    for tool, schema in schemas:
        names = list(as_object(as_object(schema).get("properties")))
        right = re.compile(f"[{allowed}]{{1,{longest}}}")
        used = {name for name in names if right.fullmatch(name)}
        for name in names:
            if name not in used:
                sent = _allowed_name(name, allowed, longest, used)
                used.add(sent)
                renames.setdefault(tool, {})[name] = sent
    return renames


def _allowed_name(name: str, allowed: str, longest: int, used: set[str]) -> str:
    sent = re.sub(f"[^{allowed}]", "_", name)
    if sent in used or len(sent) > longest or not sent.strip("_"):
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        sent = f"{sent.strip('_')[: longest - 9] or 'p'}_{digest}"
    return sent


def rename_properties(schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A schema with its properties under the names to send; a changed one keeps its own name as `title`."""
    properties = as_object(schema.get("properties"))
    renamed = {
        **schema,
        "properties": {names.get(key, key): _titled(key, value, names) for key, value in properties.items()},
    }
    required: Any = schema.get("required")
    if isinstance(required, list):
        renamed["required"] = [
            names.get(name, name) if isinstance(name, str) else name for name in cast("list[Any]", required)
        ]
    return renamed


def _titled(key: str, schema: Any, names: Mapping[str, str]) -> Any:
    if key not in names or not isinstance(schema, dict):
        return schema
    return {"title": key, **cast("dict[str, Any]", schema)}


def rename_arguments(arguments: Any, names: Mapping[str, str]) -> Any:
    """Arguments under other names; anything but an object is unchanged."""
    if not names or not isinstance(arguments, dict):
        return arguments
    return {names.get(key, key): value for key, value in cast("dict[str, Any]", arguments).items()}


def original_names(parameters: ParameterNames) -> dict[str, dict[str, str]]:
    """The tools' own names by the sent ones."""
    return {tool: {sent: name for name, sent in names.items()} for tool, names in parameters.items()}


PROVIDER = "anthropic"
API_VERSION = "2026-10-21"
"""The API version that its SDKs send. It has no sampling parameters."""
SAMPLING_API_VERSION = "2023-06-01"
"""The last version with sampling parameters; sent if the user sets one."""
_SAMPLING = ("temperature", "top_p", "top_k")
_OLD_VERSION, _SYSTEM_AT_TOP, _NO_TEMPERATURE = "old version", "system at the top", "no temperature"
MAX_TOKENS = 4096
"""The protocol demands a limit; this one is sent if the user sets none."""
_NAME, _LONGEST_NAME = "a-zA-Z0-9_-", 128
_PARAMETER, _LONGEST_PARAMETER = "a-zA-Z0-9_.-", 64
_PROMPT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
MOST_CONTINUATIONS = 20
"""How often a turn that the provider pauses is sent back to be continued."""


class AnthropicModel(HttpModel):
    """A model behind `POST {base_url}/messages`."""

    path = "/messages"
    batch_client = AnthropicBatchClient
    reserved = ("model", "system", "messages", "tools")
    key_header = "x-api-key"
    join_stream = staticmethod(join_anthropic)
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": API_VERSION}
    has_seed = False
    fallbacks: ClassVar[Mapping[str, re.Pattern[str]]] = {
        _SYSTEM_AT_TOP: re.compile(
            r"(?i)\brole\b.{0,80}(?:\bsystem\b|'user' or 'assistant')|\bvariant `system`"
        ),
        _NO_TEMPERATURE: re.compile(
            r"(?i)\btemperature`?:? (?:is (?:deprecated|not supported)|extra inputs)"
        ),
        _OLD_VERSION: re.compile(r"(?i)anthropic-version"),
    }

    def __init__(self, *positional: Any, **settings: Any) -> None:
        """Like `HttpModel`; the version of the API depends on the settings."""
        super().__init__(*positional, **settings)
        if any(name in self._given or name in self._extra for name in _SAMPLING):
            self.on_fallback(_OLD_VERSION)

    def on_fallback(self, fallback: str) -> None:
        """Changes the header with the version of the API."""
        if fallback == _OLD_VERSION:
            self._endpoint.send_header("anthropic-version", SAMPLING_API_VERSION)

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All of them, except a temperature that the model refuses."""
        refused = ("temperature",) if _NO_TEMPERATURE in self._active_fallbacks else ()
        return {name: value for name, value in settings.items() if name not in refused}

    def default_max_tokens(self, max_tokens: int | None) -> int:
        """The user's limit, else `MAX_TOKENS`."""
        return MAX_TOKENS if max_tokens is None else max_tokens

    def build(self, request: Request) -> WireRequest:
        """System texts at the top, or in place if the API accepts that; content blocks; tools with `input_schema`."""
        changes: Changes = {}
        names = wire_names(request, changes, _NAME, _LONGEST_NAME)
        schemas = [
            (names[function["name"]], function.get("parameters")) for function in functions_of(request)
        ]
        parameters = refused_parameters(schemas, _PARAMETER, _LONGEST_PARAMETER)
        if parameters:
            changes["parameter-name-mapped"] = None
        if _NO_TEMPERATURE in self._active_fallbacks and "temperature" in self._given:
            changes["temperature-not-sent"] = None
        blocks = _BlockBuilder(names, changes, parameters)
        blocks.late_instructions = _SYSTEM_AT_TOP not in self._active_fallbacks
        system, messages = blocks.build(request)
        fields: dict[str, Any] = {"model": self._model}
        if system:
            fields["system"] = system
        fields["messages"] = messages
        if request.tools:
            fields["tools"] = [
                _tool(function, names, parameters, changes) for function in functions_of(request)
            ]
        own = {sent: name for name, sent in names.items()}
        return WireRequest(fields, tuple(changes), own, len(request.messages), original_names(parameters))

    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        """Texts, calls and thinking; the blocks are kept too where they contain more."""
        match parsed:
            case {"type": "message", "content": list()}:
                answer = cast(dict[str, Any], parsed)
            case _:
                return None
        reason: object = answer.get("stop_reason")
        # The parts of a turn are joined by their blocks.
        continues = [turn["role"] for turn in request.fields.get("messages", ())][-1:] == ["assistant"]
        partial = continues or reason_end(reason) == End.PAUSED
        message = _message(answer["content"], request.tool_names, request.parameter_names, keep=partial)
        return Reply(
            message=message,
            finish_reason=chat_finish_reason(reason, message),
            usage=usage_with_totals(answer.get("usage"), _PROMPT_COUNTS, ("output_tokens",)),
        )

    async def _complete(self, request: Request) -> Reply:
        """One turn; where the provider pauses it, it goes back as it is until it is over."""
        reply = await super()._complete(request)
        for _ in range(MOST_CONTINUATIONS):
            # Calls are answered, not continued.
            if reason_end(reply.finish_reason) != End.PAUSED or reply.message.get("tool_calls"):
                break
            so_far = replace(request, messages=[*request.messages, reply.message])
            try:
                reply = _joined(reply, await super()._complete(so_far))
            except CallError as error:
                error.usage = summed_usage(reply.usage, error.usage)
                raise
        return reply

    def failure(self, parsed: Any) -> ProviderFailure | None:
        """Also a refusal without any text, which the provider's classifiers make of the prompt."""
        if failure := super().failure(parsed):
            return failure
        match parsed:
            case {"stop_reason": "refusal", "content": [], "stop_details": {"explanation": str() as text}}:
                return ProviderFailure(text, blocked=True)
            case {"stop_reason": "refusal", "content": []}:
                return ProviderFailure("stop reason refusal", blocked=True)
            case _:
                return None


class _BlockBuilder(TurnBuilder):
    provider = PROVIDER
    model_role = "assistant"
    parts_key = "content"
    id_characters = "a-zA-Z0-9_-"

    def __init__(self, names: Mapping[str, str], changes: Changes, parameters: ParameterNames) -> None:
        super().__init__(names, changes)
        self._parameters = parameters

    def is_empty(self, text: str) -> bool:
        return not text.strip()

    def text_part(self, text: str) -> TurnPart:
        return {"type": "text", "text": text}

    def call_part(self, id_: str, name: str, arguments: dict[str, Any]) -> TurnPart:
        renamed = rename_arguments(arguments, self._parameters.get(name, {}))
        return {"type": "tool_use", "id": id_, "name": name, "input": renamed}

    def result_part(self, id_: str | None, name: str, text: str) -> TurnPart:
        return {"type": "tool_result", "tool_use_id": id_, "content": text}

    def is_result(self, part: TurnPart) -> bool:
        return part.get("type") == "tool_result"

    def parse_message(self, parts: list[Any], names: Mapping[str, str]) -> Message:
        return _message(parts, names, original_names(self._parameters))

    def call_ids(self, parts: list[Any]) -> list[str | None]:
        return [call["id"] for call in _message(parts, {}, {}).get("tool_calls", ())]

    def part_to_send(self, part: Any) -> Any:
        match part:
            case {"type": "text", "text": str() as text} if self.is_empty(text):
                self._changes["empty-content-dropped"] = None
                return None
            case {"type": "tool_use", "input": value} if not isinstance(value, dict):
                return {**cast(TurnPart, part), "input": arguments_object(value, self._changes)}
            case _:
                return part


def _tool(
    function: dict[str, Any], names: Mapping[str, str], parameters: ParameterNames, changes: Changes
) -> dict[str, Any]:
    keys = ("name", "description", "parameters", "strict")
    record_dropped("tool-key-dropped", function, keys, changes)
    tool: dict[str, Any] = {"name": names[function["name"]]}
    if function.get("description") is not None:
        tool["description"] = function["description"]
    schema: Any = function.get("parameters")
    if schema is None:
        changes["empty-schema-added"] = None
        schema = {"type": "object", "properties": {}}
    elif isinstance(schema, dict) and "type" not in schema:
        changes["schema-type-added"] = None
        schema = {"type": "object", **cast(dict[str, Any], schema)}
    if tool["name"] in parameters:
        schema = rename_properties(cast(dict[str, Any], schema), parameters[tool["name"]])
    tool["input_schema"] = schema
    if function.get("strict") is not None:
        tool["strict"] = function["strict"]
    return tool


def _joined(first: Reply, second: Reply) -> Reply:
    """Two parts of one turn as one reply."""
    parts = (first.message, second.message)
    message = assistant_message(
        PROVIDER,
        [part["content"] for part in parts if part.get("content")],
        [call for part in parts for call in part.get("tool_calls", ())],
        [part["reasoning_content"] for part in parts if part.get("reasoning_content")],
        [block for part in parts for block in provider_content_of(PROVIDER, part) or ()],
    )
    return replace(
        second,
        message=message,
        raw=f"{first.raw}\n{second.raw}",
        usage=summed_usage(first.usage, second.usage),
        latency_s=first.latency_s + second.latency_s,
        changes=tuple(dict.fromkeys((*first.changes, *second.changes))),
    )


def _message(
    blocks: list[Any], names: Mapping[str, str], parameters: ParameterNames, *, keep: bool = False
) -> Message:
    """The assistant message in content blocks, with tools and parameters under their own names.

    Args: keep: whether the blocks are kept even where the message has all of them.
    """
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    plain = True
    for block in blocks:
        match block:
            case {"type": "text", "text": str() as text}:
                texts.append(text)
                keys = {key for key, value in cast(dict[str, Any], block).items() if value is not None}
                plain = plain and not calls and len(texts) == 1 and keys == {"type", "text"}
            case {"type": "tool_use", "name": str() as name, "id": str() as id_, "input": arguments}:
                arguments = rename_arguments(arguments, parameters.get(name, {}))
                calls.append(openai_call(id_, names.get(name, name), arguments))
                plain = plain and isinstance(arguments, dict) and len(cast(dict[str, Any], block)) == 4
            case {"type": "thinking", "thinking": str() as thought}:
                thoughts.append(thought)
                plain = False
            case _:
                plain = False
    return assistant_message(PROVIDER, texts, calls, thoughts, None if plain and not keep else blocks)
