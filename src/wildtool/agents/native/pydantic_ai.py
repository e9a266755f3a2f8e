"""Tools for Pydantic AI."""

from importlib import import_module
from typing import Any

from wildtool.agents.native.schemas import ToolSchema, session_schemas
from wildtool.agents.native.tool_session import ToolSession


def pydantic_ai_tools(session: ToolSession) -> list[Any]:
    """Each as a `Tool` from a schema, whose arguments are not checked."""
    library: Any = import_module("pydantic_ai")

    def made(tool: ToolSchema) -> Any:
        async def run(context: Any, /, **arguments: Any) -> str:
            return (await session.call(tool.name, arguments, context.tool_call_id)).text

        return library.Tool.from_schema(run, tool.name, tool.description, tool.parameters, takes_ctx=True)

    return [made(tool) for tool in session_schemas(session)]
