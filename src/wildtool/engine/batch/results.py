"""Reads the results of a batch into nameless files, and gives them one by one."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from wildtool import json_codec
from wildtool.engine.call.client import RetryPolicy, retry
from wildtool.engine.record.format import Closing
from wildtool.errors import StorageError
from wildtool.models.batch.protocol import BatchClient, BatchResult, BatchState, NoResultError

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
        row = json_codec.loads_within(self._batches.endpoint.without_keys(line), json_codec.REPLY_LIMITS)
        return self._batches.result(row)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each line that is not blank; of one that is too long, pieces, which are no results."""
    file.seek(0)
    offset = 0
    while line := file.readline(MAX_RESULT_LINE):
        if line.strip():
            yield offset, line
        offset += len(line)
