"""A store in tables, in any SQL database: what SQLite and PostgreSQL have in common.

Writers take turns: the row of the log's head is locked until the commit, so numbers and digests follow each other.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from wildtool.errors import DataError
from wildtool_review.log import GENESIS, Draft, Entry, chained, entry_line, parse_entry
from wildtool_review.store.base import StoreConflict

SCHEMA_VERSION = "1"
_TABLES = (
    "CREATE TABLE review_log (n BIGINT PRIMARY KEY, item TEXT NOT NULL, line {bytes} NOT NULL)",
    "CREATE INDEX review_log_item ON review_log (item, n)",
    "CREATE TABLE review_head (one INT PRIMARY KEY, n BIGINT NOT NULL, digest TEXT NOT NULL)",
    "CREATE TABLE review_items (item TEXT PRIMARY KEY, last BIGINT NOT NULL)",
    "CREATE TABLE review_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE review_snapshot (one INT PRIMARY KEY, n BIGINT NOT NULL, data {bytes} NOT NULL)",
)
_SCHEMA_SETTING = "schema"


class SqlStore(ABC):
    """A store in tables. See `Store` for its methods."""

    lock_head = ""
    """What a query of the log's head ends with, so that no other writer reads it before the commit."""
    reindex = "REINDEX review_log"
    """Computes the indexes of the log again."""

    def __init__(self, name: str) -> None:
        """
        Args: name: what the store is called in messages; never with a password.
        """
        self.name = name

    @abstractmethod
    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement with `?` for values; none of one that gives none. Raises StorageError or DataError."""

    @abstractmethod
    def write(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Runs a statement for each row of values. Raises as `rows`."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """What is done inside is on the disk afterwards, or was not done."""

    @abstractmethod
    def close(self) -> None: ...

    def append(self, drafts: Sequence[Draft], expected: Mapping[str, int]) -> list[Entry] | StoreConflict:
        with self.transaction():
            n, digest = self._head(self.lock_head)
            for item, last in expected.items():
                row = self.rows("SELECT last FROM review_items WHERE item = ?", [_key(item)])
                head = row[0][0] if row else 0
                if head != last:
                    return StoreConflict(item, last, head)
            entries = chained(drafts, n, digest)
            self.write(
                "INSERT INTO review_log VALUES (?, ?, ?)",
                [(e.n, _key(e.item), entry_line(e)) for e in entries],
            )
            self.write(
                "INSERT INTO review_items VALUES (?, ?) ON CONFLICT (item) DO UPDATE SET last = excluded.last",
                list({_key(entry.item): (_key(entry.item), entry.n) for entry in entries}.values()),
            )
            if entries:
                self.rows("UPDATE review_head SET n = ?, digest = ?", [entries[-1].n, entries[-1].digest])
            return entries

    def read(self, after: int = 0) -> Iterator[Entry]:
        # In portions: a whole log may not fit into memory twice.
        while rows := self.rows("SELECT n, line FROM review_log WHERE n > ? ORDER BY n LIMIT 1000", [after]):
            yield from (self._parsed(line) for _, line in rows)
            after = rows[-1][0]

    def lines(self) -> Iterator[bytes]:
        after = 0
        while rows := self.rows("SELECT n, line FROM review_log WHERE n > ? ORDER BY n LIMIT 1000", [after]):
            # A file that was tampered with may hold a text there.
            yield from (line.encode() if isinstance(line, str) else bytes(line) for _, line in rows)
            after = rows[-1][0]

    def history(self, item: str) -> list[Entry]:
        rows = self.rows("SELECT line FROM review_log WHERE item = ? ORDER BY n", [_key(item)])
        return [self._parsed(line) for (line,) in rows]

    def mend_index(self, entries: Sequence[Entry]) -> bool:
        items = {entry.n: _key(entry.item) for entry in entries}
        with self.transaction():
            self._head(self.lock_head)
            # Through the index of items, and through that of numbers: either can be wrong alone.
            by_item = self.rows("SELECT n, item FROM review_log ORDER BY item, n")
            by_number = self.rows("SELECT n, item FROM review_log ORDER BY n")
            right = [(n, items.get(n, item)) for n, item in by_number]
            last = {item: n for n, item in right}
            if (
                sorted(by_item) == by_number == right
                and dict(self.rows("SELECT item, last FROM review_items")) == last
            ):
                return False
            self.rows(self.reindex)
            wrong = set(right).difference(by_number)
            self.write("UPDATE review_log SET item = ? WHERE n = ?", [(item, n) for n, item in wrong])
            self.rows("DELETE FROM review_items")
            self.write("INSERT INTO review_items VALUES (?, ?)", list(last.items()))
            return True

    def head(self) -> tuple[int, str]:
        return self._head("")

    def snapshot(self) -> bytes | None:
        rows = self.rows("SELECT data FROM review_snapshot")
        return bytes(rows[0][0]) if rows else None

    def save_snapshot(self, n: int, data: bytes) -> None:
        with self.transaction():
            self.rows(
                "INSERT INTO review_snapshot VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET n = excluded.n,"
                " data = excluded.data WHERE excluded.n >= review_snapshot.n",
                [n, data],
            )

    def setting(self, name: str) -> str | None:
        rows = self.rows("SELECT value FROM review_settings WHERE name = ?", [name])
        return rows[0][0] if rows else None

    def set_setting(self, name: str, value: str | None) -> None:
        with self.transaction():
            self.rows("DELETE FROM review_settings WHERE name = ?", [name])
            if value is not None:
                self.rows("INSERT INTO review_settings VALUES (?, ?)", [name, value])

    def settings(self, prefix: str) -> dict[str, str]:
        rows = self.rows("SELECT name, value FROM review_settings ORDER BY name")
        return {name: value for name, value in rows if name.startswith(prefix)}

    def _create(self, bytes_type: str) -> None:
        """Makes the tables, inside a transaction."""
        for statement in _TABLES:
            self.rows(statement.format(bytes=bytes_type))
        self.rows("INSERT INTO review_head VALUES (1, 0, ?)", [GENESIS])
        self.rows("INSERT INTO review_settings VALUES (?, ?)", [_SCHEMA_SETTING, SCHEMA_VERSION])

    def _check_schema(self) -> None:
        if self.setting(_SCHEMA_SETTING) != SCHEMA_VERSION:
            raise DataError(f"{self.name}: written by a newer wildtool; update this one")

    def _head(self, lock: str) -> tuple[int, str]:
        rows = self.rows(f"SELECT n, digest FROM review_head {lock}")
        if not rows:
            raise DataError(f"{self.name}: is damaged; restore it from a copy")
        return rows[0][0], rows[0][1]

    def _parsed(self, line: bytes) -> Entry:
        try:
            return parse_entry(bytes(line))
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{self.name}: a damaged entry ({error}); `wildtool review log --verify` says which"
            ) from error


def _key(item: str) -> str:
    """The id as databases store it, which take neither lone surrogates nor NUL."""
    return item.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
