"""Messages that spans hold as one attribute per field, also where an exporter has put them into lists again.

OpenInference writes `llm.input_messages.0.message.role`, OpenLLMetry `gen_ai.prompt.0.role`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.types import Message

ReadJson = Callable[[Any], Any]
"""A value that may be written as a JSON text; None where it is no JSON."""
_MESSAGES = (
    "llm.input_messages",
    "gen_ai.prompt",
    "llm.prompts",
    "llm.output_messages",
    "gen_ai.completion",
    "llm.completions",
)
_TOOLS = ("llm.tools", "llm.request.functions")
_INDEXED = re.compile(rf"({'|'.join(map(re.escape, (*_MESSAGES, *_TOOLS)))})\.(\d{{1,6}})\.(\S{{1,200}})")
_CALL = re.compile(r"tool_calls\.(\d{1,6})\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_TEXT = re.compile(r"contents\.(\d{1,6})\.message_content\.text")
_LEGACY_CALL = (
    ("function_call_name", "function_call_arguments_json"),
    ("function_call.name", "function_call.arguments"),
)
Fields = dict[str, Any]


def indexed_messages(attributes: Mapping[str, Any], read: ReadJson) -> list[Message]:
    """The messages of a span in OpenAI's shape: what the model was sent, then what it answered."""
    entries = _indexed(attributes, read)
    return [
        message
        for name in _MESSAGES
        for fields in entries.get(name, ())
        for message in _messages(fields, read)
    ]


def indexed_tools(attributes: Mapping[str, Any], read: ReadJson) -> list[dict[str, Any]]:
    """The definitions of the tools that the model was offered, as far as they have a name."""
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
    """Names and values, of nested ones with all names on the way; values of tools and arguments stay as they are."""
    pending: list[tuple[str, Any]] = list(attributes.items())
    while pending:
        name, value = pending.pop()
        if name in (*_MESSAGES, *_TOOLS):
            value = read(value)
        leaf = name.endswith((".content", ".arguments", ".json_schema", ".parameters", ".input_schema"))
        if isinstance(value, dict) and not leaf:
            pending += [(f"{name}.{key}", inner) for key, inner in as_object(value).items()]
        elif isinstance(value, list) and not leaf:
            pending += [(f"{name}.{k}", inner) for k, inner in enumerate(as_list(value))]
        else:
            yield name, value


def _messages(fields: Fields, read: ReadJson) -> Iterator[Message]:
    """A message; results that it has among its parts come before it, as separate ones."""
    content, results = _content(fields, read)
    yield from results
    calls: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        if match := _CALL.fullmatch(name):
            calls.setdefault(int(match[1]), {})[match[2]] = value
    for call_name, arguments in _LEGACY_CALL:
        if call_name in fields:
            calls[len(calls)] = {"name": fields[call_name], "arguments": fields.get(arguments)}
    if not content and not calls and results:
        return
    message: Message = {"role": fields.get("role"), "content": content}
    message |= {name: fields[name] for name in ("tool_call_id", "name") if name in fields}
    if calls:
        message["tool_calls"] = [_call(calls[k]) for k in sorted(calls)]
    yield message


def _call(fields: Fields) -> dict[str, Any]:
    arguments = fields.get("arguments")
    function: dict[str, Any] = {
        "name": fields.get("name"),
        "arguments": {} if arguments is None else arguments,
    }
    return {"id": fields.get("id"), "function": function}


def _content(fields: Fields, read: ReadJson) -> tuple[Any, list[Message]]:
    """The text of a message, and results of tools among its parts."""
    texts = {int(match[1]): text for name, text in fields.items() if (match := _TEXT.fullmatch(name))}
    content = fields.get("content")
    if content is None:
        return "\n".join(str(texts[k]) for k in sorted(texts)), []
    parts = read(content)
    if not isinstance(parts, list) or not all("type" in as_object(part) for part in cast(list[Any], parts)):
        return content, []
    rows = as_objects(parts)
    results: list[Message] = [
        {"role": "tool", "content": part.get("content"), "tool_call_id": part.get("tool_use_id")}
        for part in rows
        if part.get("type") == "tool_result"
    ]
    spoken = [p["text"] for p in rows if p.get("type") == "text" and isinstance(p.get("text"), str)]
    return "\n".join(spoken), results


def _tool(fields: Fields, read: ReadJson) -> dict[str, Any]:
    schema = as_object(read(fields.get("json_schema")))
    function = as_object(schema.get("function")) or schema
    if "name" not in function and "properties" in function:
        function = {"parameters": function}
    parameters = read(
        function.get(
            "parameters", function.get("input_schema", fields.get("parameters", fields.get("input_schema")))
        )
    )
    return {
        "name": fields.get("name") or function.get("name"),
        "description": fields.get("description") or function.get("description"),
        "parameters": parameters,
    }
