"""Looks at a report as people do: pictures of its states, what axe and the console say, and five questions.

    pip install playwright axe-playwright-python
    python scripts/look_at_pages.py REPORT OUT

REPORT is the folder of a report, OUT a folder for the pictures: each state at three widths, in light and dark. The exit
status is 1 if something is wrong: a finding of axe, a message of the console, a request that leaves the folder, a page
wider than its window, too many bytes, or a question without an answer in two clicks and ten seconds.
"""

import argparse
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright

SIZES = {
    "wide": {"width": 1440, "height": 900},
    "middle": {"width": 768, "height": 1024},
    "phone": {"width": 390, "height": 844},
}
THEMES = ("light", "dark")
MOST_CLICKS = 2
MOST_SECONDS = 10.0
MOST_BYTES = 1_500_000
"""Of a page of a report of up to 57 models."""
AXE = """async () => {
    const { violations } = await axe.run(document, { preload: false });
    return violations.map((one) => [one.id, one.nodes.map((node) => node.target.join(" "))]);
}"""
PASTES = """addEventListener("paste", (event) => {
    window.pasted = event.clipboardData.getData("text/plain");
}, { capture: true })"""
READY = "() => !document.body.innerText.includes('Loading …')"


@dataclass
class Look:
    """A page, and what is wrong with it."""

    page: Page
    report: Path
    wrong: list[str] = field(default_factory=list[str])

    def open(self, name: str, fragment: str = "") -> Page:
        """Raises FileNotFoundError for a page that the report does not have."""
        path = self.report.resolve() / f"{name}.html"
        if not path.is_file():
            raise FileNotFoundError(f"{path}: the report has no such page")
        # Another fragment alone would not load the page again.
        self.page.goto("about:blank")
        self.page.goto(path.as_uri() + fragment)
        self.page.wait_for_function(READY)
        return self.page

    def note(self, where: str) -> None:
        """What axe finds, and whether the page is wider than the window."""
        page = self.page
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
        self.wrong += [
            f"{where}: axe: {rule} at {', '.join(places[:3])}" for rule, places in page.evaluate(AXE)
        ]
        # Paper is wider than a phone; what is printed is checked by tests.
        width = page.evaluate(
            "matchMedia('print').matches ? 0 : document.documentElement.scrollWidth - innerWidth"
        )
        if width > 0:
            self.wrong.append(f"{where}: {width} pixels wider than the window")


# States ------------------------------------------------------------------------------------------------


def _columns(look: Look) -> None:
    page = look.open("index")
    columns = page.get_by_role("combobox", name="Columns").first
    columns.select_option(index=1)
    columns.scroll_into_view_if_needed()


def _copying(look: Look) -> None:
    page = look.open("index")
    offer = page.locator(".copies summary").first
    offer.click()
    offer.scroll_into_view_if_needed()


def _baseline(look: Look) -> None:
    look.open("side-by-side").get_by_role("combobox", name="Baseline").select_option(index=1)


def _wrong_units(look: Look) -> None:
    look.open("trajectories", "#run=all&outcome=wrong")


def _unit(look: Look) -> None:
    look.open("trajectories").locator(".trajectory-list ol a").first.click()
    look.page.locator("section.trajectory").wait_for()


def _printed(look: Look) -> None:
    look.open("index")
    look.page.emulate_media(media="print")


STATES: dict[str, Callable[[Look], object]] = {
    "first-screen": lambda look: look.open("index"),
    "columns": _columns,
    "copying": _copying,
    "types": lambda look: look.open("types-and-positions"),
    "errors": lambda look: look.open("errors"),
    "cost": lambda look: look.open("cost"),
    "side-by-side": lambda look: look.open("side-by-side"),
    "other-baseline": _baseline,
    "units": lambda look: look.open("trajectories"),
    "wrong-units": _wrong_units,
    "unit": _unit,
    "printed": _printed,
}


def look_at(browser: Browser, report: Path, out: Path) -> Iterator[str]:
    """Makes a picture of each state; yields what is wrong."""
    for size, viewport in SIZES.items():
        for theme in THEMES:
            for state, reach in STATES.items():
                where = f"{state}-{size}-{theme}"
                with watched(browser, report, viewport, theme) as look:
                    try:
                        reach(look)
                        look.note(where)
                        look.page.screenshot(path=out / f"{where}.png", full_page=state == "printed")
                    except Exception as error:  # noqa: BLE001 - the next states are looked at anyway
                        look.wrong.append(f"{where}: {_said(error)}")
                yield from look.wrong


