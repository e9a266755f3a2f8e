"""Tools as Python functions: their names, and the stubs that a model reads."""

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.shapes import tool_name
from wildtool.types import Tool


class Detail(StrEnum):
    """What a stub says of a tool."""

    full = "full"
    short = "short"
    """Its signature and the first line of its description."""
    names = "names"


_TAKEN = (
    frozenset(dir(builtins))
    | frozenset(keyword.kwlist)
    | {"json", "re", "math", "asyncio", "datetime", "time"}
)
"""Names that no function gets: the sandbox would find its own builtin first, and a script's import would hide it."""
_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("string", "str", "String", "char", "enum", "date", "datetime"), "str"),
    **dict.fromkeys(("integer", "int", "interger", "long", "byte", "short", "Bigint", "Integer"), "int"),
    **dict.fromkeys(("number", "float", "double"), "float"),
    **dict.fromkeys(("boolean", "bool", "Boolean"), "bool"),
    **dict.fromkeys(("array", "list", "ArrayList", "Array"), "list"),
    **dict.fromkeys(("object", "dict", "HashMap", "Hashtable"), "dict"),
    "tuple": "tuple",
    "null": "None",
}
"""Python's types by the names that benchmarks give in schemas; any other is `Any`."""
_BOUNDS = (
    "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
)  # fmt: skip
"""Keys of a schema that a type of Python cannot say; the docstring does."""
_DEEPEST = 6
"""Levels of objects in objects that a docstring lists."""


@dataclass(frozen=True, slots=True)
class FunctionOfTool:
    """One tool as a function."""

    name: str
    """An identifier, unlike any other of its request."""
    tool: Tool
    parameters: Mapping[str, str]
    """By identifier the tool's own name of the parameter, in the order of the signature: required ones first."""

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by the tool's own names. Positional ones are taken in the order of the signature; a
        name that the tool does not have stays as it is."""
        read = dict(zip(self.parameters.values(), args, strict=False))
        return {**read, **{self.parameters.get(key, key): value for key, value in kwargs.items()}}


class ToolFunctions:
    """The tools of one request as functions."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._by_tool: dict[str, FunctionOfTool] = {}
        self._by_name: dict[str, FunctionOfTool] = {}
        for tool in tools:
            function = FunctionOfTool(
                _identifier(tool_name(tool), {*_TAKEN, *self._by_name}), tool, _parameters(tool)
            )
            self._by_name[function.name] = function
            # Of two tools of one name a model can only mean the first.
            self._by_tool.setdefault(tool_name(tool), function)

    @property
    def parameters(self) -> Mapping[str, Sequence[str]]:
        """The names of the parameters of each function, in order."""
        return {name: list(function.parameters) for name, function in self._by_name.items()}

    def __iter__(self) -> Iterator[FunctionOfTool]:
        return iter(self._by_name.values())

    def named(self, name: str) -> FunctionOfTool | None:
        """The function that a script calls so."""
        return self._by_name.get(name)

    def of_tool(self, name: str) -> FunctionOfTool | None:
        """The function of the benchmark's tool of this name."""
        return self._by_tool.get(name)


def _identifier(name: str, taken: set[str]) -> str:
    """A name as an identifier that is not taken: with _ for what identifiers may not have, and a number if need be."""
    plain = unicodedata.normalize("NFKC", re.sub(r"\W", "_", name)) or "_"
    # What NFKC makes of a character may again be none that identifiers have.
    plain = re.sub(r"\W", "_", plain)
    plain = plain if plain.isidentifier() else f"_{plain}"
    plain = plain if plain.isidentifier() else re.sub(r"[^A-Za-z0-9_]", "_", plain)
    if keyword.iskeyword(plain) or plain in _TAKEN:
        plain += "_"
    found, number = plain, 2
    while found in taken:
        found, number = f"{plain}_{number}", number + 1
    return found


def _schema(tool: Tool) -> dict[str, Any]:
    return as_object(as_object(tool.get("function")).get("parameters"))


def _required(schema: Mapping[str, Any]) -> list[Any]:
    return as_list(schema.get("required"))


