"""The files of a record: numbered segments of JSON lines, each plain or gzip-compressed.

`record-0001.jsonl` is a plain segment, `record-0001.jsonl.gz` one that somebody compressed after the run.
The record is the union of all segments; where both forms of a number exist, the plain one counts. Only the
last line of a plain segment can be torn: by a killed machine, or because a run is writing it right now.
"""

import gzip
import re
import tempfile
import zlib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from wildtool import json_codec
from wildtool.errors import RecordError

_NAME = re.compile(r"record-(\d{4,})\.jsonl(\.gz)?")
_BLOCK = 1 << 20
_GROWTH = 200
"""Times that a compressed segment may grow. Records grow 10 to 30 times; what was made to fill a disk, 1,000 times."""
_FLOOR = 64 << 20
"""Bytes that any compressed segment may hold."""
_TRAILER = 8
"""Bytes at the end of a gzip file: checksum and length of what is in it."""
_FINGERPRINTED = 1 << 16
"""Bytes at the end of a segment that tell it from others."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of a record."""

    path: Path
    number: int
    compressed: bool


@dataclass(frozen=True, slots=True)
class SegmentFingerprint:
    """What tells a segment from any other, and from itself after it has grown or was cut."""

    number: int
    length: int
    """Bytes of its whole lines."""
    end: str
    """Digest of the last of them."""
    packed: tuple[int, int] | None
    """Checksum and length that a compressed one says of its content; None for a plain one."""

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "length": self.length,
            "end": self.end,
            "packed": None if self.packed is None else list(self.packed),
        }


def fingerprint_of(segment: Segment, file: IO[bytes], length: int | None = None) -> SegmentFingerprint:
    """The print of a segment that is open.

    Args:
        length: of its whole lines; found where it is None.
    """
    end = whole_length(file) if length is None else length
    file.seek(max(0, end - _FINGERPRINTED))
    digest = sha256(file.read(min(end, _FINGERPRINTED))).hexdigest()[:32]
    return SegmentFingerprint(
        segment.number, end, digest, gzip_trailer(segment) if segment.compressed else None
    )


def gzip_trailer(segment: Segment) -> tuple[int, int]:
    """Checksum and length that a compressed segment says of its content."""
    with segment.path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TRAILER))
        trailer = file.read()
    return int.from_bytes(trailer[:4], "little"), int.from_bytes(trailer[4:], "little")


def segment_path(folder: Path, number: int) -> Path:
    """Where the plain segment of that number lies."""
    return folder / f"record-{number:04d}.jsonl"


def find_segments(folder: Path) -> list[Segment]:
    """The segments of a run folder by number, each number once."""
    found: dict[int, Segment] = {}
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        segment = Segment(path, int(match[1]), compressed=match[2] is not None)
        if segment.number not in found or not segment.compressed:
            found[segment.number] = segment
    return [found[number] for number in sorted(found)]


def open_segment(segment: Segment) -> IO[bytes]:
    """Opens a segment for reading; a compressed one is first expanded into a nameless temporary file."""
    if not segment.compressed:
        return segment.path.open("rb")
    expanded = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    most = max(_FLOOR, _GROWTH * segment.path.stat().st_size)
    try:
        with gzip.open(segment.path) as packed:
            while block := packed.read(_BLOCK):
                if expanded.tell() + len(block) > most:
                    expanded.close()
                    raise RecordError(
                        f"{segment.path}: expands to more than {most:,} bytes, {_GROWTH} times its size, so it is no "
                        "record; restore it from a copy"
                    )
                expanded.write(block)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        expanded.close()
        raise RecordError(
            f"{segment.path}: the compressed segment is damaged ({error}); restore it from a copy, "
            "or delete it to play its items again"
        ) from error
    expanded.seek(0)
    return expanded


def whole_length(file: IO[bytes]) -> int:
    """Length of a segment without its torn last line, if it has one.

    A line is torn if its newline is missing or if it is no JSON (a power loss can leave holes in the last
    line).
    """
    size = file.seek(0, 2)
    end = _after_last_newline(file, size)
    if end < size or end == 0:
        return end
    start = _after_last_newline(file, end - 1)
    file.seek(start)
    try:
        json_codec.loads_within(
            file.read(min(end - start, json_codec.LINE_LIMITS.bytes + 1)), json_codec.LINE_LIMITS
        )
    except json_codec.TooLargeError:
        # Not torn; who reads it refuses it.
        return end
    except ValueError:
        return start
    return end


def line_number_at(file: IO[bytes], offset: int) -> int:
    """The number of the line that begins there."""
    file.seek(0)
    number = 1
    for start in range(0, offset, _BLOCK):
        number += file.read(min(_BLOCK, offset - start)).count(b"\n")
    return number


def _after_last_newline(file: IO[bytes], size: int) -> int:
    """Offset just behind the last newline among the first `size` bytes; 0 where there is none."""
    while size > 0:
        start = max(0, size - _BLOCK)
        file.seek(start)
        found = file.read(size - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        size = start
    return 0
