"""Charts as SVG: colours of the page, texts that stay texts, nothing in them but shapes."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report.report_build import ATTACK
from wildtool.engine.compare.leaderboard import INCOMPLETE
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.render import render_chart
from wildtool.report.charts.spec import chart_spec, names_apart
from wildtool.report.charts.theme import BAR, CLASS_COLOURS, MODEL_COLOURS, WIDE, model_colours, wrapped_name
from wildtool.report.pages.dataset import dataset_charts
from wildtool.types import Metric


def drawing(kind: str, *models: str, linked: bool = False) -> ChartData:
    points = tuple(
        ChartPoint(
            model, name, 0.4 + 0.1 * place, 0.3, 0.7, "40 %", cell=(row, 1 + place) if linked else None
        )
        for row, model in enumerate(models)
        for place, name in enumerate(("one", "two"))
    )
    return ChartData("title", "about", points, models, ("one", "two"), kind, percent=True)  # pyright: ignore


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bars", "lines", "stacked", "differences"])
def test_a_chart_of_any_kind_is_drawn_in_both_widths_and_as_files(kind: str):
    chart = render_chart(drawing(kind, "a", "b"))
    wide, narrow = (float(ET.fromstring(svg).get("width", "0")) for svg in (chart.wide, chart.narrow))
    assert 400 < wide <= 640
    assert 250 < narrow <= 360
    assert chart.png.startswith(b"\x89PNG")
    assert chart.svg.startswith(b"<svg")


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "models"), [("bars", 2), ("bars", 9), ("lines", 2), ("stacked", 2), ("differences", 2)]
)
def test_a_chart_is_what_the_schema_of_vega_lite_allows(kind: str, models: int):
    alt.Chart.from_dict(chart_spec(drawing(kind, *map(str, range(models))), WIDE), validate=True)


def test_a_name_in_a_chart_is_a_text_and_nothing_else():
    chart = render_chart(drawing("bars", ATTACK, "b"))
    for svg in (chart.wide, chart.narrow, chart.svg.decode()):
        tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
        assert tags <= {"svg", "g", "path", "line", "rect", "text", "title"}
        assert "<script" not in svg


def test_colours_in_a_page_are_the_pages_and_in_a_file_they_are_colours():
    chart = render_chart(drawing("bars", "a", "b"))
    assert "var(--c1)" in chart.wide
    assert "#" not in chart.wide.replace("#trajectories", "")
    assert "var(" not in chart.svg.decode()


LINKED = [("stacked", 2), ("bars", 2), ("bars", 7), ("lines", 2), ("differences", 2), ("heat", 2)]


@pytest.mark.parametrize(("kind", "models"), LINKED)
def test_each_mark_of_a_chart_names_the_cell_of_its_number(kind: str, models: int):
    chart = render_chart(drawing(kind, *map(str, range(models)), linked=True))
    for svg in (chart.wide, chart.narrow):
        root = ET.fromstring(svg)
        cells = [link.get("data-cell", "") for link in root.iter("{http://www.w3.org/2000/svg}a")]
        assert sorted(cells) == [f"{row}.{column}" for row in range(models) for column in (1, 2)]
        assert root.get("role") == "group"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, "constructor") for kind in ("bars", "lines", "stacked", "differences", "heat", "panels")),
        ("bars", "__proto__"),
        *(
            pytest.param(kind, "__proto__", marks=pytest.mark.long)
            for kind in ("lines", "stacked", "differences", "heat", "panels")
        ),
    ],
)
def test_a_name_that_every_object_of_javascript_has_is_drawn_as_any_other(kind: str, name: str):
    long = "a name of several lines, since it is longer than any line of names that a chart has"
    its = drawing(kind, long, name, linked=True)
    points = tuple(replace(point, name=name) if point.name == "two" else point for point in its.points)
    chart = render_chart(replace(its, points=points, names=("one", name)))
    texts = [text.strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", chart.wide)]
    assert texts.count(name) >= 2 or (kind == "differences" and name in texts)


@pytest.mark.parametrize(("kind", "models"), LINKED)
def test_a_chart_as_a_file_looks_as_it_would_without_links(kind: str, models: int):
    labels = tuple(map(str, range(models)))
    linked, plain = (render_chart(drawing(kind, *labels, linked=its)).svg.decode() for its in (True, False))
    assert "data-cell" not in linked and "transparent" not in linked
    assert re.findall(r' d="[^"]*"', linked) == re.findall(r' d="[^"]*"', plain)


def test_a_bar_of_nothing_has_a_place_to_click():
    points = (ChartPoint("a", "one", 0.0, None, None, "0 %", cell=(0, 1)),)
    root = ET.fromstring(render_chart(replace(drawing("bars", "a"), points=points)).wide)
    link = next(root.iter("{http://www.w3.org/2000/svg}a"))
    assert re.search(r"h[1-9]\d\d", link[0].get("d", ""))


def test_no_text_of_the_pages_is_made_fainter_than_its_colour():
    for name in ("site.css", "trajectories.css", "runs.css"):
        text = (files("wildtool.report") / "assets" / name).read_text("utf-8")
        faint = [rule for rule in re.findall(r"([^{}]+)\{[^}]*opacity: *\.", text) if "disabled" not in rule]
        assert faint == []


def test_a_chart_has_a_text_alternative():
    root = ET.fromstring(render_chart(drawing("bars", "a")).wide)
    assert (root.get("role"), root.get("aria-label")) == ("img", "title. about")


def test_the_only_kind_of_error_is_named():
    assert (
        ">one<"
        in render_chart(
            replace(
                drawing("stacked", "a", "b"),
                names=("one",),
                points=(ChartPoint("a", "one", 1.0, None, None, ""),),
            )
        ).wide
    )


def test_a_run_without_errors_has_a_chart_all_the_same():
    points = (ChartPoint("a", "one", 0.0, None, None, ""),)
    assert ">a<" in render_chart(replace(drawing("stacked", "a"), points=points)).wide


def test_long_names_that_differ_at_their_ends_are_told_apart():
    names = [f"normal_multi_turn_user_adjust ({what})" for what in ("turns", "process")]
    points = tuple(ChartPoint("a", name, 0.5, 0.4, 0.6, "50 %") for name in names)
    chart = render_chart(ChartData("title", "about", points, ("a", "b"), tuple(names), "bars", percent=True))
    for svg in (chart.wide, chart.narrow):
        texts = [
            " ".join(element.itertext())
            for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
        ]
        assert any(text.endswith("(turns)") for text in texts)
        assert any(text.endswith("(process)") for text in texts)


@pytest.mark.long
def test_a_chart_of_many_models_says_which_it_leaves_out():
    models = [f"m{number}" for number in range(70)]
    chart = render_chart(drawing("bars", *models))
    assert chart.left_out == "The chart shows the first 60 of 70 models; the table shows all"
    assert ">m59<" in chart.wide
    assert ">m60<" not in chart.wide


def test_a_model_has_its_own_colour_on_every_chart_and_none_is_a_class_of_errors():
    its = model_colours(f"m{n}" for n in range(30))
    assert len(set(its.values())) == 30
    assert not set(its.values()) & {*CLASS_COLOURS, BAR}
    for kind in ("bars", "lines"):
        one = render_chart(
            replace(drawing(kind, "a", "b"), colours={"a": MODEL_COLOURS[4], "b": MODEL_COLOURS[7]})
        )
        assert {"var(--c5)", "var(--c8)"} <= set(re.findall(r"var\(--c\d+\)", one.wide))
    assert not re.findall(r"var\(--c\d+\)", render_chart(drawing("stacked", "a", "b")).wide)


def brightness(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_of_many_models_are_seen_on_light_and_on_dark_pages():
    for colour in list(model_colours(f"m{n}" for n in range(80)).values())[len(MODEL_COLOURS) : 80]:
        light, dark = ((brightness(ground) + 0.05) for ground in ("#fcfcfa", "#15171b"))
        own = brightness(colour) + 0.05
        assert min(light / own, own / dark) >= 3, colour


def test_an_incomplete_run_has_the_colour_of_its_model():
    its = model_colours(["a", f"b{INCOMPLETE}", "b"])
    assert its["b"] == its[f"b{INCOMPLETE}"] != its["a"]


def test_bars_of_many_models_have_their_colours_and_an_axis_at_both_ends():
    models = [f"m{number}" for number in range(57)]
    its = model_colours(models)
    svg = render_chart(replace(drawing("bars", *models), colours=its)).svg.decode()
    assert {colour for colour in its.values() if colour in svg} == set(its.values())
    assert svg.count(">50%<") == 4


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_names_of_lines_stand_apart_in_the_order_of_their_values(values: list[float]):
    places = names_apart(values, 0.05, 1.0)
    in_order = sorted(range(len(values)), key=lambda number: (values[number], places[number]))
    steps = [places[above] - places[below] for below, above in pairwise(in_order)]
    assert all(step >= 0.05 - 1e-9 for step in steps)
    assert max(places) <= 1 + 1e-9


def test_a_line_bears_its_name_at_its_end_where_there_is_room():
    chart = render_chart(replace(drawing("lines", "first", "second"), colours={"first": "#123456"}))
    wide = ET.fromstring(chart.wide)
    texts = [each for each in wide.iter("{http://www.w3.org/2000/svg}text") if each.text == "first"]
    assert [text.get("fill") for text in texts] == ["#123456"]


def test_axes_say_what_they_show_and_bars_have_their_numbers():
    points = (ChartPoint("a", "one", 0.25, 0.1, 0.4, "25.0 %", short="25.0 %"),)
    said = replace(drawing("bars", "a"), points=points, values="rate, with 95 % interval", axis="kinds")
    for svg in (render_chart(said).wide, render_chart(said).narrow):
        for text in ("25.0 %", "rate, with 95 % interval", "kinds"):
            assert f">{text}<" in svg


def test_a_long_name_stands_on_several_lines_of_a_phone():
    assert wrapped_name("Sequential Multi-Tool orchestration", 118) == [
        "Sequential",
        "Multi-Tool",
        "orchestration",
    ]
    assert max(map(len, wrapped_name("x" * 500, 118))) <= 46


def test_bars_of_the_data_have_one_scale_for_each_unit():
    means = [
        Metric("size", name, 3.0, 3, 1, kind="mean", unit=unit)
        for name, unit in (("a", "s"), ("b", "s"), ("c", "tokens"), ("d", "tokens"), ("e", ""), ("f", ""))
    ]
    counts = [
        Metric("size", name, None, 2, whole, kind="count")
        for name, whole in (("g", 32), ("h", 32), ("i", 128))
    ]
    assert [drawn.names for drawn in dataset_charts("size", [*means, *counts])] == [
        ("a", "b"),
        ("c", "d"),
        ("g", "h"),
    ]
