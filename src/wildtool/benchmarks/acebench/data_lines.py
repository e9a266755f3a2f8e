"""The lines of ACEBench's files as objects whose faults name file, line, id and field."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

import orjson

from wildtool.errors import DataError
from wildtool.json_codec import LINE_LIMITS, check_limits

MAX_DATA_FILE_BYTES = 256 << 20
"""Bytes that a compressed data file may expand to."""


class JsonLine:
    """One JSON object of a file, with errors that name the place."""

    def __init__(self, path: Path, number: int, fields: Mapping[str, Any]) -> None:
        self.where = f"{path}:{number}"
        self.fields = fields

    def value(self, field: str) -> Any:
        return self.fields.get(field)

    def has(self, field: str) -> bool:
        return field in self.fields

    def fail(self, field: str, expected: str, found: Any) -> NoReturn:
        text = json.dumps(found, ensure_ascii=True)
        text = text if len(text) <= 60 else f"{text[:60]}…"
        raise DataError(
            f"{self.where} (id {self.value('id')!r}): field {field}: expected {expected}, found {text}"
        )

    def read_text(self, field: str) -> str:
        value = self.value(field)
        return value if isinstance(value, str) else self.fail(field, "a text", value)

    def read_object(self, field: str) -> dict[str, Any]:
        value = self.value(field)
        return (
            cast(dict[str, Any], value) if isinstance(value, dict) else self.fail(field, "an object", value)
        )

    def read_list(self, field: str) -> list[Any]:
        value = self.value(field)
        return cast(list[Any], value) if isinstance(value, list) else self.fail(field, "a list", value)

    def read_objects(self, field: str) -> list[dict[str, Any]]:
        values = self.read_list(field)
        for position, value in enumerate(values):
            if not isinstance(value, dict):
                self.fail(f"{field}[{position}]", "an object", value)
        return values


def find_file(folder: Path, category: str) -> Path:
    """`data_<category>.json`, or the same gzip-compressed. Raises DataError where neither is there."""
    for path in _paths(folder, category):
        if path.is_file():
            return path
    names = " or ".join(path.name for path in _paths(folder, category))
    raise DataError(f"{folder}: expected {names}, found neither")


def has_file(folder: Path, category: str) -> bool:
    """Whether a folder has a category's file, compressed or not."""
    return any(path.is_file() for path in _paths(folder, category))


def _paths(folder: Path, category: str) -> tuple[Path, Path]:
    return folder / f"data_{category}.json", folder / f"data_{category}.json.gz"


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked. Raises DataError where it cannot be read."""
    try:
        if path.suffix != ".gz":
            return path.read_bytes()
        with gzip.open(path) as packed:
            data = packed.read(MAX_DATA_FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(
            f"{path}: cannot be read ({why}); download the data again with `wildtool data pull acebench`"
        ) from error
    if len(data) > MAX_DATA_FILE_BYTES:
        raise DataError(
            f"{path}: expands to more than {MAX_DATA_FILE_BYTES:,} bytes, so it is no data file of ACEBench"
        )
    return data


def read_lines(path: Path) -> Iterator[JsonLine]:
    """The objects of a file of JSON lines; empty lines are passed over. Raises DataError naming file and line."""
    for line in scan_lines(path):
        if isinstance(line, DataError):
            raise line
        yield line


def scan_lines(path: Path) -> Iterator[JsonLine | DataError]:
    """The objects of a file, and in the place of a line that holds none the reason."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            fields = _parsed(line)
        except (ValueError, RecursionError) as error:
            yield DataError(f"{path}:{number}: not a JSON object ({error})")
            continue
        if isinstance(fields, dict):
            yield JsonLine(path, number, cast(dict[str, Any], fields))
        else:
            yield DataError(f"{path}:{number}: expected a JSON object, found {type(fields).__name__}")


def _parsed(line: bytes) -> Any:
    check_limits(line, LINE_LIMITS)
    try:
        return orjson.loads(line)
    except ValueError:
        # Lone surrogates and NaN are read too, and what is no JSON gets the standard library's words.
        return json.loads(line.decode())
