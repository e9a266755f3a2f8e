"""How charts look: colours, axes, legends, widths."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from itertools import count
from typing import Any

import altair as alt

from wildtool.engine.compare.leaderboard import INCOMPLETE
from wildtool.report.charts.data import ChartData

WIDE, NARROW = 560, 340
"""Widths in pixels of the drawn charts."""
MODEL_COLOURS = (
    "#2f6db3",
    "#d9822b",
    "#2e8b67",
    "#b8456a",
    "#7a62b5",
    "#8c7a2f",
    "#3f98a8",
    "#a35a3a",
    "#6f7d8c",
    "#c08bb4",
    "#7fa34b",
    "#4a5560",
)
"""Colours of models."""
CLASS_COLOURS = (
    "#8f1d2c",
    "#e0a100",
    "#0b7285",
    "#d6568e",
    "#5f3dc4",
    "#5c940d",
    "#1864ab",
    "#f08c5a",
    "#087f5b",
    "#9c36b5",
    "#7c5a1e",
    "#adb5bd",
)
"""Colours of classes, such as errors; models use none of them."""
BAR = "#5b7088"
"""Colour of bars whose model is named next to them, or that belong to no model."""
INK, MUTED, GRID, GROUND = "#1d2024", "#646a73", "#e7e7e3", "#fcfcfa"
VARIABLES = {
    **{colour: f"var(--c{number})" for number, colour in enumerate(MODEL_COLOURS, 1)},
    **{colour: f"var(--e{number})" for number, colour in enumerate(CLASS_COLOURS, 1)},
    BAR: "var(--bar)",
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    GROUND: "var(--ground)",
}
"""The CSS variable of each colour in a page."""
LINE_HEIGHT = 13
"""Pixels per line of names on an axis."""
VALUE_WIDTH = 48
"""Pixels to the right of the bars for their numbers."""
_LETTER = 6.2
"""Average pixels per letter on an axis."""
LOOK: Mapping[str, Any] = {
    "aria": False,
    "background": GROUND,
    "font": "system-ui, sans-serif",
    "padding": 2,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": GRID,
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
    },
    "legend": {"labelColor": INK, "labelFontSize": 12, "offset": 6, "rowPadding": 3},
    "title": {"color": INK, "fontSize": 12, "fontWeight": 600, "offset": 4},
}
"""Configuration of a whole chart, in Vega-Lite's terms."""


def label_width(width: int, names: Sequence[str] = ()) -> int:
    """Pixels for the names on an axis: as wide as the given names, or as model names usually are."""
    low, most = (165, 235) if width == WIDE else (118, 150)
    return max(44, min(most, 8 * max(map(len, names)) + 14)) if names else low


def name_axis(width: int, names: Iterable[str], most_lines: int = 3) -> Any:
    """An axis of names with the given width in pixels; long names wrap."""
    long = {name: lines for name in names if len(lines := wrapped_name(name, width, most_lines)) > 1}
    # Names become literals of the expression, where JSON is valid syntax.
    text = f"({json.dumps(long)})[datum.label] || datum.label" if long else "datum.label"
    return alt.Axis(
        minExtent=width,
        maxExtent=width,
        labelLimit=width,
        labelExpr=text,
        labelLineHeight=LINE_HEIGHT,
        labelOffset=_offsets(long),
    )


def _offsets(long: Mapping[str, Sequence[str]]) -> Any:
    """How far up a name of several lines begins: the library puts the first where the only one of other names is."""
    if not long:
        return alt.Undefined
    of_lines: dict[int, list[str]] = {}
    for name, lines in long.items():
        of_lines.setdefault(len(lines), []).append(name)
    conditions = [
        {"test": f"indexof({json.dumps(names)}, datum.value) >= 0", "value": (1 - lines) * LINE_HEIGHT / 2}
        for lines, names in of_lines.items()
    ]
    return {"condition": conditions, "value": 0}


