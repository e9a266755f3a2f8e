"""Calls in tags: the name in one, each argument in another, its value as text between them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from wildtool.json_codec import as_object
from wildtool.tool_formats.lenient_json import LenientReader, UnreadableValueError, strict_value_or
from wildtool.tool_formats.prompt_text import call_json, json_text
from wildtool.tool_formats.scanner import REASONING_END, Scanner, ToolCall
from wildtool.types import Tool

DeclaredTypes = Mapping[str, Mapping[str, frozenset[str]]]
"""Declared types by tool and parameter; empty if the tool declares none."""
_WORDS = {"True": True, "False": False, "None": None}
_NO_VALUE = object()
_ANY: frozenset[str] = frozenset()
_PLAIN_NAME = re.compile(r"[^\s\"'<>](?:[^\"'<>\n]*[^\s\"'<>])?")


def tag_value_text(value: Any, marks: Sequence[str]) -> str:
    """A value in tags: a text without quotes if it is read back as itself, anything else as JSON.

    Args: marks: would end the value too early; each contains a `<`.
    """
    if is_unquoted_text(value, marks):
        return value
    return json_text(value).replace("<", "\\u003c")


def is_unquoted_text(value: Any, marks: Sequence[str]) -> bool:
    """Whether a value is a text that is read back as itself without quotes."""
    return (
        isinstance(value, str)
        and value == value.strip()
        and not any(mark in value for mark in (*marks, REASONING_END))
        and strict_value_or(value, _NO_VALUE) is _NO_VALUE
    )


def parse_tag_value(text: str, declared: frozenset[str], repairs: list[str]) -> Any:
    """The value of a text; repairs are added to `repairs`."""
    value = strict_value_or(text, _NO_VALUE)
    if value is _NO_VALUE:
        return text if "string" in declared else _mended(text, declared, repairs)
    fits = isinstance(value, str) or (value is None and "null" in declared)
    return text if "string" in declared and not fits else value


def _mended(text: str, declared: frozenset[str], repairs: list[str]) -> Any:
    if declared and text.strip() in _WORDS:
        repairs.append("python-literal")
        return _WORDS[text.strip()]
    if not declared & {"object", "array"}:
        return text
    try:
        value, end, mended = LenientReader(text).value(0)
    except UnreadableValueError:
        return text
    if text[end:].strip():
        return text
    repairs += mended
    return value


def declared_types(tools: Sequence[Tool]) -> DeclaredTypes:
    """The types that tools declare for their parameters."""
    return {
        name: {
            key: schema_type_names(schema)
            for key, schema in as_object(as_object(parameters).get("properties")).items()
        }
        for name, parameters in schemas_by_tool(tools).items()
    }


def schemas_by_tool(tools: Sequence[Tool]) -> dict[str, Any]:
    """The schema of each tool's parameters, whatever value it is."""
    functions = [as_object(as_object(tool).get("function")) for tool in tools]
    return {
        function["name"]: function.get("parameters")
        for function in functions
        if isinstance(function.get("name"), str)
    }


def parameter_types(types: DeclaredTypes, name: str, key: str) -> frozenset[str]:
    """The declared types of one parameter; empty if unknown."""
    return types.get(name, {}).get(key, _ANY)


def schema_type_names(schema: Any) -> frozenset[str]:
    """The types of a schema or of its alternatives; empty if one of them is missing."""
    schema = as_object(schema)
    stated = schema.get("type")
    if isinstance(stated, str):
        return frozenset((stated,))
    if isinstance(stated, list):
        return frozenset(name for name in cast("list[Any]", stated) if isinstance(name, str))
    members = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(members, list):
        return _ANY
    of = [as_object(member).get("type") for member in cast("list[Any]", members)]
    return frozenset(cast("list[str]", of)) if all(isinstance(name, str) for name in of) else _ANY


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSyntax:
    """The tags of one format."""

    opening: tuple[str, ...]
    """Marks before calls; the first one is written, all are read."""
    closing: tuple[str, ...]
    """Marks after calls, likewise."""
    block_per_call: bool
    """Whether each call has its own block; else one block holds all calls."""
    call: tuple[str, str]
    """Before the name, after which `>` closes the tag, and after the arguments."""
    argument: tuple[str, str]
    """Before an argument's name, and after its value."""
    quoted: bool
    """Whether names are quoted."""
    lines: bool
    """Whether a value has its own lines."""
    marks_strings: bool = False
    """Whether an argument has `string="true"` or `string="false"`."""
    python_literals: bool = False
    """Whether the models' own templates write `True`, `False` and `None`, so that these are not repairs."""
    begins: re.Pattern[str] = field(init=False)
    """Matches where a block or a call begins."""
    call_tag: re.Pattern[str] = field(init=False)
    argument_tag: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        name = r"\s*+(\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+'|[^\s\"'<>]++)" if self.quoted else r"([^<>\n]*+)"
        says = r"(?:\s++string=\"(true|false)\")?" if self.marks_strings else "()"
        begins = "|".join(map(re.escape, (*self.opening, self.call[0])))
        object.__setattr__(self, "begins", re.compile(begins))
        object.__setattr__(self, "call_tag", re.compile(rf"\s*+{re.escape(self.call[0])}{name}\s*+>"))
        argument = rf"\s*+{re.escape(self.argument[0])}{name}{says}\s*+>"
        object.__setattr__(self, "argument_tag", re.compile(argument))

    @property
    def marks(self) -> tuple[str, ...]:
        """All marks, up to where a name begins."""
        return (*self.argument, *self.call, *self.opening, *self.closing)

    def write(self, calls: Sequence[ToolCall]) -> str:
        """Calls in their tags."""
        blocks = [self._write_call(call) for call in calls]
        blocks = blocks if self.block_per_call else ["\n".join(blocks)]
        return "\n".join(f"{self.opening[0]}\n{block}\n{self.closing[0]}" for block in blocks)

    def find(self, scanner: Scanner, tools: Sequence[Tool]) -> None:
        """Takes all calls in tags out of a text."""
        types = declared_types(tools)
        for begin in scanner.each(self.begins):
            opened = begin[0] != self.call[0]
            if not opened:
                scanner.at = begin.start()
            repairs = len(scanner.repairs)
            if _take_calls(scanner, self, types):
                scanner.repairs += [] if opened else ["missing-open-tag"]
                if not any(map(scanner.accept, self.closing)):
                    scanner.repairs.append("missing-close-tag")
            else:
                del scanner.repairs[repairs:]
                _skip_unreadable(scanner, self, begin)

    def _write_call(self, call: ToolCall) -> str:
        if not isinstance(call.arguments, dict):
            return call_json(call)
        arguments = cast("dict[str, Any]", call.arguments)  # pyright: ignore[reportUnknownMemberType]
        lines = "".join(f"{self._write_argument(key, value)}\n" for key, value in arguments.items())
        return f"{self.call[0]}{self._write_name(call.name)}>\n{lines}{self.call[1]}"

    def _write_argument(self, key: str, value: Any) -> str:
        plain = is_unquoted_text(value, self.marks)
        says = f' string="{json_text(plain)}"' if self.marks_strings else ""
        text = tag_value_text(value, self.marks)
        text = f"\n{text}\n" if self.lines else text
        return f"{self.argument[0]}{self._write_name(key)}{says}>{text}{self.argument[1]}"

    def _write_name(self, name: str) -> str:
        if not self.quoted and _PLAIN_NAME.fullmatch(name):
            return name
        return quoted_name(name)


