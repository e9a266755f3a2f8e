"""Tools for Pydantic AI."""

from importlib import import_module
from typing import Any

from wildtool.agents.native.schemas import ToolSchema, tool_schemas
from wildtool.agents.session import AgentSession


def pydantic_ai_tools(session: AgentSession) -> list[Any]:
    """Each as a `Tool` from a schema, whose arguments are not checked."""
    library: Any = import_module("pydantic_ai")

    def made(tool: ToolSchema) -> Any:
        async def run(context: Any, /, **arguments: Any) -> str:
            return (await session.call(tool.name, arguments, context.tool_call_id)).text

        return library.Tool.from_schema(run, tool.name, tool.description, tool.parameters, takes_ctx=True)

    return [made(tool) for tool in tool_schemas(session)]
