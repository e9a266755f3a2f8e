"""Reads schemas of parameters: types, branches, enums, required names, schemas of nested values."""

from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.json_codec import as_list, as_object

ValuePath = tuple[str | int, ...]
"""A place in arguments: names and list indices."""

_TYPE_NAMES = {
    "string": "string", "integer": "integer", "number": "number", "float": "number", "boolean": "boolean",
    "array": "array", "object": "object", "dict": "object", "null": "null",
}  # fmt: skip

as_schema = as_object
"""A value that is a schema; an empty one for anything else."""


_MOST_PARTS = 32
"""Schemas at most that one is made of by references and `allOf`."""


def without_reference(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with those in it that it names by `$ref` or `allOf`; itself where it names none.

    What stands beside a reference counts before what it leads to.

    Args:
        root: the schema of the parameters, in which references are paths such as `#/$defs/Node`.
    """
    if "$ref" not in schema and "allOf" not in schema:
        return schema
    merged: dict[str, Any] = {}
    pending = [schema]
    visited: set[int] = set()
    while pending and len(visited) < _MOST_PARTS:
        part = pending.pop()
        if id(part) in visited:
            continue
        visited.add(id(part))
        pending += map(as_schema, reversed(as_list(part.get("allOf"))))
        if "$ref" in part:
            pending.append(_target(part["$ref"], root))
        properties = {**as_schema(part.get("properties")), **as_schema(merged.get("properties"))}
        required = [*required_names(merged), *required_names(part)]
        merged = {**part, **merged, "required": required}
        if properties:
            merged["properties"] = properties
    return {key: value for key, value in merged.items() if key not in ("$ref", "allOf")}


def _target(reference: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference leads to; an empty schema where that is nothing, or not in this document."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return {}
    target: Any = root
    for name in reference[2:].split("/"):
        target = as_schema(target).get(name.replace("~1", "/").replace("~0", "~"))
    return as_schema(target)


def member_schemas(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The schemas that a schema of an object gives for its members, by name; none of any other schema."""
    return {name: as_schema(child) for name, child in as_schema(schema.get("properties")).items()}


def schema_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that a schema allows; empty if it names none."""
    declared: object = schema.get("type")
    names = as_list(declared) or [declared]
    return frozenset(_TYPE_NAMES[name] for name in names if isinstance(name, str) and name in _TYPE_NAMES)


def fits_types(value: Any, types: frozenset[str]) -> bool:
    """Whether a value is of one of the types; any value fits if there are none."""
    if not types:
        return True
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int | float):
        return "number" in types or ("integer" in types and value == value // 1)
    if value is None:
        return "null" in types
    kind = "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
    return kind in types


def enum_of(schema: Mapping[str, Any]) -> list[Any]:
    """The members of a schema's enum, or its one `const`; empty if it has neither."""
    return [schema["const"]] if "const" in schema else as_list(schema.get("enum"))


def required_names(schema: Mapping[str, Any]) -> list[Any]:
    """The names a schema lists as required; empty if it lists none."""
    return as_list(schema.get("required"))


def branch_for(gold: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema merged with its first `anyOf` or `oneOf` branch that allows the gold value, and each member of it."""
    for branch in as_list(schema.get("anyOf") or schema.get("oneOf")):
        candidate = without_reference(as_schema(branch), root)
        if allows(gold, candidate) and _allows_members(as_object(gold), candidate):
            return {**schema, **candidate}
    return schema


def _allows_members(held: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether an object has each required member, and each member that it has may have its value."""
    names = list(held)  # a required name may be anything, also what no mapping can look up
    members = member_schemas(schema)
    return all(name in names for name in required_names(schema)) and all(
        allows(value, members[name]) for name, value in held.items() if name in members
    )


def allows(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value is of a type of a schema, and one of its members where it has an enum."""
    return fits_types(value, schema_types(schema)) and (not enum_of(schema) or value in enum_of(schema))


def argument_parts(
    value: Any, schema: Any, path: ValuePath = ()
) -> Iterator[tuple[ValuePath, Any, Mapping[str, Any]]]:
    """Every value inside arguments with its path and schema, from the outside in."""
    definition = as_schema(schema)
    if path:
        yield path, value, definition
    properties = as_schema(definition.get("properties"))
    for name, element in as_object(value).items():
        yield from argument_parts(element, properties.get(name), (*path, name))
    for index, element in enumerate(as_list(value)):
        yield from argument_parts(element, definition.get("items"), (*path, index))


def path_text(path: ValuePath) -> str:
    """A place in arguments, such as `stops[0].city`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
