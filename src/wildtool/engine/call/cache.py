"""Replies kept for other runs: a small database that several processes may use at once.

A row holds the key of a request, a SHA-256, and the reply as the record has it. SQLite keeps rows whole when processes
write at once or are killed; the SHA-256 tells a row that was tampered with or belongs to another key.
"""

import hashlib
import sqlite3
from dataclasses import replace
from pathlib import Path

from wildtool import json_codec
from wildtool.engine.record.format import REPLY_COLUMNS, check_columns, reply_columns, reply_from_row
from wildtool.errors import StorageError, UsageError
from wildtool.outputs import check_regular, is_disk_full
from wildtool.types import Model, Reply

CACHE_VERSION = 1
CACHE_FILE = "replies.sqlite"
FLUSH_AFTER = 64
"""Replies written together: the most that a killed process loses of the cache; of the record it loses none."""
_REFUSED = {"SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"}
"""Errors of a file that may not be written; trying again cannot help."""
LOCK_TIMEOUT_S = 30.0
"""How long to wait for another process that writes."""


class ReplyCache:
    """A folder of replies.

    A reply is found again only by the very same request: model, endpoint, sampling and all other settings, messages and
    tools. A row that is not a whole reply to that request is ignored.
    """

    def __init__(self, folder: Path) -> None:
        """Raises StorageError where the folder or the file in it cannot be used."""
        self._file = folder / CACHE_FILE
        self._new: dict[str, Reply] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            check_regular(self._file)
            self._open = sqlite3.connect(self._file, timeout=LOCK_TIMEOUT_S, isolation_level=None)
            # Readers do not wait for writers so, and a killed process leaves whole rows.
            self._open.execute("PRAGMA journal_mode = WAL")
            self._open.execute("PRAGMA synchronous = NORMAL")
            self._open.execute(
                "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, digest TEXT, line BLOB) WITHOUT ROWID"
            )
        except OSError as error:
            kind = StorageError if is_disk_full(error) else UsageError
            raise kind(f"{folder}: cannot be used as a cache ({error.strerror})") from error
        except sqlite3.Error as error:
            kind = UsageError if getattr(error, "sqlite_errorname", "") in _REFUSED else StorageError
            raise kind(
                f"{self._file}: cannot be used as a cache ({error}); delete it, or use another folder"
            ) from error

    def key(self, model: str, request: str) -> str:
        """The key of a request: a SHA-256 of everything that its reply may depend on.

        Args: model: its digest (`model_digest`). request: hash of messages and tools (`request_hashes`).
        """
        return hashlib.sha256(f"{CACHE_VERSION} {model} {request}".encode()).hexdigest()

    def get(self, key: str) -> Reply | None:
        """The reply kept under a key, marked as such; None where there is none."""
        if (new := self._new.get(key)) is not None:
            return replace(new, cached=True)
        try:
            row = self._open.execute("SELECT digest, line FROM reply WHERE key = ?", (key,)).fetchone()
            if row is None or row[0] != _digest(key, row[1]):
                return None
            columns = json_codec.loads(row[1])
            check_columns(columns, REPLY_COLUMNS)
            return reply_from_row(columns | {"cached": True})
        except (sqlite3.Error, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Keeps a reply in place of any other. Raises StorageError where it cannot be written."""
        self._new[key] = reply
        if len(self._new) >= FLUSH_AFTER:
            self.flush()

    def flush(self) -> None:
        """Writes what is new. Raises StorageError where it cannot be written."""
        lines = {key: json_codec.dumps(reply_columns(reply)) for key, reply in self._new.items()}
        self._new.clear()
        try:
            self._open.execute("BEGIN IMMEDIATE")
            self._open.executemany(
                "INSERT OR REPLACE INTO reply VALUES (?, ?, ?)",
                [(key, _digest(key, line), line) for key, line in lines.items()],
            )
            self._open.execute("COMMIT")
        except sqlite3.Error as error:
            raise StorageError(
                f"{self._file}: could not be written ({error}); the record is intact. Make room, or leave --cache out, "
                "then run the same command again to continue."
            ) from error

    def close(self) -> None:
        """Writes what is new and lets go of the file."""
        try:
            self.flush()
        finally:
            self._open.close()


def model_digest(model: Model) -> str:
    """A SHA-256 of a model and all its settings."""
    return hashlib.sha256(json_codec.dumps([model.name, dict(model.settings())])).hexdigest()


def _digest(key: str, line: bytes) -> str:
    return hashlib.sha256(key.encode() + line).hexdigest()
