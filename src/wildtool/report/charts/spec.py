"""The kinds of charts, as Vega-Lite specifications: altair makes the single views, which are combined here.

altair's own layers and concatenations copy their contents whenever they change, which takes longer than
drawing them.
"""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
from altair.utils import schemapi

from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.theme import (
    BAR,
    CLASS_COLOURS,
    GROUND,
    INK,
    LINE_HEIGHT,
    LOOK,
    MUTED,
    NARROW,
    VALUE_WIDTH,
    WIDE,
    colour,
    colours,
    label_width,
    lines_of,
    model_colours,
    name_axis,
    value_axis,
    value_scale,
)

ChartSpec = dict[str, Any]
MAX_BAR_MODELS = 5
"""Up to this number, models are drawn as adjacent bars; above it, each name gets its own panel."""
MAX_LINE_MODELS = 8
"""Models drawn as lines at most."""
MAX_PANEL_ROWS = 60
_ROWS_OF_A_SCREEN = 20
"""From this number of rows an axis stands above them, too."""
_LINES_OF_ROWS = 2
"""Lines that a name has at most where there are as many rows or more."""
TITLE_LETTER = 6.8
"""Average pixels per letter of a panel's title."""


def chart_spec(drawing: ChartData, width: int) -> ChartSpec:
    """A chart of the given size in pixels."""
    kinds: Mapping[str, Callable[[ChartData, int], ChartSpec]] = {
        "bars": _bars if len(drawing.models) <= MAX_BAR_MODELS else _panels,
        "lines": _lines,
        "stacked": _stacked,
        "differences": _differences,
        "heat": _heat,
        "panels": _panels,
        "sizes": _sizes,
        "waterfall": _waterfall,
    }
    # The parts are the same for all data, and to check each against the schema takes as long as to put them together.
    with schemapi.debug_mode(False):
        empty: Any = alt.LayerChart()
        spec = empty.configure(**LOOK).to_dict(validate=False)
        return {"$schema": spec["$schema"], "config": spec["config"], **kinds[drawing.kind](drawing, width)}


def max_models(drawing: ChartData) -> int:
    """How many models a chart shows at most."""
    return MAX_LINE_MODELS if drawing.kind == "lines" else MAX_PANEL_ROWS


def _bars(drawing: ChartData, width: int) -> ChartSpec:
    """Bars with intervals: for each name one bar per model."""
    label = label_width(width, drawing.names)
    base = alt.Chart().encode(
        y=alt.Y(
            "name:N",
            sort=list(drawing.names),
            title=drawing.axis or None,
            axis=name_axis(label, drawing.names),
        ),
        yOffset=alt.YOffset("model:N", sort=list(drawing.models)),
    )
    bar = base.mark_bar(fillOpacity=0.85).encode(
        x=alt.X(
            "value:Q", title=drawing.values or None, scale=value_scale(drawing), axis=value_axis(drawing)
        ),
        color=colour("model", _coloured(drawing, drawing.models), width - label),
    )
    lines = LINE_HEIGHT * lines_of(drawing.names, label) + 6
    height = len(drawing.names) * max(22, 14 * len(drawing.models) + 8, lines)
    links = _links_of_rows(base, drawing, width - label - 26)
    return {
        **_data(drawing, drawing.points),
        **_sized(width - label - 26 - VALUE_WIDTH, height),
        "layer": [_view(bar), _view(_intervals(base, drawing)), _view(_value_labels(base)), *links],
    }


