"""How a review uses its database, with a driver that is in this process: connections, errors, damaged tables."""

import sqlite3
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from wildtool_review.log import Draft
from wildtool_review.store.postgres import PostgresStore
from wildtool_review.store.sql import SqlStore
from wildtool_review.store.sqlite import SqliteStore

ADDRESS = "postgresql://ann:sec%20ret@db.example:5432/reviews?connect_timeout=3"


class Error(Exception):
    """psycopg's."""


class Cursor:
    def __init__(self, connection: "Connection") -> None:
        self._connection, self.description, self._rows = connection, None, list[Any]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def execute(self, sql: str, values: list[Any]) -> None:
        driver = self._connection.driver
        driver.log.append((sql, values))
        if driver.failures:
            failure, self._connection.closed = driver.failures.pop(0)
            if failure is not None:
                raise failure
        if sql.startswith("SET "):
            return
        if "pg_advisory_xact_lock" in sql:
            sql, values = "SELECT 1", []
        if "to_regclass" in sql:
            sql = "SELECT max(name) FROM sqlite_master WHERE name = 'review_settings'"
        sql = sql.replace("%s", "?").replace("BYTEA", "BLOB").replace("FOR UPDATE", "")
        if sql == "REINDEX TABLE review_log":
            sql = "REINDEX review_log"
        done = driver.tables.execute(sql, values)
        self.description, self._rows = done.description, done.fetchall()

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        for row in rows:
            self.execute(sql, list(row))

    def fetchall(self) -> list[Any]:
        return self._rows


class Connection:
    def __init__(self, driver: "Driver") -> None:
        self.driver, self.closed = driver, False

    def cursor(self) -> Cursor:
        return Cursor(self)

    @contextmanager
    def transaction(self) -> Generator[None]:
        self.driver.log.append("begin")
        try:
            yield
        except BaseException:
            self.driver.log.append("roll back")
            raise
        self.driver.log.append("commit")

    def close(self) -> None:
        self.closed = True


class Driver:
    """In place of psycopg, over tables in memory."""

    Error = Error

    def __init__(self) -> None:
        self.tables = sqlite3.connect(":memory:", isolation_level=None)
        self.log: list[Any] = []
        self.connected: list[Any] = []
        self.connections: list[Connection] = []
        self.failures: list[tuple[Exception | None, bool]] = []
        """Of the next statements: what they raise, and whether the connection is lost."""

    def connect(self, address: str, **options: Any) -> Connection:
        self.connected.append((address, options))
        self.connections.append(Connection(self))
        return self.connections[-1]


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()
    monkeypatch.setitem(sys.modules, "psycopg", driver)  # pyright: ignore[reportArgumentType]
    return driver


def note(item: str, text: str = "") -> Draft:
    return Draft("note", "ann", item, note=text)


# Any database -----------------------------------------------------------------------------------------


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SqlStore:
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "set.sqlite")
    request.getfixturevalue("driver")
    return PostgresStore(ADDRESS)


def test_an_index_follows_from_the_log_again(store: SqlStore, monkeypatch: pytest.MonkeyPatch):
    entries = store.append([note("a"), note("b"), note("a")], {})
    assert isinstance(entries, list)
    assert not store.mend_index(entries)
    for damage in (
        "UPDATE review_log SET item = 'b' WHERE n = 3",
        "UPDATE review_items SET last = 1 WHERE item = 'a'",
        "DELETE FROM review_items WHERE item = 'b'",
        "INSERT INTO review_items VALUES ('c', 9)",
    ):
        store.rows(damage)
        assert store.mend_index(entries), damage
        assert store.rows("SELECT n, item FROM review_log ORDER BY n") == [(1, "a"), (2, "b"), (3, "a")]
        assert store.rows("SELECT item, last FROM review_items ORDER BY item") == [("a", 3), ("b", 2)]
        assert not store.mend_index(entries)
    # The index of items alone may be wrong.
    rows, statements = store.rows, list[str]()

    def damaged(sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        statements.append(sql)
        lost = sql.endswith("ORDER BY item, n") and store.reindex not in statements
        return rows(sql, values)[lost:]

    monkeypatch.setattr(store, "rows", damaged)
    assert [store.mend_index(entries) for _ in range(2)] == [True, False]
    # Of an entry that was added meanwhile, what the log's table says is true.
    store.append([note("d")], {})
    assert not store.mend_index(entries)
