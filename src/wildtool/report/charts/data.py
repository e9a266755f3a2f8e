"""What a chart shows, before anything is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """One number of a chart."""

    model: str
    name: str
    """What is measured."""
    value: float
    low: float | None
    high: float | None
    text: str
    """The number as it is written."""
    href: str = ""
    """The page that shows what is behind it; empty for none."""
    short: str = ""
    """The number alone, as it stands beside its bar; empty where none stands there."""


@dataclass(frozen=True, slots=True)
class ChartData:
    """What a chart shows."""

    title: str
    about: str
    """The text alternative: what is drawn, in words."""
    points: tuple[ChartPoint, ...]
    models: tuple[str, ...]
    """In order, the best first."""
    names: tuple[str, ...]
    """In the benchmark's order."""
    kind: Literal["bars", "lines", "stacked", "differences"]
    percent: bool
    axis: str = ""
    """What the names are; title of their axis."""
    values: str = ""
    """What the numbers are, with their unit; title of their axis."""
    colours: Mapping[str, str] = field(default_factory=dict[str, str])
    """By model: the colour that it has on all pages; empty where each chart may choose."""