def _panels(drawing: ChartData, width: int) -> ChartSpec:
    """A panel per name with a row per model: for many models."""
    models = drawing.models[:MAX_PANEL_ROWS]
    columns = 1 if width == NARROW else min(2, len(drawing.names))
    label = label_width(width)
    height = _row_height(models, label, least=14, around=3) * len(models)
    size = _sized((width - label - (26 + VALUE_WIDTH) * columns) // columns, height)
    across = size["width"] + VALUE_WIDTH
    first, later = (_panel_layers(drawing, models, labels_in, across) for labels_in in (label, None))
    # Each of the layers has its own axis, or none.
    both = {"resolve": {"axis": {"x": "independent"}}} if len(models) >= _ROWS_OF_A_SCREEN else {}
    letters = int((size["width"] + VALUE_WIDTH) / TITLE_LETTER)

    def panel(place: int, name: str) -> ChartSpec:
        layers = later if place % columns else first
        lines = textwrap.wrap(name, letters)
        title = {"text": lines if len(lines) > 1 else name, "anchor": "start", "frame": "group"}
        its = [point for point in drawing.points if point.name == name and point.model in models]
        return {
            **_data(drawing, its),
            **size,
            **both,
            "layer": [{**layer, "title": title} for layer in layers],
        }

    panels = [panel(place, name) for place, name in enumerate(drawing.names)]
    rows = [panels[at : at + columns] for at in range(0, len(panels), columns)]
    return {"vconcat": [{"hconcat": row, "spacing": 14 + VALUE_WIDTH, "bounds": "flush"} for row in rows]}


def _panel_layers(
    drawing: ChartData, models: Sequence[str], label: int | None, across: int
) -> list[ChartSpec]:
    """What all panels of a column share.

    Args:
        label: pixels for names; None for no names.
        across: pixels for bars and their numbers.
    """
    names = alt.Axis(labels=False, ticks=False) if label is None else _row_names(models, label)
    base = alt.Chart().encode(y=_rows(models, names))
    x = alt.X(
        "value:Q",
        title=drawing.values or None,
        scale=value_scale(drawing),
        axis=value_axis(drawing, few=True),
    )
    above = alt.X(
        "value:Q", title=None, scale=value_scale(drawing), axis=value_axis(drawing, few=True, above=True)
    )
    bar = base.mark_bar(fillOpacity=0.85).encode(x=x, color=_named(drawing, models))
    layers = [_view(bar), _view(_intervals(base, drawing)), _view(_value_labels(base))]
    links = _links_of_rows(base, drawing, across)
    if len(models) < _ROWS_OF_A_SCREEN:
        return [*layers, *links]
    for layer in layers[1:]:
        layer["encoding"]["x"]["axis"] = None
    return [*layers, _view(base.mark_point(size=0, opacity=0).encode(x=above)), *links]


def _links_of_rows(base: Any, drawing: ChartData, across: int) -> list[ChartSpec]:
    """For each bar an unseen one over its whole row, which is the link: so that a bar of 0 % has a place to click, too.

    Args:
        base: with the encoding of the rows.
        across: the width of a row in pixels.
    """
    row = base.mark_rect(**_UNSEEN).encode(x=alt.XValue(0), x2=alt.X2Value(across))
    return _links(row, drawing)


_UNSEEN: Mapping[str, Any] = {"color": "transparent"}


def _links(marks: Any, drawing: ChartData) -> list[ChartSpec]:
    """Unseen marks as links; none where no number of the chart has a cell in the table beside it."""
    if not any(point.cell for point in drawing.points):
        return []
    return [_view(marks.transform_filter("isValid(datum.href)").encode(href=alt.Href("href:N")))]


def _lines(drawing: ChartData, width: int) -> ChartSpec:
    """A line per model over the names, with its intervals as a band; where there is room, its name at its end."""
    models = drawing.models[:MAX_LINE_MODELS]
    points = [point for point in drawing.points if point.model in models]
    room = label_width(width, models) if width == WIDE and len(models) > 1 else 0
    paint = _named(drawing, models) if room else colour("model", _coloured(drawing, models), width - 60)
    base = alt.Chart().encode(
        x=alt.X(
            "name:N",
            sort=list(drawing.names),
            title=drawing.axis or None,
            scale=alt.Scale(padding=0.2),
            axis=alt.Axis(labelAngle=0 if max(map(len, drawing.names)) < 8 else -30, grid=False),
        ),
        color=paint,
    )
    scale = value_scale(drawing)
    band = base.mark_area(opacity=0.13).encode(
        y=alt.Y("low:Q", scale=scale, title=drawing.values or None, axis=value_axis(drawing)),
        y2=alt.Y2("high:Q"),
    )
    line = base.mark_line(strokeWidth=2).encode(y=alt.Y("value:Q", scale=scale))
    dot = base.mark_circle(size=45, opacity=1).encode(y=alt.Y("value:Q"))
    name = base.mark_text(align="left", dx=8, limit=room).encode(
        y=alt.Y("at:Q", scale=scale), text=alt.Text("model:N")
    )
    ends = {"data": {"values": list(_names_at_ends(drawing, points))}}
    around = base.mark_circle(size=300, **_UNSEEN).encode(
        y=alt.Y("value:Q"), color=alt.ColorValue("transparent")
    )
    return {
        **_data(drawing, points),
        **_sized(width - 60 - room, _LINES_HEIGHT),
        "layer": [
            _view(band),
            _view(line),
            _view(dot),
            *([{**ends, **_view(name)}] if room else []),
            *_links(around, drawing),
        ],
    }


_LINES_HEIGHT = 280


def _names_at_ends(drawing: ChartData, points: Sequence[ChartPoint]) -> Iterator[Mapping[str, Any]]:
    """Where the name of each line stands: at its last point, or as near to it as the other names leave room."""
    last = {point.model: point for point in points}
    highest = max((max(point.value, point.high or 0) for point in points), default=1.0)
    highest = max(1.0, highest) if drawing.percent else highest
    places = names_apart(
        [point.value for point in last.values()], LINE_HEIGHT / _LINES_HEIGHT * highest, highest
    )
    for point, place in zip(last.values(), places, strict=True):
        yield {"model": point.model, "name": drawing.names[-1], "at": place}


def names_apart(values: Sequence[float], gap: float, highest: float) -> list[float]:
    """Places for the names of values on an axis: in their order, at least a gap apart, and none above the highest place
    unless they do not all fit below it."""
    places, order = list(values), sorted(range(len(values)), key=values.__getitem__)
    for below, above in pairwise(order):
        places[above] = max(places[above], places[below] + gap)
    limit = max(highest, gap * (len(values) - 1))
    for number in reversed(order):
        places[number] = min(places[number], limit)
        limit = places[number] - gap
    return places


def _stacked(drawing: ChartData, width: int) -> ChartSpec:
    """A stacked bar of shares per model; a share links to the units behind it."""
    models = drawing.models[:MAX_PANEL_ROWS]
    # Ordered by all classes, so that a class has the same colour on every page.
    every = dict(zip(drawing.names, colours(CLASS_COLOURS), strict=False))
    names = {point.name for point in drawing.points if point.value > 0}
    its = {name: colour for name, colour in every.items() if name in names}
    label = label_width(width)
    bar = (
        alt.Chart()
        .mark_bar(stroke=GROUND, strokeWidth=1)
        .encode(
            y=_rows(models, _row_names(models, label)),
            x=alt.X("value:Q", stack="zero", title=drawing.values or None, axis=value_axis(drawing)),
            color=colour("name", its, width - label),
            order=alt.Order("order:Q"),
            href=alt.Href("href:N"),
        )
    )
    points = [point for point in drawing.points if point.model in models and point.value > 0]
    return {
        **_data(drawing, points),
        **_sized(width - label - 26, max(60, _row_height(models, label, least=24, around=4) * len(models))),
        **_view(bar),
    }


def _differences(drawing: ChartData, width: int) -> ChartSpec:
    """Each model's difference from a baseline: a point with its interval, and a line at zero."""
    label = label_width(width)
    models = drawing.models[:MAX_PANEL_ROWS]
    base = alt.Chart().encode(
        y=alt.Y("model:N", sort=list(models), title=None, axis=_row_names(models, label))
    )
    rule = base.mark_rule(strokeWidth=2).encode(
        color=_named(drawing, models),
        x=alt.X("low:Q", title=drawing.values or None, axis=_signed(above=len(models) >= _ROWS_OF_A_SCREEN)),
        x2=alt.X2("high:Q"),
    )
    dot = base.mark_circle(size=60, opacity=1).encode(x=alt.X("value:Q"), color=_named(drawing, models))
    zero = alt.Chart().mark_rule(color=MUTED, strokeDash=[4, 3]).encode(x=alt.X("at:Q"))
    its = _data(drawing, [point for point in drawing.points if point.model in models])
    layers = [_view(rule), _view(dot), *_links_of_rows(base, drawing, width - label - 26)]
    return {
        **_sized(width - label - 26, max(60, _row_height(models, label, least=22, around=4) * len(models))),
        "layer": [
            {"data": {"values": [{"at": 0}]}, **_view(zero)},
            *({**its, **layer} for layer in layers),
        ],
    }


OTHERS = "others"
"""How the name of a model begins whose points are not joined."""


def _sizes(drawing: ChartData, width: int) -> ChartSpec:
    """Points over a log axis, with intervals; those of one model are joined."""
    x = alt.X(
        "at:Q",
        title=drawing.axis or None,
        scale=alt.Scale(type="log", nice=True),
        axis=alt.Axis(format="~g", tickCount=6, grid=False),
    )
    base = alt.Chart().encode(x=x, color=colour("model", _coloured(drawing, drawing.models), width - 60))
    y = alt.Y("value:Q", scale=value_scale(drawing), title=drawing.values or None, axis=value_axis(drawing))
    rule = base.mark_rule(strokeWidth=1).encode(
        y=alt.Y("low:Q", scale=value_scale(drawing)), y2=alt.Y2("high:Q")
    )
    line = base.transform_filter(f"indexof(datum.model, '{OTHERS}') != 0").mark_line(strokeWidth=1.5)
    dot = base.mark_circle(size=50, opacity=1)
    layers = [rule, line.encode(y=y), dot.encode(y=y)]
    return {
        **_data(drawing, drawing.points),
        **_sized(width - 60, 320),
        "layer": [_view(layer) for layer in layers],
    }


def _waterfall(drawing: ChartData, width: int) -> ChartSpec:
    """Bars below each other, each from where the one above ends; the models say what kind of bar each is."""
    label = label_width(width, drawing.names)
    base = alt.Chart().encode(
        y=alt.Y("name:N", sort=list(drawing.names), title=None, axis=name_axis(label, drawing.names))
    )
    bar = base.mark_bar(fillOpacity=0.85).encode(
        x=alt.X("at:Q", title=drawing.values or None, axis=value_axis(drawing)),
        x2=alt.X2("value:Q"),
        color=colour("model", _coloured(drawing, drawing.models), width - label),
    )
    height = len(drawing.names) * max(24, LINE_HEIGHT * lines_of(drawing.names, label) + 6)
    return {
        **_data(drawing, drawing.points),
        **_sized(width - label - 26 - VALUE_WIDTH, height),
        "layer": [_view(bar), _view(_intervals(base, drawing)), _view(_labels_beside(base))],
    }


def _labels_beside(base: Any) -> Any:
    """The number of each bar of a waterfall, to the right of the bar and its interval."""
    placed = base.transform_calculate(edge="max(datum.high, datum.at)")
    text = placed.mark_text(align="left", dx=4, fontSize=10, color=MUTED, clip=False)
    return text.encode(x=alt.X("edge:Q"), text=alt.Text("short:N"))


_CELL_WIDTH = 96
"""Pixels of a cell that has room for an interval and counts under its number."""


def _heat(drawing: ChartData, width: int) -> ChartSpec:
    """A cell for each pair of names, stronger in colour where its number is higher; with interval and counts where there
    is room."""
    label = label_width(width, drawing.models)
    within = width - label - 26
    roomy = within / len(drawing.names) >= _CELL_WIDTH or width == WIDE
    slanted = max(map(len, drawing.names)) * len(drawing.names) * 7 > within
    base = alt.Chart().encode(
        x=alt.X(
            "name:N",
            sort=list(drawing.names),
            scale=alt.Scale(domain=list(drawing.names)),
            title=drawing.axis or None,
            axis=alt.Axis(orient="top", labelAngle=-30 if slanted else 0, grid=False),
        ),
        y=_rows(drawing.models, name_axis(label, drawing.models)),
    )
    shade = alt.Scale(domain=[0, 1], range=[0.06, 0.6], clamp=True)
    box = base.mark_rect(color=BAR, stroke=GROUND, strokeWidth=2).encode(
        opacity=alt.Opacity("value:Q", scale=shade, legend=None)
    )
    number = base.mark_text(dy=-8 if roomy else 0, fontSize=12 if roomy else 9, fontWeight=600, color=INK)
    layers = [_view(box), _view(number.encode(text=alt.Text("short:N")))]
    if roomy:
        behind = base.mark_text(dy=8, fontSize=9, color=INK).encode(text=alt.Text("behind:N"))
        layers.append(_view(behind))
    layers += _links(base.mark_rect(**_UNSEEN), drawing)
    height = len(drawing.models) * max(40, LINE_HEIGHT * lines_of(drawing.models, label) + 6)
    return {**_data(drawing, drawing.points), **_sized(within, height), "layer": layers}


def _signed(*, above: bool) -> Any:
    """An axis of differences. Args: above: whether it stands above the rows, of which there are many."""
    # Zero gets no sign, and a minus is the one of tables.
    text = "datum.value == 0 ? '0' : replace(format(100 * datum.value, '+.0f'), '−', '-')"
    return alt.Axis(labelExpr=text, tickCount=5, orient="top" if above else "bottom")


def _view(chart: Any) -> ChartSpec:
    """A single view as part of a chart, without its data."""
    view: ChartSpec = chart.to_dict(validate=False, context={"top_level": False})
    # A chart without data gets a placeholder.
    view.pop("data", None)
    return view


def _sized(width: int, height: int) -> ChartSpec:
    return {"width": width, "height": height}


def _row_names(models: Sequence[str], width: int) -> Any:
    """The axis of rows that are of a model each. Args: width: of the names, in pixels."""
    return name_axis(width, models, _most_lines(models))


def _row_height(models: Sequence[str], width: int, *, least: int, around: int) -> int:
    """Pixels of each of these rows.

    Args:
        width: of the names, in pixels.
        least: where no name wraps.
        around: between two names.
    """
    return max(least, LINE_HEIGHT * lines_of(models, width, _most_lines(models)) + around)


def _most_lines(models: Sequence[str]) -> int:
    """Lines of a name at most. All rows are as high as that of the longest, and people scroll past them."""
    return _LINES_OF_ROWS if len(models) >= _ROWS_OF_A_SCREEN else 3


def _rows(models: Sequence[str], axis: Any) -> Any:
    return alt.Y("model:N", sort=list(models), scale=alt.Scale(domain=list(models)), title=None, axis=axis)


def _coloured(drawing: ChartData, models: Sequence[str]) -> dict[str, str]:
    """The colour of each model."""
    colours = drawing.colours or model_colours(model for model in drawing.models if model)
    return {model: colours.get(model, BAR) for model in models}


def _named(drawing: ChartData, models: Sequence[str]) -> Any:
    """The colour of each model whose name stands beside it, so that no legend is needed."""
    its = _coloured(drawing, models)
    scale = alt.Scale(domain=list(its), range=list(its.values()))
    return alt.Color("model:N", scale=scale, legend=None)


def _value_labels(base: Any) -> Any:
    """The number of each bar, to the right of its interval."""
    text = base.mark_text(align="left", dx=4, fontSize=10, color=MUTED, clip=False)
    return text.encode(x=alt.X("high:Q"), text=alt.Text("short:N"))


def _intervals(base: Any, drawing: ChartData) -> Any:
    """The interval of each bar; dashed, the range that units without a verdict leave open."""
    rule = base.mark_rule(color=INK, strokeWidth=1).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    if not drawing.is_open:
        return rule
    return rule.encode(strokeDash=alt.condition("datum.open", alt.value([3, 3]), alt.value([1, 0])))


def _data(drawing: ChartData, points: Sequence[ChartPoint]) -> ChartSpec:
    return {"data": {"values": list(_values(drawing, points))}}


def _values(drawing: ChartData, points: Sequence[ChartPoint]) -> Iterator[Mapping[str, Any]]:
    order = {name: place for place, name in enumerate(drawing.names)}
    numbers = {id(point): number for number, point in enumerate(drawing.points)}
    for point in points:
        yield {
            "model": point.model,
            "name": point.name,
            "value": point.value,
            "low": point.value if point.low is None else point.low,
            "high": point.value if point.high is None else point.high,
            "order": order[point.name],
            "short": point.short,
            **({"open": True} if point.is_open else {}),
            **({"behind": point.behind} if drawing.kind == "heat" else {}),
            **({"at": point.at} if drawing.kind in ("sizes", "waterfall") else {}),
            # A number in place of an address, which the library would resolve against its own.
            **({} if point.cell is None else {"href": f"#{numbers[id(point)]}"}),
        }
