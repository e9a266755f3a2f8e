"""Tools without a framework: dictionaries for a request, and functions of keyword arguments."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from keyword import iskeyword
from typing import Any

from wildtool.agents.native.schemas import ToolSchema, session_schemas
from wildtool.agents.native.tool_session import ToolSession
from wildtool.json_codec import as_list, as_object
from wildtool.types import Tool

_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def plain_tools(session: ToolSession) -> list[Tool]:
    """As a bare model is sent them."""
    return session.definitions()


def callable_tools(session: ToolSession) -> list[Callable[..., Awaitable[str]]]:
    """An async function for each tool, with its name, docstring and signature; it gives the text of the result."""
    return [_callable(tool, session) for tool in session_schemas(session)]


def _callable(tool: ToolSchema, session: ToolSession) -> Callable[..., Awaitable[str]]:
    async def call(**arguments: Any) -> str:
        return (await session.call(tool.name, arguments)).text

    described: Any = call
    described.__name__ = described.__qualname__ = tool.name
    described.__doc__ = _docstring(tool)
    described.__signature__ = _signature(tool)
    described.__annotations__ = {
        each.name: each.annotation for each in described.__signature__.parameters.values()
    } | {"return": str}
    return call


def _docstring(tool: ToolSchema) -> str:
    described = {
        name: as_object(its).get("description")
        for name, its in as_object(tool.parameters.get("properties")).items()
    }
    lines = [f"    {name}: {text}" for name, text in described.items() if text]
    return "\n".join([tool.description, *(["", "Args:", *lines] if lines else [])])


def _signature(tool: ToolSchema) -> inspect.Signature:
    """The arguments by keyword, required ones first; those whose names are no names in Python are taken as `**others`."""
    required = as_list(tool.parameters.get("required"))
    properties = as_object(tool.parameters.get("properties"))
    names = [name for name in properties if name.isidentifier() and not iskeyword(name)]
    names.sort(key=lambda name: name not in required)
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty
            if name in required
            else as_object(properties[name]).get("default"),
            annotation=_type(as_object(properties[name]).get("type")),
        )
        for name in names
    ]
    if len(names) < len(properties) or not properties:
        parameters.append(inspect.Parameter("others", inspect.Parameter.VAR_KEYWORD, annotation=Any))
    return inspect.Signature(parameters, return_annotation=str)


def _type(name: Any) -> Any:
    return _TYPES.get(name, Any) if isinstance(name, str) else Any
