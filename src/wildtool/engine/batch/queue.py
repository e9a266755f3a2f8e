"""The files of batches: requests of one role collected until they are sent, and results read once they are there.

Batches that an earlier process left pending are taken up.
"""

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
from wildtool.engine.batch.journal import BatchEntry, BatchJournal
from wildtool.engine.call.client import RetryPolicy, retry
from wildtool.engine.record.format import Closing
from wildtool.errors import CallError, LimitError, StorageError
from wildtool.models.batch.protocol import BatchClient, BatchResult, BatchState, NoResultError
from wildtool.models.providers.base import HttpModel
from wildtool.redact import redacted
from wildtool.types import Address, Request

MARK_PREFIX = "wildtool-"
"""Start of every mark."""


class BatchFile:
    """The file of one batch: nameless, in the run folder, so that a killed process leaves nothing behind."""

    def __init__(self, folder: Path, batches: BatchClient) -> None:
        """Raises StorageError where the folder takes no file."""
        self.mark = MARK_PREFIX + secrets.token_hex(16)
        """What the batch is found again by."""
        self._folder = folder
        self._batches = batches
        self._lines: dict[str, tuple[int, int]] = {}
        """Offset and length of each request."""
        self._head, self._tail = batches.envelope(self.mark)
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
        size = self._size + len(self._batches.separator) + len(line) + len(self._tail)
        return len(self._lines) < most_requests and size <= self._batches.most_bytes

    def add(self, custom_id: str, line: bytes) -> None:
        """Adds a request as the provider's line of it."""
        between = self._batches.separator if self._lines else b""
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
            remainder = memoryview(data)
            while remainder:
                remainder = remainder[self._file.write(remainder) or 0 :]
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self._folder}: the requests of a batch could not be written ({error.strerror}); the record is intact. "
            "Make room, then run the same command again to continue."
        )


BatchAnswer = tuple[bytes, float]
"""An answer's body, and the seconds from the batch's beginning to having read its results."""

PendingAnswers = dict[str, asyncio.Future[BatchAnswer]]
"""The waiting requests, by custom id."""


class ResendRequestError(Exception):
    """An earlier process's batch does not answer a request: it was not sent, or failed. A new batch takes the request."""


@dataclass(eq=False, slots=True)
class Batch:
    """A batch that this process sent, or continues."""

    entry: BatchEntry
    """What the journal says of it."""
    file: BatchFile | None
    """Its requests; None where an earlier process sent them."""
    waiting: PendingAnswers = field(default_factory=dict[str, asyncio.Future[BatchAnswer]])
    state: BatchState | None = None
    """Its last known state at the provider."""
    all_readable: bool = True
    """Whether all of its results could be read; if not, they are read again by the next process."""

    inherited: bool = False
    """Whether an earlier process sent it. What failed in it is sent again."""
    abandoned: bool = False
    """Whether this process stopped waiting for it while it was under way."""

    @property
    def is_settled(self) -> bool:
        """Whether every waiting request has its answer or error."""
        return not self.abandoned and all(future.done() for future in self.waiting.values())

    def fail(self, make_error: Callable[[], Exception]) -> None:
        """Fails all waiting requests, each with its own error, since raising adds to an error's traceback."""
        for future in self.waiting.values():
            if not future.done():
                future.set_exception(make_error())

    def close(self) -> None:
        """Lets go of its file."""
        if self.file is not None:
            self.file.close()
            self.file = None


@dataclass(frozen=True, slots=True)
class _Draft:
    """What the next batch will be made of."""

    file: BatchFile
    requests: dict[str, str] = field(default_factory=dict[str, str])
    """Custom id to the SHA-256 of the request's body."""
    waiting: PendingAnswers = field(default_factory=dict[str, asyncio.Future[BatchAnswer]])


