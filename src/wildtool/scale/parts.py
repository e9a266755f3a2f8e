"""Work in numbered parts that workers share, each of which becomes one object: sets of sessions made without a model."""

import fcntl
import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from wildtool.engine.run.progress import CHANGED_EVERY_S
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.installed import own_offer
from wildtool.json_codec import as_object, checked
from wildtool.outputs import contents_of, sole_writer
from wildtool.scale.claims import BEAT_S, Claim, Claims, shard_states
from wildtool.scale.control import Launcher
from wildtool.scale.copies import cache_folder_of_runs, url_digest
from wildtool.scale.job import worker_name
from wildtool.scale.local import leave_at_sigterm
from wildtool.scale.segments import recover_spools
from wildtool.scale.store import JOB_KEY, FolderStore, ObjectStore, StoreError
from wildtool.terminal import print_err

ENTRY_POINT_OF_PARTS = "wildtool.parts"
"""Entry points of our packages that make parts: `KIND = module:Class`."""
_EXTRAS = {"procedural": "data"}
"""By kind the extra whose package makes parts of it. A store chooses no code that is executed beyond these."""
_SITTING = 1
_POLL_S = 0.5
"""Between two looks for parts where none is free."""
_LOOK_S = 0.2
Option = TypeVar("Option")


class PartMaker(Protocol):
    """Makes parts, each from its number and the settings alone."""

    def part(self, number: int) -> bytes:
        """Everything of a part. Numbers begin at 0."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsJob:
    """What a store says of work in parts."""

    kind: str
    """A key of `_EXTRAS`."""
    settings: Mapping[str, Any]
    """Of the maker, as JSON."""
    parts: int

    def as_bytes(self) -> bytes:
        content = {"kind": self.kind, "settings": self.settings, "parts": self.parts}
        return json.dumps(content, indent=1, sort_keys=True).encode()

    def place(self, store: ObjectStore) -> ObjectStore:
        """Where its parts and claims are, apart from those of workers that outlive another job in the same store."""
        return store.below(sha256(self.as_bytes()).hexdigest()[:16])

    def is_in(self, store: ObjectStore) -> bool:
        """Whether the store is still this job's: neither gone nor another's."""
        return store.get(JOB_KEY) == self.as_bytes()

    @classmethod
    def read(cls, store: ObjectStore) -> Self | None:
        """None where the store has a run, or nothing that is known here. Raises RecordError for a damaged one."""
        data = store.get(JOB_KEY) or b"{}"
        try:
            if b'"kind"' not in data:
                return None
            content = as_object(json.loads(data))
            for name, kind in (("kind", str), ("settings", dict), ("parts", int)):
                checked(content.get(name), kind, f"field {name}")
            return cls(**content)
        except (ValueError, TypeError, DataError) as error:
            raise RecordError(
                f"{store.url}/{JOB_KEY}: damaged ({error}); remove this folder and start the command again"
            ) from error

    def maker(self) -> PartMaker:
        """Raises UsageError for a kind that this version does not know, and what the maker raises."""
        if self.kind not in _EXTRAS:
            raise UsageError(f"parts are of kind {self.kind!r}, which this version of wildtool does not know")
        return own_offer(ENTRY_POINT_OF_PARTS, self.kind, _EXTRAS[self.kind], "The work")(self.settings)


def part_key(number: int) -> str:
    """The object of a part."""
    return f"part/{number:07d}"


class _First(random.Random):
    """Chooses the first: parts are put together in order, and a maker goes ahead more quickly than back."""

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return 0

    def choice(self, seq: Sequence[Option]) -> Option:  # pyright: ignore[reportIncompatibleMethodOverride]
        return seq[0]


def work_on_parts(store: ObjectStore, job: PartsJob) -> int:
    """Makes parts until none is left, or the job has ended; gives how many. SIGTERM raises SystemExit."""
    count = 0
    maker, place = job.maker(), job.place(store)
    leave_at_sigterm()
    spools = cache_folder_of_runs() / "spool" / url_digest(store.url)
    with _own_spool(spools / worker_name()) as spool:
        claims = Claims(place, spool.name, job.parts, _SITTING, choice=_First())
        # Whatever is written after the job has ended would make its folder again.
        is_wanted = partial(job.is_in, store)
        with _beating(claims, is_wanted):
            claims.release(recover_spools(place, spools))
            while (claim := _next_claim(claims, is_wanted)) is not None:
                try:
                    part = maker.part(claim.shard)
                    if not is_wanted():
                        break
                    place.create(part_key(claim.shard), part)
                    claims.finish(claim)
                except BaseException:
                    with suppress(StoreError):
                        claims.leave(claim, for_anybody=True)
                    raise
                count += 1
    return count


def _next_claim(claims: Claims, is_wanted: Callable[[], bool]) -> Claim | None:
    """Waits for a part that is free; None where all are made, or none is wanted any more."""
    while is_wanted():
        if (claim := claims.claim()) is not None or claims.finished:
            return claim
        time.sleep(_POLL_S)
    return None


@contextmanager
def _own_spool(spool: Path) -> Generator[Path]:
    """A folder by whose lock others of this machine see that this worker lives."""
    spool.mkdir(parents=True)
    lock = os.open(spool / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (spool / "shares").mkdir()
        yield spool
    finally:
        shutil.rmtree(spool, ignore_errors=True)
        os.close(lock)


@contextmanager
def _beating(claims: Claims, is_wanted: Callable[[], bool]) -> Generator[None]:
    """Heartbeats meanwhile, as long as there is something to do."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT_S):
            with suppress(StoreError):
                if is_wanted():
                    claims.beat({})

    claims.beat({})
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(BEAT_S)


