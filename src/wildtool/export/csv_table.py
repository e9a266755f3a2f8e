"""The verdicts of a run as CSV that a spreadsheet can open: no cell of it is a formula."""

import csv
from pathlib import Path

from wildtool.engine.score.verdict_table import sql_path
from wildtool.export import ExportRequest
from wildtool.export.tables import verdict_tables
from wildtool.outputs import atomic_replace
from wildtool.sanitize import csv_safe

_ROWS = 1000
"""Rows in memory at a time."""


def export(wanted: ExportRequest, target: Path) -> None:
    """Writes the rows of all profiles that are wanted, after a line with the names of the columns."""
    import duckdb

    with (
        verdict_tables(wanted) as found,
        atomic_replace(target) as new,
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
            writer.writerows([csv_safe(value) for value in row] for row in chunk)
