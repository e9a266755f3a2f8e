"""`wildtool board build`: the page of verified submissions, as built and in a browser."""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from board.test_board import Counted
from board.test_submissions import flip_byte, repacked
from e2e.command import Ended, wildtool
from e2e.paper import assert_readable, printed
from e2e.tabs import lent
from report.report_build import ATTACK, play
from wildtool.board.build import _front  # pyright: ignore[reportPrivateUsage]

if TYPE_CHECKING:
    from playwright.sync_api import Page


def typed(*words: str, cwd: Path) -> Ended:
    # The browser's event loop keeps others out of this thread.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(wildtool(*words, cwd=cwd))).result()


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three submissions of endpoints, of which the keeper asked one again."""
    place = tmp_path_factory.mktemp("board")
    for name, right in (("gold", "0123"), ("random", ""), ("some", "01")):
        model = Counted(name, right=lambda address, right=right: address.unit in right)
        play(place / "runs" / name, model, limit=32)
        ended = typed("board", "submit", f"runs/{name}", "-o", "sent", cwd=place)
        assert ended.status == 0, ended.err
    shutil.copy(place / "sent" / "gold.bundle.zip", place / "sent" / "gold.again.bundle.zip")
    return place


@pytest.fixture(scope="module")
def site(submissions: Path) -> Path:
    ended = typed("board", "build", "sent", "-o", "site", cwd=submissions)
    assert ended.status == 0, ended.err
    assert ended.out == "site/index.html\n"
    return submissions / "site"


def page_text(site: Path) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", (site / "index.html").read_text()))


def test_every_submission_is_ranked_with_interval_marks_and_passport(site: Path):
    text = page_text(site)
    assert re.search(r"gold passport 1 100\.0 .*?recomputed; asked again by the keeper: 128 units", text)
    assert text.count("official data, 32 of 32 items, language en zh recomputed") == 3
    assert text.count("asked again by the keeper:") == 1
    passports = sorted((site / "files").iterdir())
    assert [json.loads(path.read_text())["model"] for path in passports][:1] == ["gold"]


def test_the_keepers_lower_result_is_said(submissions: Path, tmp_path: Path):
    shutil.copytree(submissions / "sent", tmp_path / "sent", ignore=shutil.ignore_patterns("some.*"))
    for end in ("bundle.zip", "passport.json"):
        shutil.copy(submissions / "sent" / f"gold.{end}", tmp_path / "sent" / f"claim.{end}")
    shutil.copy(submissions / "sent" / "random.bundle.zip", tmp_path / "sent" / "gold.again.bundle.zip")
    typed("board", "build", "sent", "-o", "site", cwd=tmp_path)
    assert "the keeper's run is of another model" in page_text(tmp_path / "site").replace("&#39;", "'")


def test_a_refused_submission_has_no_rank_and_its_reason_is_on_the_page(submissions: Path, tmp_path: Path):
    shutil.copytree(submissions / "sent", tmp_path / "sent", ignore=shutil.ignore_patterns("some.*"))
    flip_byte(tmp_path / "sent" / "random.bundle.zip", 0.4)
    ended = typed("board", "build", "sent", "-o", "site", cwd=tmp_path)
    assert ended.status == 1 and "random.bundle.zip: refused: " in ended.err
    text = page_text(tmp_path / "site")
    assert "Refused random : random.bundle.zip: its SHA-256 is" in text and "random passport" not in text


def test_a_folder_without_submissions_is_wrong_usage(tmp_path: Path):
    ended = typed("board", "build", ".", cwd=tmp_path)
    assert ended.status == 2 and "holds no submission" in ended.err


def test_the_front_has_what_nothing_cheaper_reaches():
    assert _front([(1.0, 0.5), (2.0, 0.5), (2.0, 0.7), (3.0, 0.6), (None, 0.9), (0.5, None)]) == {0, 2}
    assert _front([(1.0, 0.5), (1.0, 0.5)]) == {0, 1}


@pytest.fixture
def watched(tab: "Page") -> "Iterator[tuple[Page, list[str], list[str]]]":
    complaints, requests = list[str](), list[str]()
    hear: dict[str, Any] = {
        "console": lambda said: complaints.append(said.text),
        "pageerror": lambda error: complaints.append(str(error)),
        "request": lambda asked: requests.append(asked.url),
    }
    with lent(tab, {"width": 390, "height": 844}, hear):
        yield tab, complaints, requests


def test_the_page_opens_without_complaint_and_loads_nothing_from_elsewhere(site: Path, watched: Any):
    page, complaints, requests = watched
    page.goto((site / "index.html").as_uri())
    assert page.locator("table.leaderboard tbody tr").count() == 3
    assert page.locator("figure svg circle").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="model").click()
    names = page.locator("table.leaderboard tbody tr th bdi").all_inner_texts()
    assert names == ["some", "random", "gold"], "sorted by a click"
    assert not complaints and all(url.startswith(site.as_uri()) for url in requests)


def test_texts_of_the_drawing_can_be_read_on_a_phone(site: Path, watched: Any):
    page, _, _ = watched
    page.goto((site / "index.html").as_uri())
    heights = page.locator("figure svg text").evaluate_all(
        "all => all.map((text) => text.getBoundingClientRect().height)"
    )
    assert heights and min(heights) >= 10


def test_a_point_of_the_drawing_leads_where_its_row_leads(site: Path, watched: Any):
    page, complaints, _ = watched
    page.goto((site / "index.html").as_uri())
    row = page.locator("table.leaderboard tbody tr", has_text="gold").get_by_role("link")
    point = page.locator("figure").get_by_role("link", name="Passport of gold")
    assert point.get_attribute("href") == row.get_attribute("href")
    point.focus()
    assert point.evaluate("mark => getComputedStyle(mark).outlineStyle") != "none"
    assert not complaints


def test_the_board_can_be_read_on_paper(site: Path, watched: Any):
    pytest.importorskip("pypdfium2")
    page, _, _ = watched
    page.goto((site / "index.html").as_uri())
    paper = printed(page)
    assert_readable(paper)
    assert len(paper.charts) == 1 and "recomputed" in paper.text


def test_hostile_names_stay_text(submissions: Path, tmp_path: Path, watched: Any):
    shutil.copytree(submissions / "sent", tmp_path / "sent", ignore=shutil.ignore_patterns("some.*"))

    def rename(members: dict[str, bytes]) -> None:
        run = json.loads(members["run.json"])
        run["identity"]["models"]["agent"]["name"] = ATTACK
        run["sittings"][-1]["ended"] = ATTACK
        members["run.json"] = json.dumps(run).encode()

    bundle = tmp_path / "sent" / "random.bundle.zip"
    bundle.rename(bundle.with_name("run.bundle.zip"))
    (tmp_path / "sent" / "random.passport.json").rename(tmp_path / "sent" / "run.passport.json")
    repacked(tmp_path / "sent" / "run.bundle.zip", rename)
    assert typed("board", "build", "sent", "-o", "site", cwd=tmp_path).status == 0
    page, complaints, _ = watched
    page.goto((tmp_path / "site" / "index.html").as_uri())
    assert page.evaluate("window.hacked") is None and not complaints
    assert "onerror=" in page.inner_text("main")
