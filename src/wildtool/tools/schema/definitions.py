"""Rules for the definition of a tool (D1 to D9): is it clear, and can a call follow it?"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, cast

from wildtool.draws import seeded_draw
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_objects, repeated_members
from wildtool.toolcall.schema import as_schema, enum_of, member_schemas
from wildtool.toolcall.schema_check import argument_faults, shorten
from wildtool.tools.schema.constraints import (
    FORMAT_EXAMPLES,
    FORMAT_PATTERNS,
    constraint_faults,
    numeric_bound,
    pattern_problem,
)
from wildtool.tools.schema.pattern_risk import pattern_risk
from wildtool.tools.schema.patterns import sample

FORMAT_TYPE_NAMES: Mapping[str, str] = {
    "string": "string", "integer": "integer", "number": "float", "float": "float", "boolean": "boolean",
    "array": "array", "object": "object",
}  # fmt: skip
"""Names of types, with those that the format writes."""
MAX_PARAMETERS_CHARACTERS = 8_000
"""Characters of a definition's parameters, as their `repr`."""
MAX_PARAMETERS = 20
MAX_SCHEMA_DEPTH = 5
"""Levels of objects and lists, the parameters being the first."""
MAX_DESCRIPTION_CHARACTERS = 1_000
MAX_ENUM_MEMBERS = 60
_MOST_LEVELS = 40
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]{0,63}", re.ASCII)
_PARAMETER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.$-]{0,63}", re.ASCII)
_HOLLOW = re.compile(
    r"\s*(?:todo|tbd|description|n/?a|\.{2,}|…|string|the parameter)?\s*\.?\s*", re.IGNORECASE
)
_LIMITS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
Schema = Mapping[str, Any]


def definition_faults(function: Any) -> list[Finding]:
    """What makes a tool's definition unclear; empty for one that may be shown.

    Args: function: `{name, description, parameters}`, the `function` of an OpenAI tool definition.
    """
    return list(_definition_faults(function))


def _definition_faults(function: Any) -> Iterator[Finding]:
    if not isinstance(function, Mapping):
        yield fault("D1", "A definition is an object with name, description and parameters.")
        return
    definition = as_schema(cast(object, function))
    name, parameters = definition.get("name"), definition.get("parameters")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        message = f"the name {shorten(name)} must be letters, digits, `_`, `.` or `-`, 64 at most."
        yield fault("D1", message)
    yield from _description_faults(definition.get("description"), "the tool")
    schema = as_schema(parameters)
    if schema.get("type") != "object":
        yield fault("D1", "`parameters` must be a JSON Schema of type object.")
    if not isinstance(parameters, Mapping):
        return
    if _levels(schema) > _MOST_LEVELS or len(repr(schema)) > MAX_PARAMETERS_CHARACTERS:
        # Nothing of it is looked at further: it could take long.
        message = f"the parameters are too much; at most {MAX_PARAMETERS_CHARACTERS} characters."
        yield fault("D9", message)
    else:
        yield from schema_definition_faults(schema)


def _levels(value: Any) -> int:
    """How deep objects and lists lie in a value; no more than one more than is allowed."""
    levels, row = 0, [value]
    while row and levels <= _MOST_LEVELS:
        levels += 1
        row = [child for inner in row for child in (as_schema(inner).values() or as_list(inner))]
    return levels


def schema_definition_faults(schema: Schema, path: str = "parameters", depth: int = 1) -> Iterator[Finding]:
    """What is unclear in a schema, at every depth; `path` is its place in the definition."""
    if depth > MAX_SCHEMA_DEPTH:
        yield fault("D9", f"{path} lies too deep; at most {MAX_SCHEMA_DEPTH} levels.")
        return
    if "anyOf" in schema:
        branches = as_list(schema["anyOf"])
        for k, branch in enumerate(branches):
            yield from schema_definition_faults(as_schema(branch), f"{path}.anyOf[{k}]", depth + 1)
        if not branches:
            yield fault("D3", f"{path}.anyOf must be a list of schemas.")
        return
    type_ = schema.get("type")
    if not isinstance(type_, str) or type_ not in FORMAT_TYPE_NAMES:
        yield fault("D3", f"{path}: the type {shorten(type_)} must be one of {', '.join(FORMAT_TYPE_NAMES)}.")
        return
    yield from _enum_faults(schema, type_, path)
    yield from _pattern_faults(schema, type_, path)
    yield from _bound_faults(schema, type_, path)
    yield from _own_value_faults(schema, path)
    if type_ == "object":
        yield from _object_faults(schema, path, depth)
    if type_ == "array":
        items = schema.get("items")
        if not isinstance(items, Mapping) or not items:
            yield fault("D3", f"{path}: a list must say what its elements are, as `items`.")
        else:
            yield from schema_definition_faults(as_schema(cast(object, items)), f"{path}.items", depth + 1)


