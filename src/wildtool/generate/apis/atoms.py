"""Classes of parameters, by which APIs are made of all kinds (ACEBench's atom classes)."""

from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.toolcall.parameter_schema import as_schema

ATOMS = ("number", "enum", "list", "bool", "object_short", "object_deep")
"""Classes that an API can be asked to have; a plain text is `text`."""
Schema = Mapping[str, Any]


def atom_of(schema: Schema) -> str:
    """The class of a parameter."""
    if "enum" in schema:
        return "enum"
    type_ = str(schema.get("type"))
    if type_ == "object":
        return "object_deep" if any(map(_is_compound, _properties(schema).values())) else "object_short"
    return {
        "integer": "number",
        "number": "number",
        "float": "number",
        "array": "list",
        "boolean": "bool",
    }.get(type_, "text")


def atoms(parameters: Schema) -> dict[str, str]:
    """The class of each parameter of a tool."""
    return {name: atom_of(as_schema(child)) for name, child in _properties(parameters).items()}


def every_schema(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """All schemas below one, with the path of each."""
    for name, child in _properties(schema).items():
        below = f"{path}.{name}" if path else name
        yield below, as_schema(child)
        yield from every_schema(as_schema(child), below)
    if "items" in schema:
        yield f"{path}[]", as_schema(schema["items"])
        yield from every_schema(as_schema(schema["items"]), f"{path}[]")


def _is_compound(child: Any) -> bool:
    schema = as_schema(child)
    return schema.get("type") == "object" or as_schema(schema.get("items")).get("type") == "object"


def _properties(schema: Schema) -> Mapping[str, Any]:
    return as_schema(schema.get("properties"))
