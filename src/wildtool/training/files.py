"""Reads files of training data row by row: JSON lists, JSON lines, CSV and Parquet, also packed with gzip or zstd.

Memory does not grow with the file. A broken row is a separate entry and hides no other row.
"""

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from json import JSONDecoder
from pathlib import Path
from typing import IO, Any, cast

from wildtool.data.files import check_regular_file
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import json_type
from wildtool.training.parquet import parquet_rows
from wildtool.training.texts import TEXT_LIMITS, load_text

_GZIP, _ZSTD, _PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
_CHUNK = 1 << 20
_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file."""

    number: int
    """From 1; of JSON lines the line."""
    value: Any
    """The object of the row; None if it cannot be read."""
    problem: str = ""
    """Why it cannot be read."""


RawRow = tuple[int, bytes | str] | FileRow
"""A row before it is parsed: its number and its JSON text, or what another reader made of it."""


def read_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a file. Raises as `raw_rows`."""
    return map(parse_row, raw_rows(path))


def check_readable(paths: Iterable[Path]) -> None:
    """Raises as `raw_rows` for the first file that cannot be read, before anything that takes long."""
    for path in paths:
        next(raw_rows(path), None)


def parse_row(row: RawRow) -> FileRow:
    """A row with its value."""
    return row if isinstance(row, FileRow) else _row(*row)


def raw_rows(path: Path) -> Iterator[RawRow]:
    """The rows of a file, whose form its first bytes and its suffix tell, to be parsed elsewhere.

    Raises:
        DataError: the file cannot be opened, or is no file of a known form.
        UsageError: it is packed with zstd, and the library for that is missing.
    """
    try:
        if _first_bytes(path) == _PARQUET:
            yield from _parquet_rows(path)
            return
        with _unpacked(path) as file:
            yield from _text_rows(file, path)
    except _read_errors() as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read {path}: {reason}") from error


def _read_errors() -> tuple[type[Exception], ...]:
    """What reading a file raises, damaged packings included."""
    library: Any = sys.modules.get("zstandard")
    return (OSError, EOFError, zlib.error, *([library.ZstdError] if library else []))


def _first_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name the files in it")
    check_regular_file(path)
    with path.open("rb") as file:
        return file.read(4)


@contextmanager
def _unpacked(path: Path) -> Generator[IO[bytes]]:
    """The bytes of a file, unpacked where it is packed."""
    with path.open("rb") as packed:
        start = packed.peek()
        if start.startswith(_GZIP):
            with gzip.open(packed, "rb") as file:
                yield cast(IO[bytes], file)
        elif start.startswith(_ZSTD):
            with _zstd(packed) as file:
                yield file
        else:
            yield packed


def _zstd(packed: IO[bytes]) -> IO[bytes]:
    try:
        library = import_module("zstandard")
    except ModuleNotFoundError as error:
        raise UsageError(
            "files packed with zstd need the extra `training`: pip install 'wildtool[training]'"
        ) from error
    stream: IO[bytes] = library.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    return cast(IO[bytes], io.BufferedReader(cast(Any, stream), _CHUNK))


