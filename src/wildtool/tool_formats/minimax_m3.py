"""MiniMax M3: a mark before each tag; arguments are tags with their names, and may be nested."""

import re
from collections.abc import Sequence
from typing import Any, cast

from wildtool.json_codec import as_object
from wildtool.tool_formats import tags
from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.lenient_json import MAX_VALUE_DEPTH
from wildtool.tool_formats.prompt_text import format_prompt, json_text, results_between, tagged_functions
from wildtool.tool_formats.scanner import Scanner, ToolCall
from wildtool.types import Tool

MARK = "]<]minimax[>["
_M = rf"(?:{re.escape(MARK)}\s*+)"
_QUOTED = r"(\"(?:[^\"\\\n]|\\.)*+\")"
_PLAIN = re.compile(r"(?!(?:tool_call|invoke|parameter|item)\Z)[^\s<>/\"'=\[\]]+")
_BEGINS = re.compile(rf"{_M}?<tool_call>|{_M}<invoke name=")
_INVOKE = re.compile(rf"\s*+{_M}?<invoke name={_QUOTED}\s*+>")
_ENDS = re.compile(rf"\s*+{_M}?</invoke>")
_CLOSES = re.compile(rf"\s*+{_M}?</tool_call>")
_ARGUMENT = re.compile(
    rf"\s*+{_M}?<(?:parameter name={_QUOTED}|(?!(?:tool_call|invoke)\b)([^\s<>/\"'=]++))\s*+>"
)
_NESTED = re.compile(rf"\s*+{_M}<(?!/)")
_THOUGHT = re.compile(r"\s*+<mm:think>(.*?)(?:</mm:think>|\Z)\s*+", re.DOTALL)


class _IncompleteError(ValueError):
    """A call that breaks off."""


def _write_calls(calls: Sequence[ToolCall]) -> str:
    blocks = "\n".join(map(_write_call, calls))
    return f"{MARK}<tool_call>\n{blocks}\n{MARK}</tool_call>"


def _write_call(call: ToolCall) -> str:
    known: Any = call.arguments
    arguments = cast("dict[str, Any]", known if isinstance(known, dict) else {"malformed_arguments": known})
    blocks = "".join(_write_argument(key, value) for key, value in arguments.items())
    return f"{MARK}<invoke name={json_text(call.name)}>{blocks}{MARK}</invoke>"


def _write_argument(key: str, value: Any) -> str:
    text = tags.tag_value_text(value, (MARK,))
    if _PLAIN.fullmatch(key):
        return f"{MARK}<{key}>{text}{MARK}</{key}>"
    return f"{MARK}<parameter name={tags.quoted_name(key)}>{text}{MARK}</parameter>"


def _find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    scanner.take_reasoning(_THOUGHT, "</mm:think>")
    schemas = tags.schemas_by_tool(tools)
    for opening in scanner.each(_BEGINS):
        opened = opening[0].endswith("<tool_call>")
        scanner.at = opening.end() if opened else opening.start()
        if not _take_calls(scanner, schemas):
            scanner.reject_mark(opening)
            continue
        scanner.repairs += [] if opened else ["missing-open-tag"]
        if closing := _CLOSES.match(scanner.text, scanner.at):
            scanner.at = closing.end()
        else:
            scanner.repairs.append("missing-close-tag")
    if scanner.reasoning is not None:
        scanner.content = scanner.plain_text


def _take_calls(scanner: Scanner, schemas: dict[str, Any]) -> bool:
    is_read = False
    while invocation := _INVOKE.match(scanner.text, scanner.at):
        name = tags.read_name(invocation[1])
        repairs: list[str] = []
        try:
            arguments, at = _arguments(scanner.text, invocation.end(), schemas.get(name), repairs)
        except _IncompleteError:
            break
        ended = _ENDS.match(scanner.text, at)
        if ended is None:
            break
        scanner.calls.append(ToolCall(name, arguments))
        scanner.repairs += repairs
        scanner.at, is_read = ended.end(), True
    return is_read


def _arguments(text: str, at: int, schema: Any, repairs: list[str], depth: int = 0) -> tuple[Any, int]:
    """The arguments from there on, one tag each: an object, or a list if all are items."""
    if depth > MAX_VALUE_DEPTH:
        raise _IncompleteError
    pairs: list[tuple[str, Any]] = []
    while argument := _ARGUMENT.match(text, at):
        key = tags.read_name(argument[1]) if argument[1] else argument[2]
        of = _part(schema, key)
        value, at = _value(text, argument.end(), "parameter" if argument[1] else key, of, repairs, depth)
        pairs.append((key, value))
    if depth and pairs and all(key == "item" for key, _ in pairs):
        return [value for _, value in pairs], at
    return dict(pairs), at


def _value(text: str, at: int, tag: str, schema: Any, repairs: list[str], depth: int) -> tuple[Any, int]:
    if _NESTED.match(text, at):
        value, at = _arguments(text, at, schema, repairs, depth + 1)
        closing = re.compile(rf"\s*+{_M}?</{re.escape(tag)}>").match(text, at)
        if closing is None:
            raise _IncompleteError
        return value, closing.end()
    end = text.find(MARK, at)
    if end == -1:
        # If the text breaks off, the end of the value is unknown.
        raise _IncompleteError
    raw, after = text[at:end], end + len(MARK)
    after += len(text[after : after + 20]) - len(text[after : after + 20].lstrip())
    if text.startswith(f"</{tag}>", after):
        after += len(tag) + 3
    elif raw.rstrip().endswith(f"</{tag}>"):
        raw, after = raw.rstrip().removesuffix(f"</{tag}>"), end
    else:
        repairs.append("missing-close-tag")
        after = end
    return tags.parse_tag_value(raw.strip(), tags.schema_type_names(schema), repairs), after


def _part(schema: Any, key: str) -> Any:
    """The schema of a part of a value; None if it is not given."""
    definition = as_object(schema)
    if key == "item" and "items" in definition:
        return definition["items"]
    return as_object(definition.get("properties")).get(key)


MINIMAX_M3 = CallFormat(
    name="minimax-m3",
    about=f"MiniMax M3: {MARK} before each tag, arguments in tags named like them",
    source="SGLang's detector minimax_m3; vLLM's parser minimax_m3; ikawrakow/ik_llama.cpp, pull request 2008",
    prompt=format_prompt("minimax-m3"),
    show_tools=tagged_functions,
    write_calls=_write_calls,
    write_results=results_between("<response>", "</response>"),
    find=_find,
)
