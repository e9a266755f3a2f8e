"""How a review uses its database, with a driver that is in this process: connections, errors, damaged tables."""

import sqlite3
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from wildtool import redact
from wildtool.errors import DataError, StorageError, UsageError
from wildtool.sets.review.log import GENESIS, Draft
from wildtool.sets.review.store.base import StoreConflict
from wildtool.sets.review.store.postgres import PostgresStore
from wildtool.sets.review.store.sql import SqlStore
from wildtool.sets.review.store.sqlite import SqliteStore

ADDRESS = "postgresql://ann:sec%20ret@db.example:5432/reviews?connect_timeout=3"
NAME = "postgresql://db.example/reviews"


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


def test_a_database_gets_its_tables_once(driver: Driver):
    store = PostgresStore(ADDRESS)
    assert store.name == NAME
    options = {"autocommit": True, "connect_timeout": 10, "password": "sec ret"}
    address = "postgresql://ann@db.example:5432/reviews?connect_timeout=3"
    assert driver.connected == [(address, options)]
    texts = [each if isinstance(each, str) else each[0] for each in driver.log]
    assert texts[:4] == [
        "SET synchronous_commit = on",
        "SELECT 1",
        "begin",
        "SELECT pg_advisory_xact_lock(%s)",
    ]
    assert driver.log[3][1] == [0x77696C64]
    assert [text for text in texts if "CREATE TABLE review_log" in text] == [
        "CREATE TABLE review_log (n BIGINT PRIMARY KEY, item TEXT NOT NULL, line BYTEA NOT NULL)"
    ]
    assert texts[-2:] == ["commit", "SELECT value FROM review_settings WHERE name = %s"]
    driver.log.clear()
    again = PostgresStore("postgresql://db.example/reviews")
    assert driver.connected[1:] == [
        ("postgresql://db.example/reviews", {"autocommit": True, "connect_timeout": 10})
    ]
    assert not any("CREATE" in str(each) for each in driver.log)
    assert again.head() == (0, GENESIS)
    store.close()
    assert [connection.closed for connection in driver.connections] == [True, False]


def test_what_is_written_is_written_under_the_lock_of_the_head(driver: Driver):
    store = PostgresStore(ADDRESS)
    driver.log.clear()
    entries = store.append([note("a", "1"), note("b", "2"), note("a", "3")], {"a": 0, "b": 0})
    assert isinstance(entries, list)
    statements = [each if isinstance(each, str) else each[0] for each in driver.log]
    assert statements == [
        "SELECT 1",
        "begin",
        "SELECT n, digest FROM review_head FOR UPDATE",
        *["SELECT last FROM review_items WHERE item = %s"] * 2,
        *["INSERT INTO review_log VALUES (%s, %s, %s)"] * 3,
        *["INSERT INTO review_items VALUES (%s, %s) ON CONFLICT (item) DO UPDATE SET last = excluded.last"]
        * 2,
        "UPDATE review_head SET n = %s, digest = %s",
        "commit",
    ]
    assert store.head() == (3, entries[-1].digest)
    assert [entry.note for entry in store.read()] == ["1", "2", "3"]
    assert store.append([note("a")], {"a": 1}) == StoreConflict("a", 1, 3)
    assert store.append([], {"a": 3, "c": 0}) == []
    assert store.head() == (3, entries[-1].digest)
    assert store.append([note("a"), note("")], {"a": 3, "": 0, "b": 1}) == StoreConflict("b", 1, 2)
    assert isinstance(store.append([note("")], {"": 0}), list)
    assert store.append([note("a"), note("")], {"": 0}) == StoreConflict("", 0, 4)


