"""Appends to the record of a run: one line a step, written before the reply is used.

A line holds the reply together with every part of its request that the item has not recorded before; so a torn last
line (`AppendLog`) never leaves a step without its request. A killed process loses nothing that was written; `sync`
runs about once a second and at the end, so a power loss costs about the last second. Lines that a loss of power left torn
are overwritten when a run is resumed.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from wildtool import json_codec
from wildtool.engine.record.format import (
    Closing,
    LostLine,
    filler_for,
    find_segments,
    new_nodes,
    reply_columns,
    seal_line,
    segment_path,
    whole_length,
)
from wildtool.errors import InfraError, RecordError, StorageError
from wildtool.outputs import sync_folder
from wildtool.redact import redacted
from wildtool.types import Address, Reply, Request

LOG_VERSION = 1
"""Format of the record; a reader refuses a newer one."""
HEADER = b'{"row":"header","format":"wildtool record","version":%d}\n' % LOG_VERSION
"""The first line of a segment."""


class AppendLog:
    """A file of lines that only grows, open for appending: a run's record, or its journal of batches.

    A line is one `write`, so a killed process leaves at most the last one torn; it is cut off when the file is opened
    again. If a write fails (disk full, quota, size limit), the file is cut back to its last whole line.
    """

    def __init__(self, path: Path, first: bytes = b"", *, new: bool = False) -> None:
        """Args: first: the line that a file without any begins with.

        Raises OSError, as all of these do; FileExistsError where a new one is there already.
        """
        self.size = 0
        """Bytes of its whole lines."""
        self.synced = 0
        """How many of these are on the disk for sure."""
        created = new or not path.exists()
        if not created:
            with path.open("rb") as file:
                self.size = whole_length(file)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._fd = os.open(path, flags | os.O_EXCL if new else flags, 0o644)
        if not created:
            os.ftruncate(self._fd, self.size)
        if not self.size:
            self.append(first)
        if created:
            sync_folder(path.parent)

    @property
    def is_deleted(self) -> bool:
        """Whether nothing that is written reaches the file's name any more."""
        return os.fstat(self._fd).st_nlink == 0

    def append(self, line: bytes) -> None:
        """Writes a line, or nothing."""
        try:
            count = os.write(self._fd, line)
            while count < len(line):
                count += os.write(self._fd, line[count:])
        except OSError:
            os.ftruncate(self._fd, self.size)
            raise
        self.size += len(line)

    def sync(self) -> None:
        """Brings everything to the disk itself; cheap where nothing is new. Safe in another thread."""
        size = self.size
        if size == self.synced:
            return
        os.fsync(self._fd)
        self.synced = size

    def close(self) -> None:
        os.close(self._fd)


@dataclass(frozen=True, slots=True, eq=False)
class PendingRow:
    """A request on its way into the record."""

    address: Address
    request: Request
    hashes: list[str]
    """Of its links; the last one names it."""
    recorded: set[str]
    """Hashes of the links that its item has recorded already."""
    again: bool = False
    """Whether a reply is recorded that counts no more, since what came before it was lost."""

    def row(self, kind: str) -> dict[str, Any]:
        """The columns that steps and errors share. The address comes first: readers find a line by it."""
        address = self.address
        return {
            "row": kind,
            "item": address.item,
            "repeat": address.repeat,
            "unit": address.unit,
            "step": address.step,
            "role": self.request.role,
            "request": self.hashes[-1],
        } | ({"again": True} if self.again else {})

    def new_nodes(self) -> dict[str, Any]:
        """The column of links that its item has not recorded; the last one, since who judges can stop before it."""
        return {"sends": new_nodes(self.request, self.hashes, self.recorded)}


class RecordWriter(Protocol):
    """What a run needs to record its steps."""

    def step(self, sent: PendingRow, reply: Reply) -> None:
        """Records a reply. Raises StorageError if it cannot be stored, ValueError if it cannot be JSON."""
        ...

    def error(self, sent: PendingRow, error: InfraError) -> None:
        """Records that a step failed for good."""
        ...

    def sync(self) -> None:
        """Brings what was written to the disk itself. Safe in another thread."""
        ...


class LogWriter(Closing):
    """Appends rows to the newest plain segment of a run folder, or starts one. A context manager."""

    def __init__(self, folder: Path, lost_lines: Sequence[LostLine] = ()) -> None:
        """Args: lost: lines to write over, as the reader of the record found them."""
        self._folder = folder
        segments = find_segments(folder)
        try:
            for line in lost_lines:
                _overwrite(line)
            if segments and not segments[-1].compressed:
                self._log = AppendLog(segments[-1].path, HEADER)
                # What a killed process wrote may not have reached the disk, and lines say what has.
                self._log.sync()
            else:
                number = segments[-1].number + 1 if segments else 1
                self._log = AppendLog(segment_path(folder, number), HEADER, new=True)
        except OSError as error:
            raise self._storage_error(error) from error

    def step(self, sent: PendingRow, reply: Reply) -> None:
        """Records a reply. Raises StorageError if it cannot be stored, ValueError if it cannot be JSON."""
        self._append(sent.row("step") | reply_columns(reply) | sent.new_nodes())
        sent.recorded.update(sent.hashes)

    def error(self, sent: PendingRow, error: InfraError) -> None:
        """Records that a step failed for good."""
        columns = {"kind": error.kind, "message": str(error), "attempts": error.attempts}
        usage = {"usage": dict(error.usage)} if error.usage else {}
        self._append(sent.row("error") | columns | usage | {"time": round(time.time(), 3)} | sent.new_nodes())
        sent.recorded.update(sent.hashes)

    def imported(self, address: Address, outcome: Reply | str) -> None:
        """Records a step of somebody's result file, whose request is not known: the reply, or why it
        failed."""
        if isinstance(outcome, str):
            kind, columns = "error", {"kind": "imported", "message": outcome, "attempts": 1}
        else:
            kind, columns = "step", reply_columns(outcome)
        place = {"item": address.item, "repeat": address.repeat, "unit": address.unit, "step": address.step}
        self._append({"row": kind, **place, "role": "agent", "request": None, **columns, "sends": []})

    def sync(self) -> None:
        """Brings what was written to the disk itself; cheap where nothing is new. Safe in another thread.

        Raises RecordError where the file was deleted meanwhile: nothing that is written reaches the run any more.
        """
        if self._log.is_deleted:
            raise RecordError(
                f"{self._folder}: its record was deleted during the run, so the run is stopped; restore the"
                " folder, or use another --out"
            )
        try:
            self._log.sync()
        except OSError as error:
            raise self._storage_error(error) from error

    def close(self) -> None:
        try:
            self.sync()
        finally:
            self._log.close()

    def _append(self, row: dict[str, Any]) -> None:
        try:
            self._log.append(seal_line(redacted(json_codec.dumps(row)), self._log.synced))
        except OSError as error:
            raise self._storage_error(error) from error

    def _storage_error(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self._folder}: the record could not be written ({error.strerror}); everything recorded before "
            "is intact. Make room, then run the same command again to continue."
        )


def _overwrite(line: LostLine) -> None:
    if line.path.suffix == ".gz":
        return
    with line.path.open("r+b") as file:
        file.seek(line.offset)
        file.write(filler_for(line))
        file.flush()
        os.fsync(file.fileno())
