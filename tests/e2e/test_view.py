"""`wildtool view` in a browser: the list renders, follows a run while it goes on, and opens reports."""

import os
import re
import signal
import subprocess
import threading
from asyncio import to_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.command import COMMAND
from e2e.forks import in_shells
from e2e.tabs import Size, lent
from report.report_build import ATTACK, FORGED, Scripted, play
from wildtool.types import Reply, Request

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HURRY = "const wait = setTimeout; window.setTimeout = (what, ms) => wait(what, ms / 20)"
"""Lets a page wait a twentieth of what it would, until it asks again."""
PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1440, "height": 900}


@dataclass
class Held(Scripted):
    """Answers only as often as it is allowed to."""

    allowed: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    async def complete(self, request: Request) -> Reply:
        await to_thread(self.allowed.acquire)
        return await super().complete(request)


@dataclass
class Seen:
    """A page at a server, what went wrong on it and what it asked for."""

    page: "Page"
    address: str = ""
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])

    def listed(self) -> "Page":
        self.page.goto(self.address)
        self.page.locator("#runs[data-again]").wait_for()
        return self.page

    def row(self, folder: str) -> list[str]:
        return (
            self.page.locator("tr", has=self.page.get_by_text(folder, exact=True))
            .locator("td")
            .all_inner_texts()
        )


@contextmanager
def watching(tab: "Page", size: Size) -> Iterator[Seen]:
    """A page that must complain of nothing and ask nobody but the server."""
    found = Seen(tab)
    hear: dict[str, Callable[[Any], None]] = {
        "console": lambda said: found.complaints.append(said.text),
        "pageerror": lambda error: found.complaints.append(str(error)),
        "dialog": lambda dialog: found.complaints.append(f"dialog: {dialog.message}"),
        "request": lambda asked: found.requests.append(asked.url),
    }
    with lent(tab, size, hear):
        yield found
    assert found.complaints == []
    assert [url for url in found.requests if not url.startswith(found.address)] == []


@pytest.fixture
def seen(tab: "Page", request: pytest.FixtureRequest) -> Iterator[Seen]:
    with watching(tab, getattr(request, "param", SCREEN)) as found:
        yield found


@pytest.fixture
def with_own_time(browser: "Browser") -> Iterator[Seen]:
    """The same in a tab of its own, for a test that changes how time goes there."""
    context = browser.new_context()
    with watching(context.new_page(), SCREEN) as found:
        yield found
    context.close()


on_phone = pytest.mark.parametrize("seen", [PHONE], indirect=True)


