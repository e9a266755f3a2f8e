"""The pages of a report on paper: an A4 PDF has whole charts and tables, and nothing that is only for a screen."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.paper import assert_readable, printed
from report.report_build import Scripted, baselines, play
from wildtool.errors import InfraError
from wildtool.report.build import build
from wildtool.report.model import read_runs
from wildtool.types import Reply, Request

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("pypdfium2")


class Failing(Scripted):
    """Answers every other unit; the other calls fail."""

    async def complete(self, request: Request) -> Reply:
        assert request.address is not None
        if request.address.unit in "13":
            raise InfraError("http 500", "down")
        return await super().complete(request)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("printed")
    failing = play(place / "runs" / "failing", Failing("failing-with-a-long-name-of-several-parts"))
    return build([*baselines(place / "runs"), *read_runs([failing])], place / "site").parent


@pytest.mark.parametrize("slug", ["index", "types-and-positions", "errors", "cost", "side-by-side"])
def test_a_page_of_a_report_can_be_read_on_paper(slug: str, site: Path, tab: "Page"):
    tab.goto((site / f"{slug}.html").as_uri())
    paper = printed(tab)
    assert_readable(paper)
    assert paper.charts or slug == "index"
    assert "baseline/gold" in paper.text.replace("\r\n", "")


def test_heads_of_columns_are_whole_words_on_paper(site: Path, tab: "Page"):
    tab.goto((site / "errors.html").as_uri())
    words = printed(tab).text.split()
    assert {"model", "Refusal", "Hallucination", "Unreadable", "Termination"} <= set(words)
    tab.goto((site / "index.html").as_uri())
    assert {"rank", "Clarify"} <= set(printed(tab).text.split())


def test_the_page_of_a_unit_can_be_read_on_paper(site: Path, tab: "Page"):
    tab.goto((site / "trajectories.html").as_uri())
    tab.locator(".trajectory-list ol a:has(.mark.wrong)").first.click()
    tab.locator("section.trajectory table.verdicts").wait_for()
    paper = printed(tab)
    assert_readable(paper)
    assert "Gold" in paper.text and "Verdicts" in paper.text and "Copy link" not in paper.text


def test_a_list_of_units_can_be_read_on_paper(site: Path, tab: "Page"):
    tab.goto((site / "trajectories.html").as_uri())
    tab.locator(".trajectory-list ol a").first.wait_for()
    paper = printed(tab)
    assert_readable(paper)
    assert "wild_mini_0" in paper.text
