"""Reads schemas of parameters: types, branches, enums, required names, documented defaults, schemas of nested values."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json

ValuePath = tuple[str | int, ...]
"""A place in arguments: names and list indices."""
NO_DEFAULT = object()
"""The result if no default is documented."""

_TYPE_NAMES = {
    "string": "string", "integer": "integer", "number": "number", "float": "number", "boolean": "boolean",
    "array": "array", "object": "object", "dict": "object", "null": "null",
}  # fmt: skip

_ENGLISH = re.compile(
    r"\bdefault(?:s|ed|ing)?\b(?:\s+value)?(?:\s+(?!is\b|to\b|being\b)[a-z]+)?"
    r"(?:(?P<said>\s+(?:is|to|being)\b|\s*[:=：])|(?=\s+[\d'\"`“‘]))\s*",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:默认|缺省)(?:值|取值)?(?:设置|设定)?(?:(?P<said>为|是|等于|[:=：])|(?=\s*[\d'\"`“‘「]))\s*"
)
_QUOTED = re.compile(
    r"""'([^']{0,200})'|"([^"]{0,200})"|`([^`]{0,200})`|“([^”]{0,200})”|‘([^’]{0,200})’|「([^」]{0,200})」"""
)
_EMPTY = re.compile(
    r"(?:(?:an?\s+)?empty(?:\s+(?:string|text|list|array|object))?|空(?:字符串|值|列表|数组|对象)?)(?![\w])",
    re.I,
)
_NUMBER = re.compile(r"[-+]?\d{1,30}(?:,\d{3})*(?:\.\d{1,30})?(?![A-Za-z0-9_/:%\-]|\.\d)")
_TRUTH = re.compile(r"(true|yes|on|是|真)|(?:false|no|off|否|假)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s，。；、;,()（）]+")
_END = re.compile(r"\s*(?:$|[.,;()。，；（）])")
_NO_VALUE = frozenset({"none", "null", "nil", "无", "the", "a", "an", "not"})
_EMPTY_VALUES: dict[str, Any] = {"string": "", "array": [], "object": {}}


as_schema = as_object
"""A value that is a schema; an empty one for anything else."""


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
    """The members of a schema's enum; empty if it has none."""
    return as_list(schema.get("enum"))


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
    known = as_schema(schema)
    if path:
        yield path, value, known
    properties = as_schema(known.get("properties"))
    for name, element in as_object(value).items():
        yield from argument_parts(element, properties.get(name), (*path, name))
    for index, element in enumerate(as_list(value)):
        yield from argument_parts(element, known.get("items"), (*path, index))


def path_text(path: ValuePath) -> str:
    """A place in arguments, such as `stops[0].city`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def documented_default(schema: Mapping[str, Any]) -> Any:
    """The default of a parameter: schema `default`, else the one in its description, English or Chinese.

    NO_DEFAULT if the description has none, two, or one that is not a plain value ("the current date").
    """
    if "default" in schema:
        return schema["default"]
    description: object = schema.get("description")
    if not isinstance(description, str):
        return NO_DEFAULT
    types = schema_types(schema) or frozenset({"string"})
    found: list[Any] = []
    for match in (*_ENGLISH.finditer(description), *_CHINESE.finditer(description)):
        value = _stated_value(description[match.end() :], types, said=match["said"] is not None)
        if value is not NO_DEFAULT and value not in found:
            found.append(value)
    return found[0] if len(found) == 1 else NO_DEFAULT


def _stated_value(rest: str, types: frozenset[str], *, said: bool) -> Any:
    """The value at the start of `rest`; unquoted text counts only after `is`, `to` or `:` (`said`) and before a stop."""
    if quoted := _QUOTED.match(rest):
        return _typed(next(group for group in quoted.groups() if group is not None), types)
    if empty := _EMPTY.match(rest):
        kind = next((kind for kind in _EMPTY_VALUES if kind in types), None)
        return _EMPTY_VALUES[kind] if kind and _END.match(rest, empty.end()) else NO_DEFAULT
    if types & {"integer", "number"}:
        number = _NUMBER.match(rest)
        return _typed(number[0].replace(",", ""), types) if number else NO_DEFAULT
    if "boolean" in types:
        truth = _TRUTH.match(rest)
        return bool(truth[1]) if truth and _END.match(rest, truth.end()) else NO_DEFAULT
    token = _TOKEN.match(rest)
    if not said or "string" not in types or not token or not _END.match(rest, token.end()):
        return NO_DEFAULT
    text = token[0].rstrip(".")
    return NO_DEFAULT if text.lower() in _NO_VALUE else text


def _typed(text: str, types: frozenset[str]) -> Any:
    if "string" in types:
        return text
    try:
        value = read_bounded_json(text.removeprefix("+").lower())
    except ArgumentsError:
        return NO_DEFAULT
    return value if fits_types(value, types) else NO_DEFAULT
