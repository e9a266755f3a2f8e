"""The record of a run in a store: each generation of a shard is whole, in segments that are written once.

A worker appends to a record of its own disk, its *spool*, and sends what is new from time to time. A generation begins
with all lines of the one before it. So one generation is the record of a shard, and nothing needs to be merged.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from wildtool.engine.record.format import segment_path, whole_length
from wildtool.engine.record.reader import LogReader
from wildtool.engine.record.writer import LogWriter
from wildtool.scale.claims import Claim, done_key
from wildtool.scale.store import ObjectStore, StoredObject

_SEGMENT_KEY = re.compile(r"record/(\d{7,})/(\d{4,})-(\d{4,})\.jsonl")
_SHARD_FOLDER = re.compile(r"(\d{7,})-(\d{4,})")


def shard_folder(shard: int) -> str:
    """Where the segments of a shard are."""
    return f"record/{shard:07d}/"


def segment_key(claim: Claim, number: int) -> str:
    """The name of a segment; numbers begin at 1."""
    return f"{shard_folder(claim.shard)}{claim.generation:04d}-{number:04d}.jsonl"


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """The record of one shard: the segments of one generation."""

    claim: Claim
    segments: Sequence[StoredObject]
    """In order, without a gap."""

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(segment.size for segment in self.segments)


def shard_records(store: ObjectStore, folder: str = "record/") -> Iterator[ShardRecord]:
    """The record of each shard that has one: of the generation that is complete, else of the highest.

    Args:
        folder: of one shard; of all if not given.
    """
    shards: dict[int, dict[int, list[StoredObject]]] = {}
    for entry in store.entries(folder):
        if match := _SEGMENT_KEY.fullmatch(entry.key):
            segments = shards.setdefault(int(match[1]), {}).setdefault(int(match[2]), [])
            # A gap ends the generation: what lies behind it was sent by nobody who knew what comes before.
            if int(match[3]) == len(segments) + 1:
                segments.append(entry)
    for shard, generations in sorted(shards.items()):
        complete = {number: segments for number, segments in generations.items() if segments}
        if complete:
            generation = _generation(store, shard, complete)
            yield ShardRecord(Claim(shard, generation), complete[generation])


def _generation(store: ObjectStore, shard: int, generations: Iterable[int]) -> int:
    """Which generation is the record of a shard."""
    highest = max(generations)
    if highest == min(generations):
        return highest
    finished = store.get_json(done_key(shard)).get("generation")
    return next((number for number in generations if number == finished), highest)


def read_segments(store: ObjectStore, segments: Iterable[StoredObject]) -> bytes:
    """The lines of some segments."""
    return b"".join(store.get(segment.key) or b"" for segment in segments)


def send_lines(store: ObjectStore, claim: Claim, file: Path, sent: int, segments: int) -> tuple[int, int]:
    """Sends the whole lines of a spool that the store does not have.

    Args:
        sent, segments: bytes and segments that the store has, as far as is known.

    Returns both as they are then. Raises StoreError.
    """
    while True:
        with file.open("rb") as lines:
            end = whole_length(lines)
            lines.seek(sent)
            data = lines.read(max(0, end - sent))
        if not data:
            return sent, segments
        if store.create(segment_key(claim, segments + 1), data):
            return end, segments + 1
        # An answer of the store was lost, or its worker was killed: it has more than is known here.
        folder = shard_folder(claim.shard)
        own = [e for e in store.entries(folder) if e.key.startswith(f"{folder}{claim.generation:04d}-")]
        sent, segments = sum(entry.size for entry in own), len(own)


@dataclass(slots=True)
class SpooledShard:
    """A shard that a worker works on: its record on this disk, and how much of it the store has."""

    claim: Claim
    folder: Path
    reader: LogReader
    """What was recorded before this worker took it."""
    writer: LogWriter
    remaining: int
    """Items that are not done."""
    failed: bool = False
    """Whether steps of done items are missing."""
    is_lost: bool = False
    """Whether another worker has taken it over."""
    _sent: int = 0
    _segments: int = 0
    _closed: bool = False
    _lock: Lock = field(default_factory=Lock)
    """Several threads send and close."""

    @property
    def unsent(self) -> int:
        """Bytes that the store does not have."""
        return segment_path(self.folder, 1).stat().st_size - self._sent

    def send(self, store: ObjectStore) -> None:
        """Sends what is new, unless it is closed. Raises StoreError."""
        with self._lock:
            if not self._closed:
                file = segment_path(self.folder, 1)
                self._sent, self._segments = send_lines(store, self.claim, file, self._sent, self._segments)

    def sync(self) -> None:
        """Brings it to the disk itself, unless it is closed."""
        with self._lock:
            if not self._closed:
                self.writer.sync()

    def close(self) -> None:
        """Leaves the files where they are."""
        with self._lock:
            self._closed = True
            self.reader.close()
            self.writer.close()


def open_shard(store: ObjectStore, claim: Claim, spool: Path, items: int) -> SpooledShard:
    """Begins a shard with what earlier generations recorded. Args: items: of the shard, times repeats."""
    folder = spool / "shares" / f"{claim.shard:07d}-{claim.generation:04d}"
    folder.mkdir(parents=True, exist_ok=True)
    if claim.generation > 1:
        for record in shard_records(store, shard_folder(claim.shard)):
            segment_path(folder, 1).write_bytes(read_segments(store, record.segments))
    reader = LogReader(folder, check_all=True)
    return SpooledShard(claim, folder, reader, LogWriter(folder, reader.lost), items)


def recover_spools(store: ObjectStore, spools: Path) -> set[str]:
    """Sends what dead workers of this machine left unsent, and removes their spools. Returns their names.

    Args:
        spools: the folder above the spools of this run.
    """
    dead: set[str] = set()
    # One without shards may be just being made: its owner has yet to lock it.
    for shards in sorted(spools.glob("*/shares")):
        spool = shards.parent
        with _locked(spool / "lock") as is_dead:
            if not is_dead:
                continue
            for folder in sorted(shards.glob("*")):
                if match := _SHARD_FOLDER.fullmatch(folder.name):
                    claim = Claim(int(match[1]), int(match[2]))
                    if (file := segment_path(folder, 1)).exists():
                        send_lines(store, claim, file, 0, 0)
            dead.add(spool.name)
            shutil.rmtree(spool, ignore_errors=True)
    return dead


@contextmanager
def _locked(file: Path) -> Generator[bool]:
    """Whether nobody else had the lock of a spool, which is held meanwhile."""
    try:
        lock = os.open(file, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        # It is just being made, or removed.
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(lock)
