"""Reads JSON Lines and their fields; errors name the file, the line and the field."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from wildtool.errors import DataError
from wildtool.json_codec import LINE_LIMITS, check_limits, lines_within

T = TypeVar("T")


def read_json_lines(path: Path, what: str = "record") -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON object of every non-blank line, after its place, such as `data.jsonl:7`. Raises DataError.

    Args:
        what: what a line holds, for messages.
    """
    for number, record in numbered_json_lines(path, what):
        yield f"{path}:{number}", record


def numbered_json_lines(path: Path, what: str = "record") -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of every non-blank line, after its line number. Raises DataError."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines_within(lines), 1):
                if line.strip():
                    yield number, _record(line, f"{path}:{number}", what)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _record(line: bytes, where: str, what: str) -> dict[str, Any]:
    try:
        check_limits(line, LINE_LIMITS)
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 text ({error.reason}); expected JSON lines") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not a JSON object ({error}); expected one {what} per line") from error
    if not isinstance(record, dict):
        raise DataError(f"{where}: expected a JSON object, found {json_type(record)}")
    return cast(dict[str, Any], record)


def required_field(record: dict[str, Any], field: str, kind: type[T], where: str) -> T:
    """A field of a record. Raises DataError naming place, field, expected and found type where it is another one."""
    value = record.get(field)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise DataError(
            f"{where}: field {field}: expected {_NAMES.get(kind, kind.__name__)}, found {json_type(value)}"
        )
    return value


_NAMES: dict[type, str] = {
    bool: "a boolean",
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a decimal number",
}


def json_type(value: Any) -> str:
    """What a JSON value is, in words."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        (dict, "an object"),
        (list, "a list"),
        (str, "a text"),
        ((int, float), "a number"),
    )
    return next((name for types, name in kinds if isinstance(value, types)), "null")
