"""Reads results of tools in every shape people have."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from wildtool.json_codec import as_list, as_object, object_text
from wildtool.shapes.keys import ID_KEYS, NAME_KEYS, RESULT_TYPES, RESULT_WRAPPERS
from wildtool.shapes.reading import Reading, part_type

_VALUE_KEYS = ("content", "output", "response", "result", "value", "errorText")
"""Keys of a result that hold what the tool gave; the first that holds anything counts."""
_BESIDE = frozenset(
    {
        *ID_KEYS,
        *NAME_KEYS,
        "additional_kwargs",
        "annotations",
        "args",
        "artifact",
        "cache_control",
        "content",
        "error",
        "input",
        "isError",
        "is_error",
        "metadata",
        "output",
        "part_kind",
        "providerMetadata",
        "providerOptions",
        "response",
        "response_metadata",
        "result",
        "role",
        "state",
        "status",
        "timestamp",
        "type",
        "value",
    }
)
"""Keys of a result that hold nothing that the tool gave, or whose value is read."""
_FAILED = ("is_error", "isError", "error")
_ERROR_STATE = "output-error"
"""The state of a call in a page of the Vercel AI SDK whose tool failed."""


@dataclass(frozen=True, slots=True)
class FoundResult:
    """What a tool gave."""

    text: str
    id: str | None = None
    """The id of its call; None where the shape has none."""
    name: str | None = None
    """The tool's name, where the result says it."""


def is_result(value: Any) -> bool:
    """Whether a part of a message, or an item of a list, is a result in any shape."""
    part = as_object(value)
    return part_type(part) in RESULT_TYPES or any(isinstance(part.get(key), dict) for key in RESULT_WRAPPERS)


def read_result(part: Mapping[str, Any], reading: Reading) -> FoundResult:
    """One result."""
    wrapper = next((key for key in RESULT_WRAPPERS if isinstance(part.get(key), dict)), None)
    inner = part if wrapper is None else as_object(part[wrapper])
    id_ = next((inner[key] for key in ID_KEYS if isinstance(inner.get(key), str)), None)
    name = next((inner[key] for key in NAME_KEYS if isinstance(inner.get(key), str)), None)
    if any(inner.get(key) is True for key in _FAILED) or inner.get("state") == _ERROR_STATE:
        reading.lose("mark that a result is an error")
    keys = [key for key in _VALUE_KEYS if key in inner]
    key = next((key for key in keys if inner[key]), next(iter(keys), None))
    if key is None:
        keys = ", ".join(list(inner)[:12])
        reading.fail(
            f"a result holds nothing under {', '.join(f'`{name}`' for name in _VALUE_KEYS)}; it has {keys}"
        )
    if not inner[key] or inner[key] == [{}]:
        beside = [other for other in inner if other not in _BESIDE and inner[other]]
        if beside:
            reading.fail(f"a result holds nothing under `{key}`, but something under `{beside[0]}`")
    for other in keys:
        if inner[other] and inner[other] != inner[key]:
            reading.lose(f"key {other} of a result")
    return FoundResult(text_of_result(inner[key], reading), id_ or None, name)


def text_of_result(value: Any, reading: Reading) -> str:
    """What a tool gave, as the text that a model is shown: texts as they are, parts of text joined, MCP's results without
    what is around them, all else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        parts = as_list(value)
        if parts and all(_is_part(part) for part in parts):
            return "".join(_part_text(as_object(part), reading) for part in parts)
        return json.dumps(value, ensure_ascii=False)
    held = as_object(value)
    if isinstance(held.get("content"), list) and held.keys() <= {
        "content",
        "isError",
        "structuredContent",
        "_meta",
    }:
        if held.get("isError") is True:
            reading.lose("mark that a result is an error")
        return text_of_result(held["content"] or "", reading)
    if held.keys() == {"type", "value"}:
        return text_of_result(held["value"], reading)  # the Vercel AI SDK tells text and JSON apart
    return object_text(value) if not held else json.dumps(held, ensure_ascii=False)


def _is_part(value: Any) -> bool:
    part = as_object(value)
    return isinstance(part.get("type"), str) or (len(part) == 1 and bool({"text", "json"} & part.keys()))


def _part_text(part: Mapping[str, Any], reading: Reading) -> str:
    for key in ("text", "content"):
        if isinstance(part.get(key), str):
            return cast(str, part[key])
    if "json" in part:
        return json.dumps(part["json"], ensure_ascii=False)
    reading.lose(f"part of type {part.get('type')} in a result")
    return ""


def result_message(result: FoundResult, id_: str | None) -> dict[str, Any]:
    """A result in OpenAI's chat shape."""
    message: dict[str, Any] = {"role": "tool", "content": result.text}
    if id_ is not None:
        message["tool_call_id"] = id_
    if result.name is not None:
        message["name"] = result.name
    return message
