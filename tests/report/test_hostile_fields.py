"""Characters that act on what is seen, in every field that reaches a chart, a page or a table."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from report.report_build import Scripted, play
from wildtool.report.build import build
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.render import render_chart
from wildtool.report.model import read_runs
from wildtool.report.texts import latex, markdown
from wildtool.sanitize import escape_text
from wildtool.table.latex import latex_text
from wildtool.table.markdown import markdown_code, markdown_text

ACTING = "".join(
    [
        *("\x00\x01\x07\x08\x0b\x0c\x1b\x7f\x85\x9b\u061c\u200b\u200e\u200f\u2028\u2029\u202e"),
        *("\u2066\u2069\ufeff\ufffe\U000e0041\ud800"),
    ]
)
HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
TEXT = st.text(st.sampled_from([*ACTING, *"<&\"']>{\\a中\n\t"]), max_size=8)
DATA = re.compile(r'<script type="application/json".*?</script>', re.DOTALL)
"""What the pages' scripts show, each character that acts as its escape."""


@pytest.mark.long
@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(TEXT, TEXT, TEXT, st.sampled_from(["bars", "lines", "stacked", "differences"]))
def test_a_chart_of_any_texts_is_drawn_without_a_character_that_acts(
    model: str, name: str, title: str, kind: str
):
    points = tuple(ChartPoint(model, its, 0.5, 0.4, 0.6, title) for its in (name, name + "2"))
    chart = render_chart(
        ChartData(title, title, points, (model,), (name, name + "2"), kind, percent=True, axis=title)  # pyright: ignore[reportArgumentType]
    )
    for svg in (chart.wide, chart.narrow, chart.svg.decode()):
        assert not HARMFUL.search(svg.replace("\n", ""))
    assert chart.png.startswith(b"\x89PNG")


@given(TEXT)
def test_a_text_of_a_table_has_no_character_that_acts(said: str):
    for shown in (markdown_code(said), markdown_text(said), latex_text(said)):
        assert not HARMFUL.search(shown)
        shown.encode()


@pytest.mark.parametrize("character", ACTING)
def test_each_such_character_stands_as_its_escape(character: str):
    assert escape_text(f"a{character}b") == f"a{ascii(character)[1:-1]}b"


@pytest.mark.long
def test_a_report_of_a_run_with_such_names_holds_none_of_them(tmp_path: Path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/run \x01\xff\xe2\x80\xae"))
    names = [f"evil{ACTING}", f"half{ACTING}"]
    runs = [
        play(
            folder / str(n),
            Scripted(name, right=lambda address, n=n: n == 1 and address.unit in "02", text=ACTING),
            limit=2,
        )
        for n, name in enumerate(names)
    ]
    found = read_runs(runs)
    build(found, tmp_path / "site")
    build(found, tmp_path / "one.html", single=True)
    for path in [*(tmp_path / "site").rglob("*"), tmp_path / "one.html"]:
        if path.suffix in (".html", ".svg", ".csv"):
            assert not HARMFUL.search(DATA.sub("", path.read_text("utf-8")).replace("\n", "")), path
    for said in (markdown(found), latex(found)):
        said.encode()
        assert not HARMFUL.search(said.replace("\n", ""))
