"""How charts look: colours, axes, legends, widths."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.report.drawing import Drawing

WIDE, NARROW = 560, 340
"""Widths in pixels of the drawn charts."""
SERIES = (
    *("#2f6db3", "#d9822b", "#2e8b67", "#b8456a", "#7a62b5", "#8c7a2f"),
    *("#3f98a8", "#a35a3a", "#6f7d8c", "#c08bb4", "#7fa34b", "#4a5560"),
)
INK, MUTED, GRID, GROUND = "#1d2024", "#646a73", "#e7e7e3", "#fcfcfa"
VARIABLES = {
    **{colour: f"var(--c{number})" for number, colour in enumerate(SERIES, 1)},
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    GROUND: "var(--ground)",
}
"""What each colour is called in a page, where it is the page's own."""
_LETTER = 6.2
"""Pixels of a letter beside an axis, on average."""
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
"""Configuration of a whole chart, as Vega-Lite names it."""


def label_width(width: int, names: Sequence[str] = ()) -> int:
    """Pixels that the names beside an axis take; the same in most charts, so that their zeros stand in one line."""
    least, most = (165, 235) if width == WIDE else (118, 150)
    return max(least, min(most, 9 * max(map(len, names), default=0)))


def labels(width: int) -> Any:
    """An axis of names beside a chart, in so many pixels."""
    import altair as alt

    # What tells long names apart stands at their ends as often as at their beginnings. Room is left for wider fonts.
    most = int(width * 0.8 / _LETTER)
    begin, end = most // 3, most - most // 3 - 1
    cut = f"slice(datum.label, 0, {begin}) + '…' + slice(datum.label, -{end})"
    shown = f"length(datum.label) > {most} ? {cut} : datum.label"
    return alt.Axis(minExtent=width, maxExtent=width, labelLimit=width * 0.92, labelExpr=shown)


def colour(field: str, values: Sequence[str], width: int) -> Any:
    """A colour for each of the values of a field, with a legend where it is needed."""
    import altair as alt

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
    # One model needs no legend, one kind of error does.
    if len(values) < (2 if field == "model" else 1):
        legend = None
    colours = [SERIES[place % len(SERIES)] for place in range(len(values))]
    return alt.Color(
        f"{field}:N", sort=list(values), scale=alt.Scale(domain=list(values), range=colours), legend=legend
    )


def _columns(values: Sequence[str], width: int) -> int:
    """Columns of a legend, by its longest entry."""
    longest = min(180, 8 * max(map(len, values), default=1))
    return max(1, min(len(values), width // (longest + 45)))


def scale(drawing: Drawing) -> Any:
    """The scale of its numbers: rates from 0 to 1, or to what exceeds it."""
    import altair as alt

    if not drawing.percent:
        return alt.Scale(zero=True)
    highest = max((max(point.value, point.high or 0) for point in drawing.points), default=1.0)
    return alt.Scale(domain=[0, max(1.0, math.ceil(10 * highest) / 10)])


def axis(drawing: Drawing, *, few: bool = False) -> Any:
    """The axis of its numbers. `few`: for a narrow one."""
    import altair as alt

    whole = all(point.value == int(point.value) for point in drawing.points)
    steps: dict[str, Any] = {"tickMinStep": 1} if whole and not drawing.percent else {}
    return alt.Axis(format="~%" if drawing.percent else "~s", tickCount=2 if few else 5, **steps)