def start(
    runs: Path, *more: str, port: str = "0", command: str | Path = "wildtool"
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [command, "view", runs, "--port", port, *more],
        env=in_shells(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def address_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/(\?token=\S+)?", process.stdout.readline())
    assert found is not None
    return found[0]


@contextmanager
def serving(runs: Path) -> Iterator[str]:
    with start(runs, "--no-token") as process:
        try:
            yield address_of(process)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    play(place / "gold", "baseline/gold", limit=2)
    play(place / "lexical", "baseline/lexical", limit=2)
    play(place / "hostile", Scripted(f"evil {ATTACK} {FORGED}"), limit=1)
    (place / "broken").mkdir()
    (place / "broken" / "run.json").write_text("{")
    return place


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    with serving(runs) as found:
        yield found


@pytest.fixture
def at(seen: Seen, address: str) -> Seen:
    seen.address = address
    return seen


def until_measured(page: "Page") -> None:
    page.locator("#runs[data-again=false]").wait_for()


def test_the_list_shows_each_run_with_its_state_progress_and_score(at: Seen):
    until_measured(at.listed())
    benchmark, state, units, score = at.row("gold")
    assert benchmark.startswith("wild-mini")
    assert state.startswith("done\nstarted 2")
    assert units == "8 of 8"
    assert re.match(r"100\.0 %\n\d+\.\d–100\.0 · 8/8\naccuracy, task", score)


def test_a_run_that_cannot_be_read_is_named_and_cannot_be_opened(at: Seen):
    page = at.listed()
    broken = page.locator("tr", has_text="broken")
    assert "damaged" in broken.inner_text()
    assert broken.locator("a[href]").count() == 0
    assert broken.get_by_role("checkbox").is_disabled()


@pytest.mark.parametrize("seen", [PHONE, SCREEN], indirect=True)
def test_a_hostile_name_is_a_text(at: Seen):
    page = at.listed()
    until_measured(page)
    assert page.locator("tr", has_text="hostile").locator("a").inner_text().startswith(f"evil {ATTACK[:30]}")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert "\u202e" not in page.content()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_is_asked_while_no_run_goes_on(with_own_time: Seen, address: str):
    at = with_own_time
    at.address = address
    at.page.clock.install()
    until_measured(at.listed())
    before = len(at.requests)
    at.page.clock.run_for(60_000)
    at.page.evaluate("1")
    assert len(at.requests) == before


def test_typing_a_name_leaves_only_runs_with_it(at: Seen):
    page = at.listed()
    page.get_by_role("searchbox").fill("LEX")
    assert page.locator("tbody tr:visible bdi").first.inner_text() == "baseline/lexical"
    assert page.locator("#runs [role=status].muted").inner_text() == "1 of 4 shown"


def test_a_name_opens_the_report_of_its_run_and_back_leads_to_the_list(at: Seen):
    page = at.listed()
    page.get_by_role("link", name="baseline/gold").click()
    page.locator("#runs-opening").wait_for()
    page.wait_for_url("**/report/*/index.html", timeout=120_000)
    assert page.locator("h1").inner_text() == "Overview"
    assert page.locator("table.leaderboard tr.measured bdi").all_inner_texts() == ["baseline/gold"]
    page.locator("nav").get_by_role("link", name="Trajectories").click()
    page.locator("#trajectories .trajectory-list li a").first.wait_for()
    page.go_back()
    page.go_back()
    page.locator("#runs[data-again]").wait_for()
    assert page.locator("#runs-opening").is_hidden()


@on_phone
def test_ticked_runs_are_opened_together_by_keyboard(at: Seen):
    page = at.listed()
    for name in ("gold", "lexical"):
        page.get_by_role("checkbox", name=f"Select baseline/{name}").focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Open 2 runs together").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/report/*/index.html", timeout=120_000)
    names = page.locator("table.leaderboard tr.measured bdi").all_inner_texts()
    assert sorted(names) == ["baseline/gold", "baseline/lexical"]


def test_a_link_to_a_run_that_is_gone_says_so(at: Seen):
    # A browser tells of an answer that is no success by itself.
    at.page.goto(f"{at.address}#open=0123456789abcdef")
    told = at.page.get_by_role("alert").filter(has_text="no longer exists")
    told.wait_for()
    assert told.is_visible()
    at.complaints.clear()


def test_the_list_follows_a_run_and_stops_asking_at_its_end(with_own_time: Seen, tmp_path: Path):
    seen = with_own_time
    (tmp_path / "runs").mkdir()
    play(tmp_path / "runs" / "before", "baseline/gold", limit=1)
    model = Held("held")
    going = threading.Thread(target=play, args=(tmp_path / "runs" / "now", model), kwargs={"limit": 2})
    seen.page.add_init_script(HURRY)
    with serving(tmp_path / "runs") as seen.address:
        try:
            page = seen.listed()
            assert page.locator("tbody tr").count() == 1
            going.start()
            row = page.locator("tr", has_text="held")
            # Whoever waits for a run looks again until it is there; then the list goes on by itself.
            while row.count() == 0:
                page.get_by_role("button", name="Refresh").click()
                page.wait_for_timeout(50)
            row.get_by_text("running").wait_for()
            units = row.locator("td").nth(2).locator("span")
            units.filter(has_text="0 of 8").wait_for()
            page.evaluate("document.querySelector('.going').closest('tr').querySelector('input').click()")
            page.evaluate("window.same = document.querySelector('.going').closest('tr')")
            for _ in range(2):
                before = units.inner_text()
                for _ in range(3):  # a unit takes one call or two
                    model.allowed.release()
                units.filter(has_text=before).wait_for(state="detached")
            for _ in range(8):
                model.allowed.release()
            row.get_by_text("8 of 8").wait_for()
            row.get_by_text("done").wait_for()
            until_measured(page)
            assert page.evaluate("window.same.isConnected && window.same.querySelector('input').checked")
            assert row.locator("b").inner_text() == "0.0 %"
        finally:
            for _ in range(20):
                model.allowed.release()
            going.join()


def test_ctrl_c_ends_it_as_other_verbs_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    with start(tmp_path, command=COMMAND) as process:
        address_of(process)
        assert len(list((tmp_path / "tmp").iterdir())) == 1
        process.send_signal(signal.SIGINT)
        complaint = process.communicate()[1]
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_port_in_use_is_told_and_the_exit_status_is_2(tmp_path: Path):
    with start(tmp_path) as first:
        port = address_of(first).split(":")[2].partition("/")[0]
        second = start(tmp_path, port=port)
        complaint = second.communicate()[1]
        first.terminate()
    assert second.returncode == 2
    assert f"port {port} (Address already in use)" in complaint


def test_the_printed_address_opens_the_list_and_another_browser_is_refused(browser: "Browser", runs: Path):
    own, others = browser.new_context(), browser.new_context()
    with start(runs) as process:
        address = address_of(process)
        plain, token = address.split("?token=")
        asked: list[str] = []
        first = own.new_page()
        first.on("request", lambda request: asked.append(request.url + str(request.headers)))
        first.goto(address)
        first.locator("#runs[data-again]").wait_for()
        assert first.url == plain
        first.reload()
        first.locator("#runs[data-again]").wait_for()
        assert [token in each for each in asked] == [True] + [False] * (len(asked) - 1)
        second = own.new_page()
        second.goto(plain)
        second.locator("#runs[data-again]").wait_for()
        stranger = others.new_page()
        refused = stranger.goto(plain)
        assert refused is not None
        assert (refused.status, "?token=" in stranger.content()) == (403, True)
        process.terminate()
    own.close()
    others.close()
