"""Files that describe tools: JSON, JSON lines or YAML, read within limits; tools in the OpenAI shape, OpenAPI, MCP."""

import json
import re
import stat
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from wildtool.errors import DataError, UsageError
from wildtool.json_codec import JsonLimits, TooLargeError, as_list, as_object, check_limits, document_place
from wildtool.shapes import BrokenError, FoundTool, Reading, read_entry, read_tools, tool_name
from wildtool.shapes.keys import TOOL_LISTS, TOOLS_KEYS
from wildtool.tools.sources.openapi import openapi_tools
from wildtool.types import Tool

_SCALARS: Mapping[str, tuple[str, list[str]]] = {
    "bool": (r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    "int": (r"[-+]?(?:0|[1-9][0-9]{0,300})", [*"-+0123456789"]),
    "float": (
        r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)",
        [*"-+0123456789."],
    ),
    "null": (r"~|null|Null|NULL|", [*"~nN", ""]),
    "merge": (r"<<", ["<"]),
}
"""What a plain scalar must be to be no text, as in YAML 1.2, with its first characters."""


def read_yaml(path: Path, text: str, limits: JsonLimits) -> Any:
    """The value of a YAML text.

    Raises:
        DataError: for a text that is not YAML, or beyond the limits once its aliases stand for what they mean.
        UsageError: if PyYAML is missing.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError as error:
        raise UsageError(
            f"{path}: reading YAML takes PyYAML (pip install pyyaml); or give it as JSON"
        ) from error
    try:
        _check_size(path, yaml.parse(text, Loader=_loader(yaml)), limits)
        return _plain(yaml.load(text, Loader=_loader(yaml)))
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        raise DataError(f"{path}: not YAML: {error}") from error


def _loader(yaml: Any) -> Any:
    """A safe loader whose plain scalars are those of YAML 1.2: `no`, `12:30` and `2024-05-01` are texts."""
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}})
    for name, (pattern, first) in _SCALARS.items():
        resolver = re.compile(rf"(?:{pattern})\Z", re.ASCII)
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", resolver, first)
    return loader


def _check_size(path: Path, events: Any, limits: JsonLimits) -> None:
    """Raises DataError for a text that holds too much once each alias is what it stands for."""
    sizes: dict[str, int] = {}
    """Values below each anchor that is closed."""
    open_: list[tuple[str | None, int]] = []
    """Anchors of the lists and objects around, with the values before each."""
    values = 0
    for event in events:
        kind = type(event).__name__
        place = f"{path}:{event.start_mark.line + 1}"
        if kind == "AliasEvent":
            if event.anchor not in sizes:
                raise DataError(f"{place}: the alias *{event.anchor} stands inside of what it means")
            values += sizes[event.anchor]
        elif kind == "ScalarEvent":
            values += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            if event.anchor:
                sizes.pop(event.anchor, None)
            open_.append((event.anchor, values))
            values += 1
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            anchor, before = open_.pop()
            if anchor:
                sizes[anchor] = values - before
        if values > limits.values:
            raise DataError(
                f"{place}: more than {limits.values:,} values, each alias counted as what it stands for; "
                "give fewer tools"
            )
        if len(open_) > limits.depth:
            raise DataError(f"{place}: nested deeper than {limits.depth} levels; give flatter tools")


def _plain(value: Any) -> Any:
    """The value as JSON has it: keys are texts, and so is what JSON does not know."""
    if isinstance(value, dict):
        return {_key(key): _plain(child) for key, child in cast(dict[Hashable, Any], value).items()}
    if isinstance(value, list):
        return [_plain(child) for child in cast(list[Any], value)]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _key(key: Hashable) -> str:
    return json.dumps(key) if key is None or isinstance(key, bool) else str(key)


FILE_LIMITS = JsonLimits(bytes=64 * 1024 * 1024, depth=200, values=4_000_000)
"""Of one file; the largest API that was tried takes 47 MB, 1.9 million values and 30 levels."""


def read_tool_text(path: Path) -> str:
    """The text of a file, a regular one within the limits. Raises DataError."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DataError(f"{path} is no regular file; give a file of tools")
        if status.st_size > FILE_LIMITS.bytes:
            raise DataError(
                f"{path} has {status.st_size:,} bytes; at most {FILE_LIMITS.bytes:,} are read. Give fewer tools"
            )
        with path.open("rb") as file:
            return file.read(FILE_LIMITS.bytes).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from error


def read_document(path: Path, text: str) -> Any:
    """The value of a JSON or YAML text.

    Raises:
        ValueError: for a text that is not JSON.
        DataError: for one that is not YAML, or beyond the limits.
        UsageError: if YAML cannot be read here.
    """
    if path.suffix.casefold() in (".yaml", ".yml"):
        return read_yaml(path, text, FILE_LIMITS)
    try:
        return _json(text)
    except (TooLargeError, RecursionError) as error:
        raise DataError(
            f"{path}: not JSON within the limits: {error}. Give fewer tools, or flatter ones"
        ) from error


def read_tool_lists(
    path: Path, note: Callable[[str], None], remark: Callable[[str], None] | None = None
) -> Iterator[list[Any]]:
    """The lists of tools of a file, in OpenAI's shape, with the schema of results, where a tool has one, as `returns`.
    What is no tool, or has no name, stays as it is.

    Args:
        note: is called with each operation of a document that is left out and why.
        remark: is called with what of an operation its tool does not have; None for `note`.

    Raises:
        DataError: for a file that cannot be read, or a tool whose parameters stand under a key that no shape has.
    """
    text = read_tool_text(path)
    try:
        values = [read_document(path, text)]
    except ValueError:
        numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        yield from _lists([(f"{path}:{number}", _line(path, number, line)) for number, line in numbered])
        return
    try:
        described = described_tools(values[0], _of_file(path, note), _of_file(path, remark or note))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if described is not None:
        yield described
        return
    yield from _lists([(document_place(path, text.split("\n")), value) for value in values])


