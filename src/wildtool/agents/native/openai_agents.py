"""Tools for the OpenAI Agents SDK."""

from importlib import import_module
from typing import Any

from wildtool.agents.native.schemas import ToolSchema, session_schemas
from wildtool.agents.native.tool_session import ToolSession


def openai_agents_tools(session: ToolSession) -> list[Any]:
    """Each as a `FunctionTool`, which gets the arguments as the model wrote them."""
    agents: Any = import_module("agents")

    def made(tool: ToolSchema) -> Any:
        async def invoke(context: Any, arguments: str) -> str:
            return (await session.call(tool.name, arguments, context.tool_call_id)).text

        return agents.FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=invoke,
            # Strict schemas require every argument and forbid others.
            strict_json_schema=False,
        )

    return [made(tool) for tool in session_schemas(session)]
