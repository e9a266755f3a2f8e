"""What every framework is given of a tool."""

from dataclasses import dataclass
from typing import Any

from wildtool.agents.native.tool_session import ToolSession
from wildtool.agents.tool_server import offered_schema
from wildtool.shapes.keys import FUNCTION


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool's name, description and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]
    """To the letter, but for types that JSON Schema does not have (`offered_schema`)."""


def session_schemas(session: ToolSession) -> list[ToolSchema]:
    """The tools of a conversation, in order."""
    functions = [tool[FUNCTION] for tool in session.definitions()]
    return [
        ToolSchema(
            function["name"],
            function.get("description") or "",
            offered_schema(function),
        )
        for function in functions
    ]
