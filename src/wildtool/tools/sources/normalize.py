"""Tools of a file as a session's record writes them, or why they cannot be used."""

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.toolcall.schema_check import tool_schema_faults
from wildtool.tools.schema.constraints import numeric_bound, unchecked_pattern
from wildtool.tools.sources.markup import CONTROL
from wildtool.tools.sources.references import (
    SchemaReader,
    UnreadableSchemaError,
    has_references,
    requires_unfillable,
    why_unfillable,
)
from wildtool.types import Tool

KEPT_KEYWORDS = (
    "enum", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "required", "format", "pattern",
)  # fmt: skip
"""Keys of a parameter's schema that a session's tools keep; a pattern only where it can be checked."""
_DEEPEST = 5
_TYPE_NAMES = {
    "number": "float", "int": "integer", "str": "string", "bool": "boolean", "dict": "object", "list": "array",
}  # fmt: skip
"""Names of types that files use, and what the format calls them."""
_ABOUT = frozenset(["description", "title", "example", "examples", "$comment", "returns"])
"""Keys of a schema that are about it, in words or as an instance, and bind nothing."""


def normalize_tool(tool: Any, keep: Collection[str]) -> tuple[str, Tool | None, str]:
    """The tool as a record writes it, or why it cannot be used."""
    function = as_schema(as_schema(tool).get("function"))
    name = function.get("name")
    if not isinstance(name, str) or not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
        return str(name or ""), None, "expected {type: function, function: {name, description, parameters}}"
    spoken = re.sub(r"[_.-]+", " ", re.sub(r"([a-z])([A-Z])", r"\1 \2", name))
    try:
        schema = _resolved(function.get("parameters"))
    except UnreadableSchemaError as error:
        return name, None, str(error)
    if odd := _odd_text(schema):
        return name, None, f"{odd!r} holds control characters; take them out"
    parameters = normalize_schema(schema or {"type": "object"}, spoken, 0, keep)
    parameters = cast(dict[str, Any], {"type": "object", "properties": {}, "required": [], **parameters})
    faults = [f"{where}: {problem}" for where, problem in tool_schema_faults(parameters)]
    described: dict[str, Any] = {
        "name": name,
        "description": _description_or(function, spoken.capitalize() + "."),
        "parameters": parameters,
    }
    return name, None if faults else {"type": "function", "function": described}, faults[0] if faults else ""


def _resolved(schema: Any) -> Mapping[str, Any]:
    """A schema with the references in it put in; they are to its own definitions. Raises UnreadableSchemaError."""
    plain = as_schema(schema)
    if not has_references(plain):
        return plain
    resolved = SchemaReader(plain).resolve(plain)
    if requires_unfillable(resolved):
        raise UnreadableSchemaError(why_unfillable("parameters", resolved))
    return resolved


def _odd_text(schema: Any) -> str:
    """A name or value in a schema that holds control characters; empty if none does."""
    row: list[Any] = [schema]
    while row:
        value = row.pop()
        members = as_object(value)
        row += [child for key, child in members.items() if key not in _ABOUT]
        row += members or as_list(value)
        if isinstance(value, str) and CONTROL.search(value):
            return value[:80]
    return ""


def normalize_schema(
    schema: Mapping[str, Any], name: str, depth: int, keep: Collection[str] = KEPT_KEYWORDS
) -> dict[str, Any]:
    """A schema with a description, one type name, and decimals called `float`, as the format writes them."""
    if "anyOf" in schema:
        solid = [branch for branch in as_objects(schema["anyOf"]) if branch.get("type") != "null"]
        if not solid:
            return {"anyOf": []}
        description = _description_or(schema, name + ".")
        return {**normalize_schema(solid[0], name, depth, keep), "description": description}
    type_ = schema.get("type")
    if isinstance(type_, list):
        type_ = next((t for t in as_list(type_) if t != "null"), "string")
    if type_ is None:
        type_ = "object" if "properties" in schema else "string"
    normal = {key: value for key, value in schema.items() if key in keep}
    if unchecked_pattern(schema):
        normal.pop("pattern", None)
    for limit in ("exclusiveMinimum", "exclusiveMaximum"):
        # Older schemas have a truth value here, which stands for nothing in newer ones.
        if numeric_bound(normal, limit) is None:
            normal.pop(limit, None)
    normal["type"] = _TYPE_NAMES.get(str(type_), type_)
    if depth:
        normal["description"] = _description_or(schema, name + ".")
    if isinstance(schema.get("properties"), dict) and depth < _DEEPEST:
        normal["properties"] = {
            key: normalize_schema(child, key, depth + 1, keep)
            for key, child in member_schemas(schema).items()
        }
    if "items" in schema:
        normal["items"] = normalize_schema(as_schema(schema["items"]), name, depth + 1, keep)
    return normal


def _description_or(schema: Mapping[str, Any], otherwise: str) -> str:
    text = schema.get("description")
    bare = CONTROL.sub(" ", text.replace("\r\n", "\n")) if isinstance(text, str) else ""
    return bare if bare.strip() else otherwise


def result_schema(function: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of what a tool returns; empty if it has none that can be read."""
    try:
        schema = _resolved(function.get("returns"))
    except UnreadableSchemaError:
        return {}
    return normalize_schema(schema, "result", 0) if schema else {}
