"""What the tools of frameworks need of a session."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from wildtool.agents.agent import ToolAnswer
from wildtool.types import Tool

ToolKind = Literal[
    "openai", "callables", "openai-agents", "pydantic-ai", "langchain", "adk", "smolagents", "strands"
]
"""Forms in which a function can have its tools."""


class ToolSession(Protocol):
    """A conversation as its tools know it."""

    def definitions(self) -> list[Tool]:
        """Its tools in OpenAI's shape, in order."""
        ...

    def answers_by(self, tool: str, argument: str) -> None:
        """Names a tool, and its argument, by which the agent gives its last text."""
        ...

    async def call(
        self, name: str, arguments: Mapping[str, Any] | str, call_id: str | None = None
    ) -> ToolAnswer:
        """Executes a call that the model made."""
        ...

    def call_from_thread(
        self, name: str, arguments: Mapping[str, Any] | str, call_id: str | None = None
    ) -> ToolAnswer:
        """As `call`, from a thread."""
        ...
