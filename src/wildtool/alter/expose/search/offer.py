"""The tools that a search puts in place of those of a request, and what it answers."""

import json
from collections.abc import Iterable, Mapping, Sequence

from wildtool.alter.expose.search.settings import REGEX, SearchSettings
from wildtool.json_codec import as_object
from wildtool.shapes import tool_name
from wildtool.types import Tool

_QUERY = "What the tool should do, in a few words. At most {longest} characters."
_PATTERN = (
    "A regular expression, sought in the {fields} of the tools; (?i) makes it ignore case. "
    "At most {longest} characters."
)
_APPENDED = "Finds tools. Once it has answered, those that it found are added to what you can call."
_CALLED = "Finds tools. Call those that it finds with {call_tool}."
_WITH_SHOWN = " The tools that it searches:\n"


def search_tool(settings: SearchSettings, name: str, call_tool: str, tools: Sequence[Tool]) -> Tool:
    """The search as a tool.

    Args:
        name: its own.
        call_tool: name of the tool that calls found ones.
        tools: those that are searched, which its description shows as far as the settings say.
    """
    fields = ", ".join(field.replace("parameter-", "parameter ") for field in settings.fields)
    about = (_PATTERN if settings.retriever == REGEX else _QUERY).format(
        longest=settings.longest_query, fields=fields
    )
    limit = {
        "type": "integer",
        "description": "Tools to find at most.",
        "minimum": 1,
        "maximum": settings.k,
        "default": settings.k,
    }
    properties = {"query": {"type": "string", "description": about}}
    parameters = {
        "type": "object",
        "properties": properties if settings.vendor else {**properties, "limit": limit},
        "required": ["query"],
    }
    description = _APPENDED if settings.calls == "append" else _CALLED.format(call_tool=call_tool)
    return _function(name, description + _shown(settings, tools), parameters)


def call_tool_tool(name: str, search: str) -> Tool:
    """The tool that calls found ones. Args: search: name of the search."""
    properties = {
        "name": {"type": "string", "description": "Name of the tool."},
        "arguments": {"type": "object", "description": "Its arguments, by the parameters that were found."},
    }
    parameters = {"type": "object", "properties": properties, "required": ["name", "arguments"]}
    return _function(name, f"Calls a tool that {search} found.", parameters)


def found_text(settings: SearchSettings, tools: Iterable[Tool]) -> str:
    """What a search is answered: names and descriptions of tools that are appended, all of those that are not; an empty
    list for none."""
    functions = [as_object(tool.get("function")) for tool in tools]
    if settings.calls == "append":
        functions = [
            {key: function[key] for key in ("name", "description") if key in function}
            for function in functions
        ]
    return json.dumps(functions, ensure_ascii=False)


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name that no tool of the benchmark has."""
    names = set(taken)
    while name in names:
        name += "_"
    return name


def _shown(settings: SearchSettings, tools: Sequence[Tool]) -> str:
    if settings.shown == "nothing":
        return ""
    names = map(tool_name, tools)
    if settings.shown == "names":
        return _WITH_SHOWN + "\n".join(f"- {name}" for name in names)
    descriptions = (as_object(tool.get("function")).get("description") for tool in tools)
    return _WITH_SHOWN + "\n".join(
        f"- {name}: {description}" if isinstance(description, str) else f"- {name}"
        for name, description in zip(names, descriptions, strict=True)
    )


def _function(name: str, description: str, parameters: Mapping[str, object]) -> Tool:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}