def test_a_lost_connection_is_made_again_outside_of_transactions(driver: Driver):
    store = PostgresStore(ADDRESS)
    driver.failures = [(Error("lost"), True)]
    assert store.head() == (0, GENESIS)
    assert len(driver.connections) == 2
    assert driver.connected[0] == driver.connected[1]
    # One that holds is not made again.
    driver.failures = [(Error("\n wrong: sec ret\nDETAIL: more"), False)]
    with pytest.raises(StorageError) as caught:
        store.head()
    assert str(caught.value) == (
        f"{NAME}: cannot be used (wrong: [key]); what was saved is intact. Check the server and the address, then try"
        " again"
    )
    assert caught.value.__suppress_context__
    assert len(driver.connections) == 2
    # What was cut off within a transaction is not repeated; the next one connects.
    driver.failures = [(None, False), (Error(""), True)]
    with pytest.raises(StorageError, match=r": cannot be used \(Error\); what was saved is intact"):
        store.append([note("a")], {})
    assert (len(driver.connections), driver.log[-1]) == (2, "roll back")
    driver.failures = [(Error("lost"), True)]
    assert isinstance(store.append([note("a")], {}), list)
    assert len(driver.connections) == 3


def test_without_a_password_the_reason_stays_as_it_is(driver: Driver):
    store = PostgresStore("postgresql://db.example/reviews")
    driver.failures = [(None, False), (None, False), (Error("abc"), False)]
    with pytest.raises(StorageError, match=r"cannot be used \(abc\)"):
        store.append([note("a")], {"b": 0})


def test_the_password_is_a_secret_from_then_on(driver: Driver, monkeypatch: pytest.MonkeyPatch):
    registered: list[str | None] = []
    monkeypatch.setattr(
        "wildtool.sets.review.store.postgres.register_secrets", lambda *words: registered.extend(words)
    )
    PostgresStore(ADDRESS)
    assert "sec ret" in registered
    assert redact.REMOVED == "[key]"


def test_a_server_that_refuses_and_a_driver_that_is_missing_are_named(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    driver.failures = [(Error("refused"), True)]
    with pytest.raises(StorageError, match=r"cannot be used \(refused\)"):
        PostgresStore(ADDRESS)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError) as caught:
        PostgresStore(ADDRESS)
    assert str(caught.value) == "PostgreSQL needs an extra: pip install 'wildtool[review]'"


# Any database -----------------------------------------------------------------------------------------


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SqlStore:
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "set.sqlite")
    request.getfixturevalue("driver")
    return PostgresStore(ADDRESS)


def test_a_log_is_read_in_portions(store: SqlStore):
    texts = [str(number) for number in range(2_001)]
    entries = store.append([note("a" if number % 2 else "b", text) for number, text in enumerate(texts)], {})
    assert isinstance(entries, list)
    assert list(store.read()) == entries
    assert list(store.read(1_999)) == entries[1_999:]
    assert list(store.read(2_001)) == []
    assert len(list(store.lines())) == 2_001
    assert [entry.n for entry in store.history("b")] == [*range(1, 2_002, 2)]
    assert store.history("c") == []
    assert store.head() == (2_001, entries[-1].digest)


def test_settings_and_snapshots_come_back(store: SqlStore):
    assert (store.snapshot(), store.setting("x"), store.settings("")) == (None, None, {"schema": "1"})
    for name, value in (("token b", "1"), ("token a", "2"), ("tok", "3"), ("token b", "4")):
        store.set_setting(name, value)
    assert list(store.settings("token ").items()) == [("token a", "2"), ("token b", "4")]
    store.set_setting("token a", None)
    assert store.settings("tok") == {"tok": "3", "token b": "4"}
    assert store.setting("tok") == "3"
    for n, data, snapshot in (
        (3, b"three", b"three"),
        (2, b"two", b"three"),
        (3, b"new", b"new"),
        (4, b"4", b"4"),
    ):
        store.save_snapshot(n, data)
        assert store.snapshot() == snapshot


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