def wrapped_name(name: str, width: int, most_lines: int = 3) -> list[str]:
    """A name on lines of the given width in pixels; the middle of one that needs more lines is left out."""
    # Leaves room for wider fonts.
    most = int(width * 0.8 / _LETTER)
    if len(name) > most_lines * most:
        name = f"{name[:most]}…{name[-((most_lines - 1) * most - 2) :]}"
    lines = [""]
    for piece in re.findall(rf"[^ /_-]{{1,{most}}}[ /_-]*|[ /_-]+", name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > most:
            lines.append("")
        lines[-1] += piece
    if len(lines) > most_lines:
        lines = [name[at : at + most] for at in range(0, len(name), most)]
    return [line.strip() for line in lines if line.strip()] or [name]


def lines_of(names: Iterable[str], width: int, most_lines: int = 3) -> int:
    """Lines of the longest of some names."""
    return max((len(wrapped_name(name, width, most_lines)) for name in names), default=1)


def model_colours(labels: Iterable[str]) -> dict[str, str]:
    """One colour per model; a name with the mark of a run that is not complete has the colour of the name without it."""
    models = dict.fromkeys(label.removesuffix(INCOMPLETE) for label in labels)
    its = dict(zip(models, colours(MODEL_COLOURS), strict=False))
    return its | {f"{model}{INCOMPLETE}": colour for model, colour in its.items()}


def colour_in_page(colour: str) -> str:
    """A colour as pages name it, so that it follows light and dark."""
    return VARIABLES.get(colour, colour)


def colours(first: Sequence[str]) -> Iterator[str]:
    """Any number of colours: first the given ones, then others by rotating the hue, which are seen on light and dark
    grounds."""
    yield from first
    for number in count():
        hue, brightness = (0.07 + 0.381966 * number) % 1, _BRIGHTNESS[number % len(_BRIGHTNESS)]
        lightness = next(
            percent / 100
            for percent in range(20, 100)
            if _brightness(*hls_to_rgb(hue, percent / 100, 0.45)) >= brightness
        )
        yield "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(hue, lightness, 0.45))


_BRIGHTNESS = (0.15, 0.2, 0.25)
"""Relative luminance of further colours, as WCAG defines it; their contrast to either ground is 3 and more."""


def _brightness(red: float, green: float, blue: float) -> float:
    """Relative luminance of a colour. Args: red, green, blue: from 0 to 1."""
    linear = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def colour(field: str, its: Mapping[str, str], width: int) -> Any:
    """A colour per value of a field, with a legend where one is needed.

    Args:
        its: value to colour.
        width: pixels that the legend may take.
    """
    values = list(its)
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=_columns(values, width),
        labelLimit=180,
        symbolType="square",
        symbolOpacity=1,
        symbolStrokeWidth=0,
        columnPadding=26,
    )
    # A single model needs no legend; a single error class does.
    if len(values) < (2 if field == "model" else 1):
        legend = None
    return alt.Color(
        f"{field}:N", sort=values, scale=alt.Scale(domain=values, range=list(its.values())), legend=legend
    )


def _columns(values: Sequence[str], width: int) -> int:
    """Columns of a legend, given its longest entry."""
    longest = min(180, 8 * max(map(len, values), default=1))
    return max(1, min(len(values), width // (longest + 45)))


def value_scale(drawing: ChartData) -> Any:
    """Scale of the numbers: rates from 0 to 1, or up to what exceeds 1."""
    if not drawing.percent:
        return alt.Scale(zero=True)
    highest = max((max(point.value, point.high or 0) for point in drawing.points), default=1.0)
    return alt.Scale(domain=[0, max(1.0, math.ceil(10 * highest) / 10)])


def value_axis(drawing: ChartData, *, few: bool = False, above: bool = False) -> Any:
    """Axis of the numbers.

    Args:
        few: whether it has fewer ticks, for a narrow chart.
        above: whether it stands above the chart, with its numbers only.
    """
    integral = all(point.value == int(point.value) for point in drawing.points)
    steps: dict[str, Any] = {"tickMinStep": 1} if integral and not drawing.percent else {}
    place: dict[str, Any] = {"orient": "top", "grid": False} if above else {}
    return alt.Axis(format="~%" if drawing.percent else "~s", tickCount=3 if few else 5, **place, **steps)
