"""A review in one SQLite file: nothing to start, and safe against a kill at any moment.

Write-ahead log with synchronous FULL: a transaction is on the disk before `append` returns. Several processes may use the
file; writers take turns.
"""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wildtool.errors import DataError, StorageError
from wildtool.outputs import disk_full_error
from wildtool_review.store.sql import SqlStore

SUFFIX = ".review.sqlite"
_WAIT_S = 30.0
"""How long a writer waits for another one."""


class SqliteStore(SqlStore):
    """A store in a file. Not for several threads at once: each opens it for itself."""

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it. Raises DataError if it is something else, StorageError if it cannot be used."""
        super().__init__(str(path))
        with self._errors():
            self._db = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
        self.rows("PRAGMA journal_mode = WAL")
        self.rows("PRAGMA synchronous = FULL")
        if not self._has_tables():
            with self.transaction():
                # Another process may have made them meanwhile.
                if not self._has_tables():
                    self._create("BLOB")
        self._check_schema()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._db.execute(sql, values).fetchall()

    def write(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._errors():
            self._db.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Generator[None]:
        # IMMEDIATE: what is read inside stays true until the commit.
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self.rows("COMMIT")

    def close(self) -> None:
        self._db.close()

    def _has_tables(self) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'review_settings'"))

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            reason = str(error)
            if "full" in reason or "disk I/O" in reason:
                raise disk_full_error(Path(self.name), reason) from error
            if any(words in reason for words in ("not a database", "malformed", "no such table")):
                raise DataError(
                    f"{self.name}: is no review, or damaged ({reason}); restore it from a copy"
                ) from error
            raise StorageError(
                f"{self.name}: cannot be used ({reason}); try again, or name another file"
            ) from error
