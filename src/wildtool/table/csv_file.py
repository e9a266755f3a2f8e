"""Numbers of runs as a CSV file."""

import csv
import io
from collections.abc import Collection, Sequence

from wildtool.engine.compare.leaderboard import EVIDENCE_COLUMNS
from wildtool.engine.score.results import ScoreResult
from wildtool.sanitize import csv_safe, escape_text
from wildtool.table import number_fields

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
)


def numbers_csv(results: Sequence[ScoreResult], groups: Collection[str]) -> bytes:
    """The numbers of the groups, one per row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NUMBER_COLUMNS)
    for result in results:
        run = {"model": result.model, "run": result.run, "source": f"profile {result.profile}"}
        for metric in result.metrics:
            if metric.group in groups:
                fields = {**number_fields(metric, result), **run}
                row = (fields[name] for name in NUMBER_COLUMNS)
                writer.writerow(
                    csv_safe(escape_text(cell) if isinstance(cell, str) else cell) for cell in row
                )
    return text.getvalue().encode()
