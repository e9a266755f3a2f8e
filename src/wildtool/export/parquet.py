"""The verdicts of a run as one Parquet file."""

from pathlib import Path

from wildtool.engine.score.verdict_table import relation, sql_path
from wildtool.export import Wanted
from wildtool.export.tables import tables
from wildtool.outputs import no_room, replacing


def export(wanted: Wanted, target: Path) -> None:
    """Writes the rows of all profiles that are wanted, profile after profile, in the order of the data."""
    with tables(wanted) as found:
        write(list(found), target)


def write(tables: list[Path], target: Path) -> None:
    """Writes the rows of tables of verdicts as one table."""
    import duckdb

    with replacing(target) as new:
        # Who may not write here is told so by this; what the database says does not tell it from a full disk.
        new.touch()
        try:
            relation(tables).write_parquet(sql_path(new), compression="zstd", row_group_size=2048)
        except duckdb.IOException as error:
            # Behind it stands the same in JSON.
            raise no_room(target, str(error).partition(": {")[0].strip()) from error
