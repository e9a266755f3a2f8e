"""The values of a file of traces, whatever its form: one JSON document, lines of JSON, documents one after the other as a
console exporter prints them, or OTLP as protobuf."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wildtool.data.files import read_unpacked
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import (
    LINE_LIMITS,
    check_limits,
    document_place,
    loads,
    portable,
    replace_surrogates,
)
from wildtool.shapes import Reading
from wildtool.shapes.record_files import log_reader
from wildtool.traces.protobuf import read_protobuf

_MOST_DEPTH = 100
_LARGEST = 2**63
_STRAY = "line of text between spans"
_DOCUMENT = re.compile(r"[^\S\n]*(\{\s*[\"}]|\[\s*[\[{\]])")
"""How a line begins from which on a document is written, and not a line of a log such as `[INFO] started`."""


def values_of_file(path: Path, reading: Reading) -> Iterator[tuple[Reading, Any]]:
    """The JSON values of a file, each with its place; what else it prints between them is counted.

    Raises DataError if the file cannot be read, or is none of the forms.
    """
    data = read_unpacked(path)
    if not data.strip():
        raise DataError(f"{path}: is empty")
    if data[:1] in (b"\n", b"\0"):
        try:
            values = read_protobuf(data)
        except ValueError as error:
            # A text may begin with an empty line.
            if not _is_text(data):
                raise DataError(f"{path}: neither UTF-8 text nor OTLP as protobuf ({error})") from error
        else:
            for number, value in enumerate(values, 1):
                yield Reading(f"{path}: message {number}", reading.lost), safe_json(value)
            return
    for place, value in _json_values(path, data):
        if place is None:
            reading.lose(_STRAY)
        else:
            yield Reading(place, reading.lost), safe_json(value)


def refuse_log(path: Path) -> None:
    """Raises UsageError for a file in which another program keeps conversations, with who reads it."""
    try:
        reader = log_reader(next((value for _, value in values_of_file(path, Reading())), None))
    except DataError:
        return
    if reader:
        raise UsageError(f"{path}: {reader}")


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False


def safe_json(value: Any) -> Any:
    """A value that can be written as JSON in UTF-8."""
    return portable(
        value,
        text=replace_surrogates,
        number=lambda number: number if abs(number) < _LARGEST else str(number),
        max_depth=_MOST_DEPTH,
    )


def loaded(data: bytes) -> Any:
    """The value of a JSON text. Raises ValueError if it is none, or beyond the limits of a line."""
    check_limits(data, LINE_LIMITS)
    try:
        return loads(data.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _json_values(path: Path, data: bytes) -> Iterator[tuple[str | None, Any]]:
    """Values with their places; None for a line that is none."""
    try:
        yield document_place(path, data.split(b"\n")), loaded(data)
        return
    except ValueError as error:
        if b"\n" not in data.strip():
            raise DataError(f"{path}: neither JSON, JSON lines nor OTLP as protobuf ({error})") from error
    lines = data.splitlines(keepends=True)
    first = next((line.strip() for line in lines if line.strip()), b"")
    try:
        loaded(first)
    except ValueError:
        yield from _printed_values(path, data)
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield f"{path}:{number}", loaded(line)
            except ValueError as error:
                raise DataError(f"{path}:{number}: not a line of JSON ({error})") from error


def _printed_values(path: Path, data: bytes) -> Iterator[tuple[str | None, Any]]:
    """The documents in a text, each of which begins a line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: neither UTF-8 text nor OTLP as protobuf (byte {error.start:,})") from error
    decoder = json.JSONDecoder()
    at, number, found = 0, 1, 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        if document := _DOCUMENT.match(text, at):
            start = document.start(1)
            try:
                # A document is checked like a line, but its end is known only once it is read.
                value, end = decoder.raw_decode(text, start)
                check_limits(text[start:end].encode("utf-8", "surrogatepass"), LINE_LIMITS)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}:{number}: not JSON from this line on ({error})") from error
            found += 1
            yield f"{path}:{number}", value
        elif text[at:end].strip():
            yield None, None
        number += text.count("\n", at, end)
        at = end
    if not found:
        raise DataError(f"{path}:1: not a line of JSON, and nothing below it is")
