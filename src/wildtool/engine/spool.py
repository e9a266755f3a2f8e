"""Requests on their way into a batch, gathered in the file that is sent."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from wildtool.errors import StorageError
from wildtool.models.batches import Batches

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
