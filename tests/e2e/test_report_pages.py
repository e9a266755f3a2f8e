"""The report in a browser: every page renders, works by mouse and keyboard, and loads nothing from elsewhere."""

import html
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

from e2e.tabs import lent
from report.report_build import ATTACK, baselines, hostile, runs_of_two_benchmarks, type_
from wildtool.report.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LINKS = "[...document.querySelectorAll('a')].map(a => new URL(a.getAttribute('href'), document.baseURI).href)"
SIZES = {"phone": {"width": 390, "height": 844}, "screen": {"width": 1440, "height": 900}}
EACH_SIZE = [SIZES["phone"], pytest.param(SIZES["screen"], marks=pytest.mark.long)]
"""For what is looked at on the usual screen by most other tests."""
EACH_FORM = ["site", pytest.param("single", marks=pytest.mark.long)]
"""A report of several files, and one in a single file."""


@dataclass
class Watched:
    """A page and what went wrong on it."""

    page: "Page"
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])

    def open(self, path: Path, fragment: str = "") -> "Page":
        self.page.goto(path.as_uri() + fragment)
        return self.page


@pytest.fixture
def watched(tab: "Page", request: pytest.FixtureRequest) -> Iterator[Watched]:
    """A page that notes complaints and requests; parametrized by its size."""
    found = Watched(tab)
    hear: dict[str, Callable[[Any], None]] = {
        "console": lambda said: found.complaints.append(said.text) if said.type != "log" else None,
        "pageerror": lambda error: found.complaints.append(str(error)),
        "dialog": lambda dialog: found.complaints.append(f"dialog: {dialog.message}"),
        "request": lambda asked: found.requests.append(asked.url),
    }
    with lent(tab, getattr(request, "param", SIZES["screen"]), hear):
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    return build(baselines(place / "runs"), place / "site").parent


