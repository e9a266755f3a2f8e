"""Tools for Google's Agent Development Kit."""

import json
from importlib import import_module
from typing import Any

from wildtool.agents.agent import ToolAnswer
from wildtool.agents.native.schemas import ToolSchema, session_schemas
from wildtool.agents.native.tool_session import ToolSession


def adk_tools(session: ToolSession) -> list[Any]:
    """Each as a `BaseTool` that declares the schema itself."""
    base: Any = import_module("google.adk.tools.base_tool").BaseTool
    types: Any = import_module("google.genai.types")

    class SessionTool(base):
        """A tool of the conversation."""

        def __init__(self, tool: ToolSchema) -> None:
            base.__init__(self, name=tool.name, description=tool.description)
            self._tool = tool

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self._tool.name,
                description=self._tool.description,
                parameters_json_schema=self._tool.parameters,
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            return _result(await session.call(self._tool.name, args, tool_context.function_call_id))

    return [SessionTool(tool) for tool in session_schemas(session)]


def _result(answer: ToolAnswer) -> Any:
    """What the framework writes as it is into the request: an object. It puts any other text into one."""
    if answer.is_error:
        return {"error": answer.text}
    try:
        result = json.loads(answer.text)
    except ValueError:
        return answer.text
    return result if isinstance(result, dict) else answer.text  # pyright: ignore[reportUnknownVariableType]
