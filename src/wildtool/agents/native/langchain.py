"""Tools for LangChain and LangGraph."""

from importlib import import_module
from typing import Any

from wildtool.agents.agent import ToolAnswer
from wildtool.agents.native.schemas import session_schemas
from wildtool.agents.native.tool_session import ToolSession
from wildtool.json_codec import as_object


def langchain_tools(session: ToolSession) -> list[Any]:
    """Each as a `BaseTool` that answers a call itself: what lies between would check arguments and lose the call's id."""
    messages: Any = import_module("langchain_core.messages")
    base: Any = import_module("langchain_core.tools").BaseTool

    def answered(given: dict[str, Any], name: str, answer: ToolAnswer) -> Any:
        if given.get("type") != "tool_call":
            return answer.text
        status = "error" if answer.is_error else "success"
        return messages.ToolMessage(
            content=answer.text, name=name, tool_call_id=given.get("id"), status=status
        )

    def arguments_in(given: dict[str, Any]) -> dict[str, Any]:
        return as_object(given.get("args")) if given.get("type") == "tool_call" else given

    class SessionTool(base):
        """A tool of the conversation."""

        async def ainvoke(self, input: Any, config: Any = None, **keywords: Any) -> Any:
            given = as_object(input)
            answer = await session.call(self.name, arguments_in(given), given.get("id"))
            return answered(given, self.name, answer)

        def invoke(self, input: Any, config: Any = None, **keywords: Any) -> Any:
            given = as_object(input)
            answer = session.call_from_thread(self.name, arguments_in(given), given.get("id"))
            return answered(given, self.name, answer)

        def _run(self, /, **arguments: Any) -> str:
            return session.call_from_thread(self.name, arguments).text

        async def _arun(self, /, **arguments: Any) -> str:
            return (await session.call(self.name, arguments)).text

    return [
        SessionTool(name=tool.name, description=tool.description, args_schema=tool.parameters)
        for tool in session_schemas(session)
    ]