@pytest.fixture(scope="module")
def across(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("across")
    with ThreadPoolExecutor(1) as thread:
        # A browser may have an event loop in this one.
        runs = thread.submit(runs_of_two_benchmarks, place).result()
    type_("report", str(runs), "-o", str(place / "site"))
    return place / "site"


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("single")
    return build(baselines(place / "runs"), place / "report.html", single=True)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("attacked")
    return build(hostile(place / "runs"), place / "site").parent


def pages_of(site: Path) -> list[Path]:
    found = sorted(site.glob("*.html"))
    assert found
    return found


def rows(page: "Page") -> list[str]:
    return page.locator("table.leaderboard tbody tr:visible th bdi").all_inner_texts()


@pytest.mark.parametrize("watched", EACH_SIZE, indirect=True)
def test_every_page_renders_without_a_complaint_and_loads_only_files_beside_it(site: Path, watched: Watched):
    for path in pages_of(site):
        page = watched.open(path)
        assert page.locator("h1").inner_text(), path
    assert watched.complaints == []
    beside = site.as_uri() + "/"
    assert [url for url in watched.requests if not url.startswith(beside)] == []


@pytest.mark.parametrize("watched", [SIZES["phone"]], indirect=True)
def test_no_page_is_wider_than_a_phone(site: Path, watched: Watched):
    for path in pages_of(site):
        page = watched.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


@pytest.mark.parametrize("watched", EACH_SIZE, indirect=True)
def test_a_heat_map_of_each_model_shows_types_by_positions_with_the_numbers_below(
    site: Path, watched: Watched
):
    page = watched.open(site / "types-and-positions.html")
    maps = page.get_by_role("group", name="task type × position of baseline/")
    visible = [each for each in maps.all() if each.is_visible()]
    assert len(visible) == 3
    drawn = visible[0].text_content() or ""
    assert "Chat" in drawn and "100.0 %" in drawn
    numbers = page.get_by_role("region", name="task type × position, baseline/gold", include_hidden=True)
    page.locator("details", has=numbers).locator("summary", has_text="The numbers").click()
    assert "[" in numbers.locator("tr", has_text="Chat").inner_text()


def test_a_cell_of_a_matrix_leads_to_its_units(site: Path, watched: Watched):
    page = watched.open(site / "types-and-positions.html")
    numbers = page.get_by_role("region", name="task type × position, baseline/gold", include_hidden=True)
    page.locator("details", has=numbers).locator("summary", has_text="The numbers").click()
    cell = numbers.locator("tr", has_text="Chat").locator("td a").first
    of = cell.inner_text().split("/")[-1]
    cell.click()
    page.get_by_text(re.compile(rf"^{of} of")).first.wait_for()
    assert watched.complaints == []


@pytest.mark.parametrize("watched", EACH_SIZE, indirect=True)
def test_a_panel_for_each_benchmark_is_drawn_on_one_page(across: Path, watched: Watched):
    page = watched.open(across / "across.html")
    shown = [each for each in page.locator("figure svg").all() if each.is_visible()]
    assert len(shown) == 1
    drawn = shown[0].text_content() or ""
    assert "sums: accuracy, unit" in drawn and "wild-mini: " in drawn and "(completion)" in drawn
    size = page.viewport_size
    assert size is not None and page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert watched.complaints == []


def test_every_link_leads_to_a_file_that_is_there(site: Path, watched: Watched):
    for path in pages_of(site):
        links = watched.open(path).evaluate(LINKS)
        assert links
        for url in links:
            target = urlsplit(url)
            assert Path(unquote(target.path)).is_file(), (path, url)


def test_a_column_is_sorted_by_its_button_first_downwards_then_upwards(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    chat = page.get_by_role("button", name="Chat", exact=False).first
    head = page.locator("th", has=chat)
    chat.click()
    assert head.get_attribute("aria-sort") == "descending"
    column = head.evaluate("head => head.cellIndex")
    down = page.locator("table.leaderboard tbody tr").evaluate_all(
        f"rows => rows.map(row => Number(row.cells[{column}].dataset.value))"
    )
    assert down == sorted(down, reverse=True)
    first = rows(page)[0]
    chat.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert rows(page)[-1] == first or down[0] == down[1]


def test_a_column_of_which_less_is_better_is_first_sorted_upwards(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    page.locator('[data-filter="group"]').first.select_option("cost")
    head = page.locator("th[data-lower][data-group]:visible").first
    assert "(lower is better)" in head.inner_text()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"


def test_the_menu_of_runs_has_them_in_the_order_of_the_ranking(site: Path, watched: Watched):
    index = watched.open(site / "index.html")
    ranked = [
        name for name in index.locator("table").first.inner_text().split() if name.startswith("baseline/")
    ]
    page = watched.open(site / "trajectories.html")
    menu = page.locator("select[name=run] option")
    menu.nth(1).wait_for(state="attached")
    assert len(ranked) > 2
    assert [name.split()[0] for name in menu.all_inner_texts()[1:]] == ranked
    # A run that is not there is replaced by the first of them, whatever its number is.
    page = watched.open(site / "trajectories.html", "#run=99")
    page.get_by_text("Left out, since it is not here: run").wait_for()
    assert page.locator("select[name=run] option:checked").inner_text().split()[0] == ranked[0]


def test_a_rank_is_first_sorted_best_first(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    rank = page.get_by_role("button", name="rank")
    rank.click()
    assert page.locator("th", has=rank).get_attribute("aria-sort") == "ascending"


def ranking(page: "Page") -> list[str]:
    return page.locator("table.ranking tbody th bdi").all_inner_texts()


@pytest.mark.parametrize("watched", EACH_SIZE, indirect=True)
def test_the_first_screen_has_the_finding_and_the_ranking_before_anything_else(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    finding, table = page.locator(".finding p").first, page.locator("table.ranking")
    assert "baseline/gold has 100.0 %" in finding.inner_text()
    assert ranking(page)[0] == "baseline/gold"
    size = page.viewport_size
    assert size is not None
    for shown in (finding, table.locator("tbody tr").last):
        box = shown.bounding_box()
        assert box is not None and box["y"] + box["height"] <= size["height"]
    above = page.locator(".remarks, table.leaderboard").first.bounding_box()
    place = table.bounding_box()
    assert above is not None and place is not None and above["y"] > place["y"]


def test_a_number_of_the_ranking_leads_to_its_units(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    row = page.locator("table.ranking tr", has_text="baseline/chat")
    row.get_by_role("link").click()
    page.wait_for_url("**/trajectories.html#*")
    page.get_by_text(re.compile(r"^\d+ of")).first.wait_for()
    assert watched.complaints == []


def test_a_model_has_one_colour_in_the_ranking_and_in_charts(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    fill = (
        page.locator("table.ranking tr", has_text="baseline/chat")
        .locator(".swatch path")
        .get_attribute("fill")
    )
    page = watched.open(site / "types-and-positions.html")
    assert page.locator(f"figure svg.wide [fill='{fill}']").count() > 0


def test_sorting_works_by_keyboard(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    button = page.get_by_role("button", name="model")
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert rows(page) == ["baseline/chat", "baseline/gold", "baseline/lexical"]


def test_typing_a_name_leaves_only_models_with_it(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    page.get_by_role("searchbox").fill("LEX")
    assert rows(page) == ["baseline/lexical"]
    assert page.locator("[role=status].muted").inner_text() == "1 of 3 shown"


def test_choosing_a_group_shows_its_columns_only(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    page.get_by_role("combobox", name="Columns").select_option("position")
    heads = page.locator("table.leaderboard thead th[data-group]:visible")
    assert heads.evaluate_all("all => all.map(th => th.dataset.group)") == ["position"] * 4


def sent_to_a_colleague(page: "Page") -> str:
    """Opens the address of a page again as somebody else would; what their table shows."""
    address = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(address)
    return page.locator("table.sortable:visible").first.inner_text()


@pytest.mark.parametrize("path", EACH_FORM)
def test_a_sent_address_shows_the_table_as_it_was_set(
    path: str, request: pytest.FixtureRequest, watched: Watched
):
    place: Path = request.getfixturevalue(path)
    page = watched.open(place / "index.html" if place.is_dir() else place)
    before = page.locator("table.sortable:visible").first.inner_text()
    page.get_by_role("combobox", name="Columns").select_option("position")
    page.get_by_role("searchbox").fill("l")
    page.get_by_role("button", name="model").click()
    page.get_by_role("button", name="model").click()
    shown = page.locator("table.sortable:visible").first.inner_text()
    assert sent_to_a_colleague(page) == shown != before
    page.get_by_role("searchbox").fill("gold")
    assert "find=gold" in page.evaluate("location.href")
    assert watched.complaints == []


@pytest.mark.parametrize("path", EACH_FORM)
def test_a_sent_address_shows_differences_from_the_same_baseline_in_the_same_order(
    path: str, request: pytest.FixtureRequest, watched: Watched
):
    place: Path = request.getfixturevalue(path)
    page = watched.open(
        place / "side-by-side.html" if place.is_dir() else place,
        "" if place.is_dir() else "#side-by-side",
    )
    page.get_by_role("combobox", name="Baseline").select_option(label="baseline/chat")
    page.locator(".sides tr", has_text="baseline/gold").wait_for()
    button = page.locator(".sides").get_by_role("button", name="difference")
    button.click()
    button.click()
    shown = page.locator("table:visible").first.inner_text()
    sent_to_a_colleague(page)
    page.locator(".sides tr", has_text="baseline/gold").wait_for()
    assert page.locator("table:visible").first.inner_text() == shown
    assert watched.complaints == []


def test_units_that_a_model_won_are_a_click_away_from_the_baseline_that_lost_them(
    site: Path, watched: Watched
):
    page = watched.open(site / "side-by-side.html")
    page.get_by_role("combobox", name="Baseline").select_option(label="baseline/chat")
    row = page.locator(".sides tr", has_text="baseline/gold")
    row.wait_for()
    link = row.locator("a").nth(1)
    count = int(link.inner_text())
    link.click()
    page.get_by_text(re.compile(rf"^{count} of")).wait_for()
    page.locator(".trajectory-list li a").first.click()
    page.locator(".trajectory .accounts.two").wait_for()
    assert watched.complaints == []


def test_the_first_tab_leads_past_the_list_of_pages(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_what_has_the_focus_is_seen(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    for _ in range(12):
        page.keyboard.press("Tab")
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none", page.evaluate("document.activeElement.outerHTML")


def ground(page: "Page") -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_colours_follow_the_system_and_the_button_and_are_remembered(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    light = ground(page)
    page.emulate_media(color_scheme="dark")
    dark = ground(page)
    assert dark != light
    page.locator("#theme").click()
    assert ground(page) == light
    page.reload()
    assert ground(page) == light
    page.locator("#theme").click()
    page.emulate_media(color_scheme="light")
    assert ground(page) == dark


def test_charts_follow_the_colours_of_the_page(site: Path, watched: Watched):
    page = watched.open(site / "types-and-positions.html")
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ink) != light


def test_the_numbers_of_a_chart_are_one_click_away(site: Path, watched: Watched):
    page = watched.open(site / "types-and-positions.html")
    section = page.locator("section", has=page.get_by_role("heading", name="position", exact=True))
    assert not section.locator("table").is_visible()
    section.locator("summary").first.click()
    assert section.locator("tbody tr", has_text="baseline/gold").locator("td").first.is_visible()


def test_a_chart_says_in_words_what_it_shows(site: Path, watched: Watched):
    page = watched.open(site / "types-and-positions.html")
    images = page.locator("figure").get_by_role("group").filter(visible=True)
    assert images.count() == page.locator("figure").count()
    assert "baseline/gold, Single-Tool: 100.0 %" in str(images.first.get_attribute("aria-label"))


@pytest.mark.parametrize("watched", [SIZES["phone"]], indirect=True)
def test_on_a_phone_the_pages_are_behind_a_button(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    assert not page.locator("nav").is_visible()
    page.get_by_role("button", name="Pages").click()
    page.locator("nav").get_by_role("link", name="Errors").click()
    page.locator("h1", has_text="Errors").wait_for()
    assert page.locator("h1").inner_text() == "Errors"


def test_without_scripts_the_headline_numbers_can_be_read(site: Path, browser: "Browser"):
    context = browser.new_context(java_script_enabled=False)
    page = Watched(context.new_page()).open(site / "index.html")
    assert page.locator("tr", has_text="baseline/gold").locator("td:visible").count() > 5
    context.close()


def test_on_paper_there_are_numbers_and_no_buttons(site: Path, watched: Watched):
    page = watched.open(site / "types-and-positions.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("nav").is_visible()
    assert page.locator("details table").first.is_visible()
    assert page.pdf()[:4] == b"%PDF"


def test_paper_is_light_although_the_screen_was_dark(site: Path, watched: Watched):
    page = watched.open(site / "types-and-positions.html")
    page.emulate_media(color_scheme="dark", media="print")
    ink = page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
    assert ink == "rgb(0, 0, 0)"


def test_without_scripts_no_page_says_that_something_is_loading(site: Path, browser: "Browser"):
    context = browser.new_context(java_script_enabled=False)
    page = Watched(context.new_page()).open(site / "trajectories.html")
    assert "needs scripts" in page.inner_text("main")
    assert "Loading" not in page.inner_text("main")
    context.close()


def test_another_baseline_draws_the_differences_again(site: Path, watched: Watched):
    page = watched.open(site / "side-by-side.html")
    gold = page.locator("tr", has_text="baseline/chat").locator("td").first.inner_text()
    page.get_by_role("combobox", name="Baseline").select_option(label="baseline/chat")
    page.locator("tr", has_text="baseline/gold").wait_for()
    assert page.locator("tr", has_text="baseline/gold").locator("td").first.inner_text() == gold.replace(
        "-", "+"
    )
    assert watched.complaints == []


def test_a_share_of_errors_leads_to_its_units(site: Path, watched: Watched):
    page = watched.open(site / "errors.html")
    page.get_by_text("The numbers").first.click()
    cell = page.locator("td.number", has=page.locator("a:visible")).first
    count = int(re.findall(r"([\d,]+)/", cell.text_content() or "")[0].replace(",", ""))
    cell.locator("a").click()
    page.wait_for_url("**/trajectories.html#*")
    page.get_by_text(re.compile(rf"^{count} of")).first.wait_for()
    assert watched.complaints == []


MARKS = """
() => [...document.querySelectorAll("article:not([hidden]) figure svg")]
    .filter((svg) => getComputedStyle(svg).display !== "none")
    .map((svg) => [...svg.querySelectorAll("a")].map((mark) => mark.getAttribute("href")))
"""
"""The address of each mark of each chart that is seen."""
NUMBERS = """
() => [...document.querySelectorAll("article:not([hidden]) table a")].map((link) => link.getAttribute("href"))
"""


@pytest.mark.parametrize("watched", EACH_SIZE, indirect=True)
def test_every_mark_of_every_chart_leads_where_a_number_of_the_tables_leads(site: Path, watched: Watched):
    for path in pages_of(site):
        page = watched.open(path)
        charts, numbers = page.evaluate(MARKS), set(page.evaluate(NUMBERS))
        # What is in the data is not in a list of units.
        assert all(charts) or path.stem == "dataset", path
        assert all(address in numbers for marks in charts for address in marks), path
    assert watched.complaints == []


def test_every_panel_of_several_benchmarks_leads_to_the_units_of_its_run(across: Path, watched: Watched):
    page = watched.open(across / "across.html")
    (marks,) = page.evaluate(MARKS)
    assert sorted(marks) == sorted(page.evaluate(NUMBERS)) and len(set(marks)) == 3
    page.locator("figure svg.wide").get_by_role("link", name=re.compile("completion.*sums")).click()
    page.get_by_text(re.compile(r"^\d of 4")).first.wait_for()
    group = page.locator("select[name=run] optgroup:has(option:checked)")
    assert "completion" in str(group.get_attribute("label"))


@pytest.mark.parametrize("path", EACH_FORM)
@pytest.mark.parametrize("slug", ["errors", "types-and-positions", "hidden-intent", "other-numbers"])
def test_a_bar_leads_by_mouse_to_the_list_of_its_units(
    path: str, slug: str, request: pytest.FixtureRequest, watched: Watched
):
    place: Path = request.getfixturevalue(path)
    page = watched.open(place / f"{slug}.html") if place.is_dir() else watched.open(place, f"#{slug}")
    bar = page.locator("figure svg:visible").first.get_by_role("link", name="baseline/chat").last
    of = re.findall(r"(\d+)/(\d+)$", str(bar.get_attribute("aria-label")))[0]
    bar.click()
    # A share of errors leads to the units with the error; another rate to all that it is of, or to those it lost.
    counts = "|".join({*of, str(int(of[1]) - int(of[0]))})
    page.locator("#trajectories").get_by_text(re.compile(rf"^({counts}) of")).wait_for()
    assert watched.complaints == []


def test_a_bar_leads_by_keyboard_to_the_list_of_its_units(site: Path, watched: Watched):
    page = watched.open(site / "types-and-positions.html")
    page.locator("p a[download]").focus()
    page.keyboard.press("Tab")
    first = page.locator(":focus").get_attribute("data-cell")
    page.keyboard.press("ArrowRight")
    focused = page.locator(":focus")
    address = focused.get_attribute("href")
    assert focused.get_attribute("data-cell") != first
    assert focused.evaluate("mark => getComputedStyle(mark).outlineStyle") != "none"
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(r"^\d+ of")).first.wait_for()
    assert page.evaluate("location.href").endswith(str(address))
    assert watched.complaints == []


def test_a_chart_is_one_stop_of_the_tab_key(site: Path, watched: Watched):
    page = watched.open(site / "hidden-intent.html")
    page.locator("figure svg:visible a").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "SVG"
    page.keyboard.press("Shift+Tab")
    assert page.locator(":focus").get_attribute("data-cell") is not None


def test_the_interval_of_a_number_leads_where_the_number_leads(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    for place in (
        page.locator("table.ranking tr", has_text="baseline/chat").locator("svg.interval"),
        page.locator("table.leaderboard tr", has_text="baseline/chat").locator("svg.interval").first,
    ):
        page = watched.open(site / "index.html")
        place.click()
        page.wait_for_url("**/trajectories.html#*number=accuracy%3A+*")
    assert watched.complaints == []


def test_a_difference_leads_to_the_units_that_differ(site: Path, watched: Watched):
    page = watched.open(site / "side-by-side.html")
    row = page.locator(".sides tr", has_text="baseline/chat")
    gained, lost = (int(row.locator("a").nth(place).inner_text()) for place in (1, 2))
    page.locator("figure svg:visible").get_by_role("link", name="baseline/chat").click()
    page.get_by_text(re.compile(rf"^{gained + lost} of")).wait_for()
    assert page.locator("select[name=differ]").input_value() == "any"
    assert watched.complaints == []


def test_a_single_file_shows_one_page_at_a_time_and_loads_nothing(single: Path, watched: Watched):
    page = watched.open(single)
    assert page.locator("h1:visible").all_inner_texts() == ["Overview"]
    page.locator("nav").get_by_role("link", name="Models side by side").click()
    page.get_by_role("heading", name="Models side by side", level=1).wait_for()
    assert page.locator("h1:visible").all_inner_texts() == ["Models side by side"]
    page.get_by_role("combobox", name="Baseline").select_option(label="baseline/chat")
    page.locator(".sides tr", has_text="baseline/gold").wait_for()
    assert watched.complaints == []
    assert [url for url in watched.requests if not url.startswith(("data:", single.as_uri()))] == []


def test_a_single_file_runs_only_scripts_whose_digest_it_names(single: Path):
    page = single.read_text("utf-8")
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind in ("script-src", "style-src"):
        assert all(source.startswith("'sha256-") for source in rules[kind].split())


def test_a_script_that_came_in_with_data_would_not_run(site: Path, watched: Watched):
    page = watched.open(site / "index.html")
    page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)"
    )
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("watched", EACH_SIZE, indirect=True)
def test_hostile_texts_are_texts_on_every_page(attacked: Path, watched: Watched):
    for path in sorted(attacked.glob("*.html")):
        page = watched.open(path)
        assert page.evaluate("window.hacked") is None, path
        assert page.locator("img").count() == 0, path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert watched.complaints == []


def test_a_hostile_name_is_shown_as_it_is_written(attacked: Path, watched: Watched):
    page = watched.open(attacked / "index.html")
    assert any(name.startswith(f"half {ATTACK[:9]}") for name in rows(page))
    assert "\\u202e" in page.content()
    assert "\u202e" not in page.content()


def test_data_for_scripts_cannot_end_them(attacked: Path):
    scripts = list((attacked / "data").glob("*.js"))
    assert scripts
    for path in scripts:
        text = path.read_text("utf-8")
        assert "<" not in text
        assert "\u2028" not in text
        json.loads(text.partition(",")[2].rpartition(")")[0])
