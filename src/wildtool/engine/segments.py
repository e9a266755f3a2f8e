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
from pathlib import Path
from typing import IO

from wildtool import wire
from wildtool.errors import RecordError

_NAME = re.compile(r"record-(\d{4,})\.jsonl(\.gz)?")
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of a record."""

    path: Path
    number: int
    compressed: bool


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
    try:
        with gzip.open(segment.path) as packed:
            while block := packed.read(_BLOCK):
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
        wire.loads(file.read(end - start))
    except ValueError:
        return start
    return end


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
