"""GLM: `<tool_call>name` with `<arg_key>` and `<arg_value>` pairs, as GLM-4.5 writes; GLM-4's name and JSON too."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.lenient_json import UnreadableValueError
from wildtool.tool_formats.prompt_text import each, format_prompt, json_text, results_between
from wildtool.tool_formats.scanner import Scanner, ToolCall, any_of
from wildtool.tool_formats.tags import (
    DeclaredTypes,
    declared_types,
    parameter_types,
    parse_tag_value,
    tag_value_text,
)
from wildtool.types import Tool

OPEN, CLOSE = "<tool_call>", "</tool_call>"
KEY, KEY_END, VALUE, VALUE_END = "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"
_NAME_AND_JSON = re.compile(r"\s*+([^\s<{\[\"]++)[ \t]*+\n\s*+(?=\{)")
_TEXT = frozenset({"string"})


def _write_call(call: ToolCall) -> str:
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return f"{OPEN}{json_text({'name': call.name, 'arguments': arguments})}{CLOSE}"
    pairs = [
        f"{KEY}{tag_value_text(key, '<')}{KEY_END}\n{VALUE}{tag_value_text(value, '<')}{VALUE_END}\n"
        for key, value in cast("dict[str, Any]", arguments).items()
    ]
    return f"{OPEN}{call.name}\n{''.join(pairs)}{CLOSE}"


def _find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    if OPEN not in scanner.text:
        _find_name_and_json(scanner)
        return
    types = declared_types(tools)
    for opening in scanner.each(any_of(OPEN)):
        _take(scanner, opening.start(), types)


def _find_name_and_json(scanner: Scanner) -> None:
    """GLM-4: the whole reply is a name and, on the next line, its arguments."""
    call = _NAME_AND_JSON.match(scanner.text)
    with suppress(UnreadableValueError):
        if call:
            value, end, repairs = scanner.value_at(call.end())
            if isinstance(value, dict) and not scanner.text[end:].strip():
                scanner.calls.append(ToolCall(call[1], cast("dict[str, Any]", value)))
                scanner.repairs += repairs
                scanner.at = end
    scanner.add_rest()


def _take(scanner: Scanner, start: int, types: DeclaredTypes) -> None:
    name = scanner.read_until(KEY, CLOSE, OPEN).strip()
    if name.startswith(("{", "[")):
        scanner.at = start + len(OPEN)
        if scanner.json_block(start, OPEN, CLOSE) is not None:
            scanner.repairs.append("json-in-tag")
            scanner.expect_close(CLOSE)
        return
    arguments: dict[str, Any] = {}
    is_complete = bool(name) and "\n" not in name
    repairs: list[str] = []
    while is_complete and scanner.accept(KEY):
        key = parse_tag_value(_part(scanner, KEY_END, repairs), _TEXT, [])
        is_complete = scanner.accept(VALUE)
        arguments[key] = parse_tag_value(
            _part(scanner, VALUE_END, repairs), parameter_types(types, name, key), repairs
        )
    broken = scanner.at == len(scanner.text) and not scanner.text.endswith(VALUE_END)
    if broken or not is_complete:
        # Without name or value it is not a call; if the text breaks off, their end is unknown.
        scanner.accept(CLOSE)
        scanner.reject(start)
        return
    scanner.repairs += repairs
    scanner.calls.append(ToolCall(name, arguments))
    scanner.expect_close(CLOSE)


def _part(scanner: Scanner, closing: str, repairs: list[str]) -> str:
    """The text up to a closing mark, or, if that is missing, up to the next mark of any kind."""
    text = scanner.read_until(closing, KEY, VALUE, CLOSE, OPEN)
    if scanner.text.startswith(closing, scanner.at):
        scanner.at += len(closing)
    else:
        repairs.append("missing-close-tag")
    return text


GLM = CallFormat(
    name="glm",
    about="GLM-4.5 and later: <arg_key> and <arg_value> between <tool_call> and </tool_call>; GLM-4 is read too",
    source="chat templates of zai-org/GLM-4.5 and zai-org/GLM-4-9B-0414",
    prompt=format_prompt("glm"),
    write_calls=each(_write_call),
    write_results=results_between("<tool_response>\n", "\n</tool_response>"),
    find=_find,
    ignored_marks=("<|observation|>", "<|user|>"),
)
