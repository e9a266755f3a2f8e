"""Numbers of runs as a CSV file."""

import csv
import io
from collections.abc import Collection, Iterable, Sequence

from wildtool.engine.compare.leaderboard import EVIDENCE_COLUMNS
from wildtool.engine.score.results import ScoreResult
from wildtool.sanitize import csv_safe, escape_text
from wildtool.table import number_fields
from wildtool.types import Metric

NUMBER_COLUMNS = (
    "model",
    "run",
    "group",
    "name",
    "value",
    "low",
    "high",
    "numerator",
    "denominator",
    "unit",
    "source",
    *EVIDENCE_COLUMNS,
    "least",
    "most",
    "rank",
)


def numbers_csv(results: Sequence[ScoreResult], groups: Collection[str], ranks: Sequence[str]) -> bytes:
    """The numbers of the groups, one per row. Args: ranks: of each result; empty for none."""
    rows = (
        _row(metric, result, rank)
        for result, rank in zip(results, ranks, strict=True)
        for metric in result.metrics
        if metric.group in groups
    )
    return rows_csv(NUMBER_COLUMNS, rows)


def _row(metric: Metric, result: ScoreResult, rank: str) -> list[object]:
    origin = {
        "model": result.model,
        "run": result.run,
        "source": f"profile {result.profile}",
        # Runs that share a rank are seen by their equal numbers, and a program would take `=1` for a formula.
        "rank": rank.removeprefix("="),
    }
    fields = {**number_fields(metric, result), **origin}
    return [fields[name] for name in NUMBER_COLUMNS]


def rows_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A table as CSV, in which no text is run by a spreadsheet or controls a terminal."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(csv_safe(escape_text(cell) if isinstance(cell, str) else cell) for cell in row)
    return text.getvalue().encode()
