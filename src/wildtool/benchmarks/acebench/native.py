"""Mode `fc`: a record as a native chat with tools, and native calls back as the record's own.

What is changed on the way (`card.md` lists it):
- The transcript becomes chat messages; lines of one speaker that follow each other become one message. Calls of earlier
  turns stay text.
- Tools are `functions` in OpenAI's shape. A distractor's `arguments` are its `parameters`; `results` and `tags` are
  left out.
- A name that is not 1 to 64 of `A-Z a-z 0-9 _ -`, or that stands twice, is replaced; replies are mapped back.
- Types that JSON schema lacks get those it has (`dict` object, `float` number, `list` array, …); an array says `items`,
  parameters say that they are an object.
- A `pattern` such as `[\\w-.]`, which endpoints refuse as no regular expression, says `[\\w\\-.]`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from wildtool.benchmarks.acebench.data import Record
from wildtool.json_codec import as_object
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError
from wildtool.types import Message, Tool

NativeSchema = dict[str, Any]

MAX_NATIVE_CALLS = 1_000
"""Calls of one reply that are read; far more than any record expects."""
MAX_NATIVE_NAME = 64
_LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PARAMETERS = ("parameters", "arguments", "_arguments")
"""Where a function has its parameters; the last two are the distractors' way."""
_LOOSE_HYPHEN = re.compile(r"(\\[dDsSwW])-(?=[^\]])")
"""A hyphen behind a class of characters, which some dialects take as itself and Python's as a faulty range."""
_LABEL = re.compile(r"(user|system): ?(.*)", re.DOTALL)
_TURNS = re.compile(r"(?=^(?:user|system):)", re.MULTILINE)
"""Where a turn begins."""
_ROLES = {"user": "user", "system": "assistant"}
_TYPES: Mapping[str, NativeSchema] = {
    **{
        name: {"type": name} for name in ("string", "integer", "number", "boolean", "array", "object", "null")
    },
    **{name: {"type": "array"} for name in ("list", "tuple")},
    "dict": {"type": "object"},
    "float": {"type": "number"},
    "enum": {"type": "string"},
    "list(string)": {"type": "array", "items": {"type": "string"}},
    "list(enum)": {"type": "array", "items": {"type": "string"}},
    "objectArray": {"type": "array", "items": {"type": "object"}},
}
"""Each declared type as JSON schema says it; any other says nothing."""


def transcript_turns(transcript: str) -> list[str]:
    """The turns of a transcript, each as it is written there; one without label is the first."""
    return [turn for turn in _TURNS.split(transcript) if turn.strip()] or [transcript]


def chat_messages(transcript: str) -> list[Message]:
    """The lines of a transcript as messages; a line without label continues the one before it."""
    spoken: list[tuple[str, list[str]]] = []
    for line in transcript.rstrip("\n").split("\n"):
        label = _LABEL.fullmatch(line)
        role, text = (_ROLES[label[1]], label[2]) if label else ("", line)
        if spoken and role in ("", spoken[-1][0]):
            spoken[-1][1].append(text)
        else:
            spoken.append((role or "user", [text]))
    return [{"role": role, "content": "\n".join(lines)} for role, lines in spoken]


# Tools -----------------------------------------------------------------------------------------------


def native_tools(functions: Sequence[Mapping[str, Any]]) -> list[Tool]:
    """The functions as tools that a native endpoint takes."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": str(function.get("description", "")),
                "parameters": _parameters(function),
            },
        }
        for name, function in zip(native_names(functions), functions, strict=True)
    ]


def native_names(functions: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each function a name that endpoints take; its own where that is one, and the first to have it."""
    own = [str(function["name"]) for function in functions]
    used: set[str] = {name for name in own if _LEGAL.fullmatch(name)}
    first: set[str] = set()
    names: list[str] = []
    for position, name in enumerate(own, 1):
        if name not in used or name in first:
            name = next(free for free in _legal_names(name, position) if free not in used)
            used.add(name)
        first.add(name)
        names.append(name)
    return names


