"""What a record is made of: segments, sealed lines, chained requests, replies as columns.

**Segments** are numbered files of JSON lines, each plain or gzip-compressed: `record-0001.jsonl` is a plain one,
`record-0001.jsonl.gz` one that somebody compressed after the run. The record is the union of all; where both forms of a
number exist, the plain one counts. Only the last line of a plain segment can be torn: by a killed machine, or because a
run is writing it right now.

**A line** ends with `"synced"`, the length of the file up to which everything had been brought to the disk, and
`"crc32"`, the CRC-32 of all bytes before it. So a damaged line is found (any change of up to 32 bits in a row for sure,
any other but for one in four thousand million), and a loss of power is told from damage: it takes only what no later line
calls synced. Lines of earlier versions have neither. A checksum is no signature: who edits a line can make its checksum
right.

**A request** is a chain root → message → message, so that a growing history is stored once. The root is the tools; every
message adds a link whose hash covers everything before it. Requests that begin alike share the beginning of their chain,
and the hash of the last link names the whole request.
"""

import gzip
import re
import tempfile
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Self

from wildtool import json_codec
from wildtool.errors import RecordError
from wildtool.json_codec import as_object
from wildtool.types import Message, Reply, Request, Tool

LABELS_FILE = "labels.jsonl"
"""What people say about failures of the run (`case_labels`), in its folder."""
_SEGMENT_NAME = re.compile(r"record-(\d{4,})\.jsonl(\.gz)?")
_BLOCK = 1 << 20
_READ_AHEAD = 1 << 16
"""Bytes read at once: lines of several kilobytes would otherwise be put together from pieces."""
_MAX_GROWTH = 200
"""Times that a compressed segment may grow. Records grow 10 to 30 times; what was made to fill a disk, 1,000 times."""
_ALWAYS_ALLOWED = 64 << 20
"""Bytes that any compressed segment may hold."""
_TRAILER = 8
"""Bytes at the end of a gzip file: checksum and length of what is in it."""
_FINGERPRINTED = 1 << 16
"""Bytes at the end of a segment that tell it from others."""


