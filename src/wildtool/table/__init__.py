"""Tables of numbers: heads, rows and cells, which terminals, pages, Markdown, LaTeX and CSV each write in their way."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wildtool.engine.compare import leaderboard
from wildtool.engine.compare.published import MetricKey
from wildtool.engine.score.formatting import (
    MeasuredRate,
    format_counts,
    format_direction,
    format_interval,
    format_open,
    format_value,
)
from wildtool.engine.score.results import ScoreResult
from wildtool.stats.matrix import Matrix
from wildtool.types import Direction, Metric

WIDTH_OF_POINT = 1.6
"""Width of the mark of a number on the scale of its interval."""


@dataclass(frozen=True, slots=True)
class Head:
    """A column of numbers."""

    group: str
    name: str
    headline: bool = False
    """Whether it belongs in a table of models."""
    better: Direction = "more"

    @property
    def key(self) -> MetricKey:
        return self.group, self.name

    def text(self, *, whole: bool = False, between: str = ": ") -> str:
        """Its label, which says where lower is better.

        Args:
            whole: whether it includes the name of its group.
            between: what stands between the group and the name; a line end also stands before the direction.
        """
        label = f"{self.group}{between}{self.name}" if whole else self.name
        note = format_direction(self.better)
        blank = "\n" if "\n" in between else " "
        return f"{label}{blank}({note})" if note else label


@dataclass(frozen=True, slots=True)
class Cell:
    """One number as it is displayed."""

    value: str = "–"
    ends: tuple[str, str] | None = None
    """Both ends of its 95 % interval, or of the range that units without a verdict leave open; None where neither is
    given."""
    counts: str = ""
    """What a rate was counted from."""
    number: float | None = None
    """What it is sorted by; None if there is none."""
    size: float | None = None
    """Denominator of a rate."""
    scale: tuple[float, float, float] | None = None
    """Low end, high end and number, from 0 to 1; None if no interval or range is drawn."""
    is_open: bool = False
    """Whether the ends are those of a range that units without a verdict leave open, which stands in the place of an
    interval of what was counted."""

    @property
    def interval(self) -> str:
        """Its ends in one text, such as `12.0–35.9`, of a range `0.0 to 35.9`; empty if there are none."""
        return (" to " if self.is_open else "–").join(self.ends or ())

    @property
    def bracketed(self) -> str:
        """The same for tables of plain text: `[12.0, 35.9]`, of a range `0.0 to 35.9`."""
        return f"[{', '.join(self.ends)}]" if self.ends and not self.is_open else self.interval

    @property
    def sort(self) -> str:
        """Sort key of a page; empty if there is none."""
        return "" if self.number is None else f"{self.number:.8g}"

    @property
    def range(self) -> tuple[float, float] | None:
        """Start and width of its interval or range on a scale from 0 to 100; None if none is drawn."""
        if self.scale is None:
            return None
        low, high = (100 * share for share in self.scale[:2])
        return round(low, 2), round(high - low, 2)

    @property
    def at(self) -> float:
        """Position of the number's mark on that scale."""
        return 0.0 if self.scale is None else round(max(0.0, 100 * self.scale[2] - WIDTH_OF_POINT / 2), 2)


EMPTY_CELL = Cell()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model of a table."""

    label: str
    cells: Mapping[MetricKey, Cell]
    kind: str = "measured"
    """`measured`, `published` or `gold`."""
    about: str = ""
    """More about it, such as the paper's category of the model."""
    place: str = ""
    """Its rank among the measured models; with `=` if it is tied with the one above."""
    tied: str = ""
    """Why it counts as tied; empty otherwise."""

    def pairs(self, heads: Sequence[Head]) -> Iterator[tuple[Head, Cell]]:
        return ((head, self.cells.get(head.key, EMPTY_CELL)) for head in heads)


