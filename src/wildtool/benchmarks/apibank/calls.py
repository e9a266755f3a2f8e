"""Reads `[ApiName(key='value', …)]` in a reply: as the original does, and with its faults corrected (`fixed`).

Texts of models are hostile: no pattern here takes more than linear time, and no text is evaluated.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from wildtool.benchmarks.apibank.tools import ArgumentError
from wildtool.toolcall.call_syntax import CallReader, CallSyntaxError, parse_expression

_OPENING = re.compile(r"\[(\w+)\(")
_PARAMETER = re.compile(r"""\b(\w+)\s*=\s*(?:['"](.+?)['"]|(\[)|(\w+))""")
_KEY = re.compile(r"\s*(\w+)\s*=\s*")
_AFTER = r"(?=\s*(?:,\s*\w+\s*=|\)))"
_ENDS = {mark: re.compile(rf"(?<!\\){mark}{_AFTER}") for mark in "'\""}
"""Where a quoted value ends: at a quote after which another argument or the end of the call follows."""
_PLAIN_END = re.compile(r",\s*\w+\s*=|\)\s*(?:\]|$)", re.MULTILINE)
MAX_ARGUMENTS, MAX_OPENINGS = 100, 20
"""Arguments of one call that `fixed` reads, and beginnings of calls that it tries."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as a reply writes it; every value is a text."""

    name: str
    arguments: Mapping[str, str]
    text: str = ""
    """The part of the reply that is the call."""


def bracketed_call(name: str, arguments: Mapping[str, Any]) -> str:
    """`[Name(key='value')]`, every value in single quotes and nothing escaped, as dialogues show calls."""
    parts = ", ".join(f"{key}='{value}'" for key, value in arguments.items())
    return f"[{name}({parts})]"


# The original ----------------------------------------------------------------------------------------


def read_call(text: str) -> WrittenCall | None:
    """The first call on one line, up to the last `)]` of that line; None where there is none."""
    for line in text.split("\n"):
        last = line.rfind(")]")
        if opening := _OPENING.search(line, 0, last):
            arguments = dict(_arguments(line[opening.end() : last]))
            return WrittenCall(opening[1], arguments, line[opening.start() : last + 2])
    return None


def _arguments(inner: str) -> Iterator[tuple[str, str]]:
    """Keys with a quoted text, with a list up to the last bracket, or with one word; the rest is passed over."""
    at, last = 0, inner.rfind("]")
    while match := _PARAMETER.search(inner, at):
        at = match.end()
        name, quoted, bracket, word = match.groups()
        if bracket is None:
            yield name, word if quoted is None else quoted
        elif last >= at:
            yield name, inner[match.start(3) : last + 1]
            at = last


def convert_original(text: str, declared: str) -> Any:
    """A text as the declared type. Raises ArgumentError."""
    match declared:
        case "int":
            return _number(text)
        case "float":
            try:
                return float(text)
            except ValueError as error:
                raise _wrong_type(text) from error
        case "bool":
            return text == "True"
        case _:
            return text


def _wrong_type(text: str) -> ArgumentError:
    return ArgumentError(f"invalid parameter type. parameter: {text}")


def _number(text: str) -> int:
    if text.isdigit():
        try:
            return int(text)
        except ValueError:  # digits such as ², or thousands of them
            pass
    raise _wrong_type(text)


# fixed -----------------------------------------------------------------------------------------------


def read_call_fixed(text: str) -> WrittenCall | None:
    """The first call, on any number of lines, each value read completely; None where there is none."""
    for opening in islice(_OPENING.finditer(text), MAX_OPENINGS):
        if (call := _read_from(text, opening)) is not None:
            return call
    return None


def _read_from(text: str, opening: re.Match[str]) -> WrittenCall | None:
    at, arguments = opening.end(), dict[str, str]()
    while len(arguments) < MAX_ARGUMENTS and (key := _KEY.match(text, at)):
        read = _value(text, key.end())
        if read is None:
            return None
        value, at = read
        arguments.setdefault(key[1], value)
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            break
        at += 1
    at = _skip(text, at)
    if text[at : at + 1] != ")":
        return None
    return WrittenCall(opening[1], arguments, text[opening.start() : at + 1])


def _skip(text: str, at: int) -> int:
    """Place of the next character that is no blank."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _value(text: str, at: int) -> tuple[str, int] | None:
    """A value and where it ends; None where it does not end."""
    mark = text[at : at + 1]
    if mark in _ENDS:
        end = _ENDS[mark].search(text, at + 1)
        return (text[at + 1 : end.start()].replace(f"\\{mark}", mark), end.end()) if end else None
    end = _PLAIN_END.search(text, at)
    return (text[at : end.start()].strip(), end.start()) if end else None


def convert_fixed(text: str, declared: str) -> Any:
    """A text as the declared type, lists too. Raises ArgumentError."""
    match declared:
        case "int" | "float":
            return convert_original(text.strip(), declared)
        case "bool":
            constant = {"true": True, "false": False}.get(text.strip().lower())
            if constant is None:
                raise _wrong_type(text)
            return constant
        case "list" | "list(str)":
            try:
                value = CallReader().value(parse_expression(text.strip()))
            except CallSyntaxError as error:
                raise _wrong_type(text) from error
            if not isinstance(value, list):
                raise _wrong_type(text)
            return cast(list[Any], value)
        case _:
            return text
