"""Tables leave a page as tables: copied for chats and texts, as Markdown and LaTeX, and saved as CSV."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.tabs import lent
from report.report_build import baselines, hostile
from wildtool.report.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SCREEN = {"width": 1440, "height": 900}
KEEPS = """(event) => {
    const given = (kind) => event.clipboardData.getData(kind);
    window.pasted = { plain: given("text/plain"), html: given("text/html") };
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    return build(baselines(place / "runs"), place / "site").parent


@pytest.fixture
def page(tab: "Page") -> "Iterator[Page]":
    with lent(tab, SCREEN, {}) as page:
        yield page


def leaderboard(page: "Page", site: Path) -> "Locator":
    """The buttons of the leaderboard."""
    page.goto((site / "index.html").as_uri())
    buttons = page.locator(".scroll:has(table.leaderboard) + .copies")
    buttons.locator("summary").click()
    return buttons


def pasted(page: "Page") -> dict[str, str]:
    """What a text field would be given."""
    page.evaluate(f"addEventListener('paste', {KEEPS}, {{once: true, capture: true}})")
    page.keyboard.press("Control+V")
    return page.evaluate("window.pasted")


def models(page: "Page") -> list[str]:
    return page.locator("table.leaderboard tbody tr:visible th bdi").all_inner_texts()


def test_each_table_has_its_buttons_named_by_what_it_shows(site: Path, page: "Page"):
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
        assert page.locator("main .copies").count() == page.locator("main table:has(td)").count(), path
        for button in page.locator(".copies button").all():
            assert (button.get_attribute("aria-label") or "").startswith(f"{button.text_content()}: ")


def test_a_table_pasted_into_a_text_is_markdown_and_elsewhere_a_table(site: Path, page: "Page"):
    leaderboard(page, site).get_by_role("button", name="Table").click()
    found = pasted(page)
    head, rule, *rows = found["plain"].splitlines()
    assert head.startswith("| model | rank |") and set(rule) <= set("|-: ")
    assert [row.split(" | ")[0].removeprefix("| ").split(" (")[0] for row in rows] == models(page)
    assert found["html"].count("<tr") == 1 + len(rows) and "<svg" not in found["html"]


def test_what_is_filtered_and_sorted_is_what_is_copied(site: Path, page: "Page"):
    buttons = leaderboard(page, site)
    page.get_by_label("Find").first.fill("gold")
    buttons.get_by_role("button", name="Markdown").click()
    assert len(pasted(page)["plain"].splitlines()) == 2 + len(models(page)) == 3


def test_latex_is_a_table_of_as_many_columns(site: Path, page: "Page"):
    leaderboard(page, site).get_by_role("button", name="LaTeX").click()
    lines = pasted(page)["plain"].splitlines()
    columns = len(lines[0].removeprefix(r"\begin{tabular}").strip("{}"))
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == 1 + len(models(page))
    assert {row.count(" & ") + 1 for row in rows} == {columns}


def test_csv_is_read_as_the_same_rows(site: Path, page: "Page", tmp_path: Path):
    buttons = leaderboard(page, site)
    with page.expect_download() as download:
        buttons.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:2] == ["model", "rank"] and {len(row) for row in rows} == {len(head)}
    assert [row[0].split(" (")[0] for row in rows] == models(page)


def test_a_selection_of_rows_is_copied_as_a_table(site: Path, page: "Page"):
    leaderboard(page, site)
    page.evaluate(
        """() => {
            const [first, second] = document.querySelector("table.leaderboard").tBodies[0].rows;
            getSelection().setBaseAndExtent(first, 0, second, second.childNodes.length);
        }"""
    )
    page.keyboard.press("Control+C")
    found = pasted(page)
    assert len(found["plain"].splitlines()) == 4 and found["html"].count("<tr") == 3


def test_a_hostile_name_is_no_markup_and_no_formula(tmp_path_factory: pytest.TempPathFactory, page: "Page"):
    place = tmp_path_factory.mktemp("attacked")
    buttons = leaderboard(page, build(hostile(place / "runs"), place / "site").parent)
    buttons.get_by_role("button", name="Table").click()
    found = pasted(page)
    assert "<img" not in found["html"] and "<script" not in found["html"]
    assert all(
        line.replace(r"\|", "").count("|") == found["plain"].splitlines()[1].count("|")
        for line in found["plain"].splitlines()
    )
    assert page.evaluate("window.hacked") is None


def test_the_ranking_s_chart_is_saved_as_svg_and_png(site: Path, page: "Page"):
    page.goto((site / "index.html").as_uri())
    offered = page.locator(".scroll:has(table.ranking) ~ p.download a")
    paths = [site / (link.get_attribute("href") or "") for link in offered.all()]
    drawn, picture = (path.read_bytes() for path in paths)
    assert all(name in drawn.decode() for name in page.locator("table.ranking th bdi").all_inner_texts())
    assert picture.startswith(b"\x89PNG")
