"""Tables of numbers as pages show them: heads, rows, and cells with their intervals."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from wildtool.engine.compare.leaderboard import (
    EVIDENCE_COLUMNS,
    evidence_cells,
    items_caveat,
    notes_of,
    prompts_caveat,
    run_labels,
    trust_line,
)
from wildtool.engine.score.formatting import format_counts, format_direction, format_value
from wildtool.report.model import Leaderboard, MetricKey
from wildtool.report.text import interval_of
from wildtool.sanitize import csv_safe, escape_text
from wildtool.types import Direction, Metric

REPORT_CSV_COLUMNS = (
    *("model", "run", "group", "name", "value", "low", "high"),
    *("numerator", "denominator", "unit", "source"),
    *EVIDENCE_COLUMNS,
)


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A column of numbers."""

    group: str
    name: str
    headline: bool = False
    """Whether it belongs in a table of models."""
    better: Direction = "more"

    @property
    def key(self) -> MetricKey:
        return self.group, self.name

    @property
    def note(self) -> str:
        """Says where lower is better; else empty."""
        return format_direction(self.better)

    def text(self, *, whole: bool = False) -> str:
        """Its head; `whole` includes the name of its group."""
        label = f"{self.group}: {self.name}" if whole else self.name
        return f"{label} ({self.note})" if self.note else label


@dataclass(frozen=True, slots=True)
class MetricCell:
    """One number as it is displayed."""

    value: str = "–"
    interval: str = ""
    counts: str = ""
    sort: str = ""
    """Sort key; empty if there is none."""
    ends: tuple[float, float] | None = None
    """Start and width of its interval on a scale from 0 to 100; None if none is drawn."""
    at: float = 0.0
    """Position of the number on that scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """One model of a table."""

    label: str
    cells: Mapping[MetricKey, MetricCell]
    kind: str = "measured"
    """`measured`, `published` or `gold`."""
    about: str = ""
    """More about it, such as the paper's category of the model."""
    run: str = ""
    place: str = ""
    """Its rank among the measured models; with `=` if it is tied with the one above."""
    tied: str = ""
    """Why it counts as tied; empty otherwise."""

    def pairs(self, heads: Sequence[MetricColumn]) -> Iterator[tuple[MetricColumn, MetricCell]]:
        return ((head, self.cells.get(head.key, EMPTY_CELL)) for head in heads)


EMPTY_CELL = MetricCell()


def cell_of(metric: Metric) -> MetricCell:
    """A metric as it is displayed."""
    number = metric.numerator if metric.kind == "count" else metric.value
    known = number is not None and math.isfinite(number)
    shown = MetricCell(
        value=format_value(metric),
        interval=interval_of(metric),
        counts=format_counts(metric),
        sort=repr(float(number)) if known and number is not None else "",
    )
    if metric.kind != "rate" or not known or None in (metric.value, metric.low, metric.high):
        return shown
    low, high, at = (
        100 * min(1.0, max(0.0, share or 0.0)) for share in (metric.low, metric.high, metric.value)
    )
    return replace(shown, ends=(round(low, 2), round(high - low, 2)), at=round(max(0.0, at - 0.8), 2))


def metric_columns(metrics: Iterable[Metric], group: str | None = None) -> tuple[MetricColumn, ...]:
    """The columns of the metrics, each once; only one group if named."""
    found: dict[MetricKey, MetricColumn] = {}
    for metric in metrics:
        if group in (None, metric.group):
            found.setdefault(
                (metric.group, metric.name),
                MetricColumn(metric.group, metric.name, metric.headline, metric.better),
            )
    return tuple(found.values())


def report_rows(board: Leaderboard) -> list[ReportRow]:
    """A row for each run of a leaderboard, in its order."""
    return [
        ReportRow(
            label=label,
            run=str(run.folder),
            cells={key: cell_of(metric) for key, metric in run.metrics.items()},
        )
        for label, run in zip(board.labels, board.runs, strict=True)
    ]


def missing_notes(board: Leaderboard) -> list[str]:
    """Caveats about the numbers: different items, and what came between each model and its numbers."""
    results = [run.result for run in board.runs]
    found = [
        items_caveat(results),
        prompts_caveat(results[0]),
        *notes_of(metric for result in results for metric in result.metrics),
        *map(trust_line, run_labels(results), results),
    ]
    return [text for text in found if text]


def metrics_csv(board: Leaderboard, groups: Iterable[str]) -> bytes:
    """The numbers of the groups, one per row."""
    wanted = set(groups)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(REPORT_CSV_COLUMNS)
    for run in board.runs:
        whose = [run.result.model, run.result.run]
        for m in run.result.metrics:
            if m.group in wanted:
                numbers = [m.value, m.low, m.high, m.numerator, m.denominator]
                evidence = evidence_cells(m.evidence or run.result.evidence)
                row = [*whose, m.group, m.name, *numbers, m.unit, f"profile {board.profile}", *evidence]
                writer.writerow(
                    csv_safe(escape_text(value) if isinstance(value, str) else value) for value in row
                )
    return text.getvalue().encode()