class Closing(ABC):
    """A context manager that closes itself."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


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
    segments: dict[int, Segment] = {}
    for path in folder.iterdir():
        match = _SEGMENT_NAME.fullmatch(path.name)
        if match is None:
            continue
        segment = Segment(path, int(match[1]), compressed=match[2] is not None)
        if segment.number not in segments or not segment.compressed:
            segments[segment.number] = segment
    return [segments[number] for number in sorted(segments)]


def holds_steps(segment: Segment) -> bool:
    """Whether a segment has any line but its header, whole or torn."""
    with open_segment(segment) as lines:
        return any(not line.startswith(b'{"row":"header"') for line in lines)


def open_segment(segment: Segment) -> IO[bytes]:
    """Opens a segment for reading; a compressed one is first expanded into a nameless temporary file."""
    if not segment.compressed:
        return segment.path.open("rb", buffering=_READ_AHEAD)
    expanded = tempfile.TemporaryFile(buffering=_READ_AHEAD)  # noqa: SIM115 - the caller closes it
    most = max(_ALWAYS_ALLOWED, _MAX_GROWTH * segment.path.stat().st_size)
    try:
        with gzip.open(segment.path) as packed:
            while block := packed.read(_BLOCK):
                if expanded.tell() + len(block) > most:
                    expanded.close()
                    raise RecordError(
                        f"{segment.path}: expands to more than {most:,} bytes, {_MAX_GROWTH} times its size, so it is no "
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
    """Length of a file without its torn last line, if it has one.

    A line is torn if its newline is missing or if it is no JSON (a power loss can leave holes in the last line).
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
        newline = file.read(size - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        size = start
    return 0


_SEAL = re.compile(rb',"synced":(\d{1,18}),"crc32":"([0-9a-f]{8})"\}\r?\n?\Z')
_SEAL_PARTS = (b',"synced":', b',"crc32":"')
_LONGEST_SEAL = 64
"""Bytes of a seal at most."""
_ROW_START = b'{"row":"'
LOST_MARKER = b'{"row":"header","version":1,"lost":true}'
"""Stands in place of lines that were lost; readers of every version pass over it."""


@dataclass(frozen=True, slots=True)
class LostLine:
    """A line of a record that did not reach the disk before the machine stopped, or what is left of several."""

    path: Path
    number: int
    offset: int
    length: int

    def __str__(self) -> str:
        return (
            f"{self.path}, line {self.number}: not written whole before the machine stopped, so it is left out; what it "
            "held is requested again when the run is resumed"
        )


def seal_line(line: bytes, synced: int) -> bytes:
    """A line from the JSON text of its row."""
    body = b'%s,"synced":%d' % (line[:-1], synced)
    return b'%s,"crc32":"%08x"}\n' % (body, zlib.crc32(body))


def check_line(line: bytes) -> int:
    """How much had been synced when a line was written; 0 where it does not say. Raises ValueError for a damaged one."""
    return _checked_seal(line) or 0


def is_as_written(line: bytes) -> bool | None:
    """Whether a line is as it was written; None for one of an earlier version, which cannot tell."""
    try:
        return None if _checked_seal(line) is None else True
    except ValueError:
        return False


def _checked_seal(line: bytes) -> int | None:
    """How much had been synced by the seal of a line, None where it has none. Raises ValueError for a damaged line."""
    tail = line[-_LONGEST_SEAL:]
    seal = _SEAL.search(tail)
    if seal is None:
        if any(part in tail for part in _SEAL_PARTS):
            raise ValueError("its end is damaged")
        return None
    body = len(line) - len(tail) + seal.end(1)
    if zlib.crc32(memoryview(line)[:body]) != int(seal[2], 16):
        raise ValueError("it does not have the checksum that it was written with")
    return int(seal[1])


def synced_length(line: bytes) -> int:
    """The same without looking for damage."""
    seal = _SEAL.search(line[-_LONGEST_SEAL:])
    return int(seal[1]) if seal else 0


def is_torn(line: bytes) -> bool:
    """Whether a loss of power can have left a line so: with a hole in it, without its end, or grown into the next."""
    if b"\0" in line or not line.rstrip().endswith(b"}"):
        return True
    return line.find(_ROW_START, 1) > 0 and not _is_intact(line)


def filler_for(line: LostLine) -> bytes:
    """What is written over a lost line: as long as it."""
    text = LOST_MARKER if line.length > len(LOST_MARKER) else b""
    return text.ljust(line.length - 1) + b"\n"


def _is_intact(line: bytes) -> bool:
    try:
        check_line(line)
        json_codec.loads_within(line, json_codec.LINE_LIMITS)
    except json_codec.TooLargeError:
        # No loss of power makes a line so large; who reads it refuses it.
        return True
    except ValueError:
        return False
    return True


_HASH_DIGITS = 32
"""Hex digits kept of each SHA-256: 128 bits."""


def request_hashes(request: Request) -> list[str]:
    """Hashes of a request's links: of its tools first, then one for each message; the last names the
    request."""
    hashes = [following_hash("", list(request.tools))]
    for message in request.messages:
        hashes.append(following_hash(hashes[-1], message))
    return hashes


def following_hash(name: str, content: Message | list[Tool]) -> str:
    """The hash of the link that a message adds to a chain; or tools, as the first one.

    Args:
        name: hash of the last link before it; empty for the first.
    """
    return sha256(name.encode() + json_codec.dumps(content)).hexdigest()[:_HASH_DIGITS]


def new_nodes(request: Request, hashes: list[str], recorded: set[str]) -> list[dict[str, Any]]:
    """The links of a request that are not in `recorded`, in order, as they are recorded."""
    links: list[dict[str, Any]] = []
    if hashes[0] not in recorded:
        links.append({"hash": hashes[0], "tools": list(request.tools)})
    for parent, name, message in zip(hashes, hashes[1:], request.messages, strict=False):
        if name not in recorded:
            links.append({"hash": name, "parent": parent, "message": message})
    return links


def rebuild_request(name: str, nodes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The request of that hash, as `messages` and `tools`. Raises KeyError where a link is missing."""
    by_hash = {link["hash"]: link for link in nodes}
    messages: list[Any] = []
    # Popped, so that a damaged record whose links form a ring ends in a KeyError too.
    link = by_hash.pop(name)
    while "tools" not in link:
        messages.append(link["message"])
        link = by_hash.pop(link["parent"])
    return {"messages": messages[::-1], "tools": link["tools"]}


REPLY_COLUMNS: Mapping[str, Any] = {
    "message": dict,
    "raw": str,
    "finish_reason": object,
    "usage": dict,
    "latency_s": (float, int),
    "attempts": int,
    "changes": list,
}
"""Columns with their types."""


def reply_columns(reply: Reply) -> dict[str, Any]:
    """A reply as it is recorded."""
    columns = {
        # Both forms: the text is the evidence, and the message spares every reader the wire format.
        "message": reply.message,
        "raw": reply.raw,
        "finish_reason": reply.finish_reason,
        "usage": dict(reply.usage),
        "latency_s": round(reply.latency_s, 6),
        "attempts": reply.attempts,
        "changes": list(reply.changes),
        "time": round(time.time(), 3),
    }
    # Seldom true, and a record without them is read alike.
    lost_usage = {"lost_usage": dict(reply.lost_usage)} if reply.lost_usage else {}
    return columns | {name: True for name in ("cached", "batched") if getattr(reply, name)} | lost_usage


def check_columns(row: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
    """Raises KeyError or TypeError where a row has not these columns."""
    for name, kind in columns.items():
        if not isinstance(row[name], kind):
            raise TypeError(f"column {name} has the wrong type")
    if not all(isinstance(change, str) for change in row.get("changes", ())):
        raise TypeError("column changes holds something other than texts")


def reply_from_row(row: Mapping[str, Any]) -> Reply:
    """The reply in a row whose columns are checked."""
    return Reply(
        message=row["message"],
        raw=row["raw"],
        finish_reason=row["finish_reason"],
        usage=row["usage"],
        latency_s=row["latency_s"],
        attempts=row["attempts"],
        changes=tuple(row["changes"]),
        cached=bool(row.get("cached")),
        batched=bool(row.get("batched")),
        lost_usage=as_object(row.get("lost_usage")),
    )
