"""What a chart shows, before anything is drawn."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Point:
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


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a chart shows."""

    title: str
    about: str
    """The text alternative: what is drawn, in words."""
    points: tuple[Point, ...]
    models: tuple[str, ...]
    """In order, the best first."""
    names: tuple[str, ...]
    """In the benchmark's order."""
    kind: Literal["bars", "lines", "stacked", "differences"]
    percent: bool
    axis: str = ""
