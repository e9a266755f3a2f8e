"""API-Bank's 53 tools as typed functions over the shipped tables: a call is checked, converted and dispatched by name."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from wildtool.benchmarks.apibank.tools.accounts import ACCOUNT_TOOLS
from wildtool.benchmarks.apibank.tools.calendar import CALENDAR_TOOLS
from wildtool.benchmarks.apibank.tools.care import CARE_TOOLS
from wildtool.benchmarks.apibank.tools.services import SERVICE_TOOLS
from wildtool.benchmarks.apibank.tools.state import Tables, ToolFunction
from wildtool.toolcall.refusals import RefusedCallError, missing_arguments

API_TOOLS: Mapping[str, ToolFunction] = {**ACCOUNT_TOOLS, **CALENDAR_TOOLS, **CARE_TOOLS, **SERVICE_TOOLS}
"""By name all tools."""
_CALL_ERRORS = (RefusedCallError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What a tool may raise for arbitrary arguments; its text is part of the result."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call gave, as dialogues record it."""

    input: Mapping[str, Any]
    """The arguments by name."""
    output: Any
    """None where the tool refused."""
    exception: str | None


class ArgumentError(Exception):
    """A call has an argument that its tool does not take or that is of another type, or it lacks one."""


@cache
def _parameters(tool: str) -> Mapping[str, Any]:
    """Parameters of a tool to their defaults."""
    parameters = list(inspect.signature(API_TOOLS[tool]).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


def execute(tables: Tables, tool: str, arguments: Mapping[str, Any]) -> CallResult:
    """Runs one call on a tool set; only names of `API_TOOLS` are looked up.

    Raises:
        ArgumentError: an argument is missing or unknown.
    """
    parameters = _parameters(tool)
    if unknown := [name for name in arguments if name not in parameters]:
        raise ArgumentError(f"invalid parameter name. parameter: {unknown[0]}")
    missing = [
        name
        for name, default in parameters.items()
        if default is inspect.Parameter.empty and name not in arguments
    ]
    if missing:
        raise ArgumentError(missing_arguments(f"{tool}.call", missing))
    # Optional arguments that are not given are None in the input, except with this tool.
    optional = (
        {} if tool == "ForgotPassword" else {name: None for name in parameters if name not in arguments}
    )
    try:
        return CallResult({**arguments, **optional}, API_TOOLS[tool](tables, **arguments), None)
    except _CALL_ERRORS as error:
        return CallResult({**arguments, **optional}, None, str(error))
