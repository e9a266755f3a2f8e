"""Messages that spans hold as one attribute per field, also where an exporter has put them into lists again.

OpenInference writes `llm.input_messages.0.message.role`, OpenLLMetry `gen_ai.prompt.0.role`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.shapes.calls import is_call
from wildtool.shapes.keys import FUNCTION, SCHEMA_KEYS
from wildtool.shapes.results import is_result
from wildtool.types import Message

ReadJson = Callable[[Any], Any]
"""A value that may be written as a JSON text; None where it is no JSON."""
_ANSWERS = ("llm.output_messages", "gen_ai.completion", "llm.completions")
"""Where a model answers, and a role may be missing."""
_MESSAGES = ("llm.input_messages", "gen_ai.prompt", "llm.prompts", *_ANSWERS)
_TOOLS = ("llm.tools", "llm.request.functions")
_LEAVES = frozenset({"content", "json_schema", *SCHEMA_KEYS})
"""Fields whose values stay as they are."""
_INDEXED = re.compile(rf"({'|'.join(map(re.escape, (*_MESSAGES, *_TOOLS)))})\.(\d{{1,6}})\.(\S{{1,200}})")
_CALL = re.compile(r"tool_calls\.(\d{1,6})\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_TEXT = re.compile(r"contents\.(\d{1,6})\.message_content\.text")
_FIELD = re.compile(
    r"role|content|name|tool_call_id|finish_reason|reasoning|function_call.*"
    r"|tool_calls\.\d+\.(?:tool_call\.)?(?:type|(?:function\.)?(?:id|name|arguments))"
    r"|contents\.\d+\.(?:message_content\.(?:type|text|image.*|signature|id)|tool_call\..*)"
)
"""Fields of a message that are read, or say nothing to a model."""
_NUMBER = re.compile(r"\.\d+")
_LEGACY_CALL = (
    ("function_call_name", "function_call_arguments_json"),
    ("function_call.name", "function_call.arguments"),
)
Fields = dict[str, Any]


def indexed_messages(attributes: Mapping[str, Any], read: ReadJson) -> tuple[list[Message], list[str]]:
    """The messages of a span, what the model was sent, then what it answered, and names of fields that no message has.
    Parts are as the span has them."""
    entries = _indexed(attributes, read)
    names = [field for name in _MESSAGES for fields in entries.get(name, ()) for field in fields]
    unknown = [_NUMBER.sub(".N", field) for field in names if not _FIELD.fullmatch(field)]
    messages = [_message(fields, name, read) for name in _MESSAGES for fields in entries.get(name, ())]
    return messages, unknown


def indexed_tools(attributes: Mapping[str, Any], read: ReadJson) -> list[dict[str, Any]]:
    """The definitions of the tools that the model was offered, as the span has them."""
    entries = _indexed(attributes, read)
    return [_tool(fields, read) for name in _TOOLS for fields in entries.get(name, ())]


def _indexed(attributes: Mapping[str, Any], read: ReadJson) -> dict[str, list[Fields]]:
    """For each list its entries in order, as fields by the rest of their name."""
    entries: dict[str, dict[int, Fields]] = {}
    for name, value in _flattened(attributes, read):
        if match := _INDEXED.fullmatch(name):
            rest = match[3].removeprefix("message.").removeprefix("tool.")
            entries.setdefault(match[1], {}).setdefault(int(match[2]), {})[rest] = value
    return {name: [rows[k] for k in sorted(rows)] for name, rows in entries.items()}


def _flattened(attributes: Mapping[str, Any], read: ReadJson) -> Iterator[tuple[str, Any]]:
    """Names and values, of nested ones with all names on the way; texts and schemas stay as they are."""
    pending: list[tuple[str, Any]] = list(attributes.items())
    while pending:
        name, value = pending.pop()
        if name in (*_MESSAGES, *_TOOLS):
            value = read(value)
        leaf = name.rpartition(".")[2] in _LEAVES
        if isinstance(value, dict) and not leaf:
            pending += [(f"{name}.{key}", inner) for key, inner in as_object(value).items()]
        elif isinstance(value, list) and not leaf:
            pending += [(f"{name}.{k}", inner) for k, inner in enumerate(as_list(value))]
        else:
            yield name, value


def _message(fields: Fields, place: str, read: ReadJson) -> Message:
    calls: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        if match := _CALL.fullmatch(name):
            calls.setdefault(int(match[1]), {})[match[2]] = value
    for call_name, arguments in _LEGACY_CALL:
        if call_name in fields:
            calls[len(calls)] = {"name": fields[call_name], "arguments": fields.get(arguments)}
    role = fields.get("role", "assistant" if place in _ANSWERS else None)
    message: Message = {"role": role, "content": _content(fields, read)}
    message |= {name: fields[name] for name in ("tool_call_id", "name") if name in fields}
    if calls:
        message["tool_calls"] = [calls[k] for k in sorted(calls)]
    return message


def _content(fields: Fields, read: ReadJson) -> Any:
    """The text of a message, or its parts."""
    texts = {int(match[1]): text for name, text in fields.items() if (match := _TEXT.fullmatch(name))}
    content = fields.get("content")
    if content is None:
        return "\n".join(str(texts[k]) for k in sorted(texts))
    parts = as_list(read(content))
    is_parts = all(map(_is_part, parts))
    return parts if parts and is_parts else content


def _is_part(value: Any) -> bool:
    """Whether an entry of a list is a part of a message; Bedrock's say what they are by their key alone."""
    part = as_object(value)
    return "type" in part or part.keys() == {"text"} or is_call(part) or is_result(part)


def _tool(fields: Fields, read: ReadJson) -> dict[str, Any]:
    """A definition, with the name and the description that stand beside its schema."""
    definition = as_object(read(fields.get("json_schema")))
    beside = {name: value for name, value in fields.items() if name != "json_schema" and value is not None}
    if not definition:
        return beside
    if isinstance(definition.get(FUNCTION), dict):
        return {**definition, FUNCTION: {**beside, **as_object(definition[FUNCTION])}}
    if "name" not in definition and "properties" in definition:
        return {**beside, "parameters": definition}
    return {**beside, **definition}
