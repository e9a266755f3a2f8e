"""The tools of a conversation as the objects of a framework. Each module is loaded when its form is asked for."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from wildtool.agents.native.tool_session import ToolKind, ToolSession
from wildtool.errors import UsageError, unknown_name

_FORMS: Mapping[ToolKind, tuple[str, str]] = {
    "openai": ("wildtool.agents.native.plain:plain_tools", ""),
    "callables": ("wildtool.agents.native.plain:callable_tools", ""),
    "openai-agents": ("wildtool.agents.native.openai_agents:openai_agents_tools", "openai-agents"),
    "pydantic-ai": ("wildtool.agents.native.pydantic_ai:pydantic_ai_tools", "pydantic-ai"),
    "langchain": ("wildtool.agents.native.langchain:langchain_tools", "langchain"),
    "adk": ("wildtool.agents.native.adk:adk_tools", "google-adk"),
    "smolagents": ("wildtool.agents.native.smolagents:smolagents_tools", "smolagents"),
    "strands": ("wildtool.agents.native.strands:strands_tools", "strands-agents"),
}
"""By form what makes the tools, and the package that it needs."""


def framework_tools(kind: ToolKind, session: ToolSession) -> list[Any]:
    """The tools in a form. Raises UsageError for one that there is not, or whose framework is missing."""
    if kind not in _FORMS:
        raise UsageError(unknown_name("form of tools", str(kind), _FORMS))
    place, package = _FORMS[kind]
    try:
        return resolve_name(place)(session)
    except ImportError as error:
        raise UsageError(
            f'session.tools("{kind}") needs {package}, which cannot be loaded ({error}): pip install {package}'
        ) from error
