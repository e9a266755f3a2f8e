"""Where the marks of charts lead: to the cell of the table below that has the same number of the same model."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from report.report_build import TWO_MODES, Scripted, play, run_sums, type_
from wildtool.report.charts.data import ChartData
from wildtool.report.charts.render import Chart, render_chart


@pytest.fixture(scope="module")
def drawings() -> Iterator[list[ChartData]]:
    """The charts that are asked for; a page has the place of each in this list."""
    asked: list[ChartData] = []

    def draw(drawing: ChartData) -> Chart:
        asked.append(drawing)
        return Chart(f"<svg>drawing {len(asked) - 1}</svg>", "", b"", b"", "")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wildtool.report.pages.metrics.render_chart", draw)
        yield asked


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, drawings: list[ChartData]) -> Path:
    tmp_path = tmp_path_factory.mktemp("marks")
    runs = tmp_path / "runs"
    half = Scripted("half", right=lambda address: address.unit in "02")
    for name, model in (("chat", "baseline/chat"), ("gold", "baseline/gold"), ("half", half)):
        play(runs / name, model, limit=2)
    (tmp_path / "calc.py").write_text(TWO_MODES, "utf-8")
    run_sums("chat", runs / "sums")
    type_("report", str(runs), "-o", str(tmp_path / "site"))
    return tmp_path / "site"


def tables_beside(page: str) -> Iterator[tuple[int, list[list[str]]]]:
    """The place of each chart of a page, and the rows of the table that its script takes the addresses from."""
    for place, below in re.findall(r"<svg>drawing (\d+)</svg>(.*?</table>)", page, re.DOTALL):
        before, _, table = below.partition("<table")
        assert "</section>" not in before
        rows = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        yield (
            int(place),
            [list(map(text_of, re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL))) for row in rows],
        )


def text_of(cell: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split())


def test_a_mark_leads_to_the_cell_of_its_number(site: Path, drawings: list[ChartData]):
    kinds: set[str] = set()
    for page in site.glob("*.html"):
        for place, (heads, *rows) in tables_beside(page.read_text("utf-8")):
            for point in drawings[place].points:
                if point.cell is None:
                    continue
                row, column = point.cell
                assert rows[row][0] == point.model
                assert point.name in heads[column] or heads[column] in point.name
                assert rows[row][column].startswith(point.short or point.text)
                kinds.add(drawings[place].kind)
    assert kinds == {"bars", "differences", "heat", "lines", "panels", "stacked"}


@pytest.mark.usefixtures("site")
def test_a_chart_of_each_kind_that_a_report_asks_for_is_drawn(drawings: list[ChartData]):
    for drawing in {each.kind: each for each in drawings}.values():
        chart = render_chart(drawing)
        assert all(f"{drawing.title}." in each for each in (chart.wide, chart.narrow))
        assert chart.png.startswith(b"\x89PNG")
