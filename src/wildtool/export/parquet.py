"""The verdicts of a run as one Parquet file."""

from pathlib import Path

from wildtool.engine.score.verdict_table import relation, sql_path
from wildtool.export import ExportRequest
from wildtool.export.tables import verdict_tables
from wildtool.outputs import atomic_replace, disk_full_error


def export(wanted: ExportRequest, target: Path) -> None:
    """Writes the rows of all profiles that are wanted, profile after profile, in the order of the data."""
    with verdict_tables(wanted) as found:
        write_table(list(found), target)


def write_table(tables: list[Path], target: Path) -> None:
    """Writes the rows of tables of verdicts as one table."""
    import duckdb

    with atomic_replace(target) as new:
        # Who may not write here is told so by this; what the database says does not tell it from a full disk.
        new.touch()
        try:
            relation(tables).write_parquet(sql_path(new), compression="zstd", row_group_size=2048)
        except duckdb.IOException as error:
            # Behind it stands the same in JSON.
            raise disk_full_error(target, str(error).partition(": {")[0].strip()) from error
