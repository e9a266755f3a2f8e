"""A made API: its definition, and where it comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.tools.schema.definitions import Schema
from wildtool.types import Tool
from wildtool_data.make.core.plan import Lang


@dataclass(frozen=True)
class ApiSpec:
    """One API; no slots, since its text is worked out once."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema."""
    returns: Mapping[str, Any]
    """JSON Schema of its result."""
    lang: Lang
    place: str
    """Id of the sub-domain that it belongs to."""
    node: str
    """Id of the function that it is made for."""
    tree_path: tuple[str, ...]
    """Names from the domain down to the function."""
    parents: tuple[str, ...]
    """Names of the APIs that it was evolved from; empty for a new one."""
    generation: int
    """0 for a new one, one more than its parent's for an evolved one."""
    operator: str
    """How it was evolved; empty for a new one."""
    target: str
    """The class of parameter that it was to have; empty if none was asked for."""
    attempt: int
    call: Mapping[str, Any]
    """Arguments of a call of it that a role made up from the definition alone, and that keeps to it."""

    @property
    def function(self) -> dict[str, Any]:
        """As it is shown, with what it returns."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
            "returns": dict(self.returns),
        }

    @property
    def tool(self) -> Tool:
        """As tool files hold it."""
        return {"type": "function", "function": self.function}

    @cached_property
    def text(self) -> str:
        """All that it says in words, by which it is compared with others."""
        return definition_text(self.function)

    def row(self, prompt_version: str) -> dict[str, Any]:
        """As it is written."""
        return {
            **self.function,
            "lang": self.lang,
            "tree_path": list(self.tree_path),
            "parents": list(self.parents),
            "generation": self.generation,
            "operator": self.operator,
            "target": self.target,
            "attempt": self.attempt,
            "call": dict(self.call),
            "prompt_version": prompt_version,
        }


def definition_text(function: Mapping[str, Any]) -> str:
    """The words of a definition: names and descriptions of the tool and of everything that it takes."""
    parts = [str(function.get("name")), str(function.get("description"))]
    for path, schema in nested_schemas(function.get("parameters") or {}):
        parts += [path.rsplit(".", 1)[-1], str(schema.get("description", ""))]
    return " ".join(parts)


API_PARAMETER_CLASSES = ("number", "enum", "list", "bool", "object_short", "object_deep")
"""Classes that an API can be asked to have; a plain text is `text`."""


_CLASSES = {"integer": "number", "number": "number", "float": "number", "array": "list", "boolean": "bool"}


def api_parameter_class(schema: Schema) -> str:
    """The class of a parameter."""
    if "enum" in schema:
        return "enum"
    type_ = str(schema.get("type"))
    if type_ == "object":
        return "object_deep" if any(map(_is_compound, member_schemas(schema).values())) else "object_short"
    return _CLASSES.get(type_, "text")


def api_parameter_classes(parameters: Schema) -> dict[str, str]:
    """The class of each parameter of a tool."""
    return {name: api_parameter_class(child) for name, child in member_schemas(parameters).items()}


def nested_schemas(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """All schemas below one, with the path of each."""
    for name, child in member_schemas(schema).items():
        below = f"{path}.{name}" if path else name
        yield below, child
        yield from nested_schemas(child, below)
    if "items" in schema:
        yield f"{path}[]", as_schema(schema["items"])
        yield from nested_schemas(as_schema(schema["items"]), f"{path}[]")


def _is_compound(schema: Schema) -> bool:
    return schema.get("type") == "object" or as_schema(schema.get("items")).get("type") == "object"
