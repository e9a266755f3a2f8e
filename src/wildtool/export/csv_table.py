"""The verdicts of a run as CSV that a spreadsheet can open: no cell of it is a formula."""

import csv
from pathlib import Path

from wildtool.engine.score.verdict_table import sql_path
from wildtool.export import Wanted
from wildtool.export.tables import tables
from wildtool.outputs import replacing
from wildtool.sanitize import as_cell

_ROWS = 1000
"""Rows in memory at a time."""


def export(wanted: Wanted, target: Path) -> None:
    """Writes the rows of all profiles that are wanted, after a line with the names of the columns."""
    import duckdb

    with (
        tables(wanted) as found,
        replacing(target) as new,
        new.open("w", encoding="utf-8", newline="") as file,
        duckdb.connect(config={"threads": 1}) as connection,
    ):
        writer = csv.writer(file, lineterminator="\n")
        paths = [sql_path(path) for path in found]
        rows = connection.execute(
            "SELECT * FROM read_parquet(?, union_by_name = true, hive_partitioning = false)", [paths]
        )
        writer.writerow([column[0] for column in rows.description])
        while chunk := rows.fetchmany(_ROWS):
            writer.writerows([as_cell(value) for value in row] for row in chunk)
