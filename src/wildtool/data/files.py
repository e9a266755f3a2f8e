"""Data files of benchmarks that may be gzip-compressed, and the digest of several of them."""

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import orjson

from wildtool.errors import DataError
from wildtool.json_codec import LINE_LIMITS, json_type, loads_within
from wildtool.types import Source

_FILE_LIMITS = replace(LINE_LIMITS, depth=sys.maxsize)
"""Of a whole file; a text nested too deeply is refused by its decoder, and counting levels takes longer than that."""
MAX_UNPACKED_BYTES = 256 << 20
"""Bytes that a compressed file may expand to."""


def find_packed(folder: Path, name: str) -> Path | None:
    """The file of that name in a folder, plain or with `.gz` behind it; None if it is not there."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def files_below(path: Path) -> list[Path]:
    """The files in a folder and below it, sorted, also those behind links to folders; of a file itself alone."""
    if not path.is_dir():
        return [path]
    return sorted(Path(folder, name) for folder, _, names in walk_folders(path) for name in names)


def walk_folders(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk`, in the order of names and with links to folders followed; the caller may prune it. A folder that is
    inside the tree, or was visited by another link, is not visited again by a link."""
    inside, visited = path.resolve(), set[Path]()
    for folder, inner, names in os.walk(path, followlinks=True):
        inner.sort()
        for name in list(inner):
            place = Path(folder, name)
            if not place.is_symlink():
                continue
            target = place.resolve()
            if target in visited or target.is_relative_to(inside):
                inner.remove(name)
            visited.add(target)
        yield folder, inner, names


def as_named(path: Path) -> Path:
    """A path from the root on as the user named it: a link keeps its name, which may say what its files are of."""
    return Path(os.path.normpath(path.absolute()))


def read_unpacked(path: Path) -> bytes:
    """The bytes of a file, those inside if its name ends in `.gz`. Raises DataError."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            data = stream.read(MAX_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_UNPACKED_BYTES:
        raise DataError(f"{path}: longer than {MAX_UNPACKED_BYTES >> 20} MiB; name another file with --data")
    return data


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, lower-case hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path) -> Any:
    """The value of a JSON file, which may be compressed. Raises DataError."""
    try:
        return loads_within(read_unpacked(path), _FILE_LIMITS)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({error})") from error


def read_packed_lines(path: Path, noun: str = "record") -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON object of every line of a file, which may be compressed, with its place for messages. Raises DataError.

    Args:
        noun: what a line holds, for messages.
    """
    for number, line in enumerate(read_unpacked(path).splitlines(), 1):
        if line.strip():
            where = f"{path}:{number}"
            try:
                record = loads_line(line)
            except ValueError as error:
                raise DataError(
                    f"{where}: not a JSON object ({error}); expected one {noun} per line"
                ) from error
            if not isinstance(record, dict):
                raise DataError(f"{where}: expected a JSON object, found {json_type(record)}")
            yield where, cast(dict[str, Any], record)


def loads_line(line: bytes | str) -> Any:
    """The value of a JSON text; of one that orjson refuses what the standard library reads. Raises ValueError."""
    try:
        return orjson.loads(line)
    except ValueError:
        return loads_within(line, LINE_LIMITS)


def read_record_list(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object of a JSON file that holds a list of them, with its place for messages. Raises DataError."""
    records = read_json(path)
    if not isinstance(records, list):
        raise DataError(f"{path}: expected a list of records, found {json_type(records)}")
    for number, record in enumerate(cast(list[Any], records)):
        if not isinstance(record, dict):
            raise DataError(f"{path}: record {number}: expected an object, found {json_type(record)}")
        yield f"{path}: record {number}", cast(dict[str, Any], record)


def source_of_files(name: str, place: Path, files: Iterable[Path]) -> Source:
    """Describes several files by one digest of their names and contents; neither their folders nor compression matter.

    Args:
        place: the folder, or the one file, that the user named.

    Raises DataError where one cannot be read.
    """
    digests = sorted((file.name.removesuffix(".gz"), _digest(file, *file_version(file))) for file in files)
    lines = "".join(f"{digest}  {file}\n" for file, digest in digests)
    return Source(name, place, hashlib.sha256(lines.encode()).hexdigest())


def file_version(path: Path) -> tuple[int, int]:
    """Changes when a file does; 0 where there is none."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0  # reading it says why
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _digest(path: Path, _changed_at: int, _size: int) -> str:
    """A command asks for the digest of the same files several times."""
    return hashlib.sha256(read_unpacked(path)).hexdigest()