def _of_file(path: Path, tell: Callable[[str], None]) -> Callable[[str], None]:
    """Tells the same with the file before it."""
    return lambda text: tell(f"{path}: {text}")


def described_tools(
    value: Any, note: Callable[[str], None] = lambda text: None, remark: Callable[[str], None] | None = None
) -> list[Tool] | None:
    """The tools of an OpenAPI document; None for anything else.

    Args:
        note: is called with each operation that is left out and why.
        remark: is called with what of an operation its tool does not have; None for `note`.

    Raises:
        DataError: for a document that cannot be read.
    """
    document = as_object(value)
    return (
        list(openapi_tools(document, note, remark or note))
        if isinstance(document.get("paths"), dict)
        else None
    )


def _lists(values: Sequence[tuple[str, Any]]) -> Iterator[list[Any]]:
    """The lists of tools in the values of a file, each after its place: lists, lists of lists, objects that hold one, or
    single tools, which together are one list."""
    placed = [(Reading(place, anything=True), value) for place, value in values]
    if len(placed) > 1 and all(isinstance(value, dict) for _, value in placed):
        yield [tool for reading, value in placed for tool in _tools(value, reading)]
        return
    for reading, value in placed:
        lists = as_list(value)
        if lists and all(isinstance(entry, list) for entry in lists):
            yield from (_of_list(entries, reading.at(f"list {k}")) for k, entries in enumerate(lists, 1))
        elif isinstance(value, list):
            yield _of_list(lists, reading)
        else:
            yield _tools(value, reading)


def _of_list(entries: Sequence[Any], reading: Reading) -> list[Any]:
    tools: list[Any] = []
    for number, entry in enumerate(entries, 1):
        try:
            tools += map(with_results, read_entry(entry, reading.at(f"tool {number}")))
        except BrokenError:
            tools.append(entry)
    return tools


def _tools(value: Any, reading: Reading) -> list[Any]:
    """The tools of an object that is one, or holds a list of them. Raises ShapeError."""
    held = as_object(value)
    inner = as_object(held.get("result")).get("tools", held.get("tools"))
    if isinstance(inner, list) and not any(held.get(key) for key in (*TOOLS_KEYS[1:], *TOOL_LISTS)):
        return _of_list(as_list(inner), replace(reading, anything=False))
    try:
        return list(map(with_results, read_tools(value, reading)))
    except BrokenError:
        return [value]


def with_results(found: FoundTool) -> Tool:
    """A tool with the schema of its results, for those who make sets. It is not sent to a model: no API has the key."""
    if not found.returns:
        return found.tool
    return {**found.tool, "function": {**found.tool["function"], "returns": found.returns}}


def without_results(tool: Tool) -> Tool:
    """A tool as it is sent, without the schema of its results."""
    function = as_object(tool.get("function"))
    return {**tool, "function": {key: value for key, value in function.items() if key != "returns"}}


def tools_of_file(path: Path, note: Callable[[str], None] = lambda text: None) -> tuple[Tool, ...]:
    """The tools of all lists of a file as they are sent, of each name the first. Raises DataError as `named_tools`.

    Args:
        note: as of `named_tools`, and of each name that several tools have.
    """
    tools = list(map(without_results, named_tools(path, note)))
    for name, number in Counter(map(tool_name, tools)).items():
        if number > 1:
            note(f"{path}: {number} tools are called {name!r}; the others than the first are left out")
    return first_of_each_name(tools)


def first_of_each_name(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Of some tools with names the first of each name."""
    by_name: dict[str, Tool] = {}
    for tool in tools:
        by_name.setdefault(tool_name(tool), tool)
    return tuple(by_name.values())


def named_tools(path: Path, note: Callable[[str], None] = lambda text: None) -> list[Tool]:
    """The tools of all lists of a file that have a name; without those that an earlier list has, word for word.

    Args:
        note: as of `read_tool_lists`, and of each tool without a name.

    Raises:
        DataError: for a file that cannot be read, or holds no tool.
    """
    tools: list[Tool] = []
    earlier = set[bytes]()
    for entries in read_tool_lists(path, note):
        own: list[bytes] = []
        for number, tool in enumerate(map(as_object, entries), 1):
            name = as_object(tool.get("function")).get("name")
            if not isinstance(name, str) or not name:
                note(f"{path}: tool {number} is left out: it has no name")
                continue
            # Tools that share a long schema have long texts, of which not all fit into memory.
            digest = sha256(json.dumps(tool).encode()).digest()
            if digest not in earlier:
                tools.append(tool)
                own.append(digest)
        earlier.update(own)
    if not tools:
        raise DataError(
            f"{path}: holds no tool with a name; expected a JSON list in the OpenAI shape, an OpenAPI document or an MCP "
            "tool list"
        )
    return tools


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return _json(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}:{number}: not JSON ({error}); expected tools in the OpenAI shape") from error


def _json(text: str) -> Any:
    """Raises TooLargeError beyond the limits, ValueError or RecursionError for what is not JSON."""
    check_limits(text.encode("utf-8", "surrogatepass"), FILE_LIMITS)
    return json.loads(text)
