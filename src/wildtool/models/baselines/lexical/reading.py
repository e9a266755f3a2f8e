"""Reads JSON and tools that others wrote: whatever stands in the wrong place counts as empty, nothing raises."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.json_codec import loads

LONGEST_TEXT = 6_000
"""Characters of one message that are read; what people type is far shorter."""
DEEPEST = 12
"""Levels of a result that are read."""
MOST_RECORDS = 400


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool, or one property of an object."""

    name: str
    schema: dict[str, Any]
    required: bool

    @property
    def description(self) -> str:
        return as_text(self.schema.get("description"))

    @property
    def members(self) -> list[Any]:
        """The members of its enumeration; empty if there is none."""
        return [member for member in as_list(self.schema.get("enum")) if is_plain(member)]


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """One tool of the request."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]


def offered_tools(tools: Sequence[object]) -> list[OfferedTool]:
    """The tools that have a name, in order."""
    functions = [as_object(as_object(tool).get("function")) for tool in tools]
    return [
        OfferedTool(name, as_text(function.get("description")), parameters_of(function.get("parameters")))
        for function in functions
        if isinstance(name := function.get("name"), str) and name
    ]


def parameters_of(schema: object) -> tuple[Parameter, ...]:
    """The properties of an object schema, the required ones first."""
    node = as_object(schema)
    required = as_list(node.get("required"))
    found = [
        Parameter(name, as_object(part), name in required)
        for name, part in as_object(node.get("properties")).items()
    ]
    return tuple(sorted(found, key=lambda parameter: not parameter.required))


def as_object(value: object) -> dict[str, Any]:
    """The object with its text keys; an empty one for anything else."""
    if not isinstance(value, Mapping):
        return {}
    return {key: part for key, part in cast("Mapping[Any, Any]", value).items() if isinstance(key, str)}


def as_list(value: object) -> list[Any]:
    """The list; an empty one for anything else."""
    return list(cast("list[Any] | tuple[Any, ...]", value)) if isinstance(value, list | tuple) else []


def as_text(value: object) -> str:
    """A text, or the texts of content parts, as far as they are read; lone surrogates become `?`."""
    if isinstance(value, list):
        parts = [as_object(part).get("text") for part in as_list(cast("object", value))[:50]]
        value = "\n".join(part for part in parts if isinstance(part, str))
    return value[:LONGEST_TEXT].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def is_plain(value: object) -> bool:
    """Whether it is a text, a finite number of 64 bits, a truth value or null."""
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) < 2**63
    return value is None or isinstance(value, str)


def read_json(text: object) -> Any:
    """The value of a JSON text, the text itself where it is none, None for anything but a text."""
    if not isinstance(text, str):
        return None
    try:
        return loads(text[:100_000].encode("utf-8", "replace"))
    except ValueError:
        return as_text(text)


def records(value: object) -> list[tuple[str, dict[str, Any]]]:
    """Every object inside a value in document order, each with the key that it (or its list) stands under."""
    return list(_records(value, "", 0))[:MOST_RECORDS]


def _records(value: object, key: str, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > DEEPEST:
        return
    found = as_object(value)
    if found:
        yield key, found
    inner = [*found.items(), *((key, part) for part in as_list(value))]
    for name, part in inner[:MOST_RECORDS]:
        yield from _records(part, name, depth + 1)
