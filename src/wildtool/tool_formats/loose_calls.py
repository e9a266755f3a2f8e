"""Reads calls in shapes that no format has: objects with other keys, tags, `f(1)`; and knows tools by odd names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.json_codec import as_object
from wildtool.tool_formats.lenient_json import LenientReader, UnreadableValueError
from wildtool.tool_formats.scanner import Scanner, ToolCall
from wildtool.types import Tool

_NAME_KEYS = (
    "name",
    "tool_name",
    "function_name",
    "recipient_name",
    "tool",
    "function",
    "action",
    "api_name",
    "api",
)
_ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "tool_input",
    "action_input",
    "kwargs",
    "function_arguments",
    "tool_arguments",
    "inputs",
)
_WRAPPER_KEYS = (
    "tool_calls",
    "tool_call",
    "function_call",
    "function_calls",
    "calls",
    "tool_uses",
    "actions",
    "function",
    "action",
    "tool",
)
_MAX_WRAPPERS = 5
_SEGMENT = re.compile(r"[.:/]|__")
_NOT_LETTERS = re.compile(r"[\W_]+")
_KEYWORD = re.compile(r"\s*+([A-Za-z_][\w.\-]*+)\s*+(=(?!=)|:)\s*+")
_CHILD = re.compile(
    r"\s*+<(?:parameter|param|arg)?(?:\s*+=\s*+|\s++name\s*+=\s*+)?[\"']?([\w.\-]+)[\"']?\s*+>([^<]*+)</[^<>]*+>"
)


def bare_name(name: str) -> str:
    """A tool's name without case and separators: `CancelPolicy` and `cancel-policy` are one."""
    return _NOT_LETTERS.sub("", name).casefold()


def is_tool(text: str, name: str) -> bool:
    """Whether a name as a model wrote it, perhaps with a prefix or in another case, is that of a tool."""
    return bare_name(name) in _bare_names(text)


def _bare_names(text: str) -> Iterator[str]:
    """A name, and what is left of it without each prefix."""
    yield bare_name(text)
    for prefix in _SEGMENT.finditer(text[:200]):
        yield bare_name(text[prefix.end() :])


class OfferedTools:
    """The tools of a request by their names, however these are written."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        functions = [as_object(as_object(tool).get("function", tool)) for tool in tools]
        self._functions = {
            name: each for each in functions if isinstance(name := each.get("name"), str) and name
        }
        self._plain = {bare_name(name): name for name in self._functions}

    def __contains__(self, text: str) -> bool:
        return any(plain and plain in self._plain for plain in _bare_names(text))

    @property
    def odd_names(self) -> list[str]:
        """Names with signs that identifiers lack, the longest first."""
        return sorted(
            (name for name in self._functions if not re.fullmatch(r"[A-Za-z_][\w.:/\-]*", name)), key=len
        )[::-1]

    def parameters(self, text: str) -> list[str]:
        """The parameters of a tool in their order."""
        name = next((self._plain[plain] for plain in _bare_names(text) if plain in self._plain), "")
        schema = as_object(as_object(self._functions.get(name)).get("parameters"))
        return list(as_object(schema.get("properties")))


def calls_of_value(value: Any, offered: OfferedTools, depth: int = 0) -> list[ToolCall]:
    """The calls that a JSON value holds, whatever its keys are; empty if it is something else."""
    if isinstance(value, list):
        return [
            call for member in cast("list[Any]", value) for call in calls_of_value(member, offered, depth)
        ]
    if not isinstance(value, dict) or depth > _MAX_WRAPPERS:
        return []
    members = cast("dict[str, Any]", value)
    name = next((members[key] for key in _NAME_KEYS if isinstance(members.get(key), str)), None)
    key = next((key for key in _ARGUMENT_KEYS if key in members), None)
    if name is not None and key is not None:
        arguments = _object(members[key])
        return [] if declares_tool(arguments) else [ToolCall(name, arguments)]
    inner = [calls_of_value(members.get(key), offered, depth + 1) for key in _WRAPPER_KEYS if key in members]
    if any(inner):
        return [call for calls in inner for call in calls]
    if len(members) == 1 and isinstance(arguments := next(iter(members.values())), dict):
        # `{"f": {…}}`
        name = next(iter(members))
        return [ToolCall(name, arguments)] if name in offered else []
    return []


def is_plain_call(value: Any) -> bool:
    """Whether a JSON value is one or more calls in the usual keys and nothing else."""
    members = cast("list[Any]", value) if isinstance(value, list) else [value]
    return bool(members) and all(
        {"name", "arguments"} <= as_object(member).keys() <= {"name", "arguments", "id", "type"}
        and isinstance(member["arguments"], dict)
        for member in members
    )


def declares_tool(arguments: Any) -> bool:
    """Whether what is in the place of arguments is the schema of a tool's parameters."""
    return isinstance(arguments, dict) and {"type", "properties"} <= arguments.keys()


def _object(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        return LenientReader(arguments).value(0)[0]
    except UnreadableValueError:
        return arguments


@dataclass(frozen=True, slots=True)
class BracketCall:
    """A call with round brackets."""

    call: ToolCall
    end: int
    keywords: bool
    """Whether it names an argument."""


def bracket_call(scanner: Scanner, name: str, at: int, offered: OfferedTools) -> BracketCall | None:
    """The call of `name` whose arguments begin at a place; None if what is there are no values, as in `f(x)`."""
    text, lenient = scanner.text, scanner.lenient
    arguments: dict[str, Any] = {}
    positional: list[Any] = []
    has_name = False
    at = lenient.after_space(at)
    while not text.startswith(")", at):
        keyword = _KEYWORD.match(text, at)
        spread = text.startswith("**", at)
        start = keyword.end() if keyword else at + 2 if spread else at
        try:
            value, at, repairs = lenient.repaired_value(start)
        except UnreadableValueError:
            return None
        bare = "bare-word" in repairs and isinstance(value, str)
        if bare and not (keyword and keyword[2] == "="):
            return None
        if keyword:
            arguments[keyword[1]] = value
            has_name = True
        elif spread and isinstance(value, dict):
            arguments |= cast("dict[str, Any]", value)
        else:
            positional.append(value)
        at = lenient.after_space(at)
        if text.startswith(",", at):
            at = lenient.after_space(at + 1)
        elif not text.startswith(")", at):
            return None
    if len(positional) == 1 and not arguments and isinstance(positional[0], dict):
        arguments = cast("dict[str, Any]", positional[0])
    else:
        keys = offered.parameters(name)
        arguments |= {keys[i] if i < len(keys) else str(i): value for i, value in enumerate(positional)}
    return BracketCall(ToolCall(name, arguments), at + 1, has_name)


def tagged_call(scanner: Scanner, name: str, at: int) -> tuple[ToolCall, int] | None:
    """The call whose arguments follow the tag that names it: an object, or one tag each."""
    try:
        value, end, _ = scanner.value_at(at)
    except UnreadableValueError:
        value, end = dict[str, Any](), at
        while child := _CHILD.match(scanner.text, end):
            value[child[1]], end = child[2].strip(), child.end()
    closing = re.compile(r"\s*+</[^<>]*+>").match(scanner.text, end)
    return (ToolCall(name, value), closing.end()) if closing else None
