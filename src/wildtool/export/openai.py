"""Conversations as JSON lines in OpenAI's shape, in columns of the same types in every row.

Loaders of training data infer one type for each column, fill objects up with each other's keys, and read texts that
look like dates as dates. So what differs from row to row stands as JSON text: the tools, the arguments of calls (also
as objects, for readers without such types), and in `more` whatever else a message had.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from wildtool import json_codec
from wildtool.export import ExportRequest
from wildtool.export.conversations import conversation_rows
from wildtool.export.files import portable_value, strict_json, write_json_lines
from wildtool.types import Message, Tool

_TEXTS = ("role", "content", "reasoning_content", "name", "tool_call_id")
"""Fields of a message that are texts."""
NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
"""Schema of a tool that takes nothing."""


def export(wanted: ExportRequest, target: Path) -> None:
    """Writes one conversation a line."""
    objects = wanted.arguments == "object"
    write_json_lines(
        target,
        (
            {
                **about,
                "replies": talk.replies,
                "messages": [message_row(message, objects=objects) for message in talk.messages],
                "tools": text_or_json(talk.tools) if talk.tools else "",
            }
            for about, talk in conversation_rows(wanted)
        ),
    )


def message_row(message: Message, *, objects: bool = False) -> dict[str, Any]:
    """A message with fields of stable types; what has no place in them stands in `more`, as JSON.

    Args: objects: whether arguments are objects; calls whose arguments are none then stand in `more`.
    """
    row: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for key, value in message.items():
        if key in _TEXTS and (isinstance(value, str) or (key == "content" and value is None)):
            row[key] = value
        elif key == "tool_calls" and (calls := _calls(value, objects=objects)) is not None:
            row[key] = calls
        else:
            more[key] = value
    if "content" in more:
        row["content"] = text_or_json(more["content"])
    return {**row, "more": text_or_json(more)} if more else row


def row_messages(row: Mapping[str, Any]) -> list[Message]:
    """The messages of a row as they went over the wire, whatever a loader filled in."""
    said: list[Message] = []
    for message in row["messages"]:
        kept = {k: v for k, v in message.items() if k != "more" and (v is not None or k == "content")}
        said.append({**kept, **json_codec.loads(message.get("more") or "{}")})
    return said


def for_template(row: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments `conversation` and `tools` of `apply_chat_template`: arguments of calls as objects, as most
    templates need them, texts in place of null, and tools as a list."""
    talk: list[Message] = []
    for message in row["messages"]:
        said = {key: value for key, value in message.items() if key != "more" and value is not None}
        said.setdefault("content", "")
        if said.get("tool_calls"):
            said["tool_calls"] = [
                {**call, "function": {**call["function"], "arguments": _value(call["function"]["arguments"])}}
                for call in said["tool_calls"]
            ]
        talk.append(said)
    return {"conversation": talk, "tools": json_codec.loads(row["tools"]) if row["tools"] else None}


def with_parameters(tools: Sequence[Tool]) -> list[Tool]:
    """The functions of tools, each with a schema of parameters, without which some templates cannot show it."""
    functions = [cast(dict[str, Any], tool.get("function", tool)) for tool in tools]
    return [
        function
        if isinstance(function.get("parameters"), dict)
        else {**function, "parameters": NO_PARAMETERS}
        for function in functions
    ]


def text_or_json(value: Any) -> str:
    """A value as JSON."""
    return strict_json(portable_value(value)).decode()


def _calls(value: Any, *, objects: bool) -> list[dict[str, Any]] | None:
    """Calls with the fields that all have, and None of any others."""
    if not isinstance(value, list) or not value:
        return None
    found: list[dict[str, Any]] = []
    for call in cast(list[Any], value):
        if not isinstance(call, dict) or not set(cast(dict[str, Any], call)) <= {"id", "type", "function"}:
            return None
        its = cast(dict[str, Any], call)
        function: Any = its.get("function")
        if not isinstance(function, dict) or set(cast(dict[str, Any], function)) != {"name", "arguments"}:
            return None
        named = cast(dict[str, Any], function)
        if not all(
            isinstance(text, str) for text in (*named.values(), *(its[k] for k in its if k != "function"))
        ):
            return None
        arguments = _value(named["arguments"]) if objects else named["arguments"]
        if objects and not isinstance(arguments, dict):
            return None
        found.append({**its, "function": {"name": named["name"], "arguments": arguments}})
    return found


def _value(arguments: Any) -> Any:
    """Arguments as an object where their text is one; else as they are."""
    try:
        value = json_codec.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
    return cast(dict[str, Any], value) if isinstance(value, dict) else arguments
