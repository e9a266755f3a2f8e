"""The verdicts of a run as one table: a Parquet file, or CSV that a spreadsheet can open safely."""

import csv
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from wildtool.engine.record.case_labels import CaseKey, labels_of_run
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import names_in
from wildtool.engine.score.label_metrics import labels_by_case
from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.engine.score.verdict_table import relation, sql_path
from wildtool.export import ExportRequest
from wildtool.interrupts import uninterrupted
from wildtool.outputs import atomic_replace, disk_full_error
from wildtool.sanitize import csv_safe

_BEGIN, _END = "verdicts-", ".parquet"
LABELS_COLUMN = "labels"
"""The column of labels of failures, in the CSV of a run that has any."""
_ROWS = 1000
"""Rows of a CSV file in memory at a time."""


@contextmanager
def verdict_tables(request: ExportRequest) -> Generator[dict[Path, ScoreResult]]:
    """Tables of verdicts with their scores: of the requested profile, else of all profiles the run was scored with.

    Verdicts that are missing, damaged or older than the record are made first, in a temporary folder if the run is
    read-only.
    """
    with ExitStack() as open_tables:
        results = [
            open_tables.enter_context(open_results(request.folder, profile, data=request.data))
            for profile in _profiles(request)
        ]
        yield {table: result for result, table in results}


def _profiles(request: ExportRequest) -> list[str | None]:
    if request.profile is not None:
        return [request.profile]
    files = sorted(path.name for path in request.folder.glob(f"{_BEGIN}*{_END}"))
    names = names_in(read_run(request.folder))
    return [names.now(file.removeprefix(_BEGIN).removesuffix(_END)) for file in files] or [None]


def export_parquet(request: ExportRequest, target: Path) -> None:
    """Writes the rows of all requested profiles, profile after profile, in the order of the data."""
    with verdict_tables(request) as tables:
        join_as_parquet(list(tables), target)


def join_as_parquet(tables: list[Path], target: Path) -> None:
    """Writes the rows of tables of verdicts as one table."""
    with uninterrupted():
        import duckdb

    with atomic_replace(target) as new:
        # Fails if the folder may not be written to; DuckDB's error does not distinguish that from a full disk.
        new.touch()
        # The database replaces a link by its file, so of a name that it cannot take it gets another one.
        plain = new.with_name("wildtool.parquet.part")
        try:
            relation(tables).write_parquet(sql_path(plain), compression="zstd", row_group_size=2048)
            plain.replace(new)
        except duckdb.IOException as error:
            # What follows the brace repeats the message as JSON.
            raise disk_full_error(target, str(error).partition(": {")[0].strip()) from error


def export_csv(request: ExportRequest, target: Path) -> None:
    """Writes a line of column names and the rows of all requested profiles, with the labels of failures that people read;
    no cell is a formula."""
    with uninterrupted():
        import duckdb

    with (
        verdict_tables(request) as tables,
        atomic_replace(target) as new,
        new.open("w", encoding="utf-8", newline="") as file,
        duckdb.connect(config={"threads": 1}) as connection,
    ):
        writer = csv.writer(file, lineterminator="\n")
        paths = [sql_path(path) for path in tables]
        rows = connection.execute(
            "SELECT * FROM read_parquet(?, union_by_name = true, hive_partitioning = false)", [paths]
        )
        names = [column[0] for column in rows.description]
        labels = _labels(request.folder)
        writer.writerow([*names, *([LABELS_COLUMN] if labels else [])])
        while chunk := rows.fetchmany(_ROWS):
            for row in chunk:
                place = dict(zip(names, row, strict=True))
                case = CaseKey(place["item"], place["repeat"], place["unit"])
                given = [labels.get((place["profile"], case), "")] if labels else []
                writer.writerow([csv_safe(value) for value in (*row, *given)])


def _labels(folder: Path) -> dict[tuple[str, CaseKey], str]:
    """By profile and case the labels that readers gave; empty for a run whose failures nobody read."""
    cases = labels_of_run(folder)
    return (
        {} if cases is None else {(cases.profile, case): text for case, text in labels_by_case(cases).items()}
    )