def _object_faults(schema: Schema, path: str, depth: int) -> Iterator[Finding]:
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        yield fault("D3", f"{path}.properties must be an object of schemas.")
        return
    members = member_schemas(schema)
    if not members and depth > 1 and schema.get("additionalProperties") is not True:
        yield fault("D3", f"{path}: an object must list its properties.")
    if len(members) > MAX_PARAMETERS:
        yield fault("D9", f"{path} has {len(members)} properties; at most {MAX_PARAMETERS}.")
    yield from _required_faults(schema.get("required", []), members, path)
    yield from _name_faults(list(members), path)
    for name, child in members.items():
        below = f"{path}.{name}"
        yield from _description_faults(child.get("description"), below)
        yield from schema_definition_faults(child, below, depth + 1)


def _description_faults(text: Any, where: str) -> Iterator[Finding]:
    if not isinstance(text, str) or _HOLLOW.fullmatch(text):
        yield fault("D2", f"{where} has no description that says something.")
    elif len(text) > MAX_DESCRIPTION_CHARACTERS:
        yield fault(
            "D2", f"the description of {where} is too long; at most {MAX_DESCRIPTION_CHARACTERS} characters."
        )


def _required_faults(required: Any, properties: Schema, path: str) -> Iterator[Finding]:
    if not isinstance(required, list):
        yield fault("D4", f"{path}.required must be a list of names.")
        return
    earlier: set[str] = set()
    for name in cast(list[Any], required):
        if not isinstance(name, str) or name not in properties:
            yield fault("D4", f"{path}: {shorten(name)} is required but not a property.")
        elif name in earlier:
            yield fault("D4", f"{path}: {name} is required twice.")
        else:
            earlier.add(name)


def _name_faults(names: Sequence[str], path: str) -> Iterator[Finding]:
    plain_names: dict[str, str] = {}
    for name in names:
        if not _PARAMETER.fullmatch(name):
            yield fault("D8", f"{path}: the parameter name {shorten(name)} must be letters, digits or `_`.")
        elif name == "properties":
            yield fault("D8", f"{path}: a parameter must not be called `properties`.")
        plain = re.sub(r"[^a-z0-9]", "", name.casefold())
        if plain in plain_names:
            yield fault(
                "D8", f"{path}: {shorten(name)} and {shorten(plain_names[plain])} are one name written twice."
            )
        plain_names[plain] = name


def _enum_faults(schema: Schema, type_: str, path: str) -> Iterator[Finding]:
    if "enum" not in schema:
        return
    values = enum_of(schema)
    if not 1 <= len(values) <= MAX_ENUM_MEMBERS:
        yield fault("D5", f"{path}.enum must be a list of 1 to {MAX_ENUM_MEMBERS} values.")
        return
    if type_ in ("object", "array"):
        yield fault("D5", f"{path}: an enum goes with single values; of a list it stands in `items`.")
    for _, member in repeated_members(values):
        yield fault("D5", f"{path}.enum has {shorten(member)} twice.")


def _own_value_faults(schema: Schema, path: str) -> Iterator[Finding]:
    """Values that a schema itself names keep to it: members of its enum, its default."""
    plain = {key: value for key, value in schema.items() if key != "enum"}
    for member in enum_of(schema)[:MAX_ENUM_MEMBERS]:
        for _, message in call_problems(member, plain):
            yield fault("D5", f"{path}.enum: {message}.")
    if "default" in schema and schema["default"] is not None:
        for where, message in call_problems(schema["default"], schema):
            yield fault("D5", f"{path}.default{where and '.' + where}: {message}.")


