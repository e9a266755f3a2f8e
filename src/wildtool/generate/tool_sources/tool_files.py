"""Files that describe tools: JSON, JSON lines or YAML, read within limits; tools in the OpenAI shape, OpenAPI, MCP."""

import json
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.errors import DataError
from wildtool.generate.tool_sources.openapi import openapi_tools
from wildtool.generate.tool_sources.yaml_text import read_yaml
from wildtool.json_codec import JsonLimits, TooLargeError, as_list, as_object, as_objects, check_limits
from wildtool.toolcall.schema import as_schema
from wildtool.types import Tool

FILE_LIMITS = JsonLimits(bytes=64 * 1024 * 1024, depth=200, values=4_000_000)
"""Of one file; the largest API that was tried takes 47 MB, 1.9 million values and 30 levels."""


def read_tool_text(path: Path) -> str:
    """The text of a file, a regular one within the limits. Raises DataError."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{path} is no regular file; give a file of tools")
        if found.st_size > FILE_LIMITS.bytes:
            raise DataError(
                f"{path} has {found.st_size:,} bytes; at most {FILE_LIMITS.bytes:,} are read. Give fewer tools"
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


def read_tool_lists(path: Path, note: Callable[[str], None]) -> Iterator[list[Any]]:
    """The lists of tools of a file; their content is not checked.

    Args:
        note: is called with each operation of a document that is left out and why.

    Raises:
        DataError: for a file that cannot be read.
    """
    text = read_tool_text(path)
    try:
        values = [read_document(path, text)]
    except ValueError:
        values = [
            _line(path, number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()
        ]
    else:
        try:
            described = described_tools(values[0], lambda told: note(f"{path}: {told}"))
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        values = values if described is None else [described]
    if len(values) == 1 and isinstance(values[0], dict):
        values = [as_object(values[0]).get("tools", values)]
    if all(isinstance(value, dict) for value in values):
        values = [values]
    for value in values:
        lists = as_list(value) if isinstance(value, list) else [value]
        if lists and all(isinstance(entry, list) for entry in lists):
            yield from lists
        else:
            yield lists


def described_tools(value: Any, note: Callable[[str], None] = lambda text: None) -> list[Tool] | None:
    """The tools of an OpenAPI document or an MCP tool list; None for anything else.

    Args:
        note: is called with each operation that is left out and why.

    Raises:
        DataError: for an OpenAPI document that cannot be read.
    """
    document = as_schema(value)
    if isinstance(document.get("paths"), dict):
        return list(openapi_tools(document, note))
    listed: Any = as_schema(document.get("result")).get("tools", document.get("tools", value))
    rows = as_objects(listed)
    return [_mcp(row) for row in rows] if rows and all("inputSchema" in row for row in rows) else None


def _mcp(row: Mapping[str, Any]) -> Tool:
    function = {
        "name": row.get("name"),
        "description": row.get("description"),
        "parameters": row["inputSchema"],
    }
    returns = {"returns": row["outputSchema"]} if as_schema(row.get("outputSchema")) else {}
    return {"type": "function", "function": {**function, **returns}}


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return _json(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}:{number}: not JSON ({error}); expected tools in the OpenAI shape") from error


def _json(text: str) -> Any:
    """Raises TooLargeError beyond the limits, ValueError or RecursionError for what is not JSON."""
    check_limits(text.encode("utf-8", "surrogatepass"), FILE_LIMITS)
    return json.loads(text)
