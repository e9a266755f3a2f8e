"""The lines of ACEBench's files as objects whose faults name file, line, id and field."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

from wildtool.data.files import find_packed, read_unpacked
from wildtool.errors import DataError
from wildtool.json_codec import LINE_LIMITS, loads_within


class JsonLine:
    """One JSON object of a file, with errors that name the place."""

    def __init__(self, path: Path, number: int, fields: Mapping[str, Any]) -> None:
        self.where = f"{path}:{number}"
        self.fields = fields

    def value(self, field: str) -> Any:
        return self.fields.get(field)

    def has(self, field: str) -> bool:
        return field in self.fields

    def fail(self, field: str, expected: str, value: Any) -> NoReturn:
        try:
            text = json.dumps(value)
        except RecursionError:
            text = "what is nested too deeply"
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
    name = f"data_{category}.json"
    if (path := find_packed(folder, name)) is None:
        raise DataError(f"{folder}: expected {name} or {name}.gz, found neither")
    return path


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked. Raises DataError where it cannot be read."""
    try:
        return read_unpacked(path)
    except DataError as error:
        raise DataError(f"{error}; download the data again with `wildtool data pull acebench`") from error


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
            fields = loads_within(line, LINE_LIMITS)
        except (ValueError, RecursionError) as error:
            yield DataError(f"{path}:{number}: not a JSON object ({error})")
            continue
        if isinstance(fields, dict):
            yield JsonLine(path, number, cast(dict[str, Any], fields))
        else:
            yield DataError(f"{path}:{number}: expected a JSON object, found {type(fields).__name__}")
