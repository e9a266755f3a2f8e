"""Values that stand between tags as text: a text without quotes, anything else as JSON.

A text stands there without quotes, so its type is the one that the tool declares. Where that is not known a value that
is JSON is read as such; a text that could be taken for something else is written in quotes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from wildtool.models.formats.loose_values import LooseReader, UnreadableError, strict_value
from wildtool.models.formats.telling import json_text
from wildtool.types import Tool

Types = Mapping[str, Mapping[str, frozenset[str]]]
"""Declared types of each parameter of each tool; none where the tool says nothing of it."""
_WORDS = {"True": True, "False": False, "None": None}
_ANY: frozenset[str] = frozenset()


def written(value: Any, marks: Sequence[str]) -> str:
    """A text without quotes where it cannot be taken for anything else, any other value as JSON.

    Args: marks: what would end the value too early; each holds a `<`.
    """
    if is_plain(value, marks):
        return value
    return json_text(value).replace("<", "\\u003c")


def is_plain(value: Any, marks: Sequence[str]) -> bool:
    """Whether a value is a text that is read back as itself where it stands without quotes."""
    return (
        isinstance(value, str)
        and value == value.strip()
        and not any(mark in value for mark in marks)
        and not _is_json(value)
    )


def read(text: str, declared: frozenset[str], repairs: list[str]) -> Any:
    """The value that a text stands for; what was mended is added to `repairs`."""
    try:
        value = strict_value(text)
    except UnreadableError:
        return text if "string" in declared else _mended(text, declared, repairs)
    fits = isinstance(value, str) or (value is None and "null" in declared)
    return text if "string" in declared and not fits else value


def _mended(text: str, declared: frozenset[str], repairs: list[str]) -> Any:
    if declared and text.strip() in _WORDS:
        repairs.append("python-literal")
        return _WORDS[text.strip()]
    if not declared & {"object", "array"}:
        return text
    try:
        value, end, mended = LooseReader(text).value(0)
    except UnreadableError:
        return text
    if text[end:].strip():
        return text
    repairs += mended
    return value


def declared_types(tools: Sequence[Tool]) -> Types:
    """The types that tools declare for their parameters."""
    functions = [_object(_object(tool).get("function")) for tool in tools]
    return {
        function["name"]: {
            key: _types(_object(schema))
            for key, schema in _object(_object(function.get("parameters")).get("properties")).items()
        }
        for function in functions
        if isinstance(function.get("name"), str)
    }


def types_of(types: Types, name: str, key: str) -> frozenset[str]:
    """The declared types of one parameter; none where nothing is known."""
    return types.get(name, {}).get(key, _ANY)


def types_in(schema: Any) -> frozenset[str]:
    """The types of a schema and of its alternatives; nothing where one of them is not said."""
    return _types(_object(schema))


def _types(schema: dict[str, Any]) -> frozenset[str]:
    said = schema.get("type")
    if isinstance(said, str):
        return frozenset((said,))
    if isinstance(said, list):
        return frozenset(name for name in cast("list[Any]", said) if isinstance(name, str))
    members = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(members, list):
        return _ANY
    of = [_object(member).get("type") for member in cast("list[Any]", members)]
    return frozenset(cast("list[str]", of)) if all(isinstance(name, str) for name in of) else _ANY


def _is_json(text: str) -> bool:
    try:
        strict_value(text)
    except UnreadableError:
        return False
    return True


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