def _parameters(tool: Tool) -> dict[str, str]:
    schema = _schema(tool)
    properties, required = as_object(schema.get("properties")), _required(schema)
    ordered = sorted(properties, key=lambda name: name not in required)
    names: dict[str, str] = {}
    for name in ordered:
        # A parameter may be called like a builtin.
        is_plain = name.isidentifier() and unicodedata.is_normalized("NFKC", name)
        is_plain = is_plain and not keyword.iskeyword(name) and name not in names
        names[name if is_plain else _identifier(name, {*names})] = name
    return names


def stub(function: FunctionOfTool, detail: Detail) -> str:
    """The function as a model reads it: Python that parses, whatever the tool's definition holds."""
    if detail is Detail.names:
        return function.name
    schema = _schema(function.tool)
    properties, required = as_object(schema.get("properties")), _required(schema)
    parameters = [
        _parameter(shown, as_object(properties[name]), is_required=name in required)
        for shown, name in function.parameters.items()
    ]
    signature = f"def {function.name}({', '.join(['*', *parameters] if parameters else [])}) -> Any:"
    described = as_object(function.tool.get("function")).get("description")
    text = described if isinstance(described, str) else ""
    lines = [text.strip().partition("\n")[0]] if detail is Detail.short else [*text.splitlines()]
    if detail is Detail.full and parameters:
        lines += ["", "Args:"]
        for shown, name in function.parameters.items():
            lines += _described(shown, as_object(properties[name]), depth=1)
    if not any(lines):
        return f"{signature} ..."
    return f'{signature}\n    """{_escaped(chr(10).join(lines))}"""'


def _escaped(text: str) -> str:
    """A text inside of a docstring, indented."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "")
    return "\n    ".join(plain.split("\n"))


def _parameter(shown: str, schema: Mapping[str, Any], *, is_required: bool) -> str:
    if is_required:
        return f"{shown}: {_annotation(schema)}"
    return f"{shown}: {_annotation(schema)} = {_literal(schema['default']) if 'default' in schema else '...'}"


def _literal(value: Any) -> str:
    """A JSON value as Python writes it; `...` for one that Python has no literal for."""
    text = repr(value)
    return "..." if re.search(r"\b(?:nan|inf)\b", text) and not isinstance(value, str) else text


def _annotation(schema: Any) -> str:
    """The type of a value in Python's words; `Any` for what is not known."""
    if not isinstance(schema, Mapping):
        return "Any"
    its = as_object(schema)
    for key in ("anyOf", "oneOf"):
        if as_list(its.get(key)):
            return " | ".join(dict.fromkeys(map(_annotation, as_list(its[key]))))
    choices = as_list(its.get("enum")) or ([its["const"]] if "const" in its else [])
    if choices and all(isinstance(each, str | int | None) for each in choices):
        literal = f"Literal[{', '.join(map(repr, choices))}]"
        return f"list[{literal}]" if _type(its.get("type")) == "list" else literal
    kind = its.get("type")
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(map(_type, as_list(kind)))) or "Any"
    return _of_type(_type(kind), its)


def _type(name: Any) -> str:
    return _TYPES.get(name, "Any") if isinstance(name, str) else "Any"


def _of_type(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "list" and as_object(schema.get("items")):
        return f"list[{_annotation(schema['items'])}]"
    if kind == "dict" and as_object(schema.get("properties")):
        return "dict[str, Any]"
    if kind == "dict" and as_object(schema.get("additionalProperties")):
        return f"dict[str, {_annotation(schema['additionalProperties'])}]"
    return kind


def _described(name: str, schema: Mapping[str, Any], depth: int, remark: str = "") -> Iterator[str]:
    """The lines about a parameter, with those inside of an object below it."""
    description = schema.get("description")
    words = [description.replace("\n", " ")] if isinstance(description, str) and description else []
    words += [f"{key}: {schema[key]!r}" for key in _BOUNDS if key in schema]
    yield f"{'  ' * depth}{name}: {remark}{'; '.join(words)}".rstrip()
    inside = as_object(schema.get("items")) if not as_object(schema.get("properties")) else schema
    properties = as_object(inside.get("properties"))
    for key, value in properties.items() if depth < _DEEPEST else ():
        its, optional = as_object(value), "" if key in _required(inside) else ", optional"
        yield from _described(repr(key), its, depth + 1, f"({_annotation(its)}{optional}) ")
