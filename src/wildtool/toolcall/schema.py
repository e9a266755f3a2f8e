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


_MOST_REFERENCES = 16
"""References that lead to one another; a circle ends here."""


def without_reference(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema in place of a `$ref` to it, with what stands beside the reference; the schema itself where it has none, or
    one that leads nowhere.

    Args:
        root: the schema of the parameters, in which references are paths such as `#/$defs/Node`.
    """
    for _ in range(_MOST_REFERENCES):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target: Any = root
        for name in reference[2:].split("/"):
            target = as_schema(target).get(name.replace("~1", "/").replace("~0", "~"))
        schema = {**as_schema(target), **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


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


def branch_for(gold: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema merged with its first `anyOf` or `oneOf` branch that allows the gold value."""
    for branch in as_list(schema.get("anyOf") or schema.get("oneOf")):
        candidate = as_schema(branch)
        if fits_types(gold, schema_types(candidate)) and (
            not enum_of(candidate) or gold in enum_of(candidate)
        ):
            return {**schema, **candidate}
    return schema


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
