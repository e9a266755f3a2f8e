"""What a table of verdicts was made from, written into the table: its content tells whether it still fits its run.

The stamp names the rules (with the file that defines them, if one does), the data, the scope and the record: of each
segment its length and a digest of its end. A record only grows, and each line of it ends with its time and its digest,
so two records of one length and one end are the same but for damage, which is found by those digests when the record is
read. It takes no longer for a long record than for a short one.

The stamp also holds the SHA-256 of the table itself (with zeros in place of it), by which damage to the table is found.
"""

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, cast

from wildtool import json_codec
from wildtool.engine.benchmark_file import digest_of_file
from wildtool.engine.record.format import (
    Segment,
    SegmentFingerprint,
    find_segments,
    fingerprint_of,
    gzip_trailer,
    open_segment,
)
from wildtool.engine.score.completeness import PlannedSize

STAMP_KEY = "wildtool"
"""Its name among the metadata of the Parquet file."""
_BEGIN = b'{"wildtool verdicts":1,"sha256":"'
_ZEROS = b"0" * 64
_END = b"}"
_MAGIC = b"PAR1"
_COLUMNS = 2
"""Which general columns a table has. Those of an earlier number are made again where the data are at hand."""
_LARGEST_FOOTER = 256 << 20
_BLOCK = 1 << 20
_SCOPE = ("limit", "ids", "repeats")
_IDENTITY = ("benchmark", "data_sha256", "split", "lang", "mode", "silent_after")

TableStamp = Mapping[str, Any]


class DamagedTableError(Exception):
    """What is wrong with a table of verdicts."""


def make_stamp(
    run_json: Mapping[str, Any],
    profile: str,
    log: Sequence[SegmentFingerprint],
    planned: PlannedSize | None = None,
) -> TableStamp:
    """The stamp of verdicts made now.

    Args:
        run_json: what `run.json` says of the run.
        log: what the verdicts were made from.
        planned: how much was planned, where that is more than the scope names.
    """
    stamp = {
        "profile": profile,
        "columns": _COLUMNS,
        "identity": {name: run_json["identity"].get(name) for name in _IDENTITY},
        "scope": {name: run_json["scope"].get(name) for name in _SCOPE},
        "record": [each.as_json() for each in log],
        # Only where a file defines the rules: so stamps of other runs stay what they are.
        **({"rules": rules} if (rules := _rules_digest(run_json)) else {}),
        "planned": None if planned is None else {"items": planned.items, "units": planned.units},
    }
    # As it would be read back, so that a tuple equals a list.
    return json_codec.loads(json_codec.dumps(stamp))


def _rules_digest(run_json: Mapping[str, Any]) -> str | None:
    """SHA-256 of the file that defines the benchmark, as it is now; None for a benchmark of a package."""
    return digest_of_file(run_json.get("data", {}).get("benchmark_file"))


def log_fingerprints(folder: Path) -> list[SegmentFingerprint]:
    """The fingerprints of the segments of a record."""
    fingerprints: list[SegmentFingerprint] = []
    for segment in find_segments(folder):
        with open_segment(segment) as file:
            fingerprints.append(fingerprint_of(segment, file))
    return fingerprints


def stamp_matches(stamp: TableStamp, folder: Path, run_json: Mapping[str, Any], profile: str) -> bool:
    """Whether verdicts of that stamp are those of a run as it is now. Raises OSError, and RecordError for a damaged
    compressed segment."""
    now = make_stamp(run_json, profile, ())
    if any(stamp.get(name) != now.get(name) for name in ("profile", "identity", "scope", "rules")):
        return False
    segments = find_segments(folder)
    entries: Any = stamp.get("record")
    before = cast(list[Any], entries) if isinstance(entries, list) else []
    if len(before) != len(segments):
        return False
    return all(_is_unchanged(segment, was) for segment, was in zip(segments, before, strict=True))


def has_all_columns(stamp: TableStamp) -> bool:
    """Whether a table of that stamp has every general column."""
    return stamp.get("columns") == _COLUMNS


def _is_unchanged(segment: Segment, entry: Any) -> bool:
    was = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
    if segment.compressed and was.get("packed") is not None:
        return was.get("number") == segment.number and was["packed"] == list(gzip_trailer(segment))
    with open_segment(segment) as file:
        now = fingerprint_of(segment, file).as_json()
    return all(was.get(name) == now[name] for name in ("number", "length", "end"))


def planned_of(stamp: TableStamp | None) -> PlannedSize | None:
    """How much was planned, where the stamp says it."""
    planned: Any = stamp.get("planned") if stamp else None
    sizes = cast(dict[str, Any], planned) if isinstance(planned, dict) else None
    return PlannedSize(sizes["items"], sizes["units"]) if sizes else None


def stamp_text(stamp: TableStamp) -> str:
    """The stamp as it is written into a table, its digest still open."""
    return (_BEGIN + _ZEROS + b'","of":' + json_codec.dumps(stamp) + _END).decode()


def seal_table(table: Path) -> None:
    """Writes the digest of a table into its stamp, and both to the disk. Raises OSError."""
    with table.open("r+b") as file:
        place = _place(file)
        if place is None:
            raise OSError("the table has no stamp")
        digest = _digest(file, place)
        file.seek(place)
        file.write(digest.encode())
        file.flush()
        os.fsync(file.fileno())


def read_stamp(table: Path) -> TableStamp | None:
    """The stamp of a table; None where it has none, as tables of earlier versions.

    Raises DamagedTableError where the table is not as it was written, and OSError.
    """
    with table.open("rb") as file:
        place = _place(file)
        if place is None:
            return None
        file.seek(place)
        if file.read(len(_ZEROS)).decode("latin-1") != _digest(file, place):
            raise DamagedTableError("it does not have the SHA-256 that it was written with")
        file.seek(place - len(_BEGIN))
        try:
            # What follows is of the file's footer.
            document, _ = json.JSONDecoder().raw_decode(file.read().decode("utf-8", "replace"))
            stamp = document["of"]
            if not isinstance(stamp, dict):
                raise TypeError("it is no object")
            return cast(TableStamp, stamp)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DamagedTableError(f"its stamp cannot be read ({error})") from error


def sealed_digest(table: Path) -> str:
    """The SHA-256 that a table with a stamp was written with, which `read_stamp` compares with the table. Raises
    OSError."""
    with table.open("rb") as file:
        file.seek(_place(file) or 0)
        return file.read(len(_ZEROS)).decode("latin-1")


def _place(file: IO[bytes]) -> int | None:
    """Offset of the digest in a table; None if there is none."""
    head = file.read(len(_MAGIC))
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    tail = file.read()
    if _MAGIC not in (head, tail[4:]):
        # Something else altogether, so nothing of a table is lost.
        return None
    length = int.from_bytes(tail[:4], "little") + 8
    if tail[4:] != _MAGIC or length > min(size, _LARGEST_FOOTER):
        raise DamagedTableError("it is no whole Parquet file")
    file.seek(size - length)
    # Texts of models are before it, among the smallest and largest values of columns.
    offset = file.read().rfind(_BEGIN)
    return None if offset < 0 else size - length + offset + len(_BEGIN)


def _digest(file: IO[bytes], place: int) -> str:
    digest = sha256()
    file.seek(0)
    remaining = place
    while remaining and (block := file.read(min(_BLOCK, remaining))):
        digest.update(block)
        remaining -= len(block)
    digest.update(_ZEROS)
    file.seek(place + len(_ZEROS))
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()