def _text_rows(file: IO[bytes], path: Path) -> Iterator[RawRow]:
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    if name.endswith((".csv", ".tsv")):
        return _csv_rows(file, "\t" if name.endswith(".tsv") else ",")
    start = cast(Any, file).peek(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return _list_rows(file)
    return _document_rows(file) if _is_indented(start) else _line_rows(file)


def _is_indented(start: bytes) -> bool:
    """Whether the object that a file begins with goes on below its first line."""
    line, _, below = start.partition(b"\n")
    line, below = line.rstrip(), below.lstrip()
    # Below an opening brace is a key; another object there is the next line of JSON lines.
    goes_on = line.endswith((b"[", b",")) or (line.endswith(b"{") and not below.startswith(b"{"))
    return bool(below) and goes_on


def _line_rows(file: IO[bytes]) -> Iterator[RawRow]:
    number = 0
    while line := file.readline(TEXT_LIMITS.bytes + 1):
        number += 1
        if len(line) > TEXT_LIMITS.bytes and not line.endswith(b"\n"):
            while (rest := file.readline(_CHUNK)) and not rest.endswith(b"\n"):
                pass
            yield FileRow(number, None, f"longer than {TEXT_LIMITS.bytes:,} bytes")
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, line


def _row(number: int, text: bytes | str) -> FileRow:
    try:
        value = load_text(text)
    except ValueError as error:
        return FileRow(number, None, f"no JSON ({str(error)[:100]})")
    if not isinstance(value, dict):
        return FileRow(number, None, f"expected an object, found {json_type(value)}")
    return FileRow(number, cast(Any, value))


class _ValueReader:
    """Reads JSON values of a file one by one: the entries of a list, or objects one after the other."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = io.TextIOWrapper(cast(Any, file), encoding="utf-8-sig", errors="replace", newline="")
        self._text = ""
        self._place = 0
        self._complete = False
        self._decoder = JSONDecoder(strict=False)

    def next_character(self) -> str:
        """The next character that is no blank; empty at the end."""
        while True:
            while self._place < len(self._text):
                if (character := self._text[self._place]) not in _BLANKS:
                    return character
                self._place += 1
            if not self._read_more():
                return ""

    def skip(self) -> None:
        """Takes one character."""
        self._place += 1

    def next_value(self) -> str | None:
        """The JSON text of the next value; None if it is broken or too long."""
        while True:
            # Besides broken JSON: a whole number of more digits than Python reads.
            with suppress(ValueError, RecursionError):
                end = self._decoder.raw_decode(self._text, self._place)[1]
                # A value that reaches the end of what was read may continue after it.
                if end < len(self._text) or self._complete:
                    value_text = self._text[self._place : end]
                    self._place = end
                    return value_text
            if self._complete or len(self._text) - self._place > TEXT_LIMITS.bytes:
                return None
            self._read_more()

    def _read_more(self) -> bool:
        """Reads on, at least as much as is left, so that a long value is not scanned again and again."""
        rest = self._text[self._place :]
        more = self._file.read(max(_CHUNK, len(rest)))
        self._text, self._place = rest + more, 0
        self._complete = not more
        return bool(more)


def _list_rows(file: IO[bytes]) -> Iterator[RawRow]:
    reader = _ValueReader(file)
    reader.next_character()
    reader.skip()
    number = 0
    while character := reader.next_character():
        if character == "]":
            return
        if character == ",":
            reader.skip()
            continue
        number += 1
        text = reader.next_value()
        if text is None:
            yield FileRow(number, None, "no JSON, or too long; the rest of the list cannot be read")
            return
        yield number, text
    yield FileRow(number + 1, None, "the list is not closed: the file is cut off")


def _document_rows(file: IO[bytes]) -> Iterator[RawRow]:
    """Objects one after the other, each over several lines."""
    reader = _ValueReader(file)
    number = 0
    while reader.next_character():
        number += 1
        text = reader.next_value()
        if text is None:
            yield FileRow(number, None, "no JSON, or too long; the rest of the file cannot be read")
            return
        yield number, text


def _csv_rows(file: IO[bytes], separator: str) -> Iterator[FileRow]:
    csv.field_size_limit(TEXT_LIMITS.bytes)
    text = io.TextIOWrapper(cast(Any, file), encoding="utf-8-sig", errors="replace", newline="")
    rows = csv.DictReader(text, delimiter=separator)
    number = 0
    while True:
        number += 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield FileRow(number, None, str(error))
            continue
        if row is None:
            return
        yield FileRow(number, {key: value for key, value in row.items() if isinstance(key, str)})


def _parquet_rows(path: Path) -> Iterator[FileRow]:
    for number, row in parquet_rows(path):
        yield FileRow(number, None, row) if isinstance(row, str) else FileRow(number, row)
