"""What a run knows of its batches, in `batches.jsonl` of its folder: written before a batch is begun, so that a killed
process pays for none twice.

Rows, one JSON line each, brought to the disk before anything else is done:
- `header`: first line; `key`, a random text of this run that is in all its custom ids;
- `begun`: mark, role, endpoint, and for each custom id the SHA-256 of the request's body;
- `uploaded`: the provider's id of the file; `created`: that of the batch;
- `read`: the results of some requests are recorded; `over`: those of all, or it was never created, and why.
"""

import errno
import os
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wildtool import json_codec
from wildtool.engine.record.segments import whole_length
from wildtool.errors import RecordError, StorageError
from wildtool.redact import redacted

FILE = "batches.jsonl"
VERSION = 1


@dataclass(slots=True)
class Begun:
    """A batch that this run has begun, or was about to."""

    mark: str
    """What we call it; a provider that keeps marks finds it by this one."""
    role: str
    """Whose requests they are."""
    requests: dict[str, str]
    """Custom id to the SHA-256 of the request's body, of those whose results are not recorded yet."""
    time: float
    """When, in seconds since 1970."""
    id: str | None = None
    """What the provider calls it; None where no answer to its creation came."""
    file: str | None = None
    """What the provider calls its file, where there is one."""
    over: bool = False
    """Whether nothing is to be expected of it any more."""
    found: dict[str, int] = field(default_factory=dict[str, int])
    """What was odd about its results, counted."""


class BatchJournal:
    """The journal of a run folder, which this process holds. Nothing is written before the first batch."""

    def __init__(self, folder: Path) -> None:
        """Reads what is there. Raises RecordError naming the line of a damaged row."""
        self._path = folder / FILE
        self._batches: dict[str, Begun] = {}
        self.key = secrets.token_hex(8)
        self._size = 0
        if self._path.exists():
            self._read()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def open_batches(self, role: str) -> list[Begun]:
        """The batches of a role that are not over, the newest first."""
        return [begun for begun in reversed(self._batches.values()) if begun.role == role and not begun.over]

    def ids(self) -> set[str]:
        """What the provider calls the batches that are known."""
        return {begun.id for begun in self._batches.values() if begun.id is not None}

    def begin(self, mark: str, role: str, endpoint: str, requests: dict[str, str]) -> Begun:
        """Notes that a batch is about to be begun. Raises StorageError, as all of these do."""
        if not self._size:
            self._append({"row": "header", "format": "wildtool batches", "version": VERSION, "key": self.key})
        begun = Begun(mark, role, requests, round(time.time(), 3))
        columns = {"role": role, "endpoint": endpoint, "requests": requests, "time": begun.time}
        self._append({"row": "begun", "batch": mark, **columns})
        self._batches[mark] = begun
        return begun

    def uploaded(self, begun: Begun, file: str) -> None:
        """Notes the provider's id of the file."""
        begun.file = file
        self._append({"row": "uploaded", "batch": begun.mark, "file": file})

    def created(self, begun: Begun, id_: str) -> None:
        """Notes the provider's id of the batch."""
        begun.id = id_
        self._append({"row": "created", "batch": begun.mark, "id": id_})

    def read(self, begun: Begun, told: Collection[str]) -> None:
        """Notes that the results of these requests are recorded, or that they failed and may be sent anew."""
        for custom_id in told:
            begun.requests.pop(custom_id, None)
        if begun.requests:
            self._append({"row": "read", "batch": begun.mark, "requests": list(told), **begun.found})
        else:
            self.end(begun, "read")

    def end(self, begun: Begun, why: str) -> None:
        """Notes that nothing is to be expected of a batch any more."""
        if not begun.over:
            begun.over = True
            begun.requests = {}
            self._append({"row": "over", "batch": begun.mark, "why": why, **begun.found})

    def _append(self, row: dict[str, Any]) -> None:
        line = redacted(json_codec.dumps(row)) + b"\n"
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o644)
            try:
                # A torn last line, of a killed process or a full disk, is written over.
                os.ftruncate(fd, self._size)
                left = memoryview(line)
                while left:
                    left = left[os.pwrite(fd, left, self._size + len(line) - len(left)) :]
                os.fsync(fd)
            finally:
                os.close(fd)
            if not self._size:
                _sync_folder(self._path.parent)
        except OSError as error:
            raise StorageError(
                f"{self._path}: could not be written ({error.strerror}); the record is intact. Make room, then run "
                "the same command again to go on."
            ) from error
        self._size += len(line)

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                self._size = whole_length(file)
                file.seek(0)
                whole = file.read(self._size)
        except OSError as error:
            raise RecordError(f"{self._path}: cannot be read ({error.strerror})") from error
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self._take(json_codec.loads_within(line, json_codec.LINE))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise RecordError(
                    f"{self._path}, line {number}: damaged or written by a newer wildtool ({error}); restore the file "
                    "from a copy, or delete it: then what a pending batch asks is asked, and paid for, again"
                ) from error

    def _take(self, row: dict[str, Any]) -> None:
        if row["row"] == "header":
            if row["version"] > VERSION:
                raise ValueError(f"version {row['version']}")
            self.key = _text(row["key"])
        elif row["row"] == "begun":
            requests = {_text(id_): _text(digest) for id_, digest in row["requests"].items()}
            self._batches[row["batch"]] = Begun(
                _text(row["batch"]), _text(row["role"]), requests, float(row["time"])
            )
        else:
            begun = self._batches[row["batch"]]
            match row["row"]:
                case "uploaded":
                    begun.file = _text(row["file"])
                case "created":
                    begun.id = _text(row["id"])
                case "read":
                    for custom_id in row["requests"]:
                        begun.requests.pop(custom_id, None)
                case "over":
                    begun.over, begun.requests = True, {}
                case other:
                    raise ValueError(f"row {other!r}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _sync_folder(folder: Path) -> None:
    """Brings a new file's name to the disk; some file systems cannot."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(fd)