@dataclass(frozen=True, slots=True)
class MetricTable:
    """Models with their numbers."""

    title: str
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    whole: bool = True
    """Whether heads include the names of their groups."""

    def columns(self) -> list[list[Cell | None]]:
        """For each head the number of each row, or None."""
        return [[row.cells.get(head.key) for row in self.rows] for head in self.heads]


def cell_of(metric: Metric) -> Cell:
    """A metric as it is displayed."""
    number = metric.numerator if metric.kind == "count" else metric.value
    is_known = number is not None and math.isfinite(number)
    is_rate = metric.kind == "rate"
    open_ends = format_open(metric)
    on_scale = (*ends_of(metric), metric.value) if is_rate and is_known else (None,)
    scale = tuple(min(1.0, max(0.0, end)) for end in on_scale if end is not None)
    return Cell(
        value=format_value(metric),
        ends=open_ends or format_interval(metric),
        is_open=open_ends is not None,
        counts=format_counts(metric),
        number=float(number) if is_known and number is not None else None,
        size=metric.denominator if is_rate else None,
        scale=scale if len(scale) == 3 else None,
    )


def ends_of(rate: MeasuredRate) -> tuple[float | None, float | None]:
    """The numbers behind the ends of its cell: of its open range where it has one, else of its interval."""
    return (rate.low, rate.high) if format_open(rate) is None else (rate.least, rate.most)


def heads_of(metrics: Iterable[Metric], group: str | None = None) -> tuple[Head, ...]:
    """The columns of the metrics, each once; only one group if named."""
    heads: dict[MetricKey, Head] = {}
    for metric in metrics:
        if group in (None, metric.group):
            head = Head(metric.group, metric.name, metric.headline, metric.better)
            heads.setdefault(head.key, head)
    return tuple(heads.values())


def results_table(
    title: str,
    results: Sequence[ScoreResult],
    heads: Sequence[Head],
    *,
    whole: bool = True,
    ranks: Sequence[str] = (),
) -> MetricTable:
    """The models of comparable results with some of their numbers, each with a mark where anything is missing.

    Args: ranks: of each result; empty where they have none.
    """
    rows = (
        Row(label=label, cells={(m.group, m.name): cell_of(m) for m in result.metrics}, place=rank)
        for label, result, rank in zip(
            leaderboard.marked_labels(results), results, ranks or [""] * len(results), strict=True
        )
    )
    return MetricTable(title, tuple(heads), tuple(rows), whole)


def matrix_cells(matrix: Matrix) -> list[list[str]]:
    """The rows of a matrix as texts: the name, then a number with its interval and counts for each column; empty where no
    unit is of both."""
    return [
        [row, *(_cell_text(matrix.cells.get((row, column))) for column in matrix.column_names)]
        for row in matrix.row_names
    ]


def _cell_text(metric: Metric | None) -> str:
    if metric is None:
        return ""
    cell = cell_of(metric)
    return "\n".join(filter(None, (cell.value, cell.bracketed, cell.counts)))


def table_caveats(results: Sequence[ScoreResult]) -> list[str]:
    """What must be known of the numbers of a table: which items they are of, and what came between model and number."""
    texts = [
        # Titles name samples.
        leaderboard.parts_line(result for result in results if not result.sampled),
        leaderboard.items_caveat(results),
        *dict.fromkeys(map(leaderboard.prompts_caveat, results)),
        *leaderboard.notes_of(metric for result in results for metric in result.metrics),
        *map(leaderboard.trust_line, leaderboard.run_labels(results), results),
    ]
    return [text for text in texts if text]


def number_fields(metric: Metric, result: ScoreResult) -> dict[str, object]:
    """A number with what it rests on, by the names of columns in CSV."""
    numbers = ("group", "name", "value", "low", "high", "least", "most", "numerator", "denominator", "unit")
    evidence = leaderboard.evidence_cells(metric.evidence or result.evidence)
    return {
        **{name: getattr(metric, name) for name in numbers},
        **dict(zip(leaderboard.EVIDENCE_COLUMNS, evidence, strict=True)),
    }
