"""Collects the requests of one role into batches, and takes up batches that an earlier process left pending."""

import asyncio
import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from wildtool import json_codec
from wildtool.engine.batch.journal import BatchJournal, Begun
from wildtool.engine.call.rate_limit import LimitError
from wildtool.errors import CallError, StorageError
from wildtool.models.batch.protocol import Batches, BatchState
from wildtool.types import Request

MARK = "wildtool-"
"""What every mark of ours begins with."""


class Spool:
    """The file of one batch: nameless, in the run folder, so that a killed process leaves nothing behind."""

    def __init__(self, folder: Path, batches: Batches) -> None:
        """Raises StorageError where the folder takes no file."""
        self.mark = MARK + secrets.token_hex(16)
        """What the batch is found again by."""
        self._folder = folder
        self._batches = batches
        self._lines: dict[str, tuple[int, int]] = {}
        """Where each request stands: offset and length."""
        self._head, self._tail = batches.around(self.mark)
        self._size = len(self._head)
        self._sealed = False
        try:
            # Unbuffered: its descriptor is shared with those who read it.
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise self._unwritable(error) from error
        self._write(self._head)

    def __len__(self) -> int:
        return len(self._lines)

    def has_room(self, line: bytes, most_requests: int) -> bool:
        """Whether one more request fits into what the provider takes."""
        size = self._size + len(self._batches.between) + len(line) + len(self._tail)
        return len(self._lines) < most_requests and size <= self._batches.most_bytes

    def add(self, custom_id: str, line: bytes) -> None:
        """Adds a request as the provider's line of it."""
        between = self._batches.between if self._lines else b""
        self._lines[custom_id] = (self._size + len(between), len(line))
        self._write(between + line)
        self._size += len(between) + len(line)

    def open(self) -> IO[bytes]:
        """The whole file from its beginning. One at a time."""
        if not self._sealed:
            self._write(self._tail)
            self._sealed = True
        self._file.seek(0)
        return os.fdopen(os.dup(self._file.fileno()), "rb")

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Custom id and line of each request."""
        for custom_id, (offset, length) in self._lines.items():
            yield custom_id, os.pread(self._file.fileno(), length, offset)

    def close(self) -> None:
        self._file.close()

    def _write(self, data: bytes) -> None:
        try:
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) or 0 :]
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self._folder}: the requests of a batch could not be written ({error.strerror}); the record is intact. "
            "Make room, then run the same command again to continue."
        )


Came = tuple[bytes, float]
"""An answer's body, and the seconds from the batch's beginning to having read its results."""

Waiting = dict[str, asyncio.Future[Came]]
"""Who waits for an answer, by custom id."""


class AskAnewError(Exception):
    """An earlier process's batch has no answer to a request: it was never begun, or failed it. It goes into a new one."""


@dataclass(eq=False, slots=True)
class Batch:
    """A batch of this process's, or one that it goes on with."""

    begun: Begun
    """What the journal says of it."""
    spool: Spool | None
    """Its requests; None where an earlier process sent them."""
    waiting: Waiting = field(default_factory=dict[str, asyncio.Future[Came]])
    state: BatchState | None = None
    """The last that the provider said of it."""
    whole: bool = True
    """Whether all of its results could be read; if not, they are read again by the next process."""

    earlier: bool = False
    """Whether an earlier process sent it. What failed in it was that process's failure, and is asked anew."""
    left: bool = False
    """Whether nobody waits for it any more although it goes on."""

    @property
    def is_told(self) -> bool:
        """Whether everybody who waits has been told what came of it."""
        return not self.left and all(future.done() for future in self.waiting.values())

    def fail(self, why: Callable[[], Exception]) -> None:
        """Tells all who wait that nothing comes; each gets an error of its own, which grows where it is raised."""
        for future in self.waiting.values():
            if not future.done():
                future.set_exception(why())

    def close(self) -> None:
        """Lets go of its file."""
        if self.spool is not None:
            self.spool.close()
            self.spool = None


@dataclass(frozen=True, slots=True)
class _Collected:
    """What the next batch will be made of."""

    spool: Spool
    requests: dict[str, str] = field(default_factory=dict[str, str])
    """Custom id to the SHA-256 of the request's body."""
    waiting: Waiting = field(default_factory=dict[str, asyncio.Future[Came]])