def test_ids_that_no_database_takes_are_kept_in_another_form(store: SqlStore):
    store.append([note("a\0b"), note("\ud800")], {"a\0b": 0})
    assert store.rows("SELECT item FROM review_log ORDER BY n") == [("a\\x00b",), ("\\ud800",)]
    assert [len(store.history(item)) for item in ("a\0b", "\ud800", "a")] == [1, 1, 0]
    assert store.append([note("x")], {"\ud800": 1}) == StoreConflict("\ud800", 1, 2)


def test_damaged_tables_are_named(store: SqlStore):
    store.append([note("a")], {})
    store.rows("UPDATE review_log SET line = ?", [b"{"])
    with pytest.raises(DataError) as damaged:
        store.history("a")
    assert str(damaged.value).startswith(f"{store.name}: a damaged entry (")
    assert str(damaged.value).endswith("); `wildtool review log --verify` says which")
    store.rows("UPDATE review_log SET line = ?", ["text"])
    assert list(store.lines()) == [b"text"]
    store.rows("DELETE FROM review_head")
    for act in (store.head, lambda: store.append([], {}), lambda: store.mend_index([])):
        with pytest.raises(DataError) as empty:
            act()
        assert str(empty.value) == f"{store.name}: is damaged; restore it from a copy"


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path):
    store = SqliteStore(tmp_path / "set.sqlite")
    store.set_setting("schema", "2")
    with pytest.raises(DataError) as caught:
        SqliteStore(tmp_path / "set.sqlite")
    assert str(caught.value) == f"{tmp_path}/set.sqlite: written by a newer wildtool; update this one"


@pytest.mark.parametrize(
    ("reason", "kind", "words"),
    [
        ("database or disk is full", StorageError, "database or disk is full"),
        ("disk I/O error", StorageError, "disk I/O error"),
        (
            "file is not a database",
            DataError,
            "is no review, or damaged (file is not a database); restore it",
        ),
        ("database disk image is malformed", DataError, "is no review, or damaged ("),
        ("no such table: x", DataError, "is no review, or damaged ("),
        (
            "database is locked",
            StorageError,
            "cannot be used (database is locked); try again, or name another",
        ),
    ],
)
def test_what_keeps_a_file_from_being_used_is_named(
    tmp_path: Path, reason: str, kind: type[Exception], words: str
):
    def fail(*values: Any) -> Any:
        raise sqlite3.OperationalError(reason)

    store: Any = SqliteStore(tmp_path / "set.sqlite")
    store._db = SimpleNamespace(execute=fail, executemany=fail)
    for act in (lambda: store.rows("SELECT 1"), lambda: store.write("x", [])):
        with pytest.raises(kind) as caught:
            act()
        assert str(caught.value).startswith(f"{tmp_path}/set.sqlite: ")
        assert words in str(caught.value)
        assert isinstance(caught.value.__cause__, sqlite3.Error)


def test_two_who_make_a_file_at_once_make_its_tables_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    SqliteStore(tmp_path / "set.sqlite").set_setting("x", "y")
    looks = [False]
    has_tables = SqliteStore._has_tables  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(SqliteStore, "_has_tables", lambda self: looks.pop() if looks else has_tables(self))
    assert SqliteStore(tmp_path / "set.sqlite").setting("x") == "y"


def test_a_file_keeps_nothing_of_a_transaction_that_fails(tmp_path: Path):
    store = SqliteStore(tmp_path / "set.sqlite")
    assert store.rows("PRAGMA journal_mode") == [("wal",)]
    assert store.rows("PRAGMA synchronous") == [(2,)]
    with pytest.raises(KeyError), store.transaction():
        store.rows("INSERT INTO review_settings VALUES ('x', 'y')")
        raise KeyError
    assert store.setting("x") is None
    with store.transaction():
        store.rows("INSERT INTO review_settings VALUES ('x', 'y')")
    other = SqliteStore(tmp_path / "set.sqlite")
    assert other.setting("x") == "y"
    store.close()
    with pytest.raises(StorageError):
        store.head()
