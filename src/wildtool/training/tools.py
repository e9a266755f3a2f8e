"""Tools of any layout in OpenAI's shape: lists, single objects and texts; JSON Schema and flat maps of parameters."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from wildtool.shapes import Reading, ShapeError
from wildtool.shapes.keys import SCHEMA_KEYS
from wildtool.shapes.tools import Definition, definitions
from wildtool.training.record import RowError
from wildtool.training.texts import (
    UnreadableTextError,
    parse_literal,
    parse_or_reject,
    parse_run,
    parse_value,
)
from wildtool.types import Tool

_WORDS: Mapping[str, str | None] = {
    **dict.fromkeys(("str", "string", "text"), "string"),
    **dict.fromkeys(("int", "integer", "long"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "number"), "number"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("list", "array", "tuple", "set", "sequence"), "array"),
    **dict.fromkeys(("dict", "object", "map", "dictionary"), "object"),
    **dict.fromkeys(("any", "none", "null", "callable", "empty", ""), None),
}
_ARRAYS = frozenset({"list", "set", "sequence", "tuple", "iterable", "frozenset", "array"})
_OBJECTS = frozenset({"dict", "mapping", "map"})
_OPTIONAL = re.compile(r"\s*(?:,\s*optional|\(optional\))\s*$", re.IGNORECASE)
_GENERIC = re.compile(r"(?s)(?P<name>[\w.]+)\s*(?:\[(?P<square>.*)\]|<(?P<angle>.*)>)")
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class TypeText:
    """What a type says."""

    schema: Mapping[str, Any]
    """Its JSON Schema; empty if any value is allowed."""
    optional: bool
    unknown: tuple[str, ...] = ()
    """Words in it that no rule knows."""


@lru_cache(maxsize=4096)
def read_type(text: str) -> TypeText:
    """The schema of a type, and whether it says that a value may be left out."""
    bare = _OPTIONAL.sub("", text)
    reading = _read(bare, 0)
    return TypeText(reading.schema, reading.optional or bare != text, reading.unknown)


def _read(text: str, depth: int) -> TypeText:
    text = text.strip().removeprefix("typing.")
    word = text.lower()
    if word in _WORDS:
        name = _WORDS[word]
        return TypeText({"type": name} if name else {}, False)
    parts = _split(text, "|")
    if len(parts) > 1 and all(parts) and depth < _MAX_DEPTH:
        return _union(parts, depth)
    match = _GENERIC.fullmatch(text)
    if match is None or depth >= _MAX_DEPTH:
        return TypeText({}, False, (text[:60],))
    name, inside = match["name"].lower(), match["square"] if match["square"] is not None else match["angle"]
    if name in _ARRAYS:
        return _array(inside, depth)
    if name in _OBJECTS:
        return TypeText({"type": "object"}, False)
    if name == "callable":
        return TypeText({}, False)
    if name == "literal":
        return _literal(inside)
    if name == "optional":
        inner = _read(inside, depth + 1)
        return TypeText(inner.schema, True, inner.unknown)
    if name == "union":
        return _union(_split(inside, ","), depth)
    return TypeText({}, False, (text[:60],))


def _array(inside: str, depth: int) -> TypeText:
    parts = [_read(part, depth + 1) for part in _split(inside, ",") if part != "..."]
    items = _common([part.schema for part in parts])
    unknown = tuple(word for part in parts for word in part.unknown)
    return TypeText({"type": "array", "items": items} if items else {"type": "array"}, False, unknown)


def _union(parts: Sequence[str], depth: int) -> TypeText:
    members = [part for part in parts if part.lower() not in ("none", "null")]
    read = [_read(part, depth + 1) for part in members]
    unknown = tuple(word for part in read for word in part.unknown)
    optional = len(members) < len(parts) or any(part.optional for part in read)
    return TypeText(_common([part.schema for part in read]), optional, unknown)


def _literal(inside: str) -> TypeText:
    try:
        values = parse_value(f"[{inside}]")[0]
    except UnreadableTextError:
        return TypeText({}, False, (f"Literal[{inside}]"[:60],))
    return TypeText({"enum": values}, False)


def _common(schemas: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The schema that all have; a number where some are whole; empty for different ones."""
    if not schemas:
        return {}
    if all(schema == schemas[0] for schema in schemas):
        return schemas[0]
    numbers = all(schema in ({"type": "integer"}, {"type": "number"}) for schema in schemas)
    return {"type": "number"} if numbers else {}


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that are in no bracket and no quote."""
    parts: list[str] = []
    depth = start = 0
    quote = ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[<(":
            depth += 1
        elif character in "]>)":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return parts


_TYPED = frozenset({"type", "properties", "items"})
"""Keys of a schema with types in their values."""
_KNOWN = frozenset({"type", "function", "name", "description", "required", *SCHEMA_KEYS})


@dataclass(slots=True)
class FoundTools:
    """The tools of a record."""

    tools: tuple[Tool, ...]
    given: tuple[Any, ...] | None
    """As found, where they have keys that the written form lacks."""
    unknown_types: tuple[str, ...]


NO_TOOLS = FoundTools((), None, ())


def tools_from(value: Any) -> FoundTools:
    """The tools in a value: a list, one object, or the text of a run of JSON values or a literal.

    Raises:
        RowError: they cannot be read, or one has no name (`bad-tools`).
    """
    if not value:
        return NO_TOOLS
    entries = [entry for raw in _entries(value) if (entry := _entry(raw))]
    unknown: list[str] = []
    try:
        found = list(definitions(entries, Reading()))
        tools = tuple(_tool(definition, unknown) for definition in found)
    except ShapeError as error:
        raise RowError("bad-tools", str(error)) from error
    is_changed = len(found) != len(entries) or not all(
        entry.keys() <= _KNOWN and definition.inner.keys() <= _KNOWN
        for entry, definition in zip(entries, found, strict=True)
    )
    return FoundTools(tools, tuple(entries) if is_changed else None, tuple(unknown))


def _entries(value: Any) -> Iterable[Any]:
    if isinstance(value, str):
        try:
            return _run(value)
        except UnreadableTextError as error:
            raise RowError("bad-tools", f"the tools cannot be read: {error}") from error
    if isinstance(value, list):
        return cast(list[Any], value)
    if isinstance(value, dict):
        return [value]
    raise RowError("bad-tools", f"tools must be a list, found {value!r}"[:200])


def _run(text: str) -> list[Any]:
    """The values of a text: a run of JSON values, else one Python literal."""
    try:
        return parse_run(text)
    except UnreadableTextError:
        value = parse_literal(text)
        return cast(list[Any], value) if isinstance(value, list) else [value]


def _entry(entry: Any) -> dict[str, Any]:
    """One tool as an object; a list of texts holds the text of one each."""
    if isinstance(entry, str):
        entry = parse_or_reject(entry, "bad-tools", "a tool cannot be read: ")[0]
    if not isinstance(entry, dict):
        raise RowError("bad-tools", f"a tool must be an object, found {entry!r}"[:200])
    return cast(dict[str, Any], entry)


def _tool(definition: Definition, unknown: list[str]) -> Tool:
    inner = definition.inner
    description = inner.get("description")
    if description is None:
        description = ""
    return {
        "type": "function",
        "function": {
            "name": definition.name,
            "description": description if isinstance(description, str) else str(description),
            "parameters": _parameters(definition.parameters(), inner.get("required"), unknown),
        },
    }


def _parameters(value: Any, beside: Any, unknown: list[str]) -> dict[str, Any]:
    """The schema of a tool's parameters.

    Args:
        beside: the list `required` beside the parameters, if there is one.
        unknown: gets the type words that no rule knows.
    """
    value = _as_map(_value(value))
    if not value:
        return {"type": "object", "properties": {}, "required": _names(beside)}
    properties = _value(value.get("properties"))
    is_schema = isinstance(properties, dict) and all(
        isinstance(part, (dict, bool)) for part in cast(dict[str, Any], properties).values()
    )
    kind = value.get("type")
    if is_schema or (isinstance(kind, str) and kind.lower() in ("object", "dict")):
        entries = cast(dict[str, Any], properties) if isinstance(properties, dict) else {}
        return _schema(value, entries, beside, unknown)
    return _flat(value, unknown)


def _value(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_value(value)[0]
    except UnreadableTextError:
        return None


def _as_map(value: Any) -> dict[str, Any]:
    """Parameters as a map; a list of objects with names becomes one."""
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    entries = cast(list[Any], value) if isinstance(value, list) else []
    named_entries = [
        cast(dict[str, Any], entry) for entry in entries if isinstance(entry, dict) and "name" in entry
    ]
    return {str(entry["name"]): {k: v for k, v in entry.items() if k != "name"} for entry in named_entries}


def _names(value: Any) -> list[str]:
    return (
        [name for name in cast(list[Any], value) if isinstance(name, str)] if isinstance(value, list) else []
    )


def _schema(
    value: Mapping[str, Any], properties: Mapping[str, Any], beside: Any, unknown: list[str]
) -> dict[str, Any]:
    own = value.get("required")
    required = _names(own if isinstance(own, list) else beside)
    schema: dict[str, Any] = {}
    for name, part in properties.items():
        flag = cast(dict[str, Any], part).get("required") if isinstance(part, dict) else None
        if flag is True and name not in required:
            required.append(name)
        schema[name] = _property(part, unknown)
    rest = {key: part for key, part in value.items() if key not in ("type", "properties", "required")}
    return {"type": "object", "properties": schema, "required": required, **rest}


def _flat(value: Mapping[str, Any], unknown: list[str]) -> dict[str, Any]:
    """The schema of a map from each parameter to what is said of it. Conversions spend most of their time here."""
    flat: dict[str, Any] = {}
    required: list[str] = []
    for name, written_type in value.items():
        part: dict[str, Any] = written_type if written_type.__class__ is dict else {"type": written_type}
        schema: dict[str, Any] = {}
        flag: bool | None = None
        optional = False
        for key, keyword_value in part.items():
            if key == "type" and keyword_value.__class__ is str:
                read = read_type(keyword_value)
                optional = optional or read.optional
                unknown += read.unknown
                for keyword, meant in read.schema.items():
                    if keyword == "type" or keyword not in part:
                        schema[keyword] = meant
            elif key == "default":
                optional = True
                if keyword_value is not None:
                    schema[key] = keyword_value
            elif key == "required" and keyword_value.__class__ is bool:
                flag = keyword_value
            elif key in _TYPED:
                schema |= _normal({key: keyword_value}, unknown)
            else:
                schema[key] = keyword_value
        if flag or (flag is None and not optional):
            required.append(name)
        flat[name] = schema
    return {"type": "object", "properties": flat, "required": required}


def _property(part: Any, unknown: list[str]) -> Any:
    """A parameter's own schema; the flag whether it is required belongs to the list of them."""
    if isinstance(part, str):
        part = {"type": part}
    if not isinstance(part, dict):
        return part
    described = cast(dict[str, Any], part)
    if isinstance(described.get("required"), bool):
        described = {key: other for key, other in described.items() if key != "required"}
    return _normal(described, unknown)


def _normal(schema: Mapping[str, Any], unknown: list[str]) -> dict[str, Any]:
    """A schema with types in normal form, here and in `properties` and `items`; all else as it was."""
    normal: dict[str, Any] = {}
    for key, value in schema.items():
        if key not in _TYPED:
            normal[key] = value
        elif key == "type":
            if isinstance(value, str):
                read = read_type(value)
                unknown += read.unknown
                for name, part in read.schema.items():
                    if name == "type" or name not in schema:
                        normal[name] = part
            elif isinstance(value, list):
                normal[key] = value
        elif not isinstance(value, dict):
            normal[key] = value
        elif key == "items":
            normal[key] = _normal(cast(dict[str, Any], value), unknown)
        else:
            normal[key] = {
                name: _normal(cast(dict[str, Any], part), unknown) if isinstance(part, dict) else part
                for name, part in cast(dict[str, Any], value).items()
            }
    return normal