class Lane:
    """Where the requests of one role wait for the next batch."""

    def __init__(self, role: str, journal: BatchJournal, folder: Path) -> None:
        self.role = role
        self.batches: Batches
        """The provider's; set by `serve`."""
        self.most_requests = 0
        """In a batch, at the moment: fewer once the provider said that a batch asks too much."""
        self.journal = journal
        self._folder = folder
        self._reserved: Callable[[Request], AbstractContextManager[None]]
        self._parked: Callable[[], AbstractContextManager[None]]
        self.under_way: list[Batch] = []
        """Batches of which somebody waits to be told."""
        self._spools: list[_Collected] = []
        self._earlier = {
            custom_id: batch
            # The newest first, since a request that failed in one batch stands in a later one too.
            for begun in reversed(journal.open_batches(role))
            for batch in [Batch(begun, None, earlier=True)]
            for custom_id in begun.requests
        }
        self._closed: str | None = None

    def serve(
        self,
        batches: Batches,
        reserved: Callable[[Request], AbstractContextManager[None]],
        parked: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Connects it.

        Args:
            reserved: holds what a request is expected to take while it is under way, or raises LimitError.
            parked: is open while a request waits for a batch.
        """
        self.batches, self._reserved, self._parked = batches, reserved, parked
        self.most_requests = batches.most_requests

    async def send(self, body: bytes, request: Request) -> Came:
        """Waits for the answer that a batch brings.

        Raises CallError, InfraError where trying again is of no use, LimitError where a limit keeps it from being sent.
        """
        digest = hashlib.sha256(body).hexdigest()
        custom_id = self._custom_id(request, digest)
        earlier = self._earlier.get(custom_id)
        if earlier is not None and earlier.begun.requests.get(custom_id) == digest:
            try:
                # An answer is paid for already, so that no limit of money holds it back.
                return await self._wait(custom_id, earlier.waiting)
            except AskAnewError:
                pass
            finally:
                # Whatever came of it: another try is another batch's.
                self._earlier.pop(custom_id, None)
        with self._reserved(request):
            waiting = self._spool(custom_id, digest, body)
            del body
            return await self._wait(custom_id, waiting)

    def take(self) -> list[Batch]:
        """The batches whose results are waited for now: earlier ones, and new ones of all that has been collected."""
        earlier = {id(batch): batch for batch in self._earlier.values() if not batch.is_told}
        taken = [*earlier.values(), *map(self._begin, self._spools)]
        self._spools.clear()
        # One may be under way still, for a later step of a unit that stands in it too.
        self.under_way += [batch for batch in taken if batch not in self.under_way]
        return taken

    def halves(self, batch: Batch) -> list[Batch]:
        """Smaller batches in place of one that asks too much at once."""
        assert batch.spool is not None
        self.most_requests = max(1, len(batch.spool) // 2)
        collected, self._spools = self._spools, []
        for custom_id, line in batch.spool.lines():
            self._add(custom_id, batch.begun.requests[custom_id], line, batch.waiting[custom_id])
        parts, self._spools = self._spools, collected
        self.journal.end(batch.begun, "asked too much at once")
        batch.close()
        self.under_way.remove(batch)
        halves = [*map(self._begin, parts)]
        self.under_way += halves
        return halves

    def close(self, why: str) -> None:
        """Lets nobody wait any more; batches that are under way are left pending."""
        self._closed = why
        earlier = {id(batch): batch for batch in self._earlier.values()}
        for batch in {**earlier, **{id(batch): batch for batch in self.under_way}}.values():
            batch.left = not batch.is_told
            batch.fail(lambda: LimitError(why))
        for collected in self._spools:
            for future in collected.waiting.values():
                if not future.done():
                    future.set_exception(LimitError(why))
            collected.spool.close()
        self._spools.clear()

    def _begin(self, collected: "_Collected") -> Batch:
        """Writes down that a batch is to be begun, before anything of it is sent."""
        spool = collected.spool
        begun = self.journal.begin(spool.mark, self.role, self.batches.endpoint.shown_url, collected.requests)
        return Batch(begun, spool, collected.waiting)

    async def _wait(self, custom_id: str, waiting: Waiting) -> Came:
        if self._closed is not None:
            raise LimitError(self._closed)
        future = waiting.get(custom_id)
        if future is None or future.done():
            future = waiting[custom_id] = asyncio.get_running_loop().create_future()
        with self._parked():
            return await future

    def _custom_id(self, request: Request, digest: str) -> str:
        """The name of a request in all batches of this run: it follows from the step and the request's bytes."""
        address = request.address
        if address is None:
            raise CallError("unsendable request", "a request needs an address to go by a batch", final=True)
        place = [address.item, address.repeat, address.unit, address.step]
        text = json_codec.dumps([self.journal.key, self.role, *place, digest])
        return "wt_" + hashlib.sha256(text).hexdigest()[:48]

    def _spool(self, custom_id: str, digest: str, body: bytes) -> Waiting:
        line = self.batches.line(custom_id, body)
        future: asyncio.Future[Came] = asyncio.get_running_loop().create_future()
        return self._add(custom_id, digest, line, future)

    def _add(self, custom_id: str, digest: str, line: bytes, future: asyncio.Future[Came]) -> Waiting:
        """Adds a request to the last file, or to a new one."""
        if not self._spools or not self._spools[-1].spool.has_room(line, self.most_requests):
            spool = Spool(self._folder, self.batches)
            if not spool.has_room(line, self.most_requests):
                spool.close()
                raise CallError(
                    "unsendable request",
                    f"the request has {len(line):,} bytes, a batch at most {self.batches.most_bytes:,}",
                    final=True,
                )
            self._spools.append(_Collected(spool))
        collected = self._spools[-1]
        collected.spool.add(custom_id, line)
        collected.requests[custom_id] = digest
        collected.waiting[custom_id] = future
        return collected.waiting
