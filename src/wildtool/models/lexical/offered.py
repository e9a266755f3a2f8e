"""The tools of a request as the lexical agent sees them, and the assistant message that calls them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.models.lexical.reading import as_list, as_object, as_text
from wildtool.types import Message
from wildtool.wire import dumps


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool, or one property of an object."""

    name: str
    schema: dict[str, Any]
    required: bool

    @property
    def description(self) -> str:
        return as_text(self.schema.get("description"))


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """One tool of the request."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]


def offered_tools(tools: Sequence[object]) -> list[OfferedTool]:
    """The tools that have a name, in order; whatever else is broken in them counts as not there."""
    functions = [as_object(as_object(tool).get("function")) for tool in tools]
    return [
        OfferedTool(
            function["name"], as_text(function.get("description")), parameters_of(function.get("parameters"))
        )
        for function in functions
        if isinstance(function.get("name"), str) and function["name"]
    ]


def parameters_of(schema: object) -> tuple[Parameter, ...]:
    """The properties of an object schema, the required ones first."""
    node = as_object(schema)
    required = [name for name in as_list(node.get("required")) if isinstance(name, str)]
    found = [
        Parameter(name, as_object(part), name in required)
        for name, part in as_object(node.get("properties")).items()
    ]
    return tuple(sorted(found, key=lambda parameter: not parameter.required))


def assistant_calls(calls: Sequence[tuple[str, dict[str, Any]]], prefix: str) -> Message:
    """An assistant message that calls tools by name with arguments; ids are the prefix and a number."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"{prefix}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": dumps(arguments).decode()},
            }
            for number, (name, arguments) in enumerate(calls)
        ],
    }
