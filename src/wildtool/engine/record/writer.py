"""Appends to the record of a run: one line a step, written before the reply is used.

A line is one `write` on a file opened for appending and holds the reply together with every part of its
request that the item has not recorded before; so a torn last line never leaves a step without its request.
A killed process loses nothing that was written; `sync` runs about once a second and at the end, so a power
loss costs about the last second. If a write fails (disk full, quota, size limit) the file is cut back to
its last whole line. Lines that a loss of power left torn are overwritten when a run is resumed.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wildtool import json_codec
from wildtool.engine.record.format import (
    Closing,
    LostLine,
    Segment,
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

RECORD_VERSION = 1
"""Format of the record; a reader refuses a newer one."""
HEADER = {"row": "header", "format": "wildtool record", "version": RECORD_VERSION}


class PendingRow:
    """A request on its way into the record: its hashes, and which links its item has recorded already."""

    __slots__ = ("address", "again", "hashes", "known", "request")

    def __init__(
        self, address: Address, request: Request, hashes: list[str], known: set[str], *, again: bool = False
    ) -> None:
        """Args: again: a reply is recorded that counts no more, since what came before it was lost."""
        self.address = address
        self.request = request
        self.hashes = hashes
        self.known = known
        self.again = again

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
        return {"sends": new_nodes(self.request, self.hashes, self.known)}


class RecordWriter(Closing):
    """Appends rows to the newest plain segment of a run folder, or starts one. A context manager."""

    def __init__(self, folder: Path, lost: Sequence[LostLine] = ()) -> None:
        """Args: lost: lines to write over, as the reader of the record found them."""
        self._folder = folder
        segments = find_segments(folder)
        try:
            for line in lost:
                _overwrite(line)
            if segments and not segments[-1].compressed:
                self._continue(segments[-1])
            else:
                self._begin(segments[-1].number + 1 if segments else 1)
        except OSError as error:
            raise self._storage_error(error) from error

    def step(self, sent: PendingRow, reply: Reply) -> None:
        """Records a reply. Raises StorageError if it cannot be stored, ValueError if it cannot be JSON."""
        self._append(sent.row("step") | reply_columns(reply) | sent.new_nodes())
        sent.known.update(sent.hashes)

    def error(self, sent: PendingRow, error: InfraError) -> None:
        """Records that a step failed for good."""
        columns = {"kind": error.kind, "message": str(error), "attempts": error.attempts}
        usage = {"usage": dict(error.usage)} if error.usage else {}
        self._append(sent.row("error") | columns | usage | {"time": round(time.time(), 3)} | sent.new_nodes())
        sent.known.update(sent.hashes)

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
        if os.fstat(self._fd).st_nlink == 0:
            raise RecordError(
                f"{self._folder}: its record was deleted during the run, so the run is stopped; restore the"
                " folder, or use another --out"
            )
        size = self._size
        if size == self._synced:
            return
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise self._storage_error(error) from error
        self._synced = size

    def close(self) -> None:
        try:
            self.sync()
        finally:
            os.close(self._fd)

    def _continue(self, segment: Segment) -> None:
        with segment.path.open("rb") as file:
            self._size = whole_length(file)
        self._fd = os.open(segment.path, os.O_WRONLY | os.O_APPEND)
        os.ftruncate(self._fd, self._size)
        # What a killed process wrote may not have reached the disk, and lines say what has.
        os.fsync(self._fd)
        self._synced = self._size
        if self._size == 0:
            self._begin_file()

    def _begin(self, number: int) -> None:
        path = segment_path(self._folder, number)
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        self._size = self._synced = 0
        self._begin_file()
        sync_folder(self._folder)

    def _begin_file(self) -> None:
        self._write(json_codec.dumps(HEADER) + b"\n")

    def _append(self, row: dict[str, Any]) -> None:
        self._write(seal_line(redacted(json_codec.dumps(row)), self._synced))

    def _write(self, line: bytes) -> None:
        try:
            written = os.write(self._fd, line)
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except OSError as error:
            os.ftruncate(self._fd, self._size)
            raise self._storage_error(error) from error
        self._size += len(line)

    def _storage_error(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self._folder}: the record could not be written ({error.strerror}); everything recorded before "
            "is intact. Make room, then run the same command again to continue."
        )


def _overwrite(lost: LostLine) -> None:
    if lost.path.suffix == ".gz":
        return
    with lost.path.open("r+b") as file:
        file.seek(lost.offset)
        file.write(filler_for(lost))
        file.flush()
        os.fsync(file.fileno())