class BatchQueue:
    """The requests of one role that wait for the next batch."""

    def __init__(
        self,
        role: str,
        model: HttpModel,
        journal: BatchJournal,
        folder: Path,
        *,
        reserve: Callable[[Request], AbstractContextManager[None]],
        waiting: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Lets a model send through this queue.

        Args:
            reserve: holds what a request is expected to take while it is under way, or raises LimitError.
            waiting: is open while a request waits for a batch.
        """
        self.role = role
        self.api = model.use_batches(self.send)
        """The provider's batches."""
        self.most_requests = self.api.most_requests
        """In a batch, at the moment: fewer once the provider said that a batch asks too much."""
        self.journal = journal
        self._folder = folder
        self._reserve = reserve
        self._waiting = waiting
        self.running: list[Batch] = []
        """Batches that some request still waits for."""
        self._drafts: list[_Draft] = []
        self._latest: dict[Address, str] = {}
        """The custom id that each step was last answered under, until that is noted."""
        self._parts: dict[Address, set[str]] = {}
        """The custom ids under which only parts of a step's reply came, since the provider paused it."""
        self._inherited = {
            custom_id: batch
            # The newest first, since a request that failed in one batch occurs in a later one too.
            for begun in reversed(journal.open_batches(role))
            for batch in [Batch(begun, None, inherited=True)]
            for custom_id in begun.requests
        }
        self._closed: str | None = None

    async def send(self, body: bytes, request: Request) -> BatchAnswer:
        """Waits for the answer that a batch brings.

        Raises CallError, InfraError where trying again is of no use, LimitError where a limit keeps it from being sent.
        """
        address = request.address
        if address is None:
            raise CallError("unsendable request", "a request needs an address to go by a batch", final=True)
        digest = hashlib.sha256(body).hexdigest()
        custom_id = self._custom_id(address, digest)
        latest = self._latest.pop(address, custom_id)
        if latest != custom_id:
            # What came goes on: it is recorded with the rest of it.
            self._parts.setdefault(address, set()).add(latest)
        answer = await self._answer(custom_id, digest, body, request)
        self._latest[address] = custom_id
        return answer

    async def _answer(self, custom_id: str, digest: str, body: bytes, request: Request) -> BatchAnswer:
        earlier = self._inherited.get(custom_id)
        if earlier is not None and earlier.entry.requests.get(custom_id) == digest:
            try:
                # An answer is paid for already, so that no limit of money holds it back.
                return await self._wait(custom_id, earlier.waiting)
            except ResendRequestError:
                pass
            finally:
                # Whatever came of it: the next attempt goes into a new batch.
                self._inherited.pop(custom_id, None)
        with self._reserve(request):
            future: asyncio.Future[BatchAnswer] = asyncio.get_running_loop().create_future()
            waiting = self._add(custom_id, digest, self.api.line(custom_id, body), future)
            del body
            return await self._wait(custom_id, waiting)

    def drain(self) -> list[Batch]:
        """The batches whose results are waited for now: earlier ones, and new ones of all that has been collected."""
        earlier = {id(batch): batch for batch in self._inherited.values() if not batch.is_settled}
        batches = [*earlier.values(), *map(self._begin, self._drafts)]
        self._drafts.clear()
        # One may still be running, for a later step of a unit that is in it too.
        self.running += [batch for batch in batches if batch not in self.running]
        return batches

    def note_used(self, batch: Batch) -> None:
        """Notes that the results of a settled batch are recorded, and lets go of it.

        A part of a reply is noted with the whole. Until then it is asked for again, and not paid for, where its step
        begins again.
        """
        self.running.remove(batch)
        batch.close()
        if not batch.all_readable or batch.entry.finished:
            return
        parts = set[str]().union(*self._parts.values()) & batch.waiting.keys()
        if full_id_set := batch.waiting.keys() - parts:
            self.journal.read(batch.entry, [id_ for id_ in batch.waiting if id_ in full_id_set])
        self._inherited |= dict.fromkeys(parts, Batch(batch.entry, None, inherited=True))
        for address in [address for address, id_ in self._latest.items() if id_ in full_id_set]:
            del self._latest[address]
            for id_ in self._parts.pop(address, ()):
                if (earlier := self._inherited.pop(id_, None)) is not None:
                    self.journal.read(earlier.entry, [id_])

    def split(self, batch: Batch) -> list[Batch]:
        """Smaller batches in place of one that asks too much at once."""
        assert batch.file is not None
        self.most_requests = max(1, len(batch.file) // 2)
        collected, self._drafts = self._drafts, []
        for custom_id, line in batch.file.lines():
            self._add(custom_id, batch.entry.requests[custom_id], line, batch.waiting[custom_id])
        parts, self._drafts = self._drafts, collected
        self.journal.end(batch.entry, "asked too much at once")
        batch.close()
        self.running.remove(batch)
        halves = [*map(self._begin, parts)]
        self.running += halves
        return halves

    def close(self, reason: str) -> None:
        """Fails all waiting requests; batches that are under way stay pending."""
        self._closed = reason
        earlier = {id(batch): batch for batch in self._inherited.values()}
        for batch in {**earlier, **{id(batch): batch for batch in self.running}}.values():
            batch.abandoned = not batch.is_settled
            batch.fail(lambda: LimitError(reason))
        for collected in self._drafts:
            for future in collected.waiting.values():
                if not future.done():
                    future.set_exception(LimitError(reason))
            collected.file.close()
        self._drafts.clear()

    def _begin(self, collected: "_Draft") -> Batch:
        """Writes a batch into the journal before anything of it is sent."""
        file = collected.file
        begun = self.journal.begin(file.mark, self.role, self.api.endpoint.redacted_url, collected.requests)
        return Batch(begun, file, collected.waiting)

    async def _wait(self, custom_id: str, waiting: PendingAnswers) -> BatchAnswer:
        if self._closed is not None:
            raise LimitError(self._closed)
        future = waiting.get(custom_id)
        if future is None or future.done():
            future = waiting[custom_id] = asyncio.get_running_loop().create_future()
        with self._waiting():
            return await future

    def _custom_id(self, address: Address, digest: str) -> str:
        """The name of a request in all batches of this run: it follows from the step and the request's bytes."""
        place = [address.item, address.repeat, address.unit, address.step]
        text = json_codec.dumps([self.journal.key, self.role, *place, digest])
        return "wt_" + hashlib.sha256(text).hexdigest()[:48]

    def _add(
        self, custom_id: str, digest: str, line: bytes, future: asyncio.Future[BatchAnswer]
    ) -> PendingAnswers:
        """Adds a request to the last file, or to a new one."""
        if not self._drafts or not self._drafts[-1].file.has_room(line, self.most_requests):
            file = BatchFile(self._folder, self.api)
            if not file.has_room(line, self.most_requests):
                file.close()
                raise CallError(
                    "unsendable request",
                    f"the request has {len(line):,} bytes, a batch at most {self.api.most_bytes:,}",
                    final=True,
                )
            self._drafts.append(_Draft(file))
        collected = self._drafts[-1]
        collected.file.add(custom_id, line)
        collected.requests[custom_id] = digest
        collected.waiting[custom_id] = future
        return collected.waiting


MAX_RESULT_LINE = 64 * 1024 * 1024
REFETCH_WAIT_S = 0.5
"""Wait before results that cannot be read are fetched again."""


class BatchResults(Closing):
    """The results of a batch that is over. A context manager that lets go of their files."""

    def __init__(self, batches: BatchClient, state: BatchState, folder: Path) -> None:
        """Raises StorageError where the folder takes no file."""
        self._batches = batches
        self._state = state
        self._forget()
        try:
            self._files = [tempfile.TemporaryFile(dir=folder) for _ in state.results]  # noqa: SIM115 - closed by __exit__
        except OSError as error:
            raise StorageError(
                f"{folder}: the results of a batch could not be written ({error.strerror}); the record is intact. Make "
                "room, then run the same command again to continue."
            ) from error

    async def read(self, policy: RetryPolicy, on_retry: Callable[[str, float], None]) -> None:
        """Fetches them; again where some cannot be read. Raises CallError after the last attempt."""
        for attempt in range(policy.max_attempts):
            if attempt:
                on_retry("unreadable results", REFETCH_WAIT_S)
                await policy.sleep(REFETCH_WAIT_S)
            self._forget()
            for number, file in enumerate(self._files):
                await retry(lambda number=number: self._fetch(number), policy, on_retry)
                for offset, line in _lines(file):
                    self._index(line, (number, offset))
            if not self.unreadable:
                return

    @property
    def ids(self) -> set[str]:
        """Custom ids of all results that have one."""
        return {*self._good, *self._failed}

    def __iter__(self) -> Iterator[BatchResult]:
        """All results, those with an answer first."""
        for number, offset in [*self._good.values(), *self._failed.values()]:
            self._files[number].seek(offset)
            yield self._result(self._files[number].readline(MAX_RESULT_LINE))

    def close(self) -> None:
        for file in self._files:
            file.close()

    def _forget(self) -> None:
        self._good: dict[str, tuple[int, int]] = {}
        """File and offset of each result with an answer, by custom id."""
        self._failed: dict[str, tuple[int, int]] = {}
        self.unreadable = 0
        """Lines that are no results."""
        self.repeated = 0
        """Lines with a custom id that occurred before; the first counts."""

    async def _fetch(self, number: int) -> None:
        file = self._files[number]
        file.seek(0)
        file.truncate()
        await self._batches.fetch(self._state.results[number], file)

    def _index(self, line: bytes, place: tuple[int, int]) -> None:
        try:
            result = self._result(line)
        except (NoResultError, ValueError):
            self.unreadable += 1
            return
        if result.custom_id in self._good or result.custom_id in self._failed:
            self.repeated += 1
        else:
            answered = result.error is None and not result.canceled
            (self._good if answered else self._failed)[result.custom_id] = place

    def _result(self, line: bytes) -> BatchResult:
        row = json_codec.loads_within(redacted(line), json_codec.REPLY_LIMITS)
        return self._batches.result(row)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each line that is not blank; of one that is too long, pieces, which are no results."""
    file.seek(0)
    offset = 0
    while line := file.readline(MAX_RESULT_LINE):
        if line.strip():
            yield offset, line
        offset += len(line)