@contextmanager
def made_parts(
    job: PartsJob, target: Path, launch: Callable[[], Launcher], *, force: bool
) -> Generator[Iterator[bytes]]:
    """All parts in order, each as soon as it is made, by workers that end with the last one.

    They are in the folder `TARGET.parts` until the context ends without an error; so a start after that one makes only
    what is missing.

    Args:
        target: file that is to be made of the parts.
        force: whether parts of another job, or what else is in the folder, may be thrown away.

    Raises UsageError where another process makes the same file, or the folder holds anything else.
    """
    folder = target.with_name(f"{target.name}.parts")
    store = FolderStore(folder)
    with sole_writer(folder):
        if not job.is_in(store) and folder.exists() and contents_of(folder):
            if not force:
                what = (
                    "parts that were made with other options, tools or another version; repeat these"
                    if store.get(JOB_KEY)
                    else "other files, and parts are to be there; move them away"
                )
                raise UsageError(
                    f"{folder}: holds {what}, name another --out, or add --force to remove what is there"
                )
            _remove(folder)
        store.put(JOB_KEY, job.as_bytes())
        launcher = launch()
        try:
            launcher.start(store.url)
            yield _parts(job.place(store), job, target, launcher)
        finally:
            launcher.stop()
        _remove(folder)


def _remove(folder: Path) -> None:
    """Removes a folder that others may still write into: at once it is no longer where they look for it."""
    removed = folder.with_name(f".{folder.name[-100:]}.removed")
    shutil.rmtree(removed, ignore_errors=True)  # left by a process that was killed here
    with suppress(OSError):
        folder.rename(removed)
    shutil.rmtree(removed, ignore_errors=True)


def _parts(store: ObjectStore, job: PartsJob, target: Path, launcher: Launcher) -> Iterator[bytes]:
    printed_at, printed_count = time.monotonic(), 0
    for number in range(job.parts):
        while (part := store.get(part_key(number))) is None:
            if not launcher.poll() and store.get(part_key(number)) is None:
                raise RecordError(
                    f"{target}: workers ended before all parts were made; run the same command again to continue"
                )
            if time.monotonic() - printed_at > CHANGED_EVERY_S:
                printed_at = time.monotonic()
                count = sum(state.complete for state in shard_states(store).values())
                if count > printed_count:
                    print_err(f"{target}: {count} of {job.parts} parts made")
                printed_count = count
            time.sleep(_LOOK_S)
        yield part
    # What comes next in the context may need the room.
    launcher.stop()