def _pattern_faults(schema: Schema, type_: str, path: str) -> Iterator[Finding]:
    if "pattern" not in schema:
        return
    if type_ != "string":
        yield fault("D6", f"{path}: a pattern goes with texts only.")
        return
    problem = pattern_problem(schema)
    if problem:
        yield fault("D6", f"{path}.pattern cannot be checked: {problem}.")
        return
    pattern = cast(str, schema["pattern"])
    if problem := pattern_risk(pattern) or _unusual(pattern):
        yield fault("D6", f"{path}.pattern: {problem}.")
    elif "enum" not in schema and not _has_sample(schema, pattern):
        yield fault("D6", f"{path}.pattern: no text was found that follows it and the other constraints.")


def _unusual(pattern: str) -> str:
    """Why other checkers, many of which are written in Python, do not read a pattern; empty if they do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, FutureWarning, RecursionError, OverflowError) as error:
        return f"other checkers do not read it ({error}); escape what stands for itself"
    return ""


def _has_sample(schema: Schema, pattern: str) -> bool:
    """Whether some text follows a pattern and all other constraints of the schema."""
    drawn = (sample(pattern, seeded_draw(f"{pattern}/{k}")) for k in range(20))
    examples = FORMAT_EXAMPLES.get(str(schema.get("format")), ())
    # Where one draw finds nothing, others would only take as long.
    for text in chain(examples, drawn):
        if text is None or not list(constraint_faults(text, schema)):
            return text is not None
    return False


def _bound_faults(schema: Schema, type_: str, path: str) -> Iterator[Finding]:
    kinds = {"min": ("integer", "number", "float"), "Length": ("string",), "Items": ("array",)}
    for low, high in _LIMITS:
        fitting = kinds.get(low[3:], kinds["min"])
        for name in (low, high):
            if name in schema and numeric_bound(schema, name) is None:
                yield fault("D7", f"{path}.{name} must be a number.")
            elif name in schema and type_ not in fitting:
                yield fault("D7", f"{path}.{name} does not go with the type {type_}.")
        lowest, most = numeric_bound(schema, low), numeric_bound(schema, high)
        if lowest is not None and most is not None and lowest > most:
            yield fault("D7", f"{path}: {low} {lowest:g} is above {high} {most:g}.")
    form = schema.get("format")
    if "format" in schema and (not isinstance(form, str) or type_ != "string" or form not in FORMAT_PATTERNS):
        yield fault(
            "D7",
            f"{path}: the format {shorten(form)} must be one of {', '.join(FORMAT_PATTERNS)}, of a text.",
        )


def call_problems(arguments: Any, schema: Schema) -> list[tuple[str, str]]:
    """Where the arguments of a call break a schema, with types by any of their names: types, names, enums, required
    ones, patterns, formats, bounds and counts."""
    schema_text = format_types(schema)
    return [*argument_faults(arguments, schema_text), *constraint_faults(arguments, schema_text)]


def format_types(schema: Schema) -> dict[str, Any]:
    """A schema with the names of types that the format writes."""
    typed = dict(schema)
    if isinstance(typed.get("type"), str):
        typed["type"] = FORMAT_TYPE_NAMES.get(typed["type"], typed["type"])
    if isinstance(typed.get("properties"), Mapping):
        typed["properties"] = {name: format_types(child) for name, child in member_schemas(typed).items()}
    if isinstance(typed.get("items"), Mapping):
        typed["items"] = format_types(as_schema(typed["items"]))
    if isinstance(typed.get("anyOf"), list):
        typed["anyOf"] = [format_types(branch) for branch in as_objects(typed["anyOf"])]
    return typed


def duplicate_names(names: Sequence[str]) -> list[str]:
    """Names that several tools of a list have, small and capital letters being one; each once."""
    often = Counter(name.casefold() for name in names)
    return list(dict.fromkeys(name for name in names if often[name.casefold()] > 1))
