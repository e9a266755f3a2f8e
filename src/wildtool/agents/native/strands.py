"""Tools for Strands Agents."""

from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

from wildtool.agents.native.schemas import ToolSchema, session_schemas
from wildtool.agents.native.tool_session import ToolSession


def strands_tools(session: ToolSession) -> list[Any]:
    """Each as an `AgentTool`."""
    base: Any = import_module("strands.types.tools").AgentTool

    class SessionTool(base):
        """A tool of the conversation."""

        def __init__(self, tool: ToolSchema) -> None:
            base.__init__(self)
            self._tool = tool

        @property
        def tool_name(self) -> str:
            return self._tool.name

        @property
        def tool_spec(self) -> dict[str, Any]:
            schema = {"json": self._tool.parameters}
            return {
                "name": self._tool.name,
                "description": self._tool.description,
                "inputSchema": schema,
            }

        @property
        def tool_type(self) -> str:
            return "wildtool"

        async def stream(
            self, tool_use: dict[str, Any], invocation_state: dict[str, Any], **keywords: Any
        ) -> AsyncIterator[dict[str, Any]]:
            answer = await session.call(self._tool.name, tool_use["input"], tool_use["toolUseId"])
            yield {
                "toolUseId": tool_use["toolUseId"],
                "status": "error" if answer.is_error else "success",
                "content": [{"text": answer.text}],
            }

    return [SessionTool(tool) for tool in session_schemas(session)]
