"""A review in a PostgreSQL database, for teams. The tables are in the first schema of the connection's search path."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from wildtool.errors import StorageError, UsageError
from wildtool.redact import REMOVED, register_secrets
from wildtool.secret_places import register_foreign
from wildtool_review.store.address import shown_name, split_password
from wildtool_review.store.sql import SqlStore

_LOCK = 0x77696C64
"""Key of the advisory lock under which tables are made."""
_CONNECT_S = 10


class PostgresStore(SqlStore):
    """A store in a database. Not for several threads at once: each opens it for itself.

    A connection that was lost, as when the server was started again, is made again by the next statement outside of a
    transaction. A transaction that was cut off is not repeated: nobody knows whether it was committed.
    """

    lock_head = "FOR UPDATE"
    reindex = "REINDEX TABLE review_log"

    def __init__(self, address: str) -> None:
        """Connects, and makes the tables where there are none.

        Args: address: `postgresql://USER@HOST/DATABASE`.

        Raises UsageError if the extra is not installed or it is no address, StorageError if the server cannot be used.
        """
        super().__init__(shown_name(address))
        self._address, self._password = split_password(address)
        register_foreign(address)
        register_secrets(self._password, os.environ.get("PGPASSWORD"))
        try:
            import psycopg
        except ImportError:
            raise UsageError("PostgreSQL needs an extra: pip install 'wildtool[review]'") from None
        self._psycopg = psycopg
        self._transactions = 0
        with self._errors():
            self._connect()
        with self.transaction():
            self.rows("SELECT pg_advisory_xact_lock(?)", [_LOCK])
            if self.rows("SELECT to_regclass('review_settings')") == [(None,)]:
                self._create("BYTEA")
        self._check_schema()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._errors():
            try:
                return self._rows(sql, values)
            except self._psycopg.Error:
                if self._transactions or not self._db.closed:
                    raise
                self._connect()
                return self._rows(sql, values)

    def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._db.cursor() as cursor:
            cursor.execute(_placed(sql), list(values))
            return cursor.fetchall() if cursor.description else []

    def write(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._errors(), self._db.cursor() as cursor:
            cursor.executemany(_placed(sql), rows)

    @contextmanager
    def transaction(self) -> Generator[None]:
        self.rows("SELECT 1")  # connects again if need be
        with self._errors(), self._db.transaction():
            self._transactions += 1
            try:
                yield
            finally:
                self._transactions -= 1

    def close(self) -> None:
        self._db.close()

    def _connect(self) -> None:
        secret: dict[str, Any] = {"password": self._password} if self._password else {}
        self._db = self._psycopg.connect(self._address, autocommit=True, connect_timeout=_CONNECT_S, **secret)
        self._rows("SET synchronous_commit = on", ())

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            if self._password:
                reason = reason.replace(self._password, REMOVED)
            # Without its cause, whose text may have more.
            raise StorageError(
                f"{self.name}: cannot be used ({reason}); what was saved is "
                "intact. Check the server and the address, then try again"
            ) from None


def _placed(sql: str) -> Any:
    """A statement written for SQLite, with the placeholders of psycopg."""
    return sql.replace("?", "%s")
