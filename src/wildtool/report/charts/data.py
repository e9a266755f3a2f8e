"""What a chart shows, independent of how it is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CellPlace = tuple[int, int]
"""Row and column of a table's body, from 0."""


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """One number of a chart."""

    model: str
    name: str
    """What the number measures."""
    value: float
    low: float | None
    """Start of its interval or, if `is_open`, of the range that units without a verdict leave open."""
    high: float | None
    text: str
    """The number as text."""
    cell: CellPlace | None = None
    """Where the table beside the chart has the same number, whose link its mark takes; None for no link."""
    short: str = ""
    """The bare number printed next to its bar or in its cell; empty for none."""
    behind: str = ""
    """What the number of a cell rests on; empty for none."""
    at: float = 0.0
    """Where it stands on an axis of numbers."""
    is_open: bool = False
    """Whether `low` and `high` are the ends of a range that units without a verdict leave open."""


@dataclass(frozen=True, slots=True)
class ChartData:
    """What a chart shows."""

    title: str
    about: str
    """The text alternative: the chart in words."""
    points: tuple[ChartPoint, ...]
    models: tuple[str, ...]
    """The names in order, the best first."""
    names: tuple[str, ...]
    """In the benchmark's order."""
    kind: Literal["bars", "lines", "stacked", "differences", "heat", "panels", "sizes", "waterfall"]
    """`panels`: a panel per name; `heat`: a matrix of one model, whose rows are the models of points; `sizes`: points by
    `at` on a log axis, those of a model joined unless it is called `others`; `waterfall`: a bar per name from `at` to its
    value, which is where the next one begins."""
    percent: bool
    axis: str = ""
    """Axis title of the names."""
    values: str = ""
    """Axis title of the numbers, with their unit."""
    colours: Mapping[str, str] = field(default_factory=dict[str, str])
    """Each model's colour on all pages; empty if each chart may choose."""

    @property
    def is_open(self) -> bool:
        """Whether any of its ranges is one that units without a verdict leave open."""
        return any(point.is_open for point in self.points)
