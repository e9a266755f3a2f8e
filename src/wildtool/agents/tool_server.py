"""The tool door as an MCP server over HTTP: the tools of a conversation to the letter, and answers to calls.

It speaks the part of the Model Context Protocol that tools need (streamable HTTP with JSON answers), since the official
library moves keys of schemas and checks arguments, and what an agent does about both is what a run measures.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from wildtool import __version__
from wildtool.agents.agent import ToolAnswer, Traits
from wildtool.json_codec import as_object
from wildtool.shapes.keys import FUNCTION
from wildtool.types import Tool

LATEST_VERSION = "2025-11-25"
MCP_VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", LATEST_VERSION})
"""Versions of the protocol that are spoken alike here."""
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LEGAL_TYPES: Mapping[str, str] = {"float": "number", "dict": "object", "tuple": "array", "any": ""}
"""By a type that JSON Schema does not have the one that is meant; empty for any. Data sets have them, and agents drop
such tools in silence."""
ExecuteCall = Callable[[str, Any, Mapping[str, Any]], Awaitable[ToolAnswer]]
"""Executes a call: takes the tool's name, its arguments and what the client says beside it."""


async def answer_client(
    message: Mapping[str, Any], tools: Sequence[Tool], traits: Traits, call: ExecuteCall
) -> dict[str, Any] | None:
    """The answer to one message of a client; None to a notification."""
    id_ = message.get("id")
    if id_ is None:
        return None
    params = as_object(message.get("params"))
    match message.get("method"):
        case "initialize":
            wanted = params.get("protocolVersion")
            result: dict[str, Any] = {
                "protocolVersion": wanted if wanted in MCP_VERSIONS else LATEST_VERSION,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "wildtool", "version": __version__},
            }
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": [mcp_tool(tool, traits) for tool in tools]}
        case "tools/call":
            arguments = params.get("arguments")
            answer = await call(
                str(params.get("name")),
                {} if arguments is None else arguments,
                as_object(params.get("_meta")),
            )
            result = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
            if traits.empty_structure:
                result["structuredContent"] = {}
        case method:
            return {
                "jsonrpc": "2.0",
                "id": id_,
                "error": {"code": -32601, "message": f"no such method: {method}"},
            }
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def mcp_tool(tool: Tool, traits: Traits) -> dict[str, Any]:
    """A tool as the server offers it."""
    function = tool[FUNCTION]
    offered = {
        "name": function["name"],
        "description": function.get("description") or function["name"],
        "inputSchema": offered_schema(function),
    }
    return {**offered, "annotations": {"readOnlyHint": True}} if traits.read_only else offered


def offered_schema(function: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments as agents are given it: legal, and that of an object without properties where the
    tool says nothing. Args: function: of the tool, in OpenAI's shape."""
    schema = legal_schema(function.get("parameters") or {"type": "object", "properties": {}})
    return schema if schema.get("type") else {"type": "object", **schema}


def legal_schema(schema: Any) -> Any:
    """A schema in which types that JSON Schema does not have are those that are meant; all else to the letter."""
    if isinstance(schema, list):
        return [legal_schema(each) for each in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    legal: dict[str, Any] = {}
    for key, value in as_object(schema).items():
        if key == "type" and isinstance(value, str) and value in _LEGAL_TYPES:
            if _LEGAL_TYPES[value]:
                legal[key] = _LEGAL_TYPES[value]
        elif key in ("enum", "const", "default", "examples", "example"):
            legal[key] = value
        elif key in _NAMED_SCHEMAS:
            # Their keys are names of the tool's own, whatever they are.
            legal[key] = {name: legal_schema(each) for name, each in as_object(value).items()}
        else:
            legal[key] = legal_schema(value)
    return legal
