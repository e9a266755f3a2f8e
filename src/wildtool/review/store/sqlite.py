"""A review in one SQLite file: nothing to start, and safe against a kill at any moment.

Write-ahead log with synchronous FULL: a transaction is on the disk before `append` returns. Several processes may use the
file; writers take turns.
"""

import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from wildtool.errors import DataError, StorageError
from wildtool.outputs import disk_full_error
from wildtool.review.log import GENESIS, Draft, Entry, chained, entry_line, parse_entry
from wildtool.review.store.base import StoreConflict

SUFFIX = ".review.sqlite"
_SCHEMA_VERSION = 1
_WAIT_S = 30.0
"""How long a writer waits for another one."""
_SCHEMA = """
CREATE TABLE log (n INTEGER PRIMARY KEY, item TEXT NOT NULL, line BLOB NOT NULL);
CREATE INDEX log_item ON log (item, n) WHERE item <> '';
CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL, digest TEXT NOT NULL);
CREATE TABLE items (item TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshot (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL, data BLOB NOT NULL);
"""


class SqliteStore:
    """A store in a file. Not for use by several threads at once: each opens its own."""

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it. Raises DataError if it is something else, StorageError if it cannot be written."""
        self.path = path
        with self._errors():
            self._db = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._prepare()

    def append(self, drafts: Sequence[Draft], expected: Mapping[str, int]) -> list[Entry] | StoreConflict:
        """See Store."""
        with self._errors(), self._transaction():
            for item, last in expected.items():
                row = self._db.execute("SELECT last FROM items WHERE item = ?", (_key(item),)).fetchone()
                found = row[0] if row else 0
                if found != last:
                    return StoreConflict(item, last, found)
            entries = chained(drafts, *self.head())
            self._db.executemany(
                "INSERT INTO log VALUES (?, ?, ?)",
                [(entry.n, _key(entry.item), entry_line(entry)) for entry in entries],
            )
            self._db.executemany(
                "INSERT INTO items VALUES (?, ?) ON CONFLICT (item) DO UPDATE SET last = excluded.last",
                [(_key(entry.item), entry.n) for entry in entries],
            )
            if entries:
                self._db.execute("UPDATE head SET n = ?, digest = ?", (entries[-1].n, entries[-1].digest))
            return entries

    def read(self, after: int = 0) -> Iterator[Entry]:
        """See Store."""
        with self._errors():
            for (line,) in self._db.execute("SELECT line FROM log WHERE n > ? ORDER BY n", (after,)):
                yield self._parsed(line)

    def lines(self) -> Iterator[bytes]:
        """See Store."""
        with self._errors():
            for (line,) in self._db.execute("SELECT line FROM log ORDER BY n"):
                yield line

    def history(self, item: str) -> list[Entry]:
        """See Store."""
        with self._errors():
            found = self._db.execute(
                "SELECT line FROM log WHERE item = ? AND item <> '' ORDER BY n", (_key(item),)
            ).fetchall()
            return [self._parsed(line) for (line,) in found]

    def head(self) -> tuple[int, str]:
        """See Store."""
        with self._errors():
            n, digest = self._db.execute("SELECT n, digest FROM head").fetchone()
            return n, digest

    def snapshot(self) -> bytes | None:
        """See Store."""
        with self._errors():
            row = self._db.execute("SELECT data FROM snapshot").fetchone()
            return row[0] if row else None

    def save_snapshot(self, n: int, data: bytes) -> None:
        """See Store."""
        with self._errors(), self._transaction():
            self._db.execute(
                "INSERT INTO snapshot VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET n = excluded.n,"
                " data = excluded.data WHERE excluded.n > snapshot.n",
                (n, data),
            )

    def setting(self, name: str) -> str | None:
        """See Store."""
        return self.settings(name).get(name)

    def set_setting(self, name: str, value: str | None) -> None:
        """See Store."""
        with self._errors(), self._transaction():
            if value is None:
                self._db.execute("DELETE FROM settings WHERE name = ?", (name,))
            else:
                self._db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def settings(self, prefix: str) -> dict[str, str]:
        """See Store."""
        with self._errors():
            rows = self._db.execute("SELECT name, value FROM settings ORDER BY name").fetchall()
            return {name: value for name, value in rows if name.startswith(prefix)}

    def close(self) -> None:
        """See Store."""
        self._db.close()

    def _prepare(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            with self._transaction():
                # Another process may have made the tables meanwhile.
                if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                    for statement in _SCHEMA.strip().split(";\n"):
                        self._db.execute(statement)
                    self._db.execute("INSERT INTO head VALUES (1, 0, ?)", (GENESIS,))
                    self._db.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        elif version != _SCHEMA_VERSION:
            raise DataError(f"{self.path}: written by a newer wildtool; update this one")

    @contextmanager
    def _transaction(self) -> Generator[None]:
        # IMMEDIATE: what is read inside stays true until the commit.
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            reason = str(error)
            if "full" in reason or "disk I/O" in reason:
                raise disk_full_error(self.path, reason) from error
            if "not a database" in reason or "malformed" in reason or "no such table" in reason:
                raise DataError(
                    f"{self.path}: is no review, or damaged ({reason}); restore it from a copy"
                ) from error
            raise StorageError(
                f"{self.path}: cannot be used ({reason}); try again, or name another file"
            ) from error

    def _parsed(self, line: bytes) -> Entry:
        try:
            return parse_entry(line)
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{self.path}: a damaged entry ({error}); `wildtool review log --verify` names it"
            ) from error


def _key(item: str) -> str:
    """The id as SQLite stores it, which takes no lone surrogates."""
    return item.encode("utf-8", "backslashreplace").decode()
