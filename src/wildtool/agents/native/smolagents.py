"""Tools for smolagents, whose agents run in a thread."""

from importlib import import_module
from typing import Any

from wildtool.agents.native.schemas import ToolSchema, session_schemas
from wildtool.agents.native.tool_session import ToolSession
from wildtool.errors import UsageError
from wildtool.json_codec import as_list, as_object
from wildtool.shapes.keys import FUNCTION

ANSWER_TOOL, ANSWER_ARGUMENT = "final_answer", "answer"
"""The tool of its own by which an agent of smolagents ends a turn."""
_TYPES = frozenset({"string", "boolean", "integer", "number", "array", "object", "null"})
_SCHEMA_OF = "get_tool_json_schema"
"""The function of `smolagents.models` that writes a tool into a request."""


def smolagents_tools(session: ToolSession) -> list[Any]:
    """Each as a `Tool`; its schema goes into requests as it is. A name that is none in Python is no obstacle."""
    base: Any = import_module("smolagents").Tool
    _keep_schemas(import_module("smolagents.models"))
    session.answers_by(ANSWER_TOOL, ANSWER_ARGUMENT)

    class SessionTool(base):
        """A tool of the conversation."""

        output_type = "string"
        skip_forward_signature_validation = True

        def __init__(self, tool: ToolSchema) -> None:
            self.name, self.description = tool.name, tool.description
            self.inputs = _inputs(tool.parameters)
            self.schema_as_it_is = tool.parameters
            base.__init__(self)

        def validate_arguments(self) -> None:
            """Nothing is refused: schemas say more than it knows."""

        def forward(self, /, **arguments: Any) -> str:
            return session.call_from_thread(self.name, arguments).text

        def __call__(self, /, *given: Any, sanitize_inputs_outputs: bool = False, **arguments: Any) -> str:
            return session.call_from_thread(self.name, given[0] if given else arguments).text

    return [SessionTool(tool) for tool in session_schemas(session)]


def _inputs(parameters: dict[str, Any]) -> dict[str, Any]:
    """What it shows of the arguments in its prompt, and checks them by."""
    required = as_list(parameters.get("required"))
    inputs: dict[str, Any] = {}
    for name, value in as_object(parameters.get("properties")).items():
        its = as_object(value)
        kind = its.get("type")
        known = kind if isinstance(kind, str) and kind in _TYPES else "any"
        inputs[name] = {**its, "type": known, "description": its.get("description") or ""}
        if name not in required:
            inputs[name]["nullable"] = True
    return inputs


def _keep_schemas(models: Any) -> None:
    """Lets requests hold the schemas of our tools: it makes them from `inputs` otherwise, which say less. Raises
    UsageError for a version that does it in another way."""
    made_by_it: Any = getattr(models, _SCHEMA_OF, None)
    if made_by_it is None:
        raise UsageError(
            f"this version of smolagents has no smolagents.models.{_SCHEMA_OF}, by which wildtool keeps schemas as they "
            "are; install smolagents 1.26"
        )
    if hasattr(made_by_it, "__wrapped__"):
        return

    def schema_of(tool: Any) -> dict[str, Any]:
        parameters = getattr(tool, "schema_as_it_is", None)
        if parameters is None:
            return made_by_it(tool)
        function = {"name": tool.name, "description": tool.description, "parameters": parameters}
        return {"type": "function", FUNCTION: function}

    schema_of.__wrapped__ = made_by_it  # pyright: ignore[reportFunctionMemberAccess]
    setattr(models, _SCHEMA_OF, schema_of)
