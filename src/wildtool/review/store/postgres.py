"""A review in a PostgreSQL database, for teams. The tables are in the first schema of the connection's search path."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from wildtool.errors import StorageError, UsageError
from wildtool.review.store.sql import SqlStore

_LOCK = 0x77696C64
"""Key of the advisory lock under which tables are made."""
_CONNECT_S = 10


class PostgresStore(SqlStore):
    """A store in a database. Not for several threads at once: each opens it for itself."""

    lock_head = "FOR UPDATE"
    reindex = "REINDEX TABLE review_log"

    def __init__(self, address: str) -> None:
        """Connects, and makes the tables where there are none.

        Args: address: `postgresql://USER@HOST/DATABASE`.

        Raises UsageError if the extra is not installed, StorageError if the server cannot be used.
        """
        super().__init__(_without_password(address))
        try:
            import psycopg
        except ImportError:
            raise UsageError("PostgreSQL needs an extra: pip install 'wildtool[review]'") from None
        self._error = psycopg.Error
        with self._errors():
            self._db = psycopg.connect(address, autocommit=True, connect_timeout=_CONNECT_S)
        self.rows("SET synchronous_commit = on")
        with self.transaction():
            self.rows("SELECT pg_advisory_xact_lock(?)", [_LOCK])
            if self.rows("SELECT to_regclass('review_settings')") == [(None,)]:
                self._create("BYTEA")
        self._check_schema()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._errors(), self._db.cursor() as cursor:
            cursor.execute(_placed(sql), list(values))
            return cursor.fetchall() if cursor.description else []

    def write(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._errors(), self._db.cursor() as cursor:
            cursor.executemany(_placed(sql), rows)

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._errors(), self._db.transaction():
            yield

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except self._error as error:
            reason = str(error).strip().splitlines()
            raise StorageError(
                f"{self.name}: cannot be used ({reason[0] if reason else type(error).__name__}); what was saved is "
                "intact. Check the server and the address, then try again"
            ) from error


def _placed(sql: str) -> Any:
    """A statement written for SQLite, with the placeholders of psycopg."""
    return sql.replace("?", "%s")


def _without_password(address: str) -> str:
    try:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    except ValueError:
        return "PostgreSQL"
