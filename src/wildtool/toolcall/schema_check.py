"""Checks definitions of tools, and gold arguments against them, as strictly as WildToolBench's official rules."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from wildtool.json_codec import repeated_members
from wildtool.toolcall.schema import as_schema, required_names

SchemaFault = tuple[str, str]
"""Where inside the checked value, and what is wrong there."""

SCHEMA_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "float": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
"""Type names of the format. `float` is sent and checked as `number`, so it takes both kinds of number."""
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def function_faults(function: Mapping[str, Any]) -> Iterator[SchemaFault]:
    """What makes the definition of a tool unusable or unclear: its name, descriptions and schema.

    Args:
        function: `{name, description, parameters}`.
    """
    name = str(function.get("name"))
    if not _TOOL_NAME.fullmatch(name):
        yield "name", f"{shorten(name)} cannot be the name of a tool"
    yield from _description_faults(function, "")
    parameters = function.get("parameters")
    if as_schema(parameters).get("type") != "object":
        yield "parameters", "expected a schema of type `object`"
        return
    yield from tool_schema_faults(parameters)
    yield from _undescribed(as_schema(parameters), "parameters")


def _description_faults(described: Mapping[str, Any], path: str) -> Iterator[SchemaFault]:
    text = described.get("description")
    if not isinstance(text, str) or not text.strip():
        yield _join(path, "description"), "expected a description"


def _undescribed(schema: Mapping[str, Any], path: str) -> Iterator[SchemaFault]:
    for name, child in as_schema(schema.get("properties")).items():
        if isinstance(child, dict):
            described = cast(dict[str, Any], child)
            yield from _description_faults(described, f"{path}.properties.{name}")
            yield from _undescribed(described, f"{path}.properties.{name}")


def tool_schema_faults(schema: Any, path: str = "parameters") -> Iterator[SchemaFault]:
    """What makes a schema of arguments unusable for models or for the official rules."""
    if not isinstance(schema, dict):
        yield path, "expected a schema object"
        return
    schema = cast(dict[str, Any], schema)
    if "anyOf" in schema:
        branches = schema["anyOf"]
        if not isinstance(branches, list) or not branches:
            yield f"{path}.anyOf", "expected a non-empty list of schemas (Q46)"
            return
        for k, branch in enumerate(cast(list[Any], branches)):
            yield from tool_schema_faults(branch, f"{path}.anyOf[{k}]")
        return
    yield from _type_faults(schema, path)
    yield from _enum_faults(schema, path)
    if schema.get("type") == "object":
        yield from _object_faults(schema, path)
    if schema.get("type") == "array" and "items" in schema:
        yield from tool_schema_faults(schema["items"], f"{path}.items")


def argument_faults(value: Any, schema: Mapping[str, Any], path: str = "") -> Iterator[SchemaFault]:
    """Where gold arguments break their schema: missing, unknown, of the wrong type, or not in the enum."""
    branches = schema.get("anyOf")
    if isinstance(branches, list) and branches:
        faults = [
            list(argument_faults(value, as_schema(branch), path)) for branch in cast(list[Any], branches)
        ]
        yield from [] if [] in faults else faults[0]
        return
    name = schema.get("type", "string")
    allowed = SCHEMA_TYPES.get(name) if isinstance(name, str) else None
    if allowed is not None and not is_of_type(value, allowed):
        yield path, f"expected type {name}, found {shorten(value)}"
        return
    enum = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(enum, list) and value not in cast(list[Any], enum):
        yield path, f"{shorten(value)} is not in the enum {shorten(enum)}"
    if isinstance(value, dict):
        yield from _key_faults(cast(dict[str, Any], value), schema, path)
    if isinstance(value, list):
        items = as_schema(schema.get("items"))
        for k, child in enumerate(cast(list[Any], value) if "items" in schema else []):
            yield from argument_faults(child, items, f"{path}[{k}]")


def _type_faults(schema: dict[str, Any], path: str) -> Iterator[SchemaFault]:
    name = schema.get("type")
    if name == "number":
        yield f"{path}.type", "the format writes decimals as `float`, not `number`"
    elif not isinstance(name, str) or name not in SCHEMA_TYPES:
        yield f"{path}.type", f"expected one of {', '.join(SCHEMA_TYPES)}; found {shorten(name)}"


def _enum_faults(schema: dict[str, Any], path: str) -> Iterator[SchemaFault]:
    if "enum" not in schema:
        return
    members = schema["enum"]
    if not isinstance(members, list) or not members:
        yield f"{path}.enum", "expected a non-empty list"
        return
    members = cast(list[Any], members)
    name = schema.get("type")
    allowed = SCHEMA_TYPES.get(name) if isinstance(name, str) else None
    repeated = dict(repeated_members(members))
    for k, member in enumerate(members):
        if allowed is not None and not is_of_type(member, allowed):
            yield f"{path}.enum[{k}]", f"{shorten(member)} is not of type {name}"
        if k in repeated:
            yield f"{path}.enum[{k}]", f"{shorten(member)} occurs twice"


def _object_faults(schema: dict[str, Any], path: str) -> Iterator[SchemaFault]:
    top = path == "parameters"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield f"{path}.properties", "expected an object of parameter schemas"
        properties = {}
    elif not properties and not top and schema.get("additionalProperties") is not True:
        yield path, "an object must list its properties; a free-form one accepts only {} (Q38)"
    properties = cast(dict[str, Any], properties)
    required = schema.get("required", [])
    if not isinstance(required, list):
        yield f"{path}.required", f"expected a list of parameter names, found {shorten(required)} (Q48)"
        required = []
    for name in cast(list[Any], required):
        if not isinstance(name, str) or name not in properties:
            yield (
                f"{path}.required",
                f"{shorten(name)} is required but not a property, which nothing can satisfy (Q39)",
            )
    for name, child in properties.items():
        if name == "properties":
            yield f"{path}.properties.{name}", "a parameter of this name breaks the official comparison (Q47)"
        yield from tool_schema_faults(child, f"{path}.properties.{name}")


def _key_faults(value: dict[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[SchemaFault]:
    properties = as_schema(schema.get("properties"))
    for name in required_names(schema):
        if not isinstance(name, str) or name not in value:
            yield _join(path, str(name)), "a required argument is missing"
    for name, child in value.items():
        if name in properties:
            yield from argument_faults(child, as_schema(properties[name]), _join(path, name))
        elif schema.get("additionalProperties") is not True or path == "":
            yield _join(path, name), "the schema does not define this argument"


def is_of_type(value: Any, allowed: tuple[type, ...]) -> bool:
    """Whether a JSON value is of one of the types; true and false are no numbers."""
    return isinstance(value, allowed) and not (isinstance(value, bool) and bool not in allowed)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def shorten(value: Any) -> str:
    """A value as shown in a message: at most 80 characters."""
    # A longer list has as long a beginning: writing all of it at each fault would take long.
    text = repr(cast(list[Any], value)[:81] if isinstance(value, list) else value)
    return text if len(text) <= 80 else text[:77] + "..."
