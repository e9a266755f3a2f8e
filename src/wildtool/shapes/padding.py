"""Nulls that only fill a union of columns: a table of rows with different tools (Arrow, `datasets`) gives every call the
arguments, and every schema the parameters, of all tools. They are no arguments, and nothing may learn them."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from wildtool import json_codec
from wildtool.json_codec import as_list, as_object
from wildtool.shapes.keys import FUNCTION
from wildtool.shapes.reading import Reading
from wildtool.types import Message, Tool


def without_padding(
    messages: Sequence[Message], tools: Sequence[Tool], reading: Reading
) -> tuple[list[Message], list[Tool]]:
    """Messages and tools without nulls that only fill a table.

    A null in a tool's schema fills a table, since none is allowed there. An argument that is null fills one where the
    record has such schemas, and its tool does not have the parameter, or does not allow null for it.
    """
    cleaned = [_without_nulls(tool) for tool in tools]
    if all(tool is before for tool, before in zip(cleaned, tools, strict=True)):
        return list(messages), list(tools)
    allowed = {tool[FUNCTION]["name"]: _nullable(tool[FUNCTION].get("parameters")) for tool in cleaned}
    return [_message(message, allowed, reading) for message in messages], cleaned


def is_padded(tools: Sequence[Tool]) -> bool:
    """Whether schemas of tools hold nulls, as they do in a table of rows with different tools."""
    return any(_without_nulls(tool) is not tool for tool in tools)


def _without_nulls(tool: Tool) -> Tool:
    function = as_object(tool.get(FUNCTION))
    schema = function.get("parameters")
    cleaned = _schema(schema)
    return tool if cleaned is schema else {**tool, FUNCTION: {**function, "parameters": cleaned}}


def _schema(value: Any) -> Any:
    """A schema without members that are null, but those of keywords whose value is data."""
    if isinstance(value, list):
        before = as_list(value)
        entries = [_schema(entry) for entry in before]
        return before if all(a is b for a, b in zip(entries, before, strict=True)) else entries
    if not isinstance(value, dict):
        return value
    held = cast(dict[str, Any], value)
    kept = {
        key: part if key in ("default", "enum", "const", "examples", "example") else _schema(part)
        for key, part in held.items()
        if part is not None or key in ("default", "const")
    }
    return held if len(kept) == len(held) and all(kept[key] is held[key] for key in kept) else kept


def _nullable(schema: Any) -> Mapping[str, bool]:
    """By parameter whether null is a value of it."""
    properties = as_object(as_object(schema).get("properties"))
    return {name: _allows_null(as_object(part)) for name, part in properties.items()}


def _allows_null(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind) or part.get("nullable") is True:
        return True
    if None in as_list(part.get("enum")) or (
        "default" in part and part["default"] is None and "type" not in part
    ):
        return True
    branches = [*as_list(part.get("anyOf")), *as_list(part.get("oneOf"))]
    return any(_allows_null(as_object(branch)) for branch in branches)


def _message(message: Message, allowed: Mapping[str, Mapping[str, bool]], reading: Reading) -> Message:
    calls = as_list(message.get("tool_calls"))
    cleaned = [_call(as_object(call), allowed, reading) for call in calls]
    return {**message, "tool_calls": cleaned} if calls else message


def _call(
    call: dict[str, Any], allowed: Mapping[str, Mapping[str, bool]], reading: Reading
) -> dict[str, Any]:
    function = as_object(call.get(FUNCTION))
    try:
        arguments = as_object(json_codec.loads(str(function.get("arguments"))))
    except (ValueError, RecursionError):
        return call
    own = allowed.get(str(function.get("name")), {})
    kept: dict[str, Any] = {}
    for name, value in arguments.items():
        if value is None and not own.get(name, False):
            reading.lose(f"argument {name} that is null, which only fills a table")
        else:
            kept[name] = value
    if len(kept) == len(arguments):
        return call
    return {**call, FUNCTION: {**function, "arguments": json_codec.dumps(kept).decode()}}
