"""Charts as they are handed to what draws them, and what is kept of a drawing."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from golden_files import same_as_golden
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.render import (
    _left_out,  # pyright: ignore[reportPrivateUsage]
    _sanitized,  # pyright: ignore[reportPrivateUsage]
    sanitize_svg,
)
from wildtool.report.charts.spec import chart_spec
from wildtool.report.charts.theme import (
    CLASS_COLOURS,
    MODEL_COLOURS,
    NARROW,
    WIDE,
    colours,
    label_width,
    lines_of,
    model_colours,
    wrapped_name,
)


def drawing(kind: Any, models: int, size: int = 2, **fields: Any) -> ChartData:
    labels = tuple(f"model-{k}" for k in range(models))
    numbers = tuple(f"Number {k}" for k in range(size))
    points = tuple(
        ChartPoint(
            label, name, 0.2 * (m + n % 3), 0.1, None if m else 1.04, "text", f"#{m}{n}" * (n % 2), "short"
        )
        for m, label in enumerate(labels)
        for n, name in enumerate(numbers)
    )
    return replace(ChartData("title", "about", points, labels, numbers, kind, percent=True), **fields)


LONG = tuple(f"A model with a name that is much longer than those of others, {k}" for k in range(6))
DRAWINGS = {
    "bars": drawing("bars", 2),
    "bars of one model": drawing("bars", 1, axis="axis", values="values", colours={"model-0": "#123456"}),
    "bars of counts": drawing(
        "bars", 2, percent=False, points=(ChartPoint("model-0", "Number 0", 3, None, None, ""),)
    ),
    "bars of long names": drawing(
        "bars", 1, 1, names=("A name that is much longer than others " * 3,), points=()
    ),
    "panels": drawing("bars", 6, 3, values="values"),
    "many panels": drawing("bars", 31, 1),
    "lines": drawing("lines", 2, 3, axis="axis"),
    "lines of many": drawing("lines", 9, values="values"),
    "stacked": drawing("stacked", 2, 3, values="values"),
    "stacked of many": drawing("stacked", 31, 1),
    "differences": drawing("differences", 2, 1, values="values"),
    "differences of many": drawing("differences", 31, 1),
    **{
        f"{name} of long names": replace(drawing(kind, 1, 1), models=models, points=())
        for name, kind, models in (
            ("panels", "bars", LONG),
            ("stacked", "stacked", LONG[:3]),
            ("differences", "differences", LONG[:3]),
        )
    },
}


def short(spec: Any) -> Any:
    """A specification with its values and ranges counted where there are many."""
    if isinstance(spec, dict):
        return {key: short(value) for key, value in spec.items()}
    if isinstance(spec, list) and len(spec) > 8:
        return [*map(short, spec[:2]), f"and {len(spec) - 3}", short(spec[-1])]
    return [*map(short, spec)] if isinstance(spec, list) else spec


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("name", DRAWINGS)
def test_a_chart_is_described_in_these_terms(name: str, width: int):
    spec = chart_spec(DRAWINGS[name], width)
    assert spec.pop("$schema").endswith(".json")
    config = spec.pop("config")
    same_as_golden("report/charts/config.json", config)
    rows = {key: json.dumps(short(value)) for key, value in spec.items()}
    same_as_golden(f"report/charts/{name.replace(' ', '-')}-{width}.json", rows)


@pytest.mark.parametrize(("kind", "most"), [("bars", 30), ("lines", 8), ("stacked", 30), ("differences", 30)])
def test_a_chart_says_how_many_models_it_leaves_out(kind: str, most: int):
    assert _left_out(drawing(kind, most)) == ""
    assert _left_out(drawing(kind, most + 1)) == (
        f"The chart shows the first {most} of {most + 1} models; the table shows all"
    )


def test_names_have_room_by_the_width_of_a_chart():
    assert [label_width(width) for width in (WIDE, NARROW)] == [165, 118]
    assert [label_width(WIDE, ["x" * size]) for size in (1, 4, 27, 28)] == [44, 46, 230, 235]
    assert [label_width(NARROW, ["x", "x" * size]) for size in (16, 17, 18)] == [142, 150, 150]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("short", ["short"]),
        ("twelve chars and more", ["twelve chars", "and more"]),
        ("one/two_three-four five six", ["one/two_", "three-four", "five six"]),
        ("abcdefghijklmnopqrstuvwxyz", ["abcdefghijkl", "mnopqrstuvwx", "yz"]),
        ("abcdefghijklmnopqrstuvwxyz0123456789A", ["abcdefghijkl", "…pqrstuvwxyz", "0123456789A"]),
        ("a b c d e f g h i j k l m n o p q r s", ["a b c d e f", "… i j k l m", "n o p q r s"]),
        ("", [""]),
        (" ", [" "]),
    ],
)
def test_a_name_takes_up_to_three_lines(name: str, lines: list[str]):
    assert wrapped_name(name, 95) == lines
    assert lines_of([name, "x"], 95) == len(lines)
    assert lines_of([], 95) == 1


def test_colours_are_the_first_ones_then_others_that_differ():
    stream = colours(MODEL_COLOURS[:2])
    assert [next(stream) for _ in range(6)] == [
        "#2f6db3",
        "#d9822b",
        "#815331",
        "#3fa689",
        "#c059c0",
        "#b6ce7e",
    ]
    its = model_colours(["a", "b", "a", "c"])
    assert its == dict(zip("abc", MODEL_COLOURS[:3], strict=True))
    assert not set(MODEL_COLOURS) & set(CLASS_COLOURS)


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" onload="x()">'
    '<style>x</style><g fill="#2f6db3" class="c"><a xlink:href="https://x.example/#1"><path d="M0" stroke="none"/></a>'
    '<a xlink:href="#0"><text x="1">T</text></a><a xlink:href="#7"/><foreignObject/></g></svg>'
)


def test_of_a_drawing_only_shapes_texts_and_links_to_units_are_kept():
    links = [("javascript:x", "bad"), ("#trajectories?run=0&error=a+b", "good <b>")]
    kept = sanitize_svg(SVG, ("a <title>", "about"), lambda colour: f"[{colour}]", "wide", links)
    assert kept == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" role="group"'
        ' aria-label="a &lt;title&gt;. about" class="wide"><title>a &lt;title&gt;</title>'
        '<g fill="[#2f6db3]"><a href="#trajectories?run=0&amp;error=a+b" aria-label="good &lt;b&gt;">'
        '<path d="M0" stroke="[none]" /></a><a><text x="1">T</text></a><a /></g></svg>'
    )
    plain = ET.fromstring(sanitize_svg(SVG.replace("#1", "#9"), ("t", "a"), str))
    assert (plain.get("role"), plain.get("class"), plain.get("aria-label")) == ("img", None, "t. a")


@pytest.mark.parametrize(
    ("href", "is_kept"),
    [
        ("trajectories.html#run=0&outcome=wrong&error=Wrong+Name+%2F+Missing", True),
        ("trajectories.html#", True),
        ("javascript:alert(1)", False),
        ("https://example.org/", False),
        ("//x", False),
        ("trajectories.html#<", False),
        ("trajectories.html", False),
    ],
)
def test_only_links_to_units_survive(href: str, is_kept: bool):
    kept = ET.fromstring(sanitize_svg(SVG, ("t", "a"), str, "wide", [(href, "name")]))
    links = [(each.get("href"), each.get("aria-label")) for each in kept.iter() if "href" in each.attrib]
    assert links == ([(href, "name")] if is_kept else [])


def test_texts_of_a_chart_are_on_one_line():
    odd = ChartData(
        "ti\ntle", "ab\nout", (ChartPoint("m\n1", "n\n1", 1, None, None, "t\n1", "h", "s\n1"),), ("m\n1",), ("n\n1",),
        "bars", percent=False, axis="a\nx", values="v\ny", colours={"m\n1": "#fff"},
    )  # fmt: skip
    assert _sanitized(odd) == ChartData(
        "ti tle", "ab out", (ChartPoint("m 1", "n 1", 1, None, None, "t\n1", "h", "s 1"),), ("m 1",), ("n 1",),
        "bars", percent=False, axis="a x", values="v y", colours={"m 1": "#fff"},
    )  # fmt: skip