def _said(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or repr(error)


@contextmanager
def watched(browser: Browser, report: Path, viewport: Any, theme: Any = "light") -> Iterator[Look]:
    """A page whose messages and requests are noted."""
    context = browser.new_context(viewport=viewport, color_scheme=theme, bypass_csp=False)
    page: Any = context.new_page()
    look = Look(page, report)
    at_home = report.resolve().as_uri() + "/"

    def asked(request: Any) -> None:
        if not request.url.startswith((at_home, "about:", "data:", "blob:")):
            look.wrong.append(f"{page.url}: a request leaves: {request.url}")

    page.on("request", asked)
    page.on("pageerror", lambda error: look.wrong.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda said: (
            look.wrong.append(f"{page.url}: {said.text}") if said.type in ("error", "warning") else None
        ),
    )
    yield look
    context.close()


def sizes_of(report: Path) -> dict[str, int]:
    """Bytes of each page, the largest first; what is loaded or downloaded when somebody asks for it lies beside them."""
    sizes = {path.name: path.stat().st_size for path in report.glob("*.html")}
    return dict(sorted(sizes.items(), key=lambda each: -each[1]))


# Questions ---------------------------------------------------------------------------------------------


@dataclass
class Asker:
    """Somebody who has a question and counts clicks; choosing from a list is one."""

    page: Page
    clicks: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def choose(self, target: Locator, label: str) -> None:
        target.select_option(label=label)
        self.clicks += 1

    def seen(self, target: Locator) -> str:
        """What a place of the page says. Raises AssertionError for nothing."""
        target.first.wait_for()
        text = " ".join(target.first.inner_text().split())
        assert text, "there is nothing to read"
        return text


def _ranked(page: Page) -> list[str]:
    return page.locator("table.ranking").first.locator("tbody th bdi").all_inner_texts()


def which_is_better(asker: Asker) -> str:
    """Which of these two is better? The second and the third of the ranking, since the first screen says of the first."""
    first, second = (
        [*_ranked(asker.page), ""][1:3] if len(_ranked(asker.page)) > 2 else _ranked(asker.page)[:2]
    )
    asker.click(asker.page.locator("nav a[data-page$=side-by-side]").first)
    asker.choose(asker.page.get_by_role("combobox", name="Baseline").first, first)
    row = asker.page.locator(".sides tbody tr").filter(has=asker.page.get_by_text(second, exact=True))
    finding = asker.seen(row.locator("td").last)
    return f"{second} beside {first}: {asker.seen(row.locator('td').first)} points: {finding}"


def how_sure(asker: Asker) -> str:
    """How sure? The finding says the interval or p of its difference."""
    text = asker.seen(asker.page.locator(".finding"))
    assert re.search(r"\bp [=<>]|\[[+−-]?\d", text), f"no interval and no p: {text}"
    return text


def _best_that_fails(page: Page) -> Locator:
    rows = page.locator("table.ranking").first.locator("tbody tr").all()
    failing = [row for row in rows if not row.locator(".number b").inner_text().startswith("100.0")]
    assert failing, "no model of this report fails at anything"
    return failing[0].locator(".number a")


def what_fails(asker: Asker) -> str:
    """What does the best one fail at? The units behind its number that are not right, with the kinds of their errors."""
    asker.click(_best_that_fails(asker.page))
    part = asker.page.locator("select[name=part]")
    part.locator("option[value=lost]").wait_for(state="attached")
    asker.choose(part, part.locator("option[value=lost]").inner_text())
    units = asker.page.locator(".trajectory-list ol a")
    return f"{asker.seen(asker.page.locator('#trajectories [role=status]'))}: {asker.seen(units)}"


def why_failed(asker: Asker) -> str:
    """Why did unit X fail? The verdicts of a unit behind a number, with the rule in words."""
    asker.click(_best_that_fails(asker.page))
    asker.click(asker.page.locator(".trajectory-list ol a:has(.mark.wrong)").first)
    return asker.seen(asker.page.locator("section.trajectory table.verdicts tbody"))


def send_that(asker: Asker) -> str:
    """Send me that view: the link that a unit's page copies shows the same unit to somebody else."""
    asker.page.goto(asker.page.url.replace("index.html", "trajectories.html#run=all&outcome=wrong"))
    # Whoever has a view to send has opened it before.
    asker.page.locator(".trajectory-list ol a").first.click()
    asker.click(asker.page.get_by_role("button", name="Copy link"))
    shown = asker.seen(asker.page.locator("section.trajectory h2"))
    asker.page.evaluate(PASTES)
    asker.page.keyboard.press("Control+V")
    link = asker.page.evaluate("window.pasted")
    context = asker.page.context.browser
    assert context is not None
    other = context.new_context().new_page()
    other.goto(link)
    other.wait_for_function(READY)
    found = Asker(other).seen(other.locator("section.trajectory h2"))
    assert found == shown, f"the link shows {found}, not {shown}"
    return link


QUESTIONS = (which_is_better, how_sure, what_fails, why_failed, send_that)


def ask(browser: Browser, report: Path) -> Iterator[str]:
    """Plays the questions, each from the first screen; yields those that have no answer in time."""
    for question in QUESTIONS:
        name = (question.__doc__ or "").partition(".")[0].partition("?")[0]
        with watched(browser, report, SIZES["wide"]) as look:
            asker = Asker(look.open("index"))
            begun = time.monotonic()
            try:
                answer = question(asker)
            except Exception as error:  # noqa: BLE001 - no answer is what is to be reported
                yield f"{name}: no answer: {_said(error)}"
                continue
            took = time.monotonic() - begun
        print(f"{name}? {asker.clicks} clicks, {took:.1f} s: {answer[:200]}")
        if asker.clicks > MOST_CLICKS or took > MOST_SECONDS:
            yield f"{name}: {asker.clicks} clicks, {took:.1f} s"
        yield from look.wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--questions", action="store_true", help="play the questions only")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("WILDTOOL_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=os.geteuid() != 0)
        wrong = list(ask(browser, given.report))
        if not given.questions:
            wrong += look_at(browser, given.report, given.out)
        browser.close()
    sizes = sizes_of(given.report)
    print(", ".join(f"{name} {size / 1_000_000:.2f} MB" for name, size in list(sizes.items())[:3]))
    wrong += [
        f"{name}: {size} bytes, at most {MOST_BYTES}" for name, size in sizes.items() if size > MOST_BYTES
    ]
    for one in dict.fromkeys(wrong):
        print(one)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
