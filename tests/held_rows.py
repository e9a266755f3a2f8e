"""Rows as the database holds them, for tests of what is computed from verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, count
from typing import Any

import duckdb

_NUMBERS = count()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One for all tests of a process: to open another takes longer than what most of them ask."""
    return duckdb.connect(config={"threads": 1})


def held_rows(types: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> Any:
    """A relation over a new table. Args: types: of its columns, by their names."""
    table, held = f"rows_{next(_NUMBERS)}", list(rows)
    _database().execute(
        f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in types.items())})"
    )
    if held:
        places = ", ".join([f"({', '.join('?' * len(types))})"] * len(held))
        _database().execute(f"INSERT INTO {table} VALUES {places}", list(chain(*held)))
    return _database().table(table)
