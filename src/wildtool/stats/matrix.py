"""Numbers by two groups at once: a rate for each pair of their names, such as task type and position."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wildtool.errors import UsageError, match_name, unknown_name
from wildtool.stats.metrics import CORRECT_SQL, Rate, rate_metrics
from wildtool.types import Metric

SIGN = "×"
"""Stands between the names of two groups."""
SMALL_SAMPLE = 10
"""Below so many units, a cell says little; readers are told how many cells are so small."""
_SEPARATORS = (SIGN, " x ", " X ", ",")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rates by two groups."""

    rows: str
    """Group of the rows."""
    columns: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    cells: Mapping[tuple[str, str], Metric]
    """By name of row and of column; those without any unit are absent."""

    @property
    def title(self) -> str:
        """Both groups, which is the group of each of its metrics."""
        return f"{self.rows} {SIGN} {self.columns}"

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The cells, row by row."""
        return tuple(
            self.cells[row, column]
            for row in self.row_names
            for column in self.column_names
            if (row, column) in self.cells
        )

    def __getitem__(self, names: tuple[str, str]) -> Metric:
        """The cell of a row and a column. Raises UsageError for names that it has not."""
        row, column = names
        for kind, name, known in (
            (self.rows, row, self.row_names),
            (self.columns, column, self.column_names),
        ):
            if name not in known:
                raise UsageError(unknown_name(kind, name, known))
        if names not in self.cells:
            raise UsageError(f"no unit is both {self.rows}: {row} and {self.columns}: {column}")
        return self.cells[names]

    @property
    def small(self) -> str:
        """A sentence on the cells that rest on few units; empty where there is none."""
        few = sum(_units(metric) < SMALL_SAMPLE for metric in self.cells.values())
        if not few:
            return ""
        return f"{few} of {len(self.cells)} cells rest on fewer than {SMALL_SAMPLE} units; read their intervals first."


def matrix_of(verdicts: Any, rates: Iterable[Rate], rows: str, columns: str) -> Matrix:
    """The rates by two groups.

    Args:
        verdicts: DuckDB relation of verdict rows of one run under one profile.
        rates: all that the benchmark declares.
        rows: name of a group of these rates, as `match_name` takes it.

    Raises UsageError for a group that is none of them, for one group twice, and for two that count different things.
    """
    groups: dict[str, list[Rate]] = {}
    for rate in rates:
        groups.setdefault(rate.group, []).append(rate)
    first, second = (match_name("group", name, groups) for name in (rows, columns))
    if first == second:
        raise UsageError(f"{first} {SIGN} {second} is one group twice; name two groups")
    title = f"{first} {SIGN} {second}"
    pairs = [(row, column) for row in groups[first] for column in groups[second]]
    crossed = [replace(_both(row, column), group=title) for row, column in pairs]
    cells = {
        (row.name, column.name): metric
        for (row, column), metric in zip(pairs, rate_metrics(verdicts, crossed), strict=True)
        if metric.denominator
    }
    row_names, column_names = ({names[place]: None for names in cells} for place in (0, 1))
    return Matrix(
        first,
        second,
        tuple(rate.name for rate in groups[first] if rate.name in row_names),
        tuple(rate.name for rate in groups[second] if rate.name in column_names),
        cells,
    )


def named_pair(text: str, groups: Sequence[str]) -> tuple[str, str] | None:
    """Two groups that a text names, such as `task type × position`, `task type x position` or `task type,position`; None
    where it names one group, or is no pair.

    Args:
        groups: all that there are; a name with a separator in it is read as a whole.
    """
    try:
        match_name("group", text, groups)
    except UsageError:
        for separator in _SEPARATORS:
            first, found, second = text.partition(separator)
            if found and first.strip() and second.strip():
                return first.strip(), second.strip()
    return None


def _units(metric: Metric) -> float:
    # A denominator may count something else, such as gold calls.
    return metric.denominator if metric.evidence is None else metric.evidence.units


def _both(row: Rate, column: Rate) -> Rate:
    """The rate over the units that count for both. Raises UsageError where they count different things."""
    counts = [rate for rate in (row, column) if not _counts_correct(rate)]
    if len(counts) == 2 and _measure(row) != _measure(column):
        raise UsageError(
            f"{row.group} and {column.group} count different things, so they have no number in common; cross one of them"
            " with a group of accuracies, such as those of `wildtool show --all`"
        )
    of = counts[0] if counts else row
    return replace(
        of,
        name=f"{row.name} {SIGN} {column.name}",
        where=f"({row.where}) AND ({column.where})",
        headline=False,
        note=row.note or column.note,
    )


def _counts_correct(rate: Rate) -> bool:
    return (rate.numerator, rate.denominator, rate.weight) == (CORRECT_SQL, "1", "")


def _measure(rate: Rate) -> tuple[str, str, str]:
    return rate.numerator, rate.denominator, rate.weight
