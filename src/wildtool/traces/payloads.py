"""Requests and answers that a span holds whole, as an API or a framework has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.shapes.keys import MESSAGES_KEYS, ROLE_WORDS, TOOLS_KEYS
from wildtool.shapes.tools import looks_like_tools
from wildtool.traces.spans import read_json_text


@dataclass(slots=True)
class RawCall:
    """What one call of a model has, before it is read."""

    messages: list[Any] = field(default_factory=list[Any])
    record: Mapping[str, Any] | None = None
    """A request with its answer, in place of messages."""
    tools: list[Any] = field(default_factory=list[Any])
    unknown: list[str] = field(default_factory=list[str])
    """Fields that no message has; another convention of the span may have all."""


def calls_in(asked: Any, answered: Any) -> list[RawCall]:
    """The calls that a request and its answer are: one, or as many as a batch has."""
    asked, answered = _of_text(asked), _of_text(answered)
    if asked in (None, "", [], {}) and answered in (None, "", [], {}):
        return []
    batch = _batch(asked)
    if batch is not None:
        answers = as_list(as_object(answered).get("generations")) or [answered]
        return [_one(messages, _generation(answer)) for messages, answer in zip_longest(batch, answers)]
    return [_one(asked, _generation(answered))]


def _of_text(value: Any) -> Any:
    """What a JSON text holds; a text that is none as it is."""
    held = read_json_text(value)
    return value if held is None or isinstance(held, str | int | float | bool) else held


def _batch(asked: Any) -> list[Any] | None:
    """The conversations of a batch, as LangChain has them; None for a single one."""
    inner = as_object(asked).get("messages", asked)
    entries = as_list(inner)
    return entries if entries and all(isinstance(entry, list) for entry in entries) else None


def _generation(answered: Any) -> Any:
    """The message of LangChain's result."""
    value: Any = as_object(answered).get("generations", answered)
    while len(as_list(value)) == 1 and not _is_message(as_list(value)[0]):
        value = as_list(value)[0]
    held = as_object(value)
    if isinstance(held.get("combined_chunk_content"), str):
        # Logfire records what a stream said as one text.
        return held["combined_chunk_content"]
    if "message" in held and ("text" in held or "generation_info" in held):
        return held["message"]
    return value


def _is_message(value: Any) -> bool:
    held = as_object(value)
    return str(held.get("role")).lower() in ROLE_WORDS or "lc" in held


def _one(asked: Any, answered: Any) -> RawCall:
    answer = [] if answered in (None, "", [], {}) else [answered]
    if isinstance(asked, list):
        messages, tools = _without_tools(as_list(asked))
        if answer and isinstance(answer[0], str):
            answer = [{"role": "assistant", "content": answer[0]}]
        if all(map(_is_message, answer)):
            return RawCall([*messages, *answer], tools=tools)
        return RawCall(record={MESSAGES_KEYS[0]: messages, **_answers(answer)}, tools=tools)
    held = as_object(asked)
    config = as_object(held.get("config"))
    if config:
        # Gemini's requests have tools and instructions beside their contents.
        held = {**{key: value for key, value in held.items() if key != "config"}, **config}
    if not held:
        first = [{"role": "user", "content": asked}] if isinstance(asked, str) and asked else []
        return RawCall(record={MESSAGES_KEYS[0]: first, **_answers(answer)})
    return RawCall(record={"request": held, **_answers(answer)})


def _answers(answer: Sequence[Any]) -> dict[str, Any]:
    """An answer under the key that a log has it under; one of Gemini without what is around it."""
    if not answer:
        return {}
    content = as_object(as_object(answer[0]).get("content"))
    return {"response": content if "parts" in content else answer[0]}


def _without_tools(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """Messages, and the definitions that Langfuse appends to them as messages of the role tool."""
    contents = [as_object(message).get("content") for message in messages]
    definitions = [isinstance(each, dict) and looks_like_tools([each]) for each in contents]
    kept = [message for message, is_tool in zip(messages, definitions, strict=True) if not is_tool]
    return kept, [each for each, is_tool in zip(contents, definitions, strict=True) if is_tool]


def tools_in(value: Any) -> list[Any]:
    """The definitions in a value: a list of them, each perhaps a JSON text, or an object that has such a list."""
    held = read_json_text(value)
    if isinstance(held, list):
        return [_of_text(entry) for entry in as_list(held)]
    row = as_object(held)
    for key in (*TOOLS_KEYS, "function_tools"):
        if isinstance(row.get(key), list):
            return [*as_list(row[key]), *as_list(row.get("output_tools"))]
    inner = as_object(row.get("invocation_params"))
    return tools_in(inner) if inner else []
