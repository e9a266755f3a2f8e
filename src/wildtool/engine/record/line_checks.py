"""What the lines of a record say of themselves: a checksum, and how much of the file was on the disk by then.

A line ends with `"synced"`, the length of the file up to which everything had been brought to the disk, and `"crc32"`,
the CRC-32 of all bytes before it. So a damaged line is found (any change of up to 32 bits in a row for sure, any other
but for one in four thousand million), and a loss of power is told from damage: it takes only what no later line calls
synced. Lines of earlier versions have neither. A checksum is no signature: who edits a line can make its checksum right.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from wildtool import json_codec

_SEAL = re.compile(rb',"synced":(\d{1,18}),"crc32":"([0-9a-f]{8})"\}\r?\n?\Z')
_PARTS = (b',"synced":', b',"crc32":"')
_LONGEST = 64
"""Bytes of a seal at most."""
_BEGIN = b'{"row":"'
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
    return b'%s,"crc32":"%08x"}\n' % (body, crc32(body))


def check_line(line: bytes) -> int:
    """How much had been synced when a line was written; 0 where it does not say. Raises ValueError for a damaged one."""
    tail = line[-_LONGEST:]
    found = _SEAL.search(tail)
    if found is None:
        if any(part in tail for part in _PARTS):
            raise ValueError("its end is damaged")
        return 0
    body = len(line) - len(tail) + found.end(1)
    if crc32(memoryview(line)[:body]) != int(found[2], 16):
        raise ValueError("it does not have the checksum that it was written with")
    return int(found[1])


def synced_length(line: bytes) -> int:
    """The same without looking for damage."""
    found = _SEAL.search(line[-_LONGEST:])
    return int(found[1]) if found else 0


def is_torn(line: bytes) -> bool:
    """Whether a loss of power can have left a line so: with a hole in it, without its end, or grown into the next."""
    if b"\0" in line or not line.rstrip().endswith(b"}"):
        return True
    return line.find(_BEGIN, 1) > 0 and not _is_intact(line)


def filler_for(lost: LostLine) -> bytes:
    """What is written over a lost line: as long as it."""
    text = LOST_MARKER if lost.length > len(LOST_MARKER) else b""
    return text.ljust(lost.length - 1) + b"\n"


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
