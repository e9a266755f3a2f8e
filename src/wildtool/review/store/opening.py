"""Which store a name means."""

from pathlib import Path

from wildtool.review.store.base import Store
from wildtool.review.store.sqlite import SqliteStore


def open_store(name: str) -> Store:
    """The store at a `postgresql://` address, or in a SQLite file. Raises UsageError or StorageError."""
    if name.startswith(("postgresql://", "postgres://")):
        from wildtool.review.store.postgres import PostgresStore  # most reviews need none

        return PostgresStore(name)
    return SqliteStore(Path(name))
