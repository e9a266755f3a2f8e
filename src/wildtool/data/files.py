"""Files that others wrote, read within one limit and refused by name; and the digest of several of them.

What a user names is read whole by these functions only, so no file takes more memory than they allow: not one that is
too long, unpacks to too much, holds too many or too deep values, is a folder, or never ends.
"""

import gzip
import hashlib
import os
import sys
import tomllib
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
"""Bytes of a file that is read whole, and that a compressed one may expand to."""
MAX_SETTINGS_BYTES = 4 << 20
"""Bytes of a file of settings."""


def find_packed(folder: Path, name: str) -> Path | None:
    """The file of that name in a folder, plain or with `.gz` behind it; None if it is not there."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def files_under(path: Path) -> list[Path]:
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
    return _read(path, MAX_UNPACKED_BYTES, unpack=path.suffix == ".gz")


def read_whole(path: Path, most: int = MAX_UNPACKED_BYTES) -> bytes:
    """The bytes of a file as they are. Raises DataError for one that cannot be read, or has more than `most` bytes."""
    return _read(path, most, unpack=False)


def read_text(path: Path, most: int = MAX_UNPACKED_BYTES) -> str:
    """The text of a file in UTF-8, without a byte order mark. Raises DataError, for another encoding too."""
    try:
        return read_whole(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: not UTF-8 text (byte {error.start:,}: {error.reason}); save it as UTF-8"
        ) from error


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises DataError."""
    return parse_toml(path, read_text(path, MAX_SETTINGS_BYTES))


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """The tables of the text of a file. Raises DataError naming the file."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid TOML: {error}") from error


def check_regular_file(path: Path) -> None:
    """Raises DataError for a pipe or a device: reading these may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise DataError(f"{path}: is no regular file; write what it gives to a file first")


def _read(path: Path, most: int, *, unpack: bool) -> bytes:
    try:
        check_regular_file(path)
        with gzip.open(path, "rb") if unpack else path.open("rb") as stream:
            data = stream.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > most:
        raise DataError(f"{path}: longer than {most >> 20} MiB; name another file, or a part of it")
    return data


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, lower-case hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path) -> Any:
    """The value of a JSON file, which may be compressed. Raises DataError."""
    return json_of_file(path, read_unpacked(path))


def json_of_file(path: Path, data: bytes | str) -> Any:
    """The value of the JSON text of a file. Raises DataError naming the file."""
    try:
        return loads_within(data, _FILE_LIMITS)
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