def quoted_name(name: str) -> str:
    """A name in quotes, without the brackets of tags."""
    return json_text(name).replace("<", "\\u003c").replace(">", "\\u003e")


def read_name(text: str) -> str:
    """A name that may stand in quotes."""
    text = text.strip()
    if text[:1] not in ('"', "'"):
        return text
    value = strict_value_or(text, text[1:].removesuffix(text[0]))
    return value if isinstance(value, str) else text


def _skip_unreadable(scanner: Scanner, tags: TagSyntax, begin: re.Match[str]) -> None:
    """Keeps what begins like a call but is none, up to its end or the next block."""
    scanner.at = begin.end()
    # The first call of a block belongs to it.
    scanner.accept(tags.call[0])
    scanner.read_until(*tags.closing, *tags.opening, tags.call[0])
    any(map(scanner.accept, tags.closing))
    scanner.reject(begin.start())


def _take_calls(scanner: Scanner, tags: TagSyntax, types: DeclaredTypes) -> bool:
    """Takes consecutive calls, up to one that breaks off; False if there is none."""
    count = len(scanner.calls)
    while call := tags.call_tag.match(scanner.text, scanner.at):
        start, scanner.at = scanner.at, call.end()
        if not _take_call(scanner, tags, read_name(call[1]), types):
            scanner.at = start
            break
    return len(scanner.calls) > count or _add_json(scanner)


def _add_json(scanner: Scanner) -> bool:
    if not scanner.add_calls(scanner.try_value(), "arguments"):
        return False
    scanner.repairs.append("json-in-tag")
    return True


def _take_call(scanner: Scanner, tags: TagSyntax, name: str, types: DeclaredTypes) -> bool:
    arguments: dict[str, Any] = {}
    repairs: list[str] = []
    while argument := tags.argument_tag.match(scanner.text, scanner.at):
        scanner.at = argument.end()
        text = scanner.read_until(*tags.marks)
        if scanner.text.startswith(tags.argument[1], scanner.at):
            scanner.at += len(tags.argument[1])
        elif scanner.at == len(scanner.text):
            # If the text breaks off, the end of the value is unknown.
            return False
        else:
            repairs.append("missing-close-tag")
        key = read_name(argument[1])
        arguments[key] = _value(text, tags, argument[2], parameter_types(types, name, key), repairs)
    if not scanner.accept(tags.call[1]):
        ahead = scanner.lenient.after_space(scanner.at)
        if ahead < len(scanner.text) and not scanner.text.startswith(
            (*tags.opening, *tags.closing, tags.call[0]), ahead
        ):
            return False
        repairs.append("missing-close-tag")
    scanner.calls.append(ToolCall(name, arguments))
    scanner.repairs += repairs
    return True


def _value(
    text: str, tags: TagSyntax, marked: str | None, declared: frozenset[str], repairs: list[str]
) -> Any:
    if marked == "true":
        return text
    text = text.removeprefix("\n").removesuffix("\n") if tags.lines else text.strip()
    mended: list[str] = []
    value = parse_tag_value(text, frozenset() if marked else declared, mended)
    repairs += [
        name
        for name in mended
        if not (tags.python_literals and name == "python-literal" and type(value) not in (dict, list))
    ]
    return value