def _legal_names(name: str, position: int) -> Iterator[str]:
    """Legal names like this one, without end."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    stem = stem if re.search("[A-Za-z0-9]", stem) else f"function_{position}"
    yield stem[:MAX_NATIVE_NAME]
    number = 2
    while True:
        yield f"{stem[: MAX_NATIVE_NAME - len(str(number)) - 1]}_{number}"
        number += 1


def _parameters(function: Mapping[str, Any]) -> NativeSchema:
    schema = _schema(next((function[key] for key in _PARAMETERS if key in function), None))
    properties: Any = schema.get("properties")
    return {**schema, "type": "object", "properties": properties if isinstance(properties, dict) else {}}


def _schema(node: Any) -> NativeSchema:
    """A schema with types that JSON schema has, at every level."""
    if not isinstance(node, dict):
        return {}
    schema = dict(cast(NativeSchema, node))
    if "type" in schema:
        declared = schema.pop("type")
        base = _TYPES.get(declared, {}) if isinstance(declared, str) else {"type": declared}
        schema = {**base, **schema}
    if schema.get("type") == "array":
        schema.setdefault("items", {})
    if isinstance(schema.get("pattern"), str):
        schema["pattern"] = _pattern(schema["pattern"])
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = _schema(schema[key])
    for key in ("properties", "patternProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = {name: _schema(inner) for name, inner in cast(NativeSchema, schema[key]).items()}
    return schema


def _pattern(pattern: str) -> str:
    """A regular expression that Python's dialect reads too, by which endpoints check schemas."""
    try:
        re.compile(pattern)
    except re.error:
        return _LOOSE_HYPHEN.sub(r"\1\-", pattern)
    return pattern


# Calls -----------------------------------------------------------------------------------------------


def native_gold(calls: Sequence[CallExpression], functions: Sequence[Mapping[str, Any]]) -> Message:
    """Calls as an assistant message with native calls, under the names that the tools have."""
    # Reversed, since of functions with the same name the first keeps it.
    own = [str(function["name"]) for function in functions]
    names = dict(reversed(list(zip(own, native_names(functions), strict=True))))
    return native_message([CallExpression(names.get(call.name, call.name), call.arguments) for call in calls])


def native_message(calls: Sequence[CallExpression], start: int = 0) -> Message:
    """An assistant message with native calls, with ids numbered from `start`."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for number, call in enumerate(calls, start)
        ],
    }


def read_native_calls(message: Mapping[str, Any], record: Record) -> list[CallExpression]:
    """The calls of a reply under the record's own names.

    A blank argument text says no arguments: several servers write it so. No other repair is made.

    Raises:
        CallSyntaxError: there are no calls, or one of them cannot be read.
    """
    received = message.get("tool_calls")
    if not isinstance(received, list) or not received:
        raise CallSyntaxError("the reply has no tool calls")
    entries = cast(list[Any], received)
    if len(entries) > MAX_NATIVE_CALLS:
        raise CallSyntaxError(f"more than {MAX_NATIVE_CALLS} tool calls")
    own = {
        name: str(function["name"])
        for name, function in zip(native_names(record.functions), record.functions, strict=True)
    }
    return [_call(entry, own) for entry in entries]


def _call(entry: Any, own: Mapping[str, str]) -> CallExpression:
    function = as_object(entry).get("function")
    if not isinstance(function, dict):
        raise CallSyntaxError("a tool call without function")
    parts = as_object(function)
    name = parts.get("name")
    if not isinstance(name, str):
        raise CallSyntaxError("a tool call without the name of a function")
    try:
        arguments = read_arguments(parts.get("arguments"), empty_ok=True)
    except ArgumentsError as error:
        raise CallSyntaxError(f"arguments of a tool call: {error}") from error
    return CallExpression(own.get(name, name), {**arguments})
