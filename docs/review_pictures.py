"""Draws docs/images/review*.png: pages of a review of wild-mini in Chromium."""

import subprocess
import sys
from pathlib import Path
from shutil import copyfile, which
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from wildtool.benchmarks.wildtoolbench.data import WILD_MINI_FILE
from wildtool_data.pointers import Change, value_at
from wildtool_review.project import ReviewProject
from wildtool_review.sets import open_review, start_review

IMAGES = Path(__file__).parent / "images"
SCREEN, PHONE = {"width": 1280, "height": 760}, {"width": 390, "height": 844}


def made_review(place: Path) -> None:
    """A review of 32 sessions in its third round: each round finds fewer errors, and one item is in conflict."""
    start_review(str(place / "set.jsonl"))[0].close()
    review = open_review(str(place / "set.jsonl"))
    for _ in review.check_items():
        pass
    for name, role in (("ann", "reviewer"), ("bob", "reviewer"), ("eve", "adjudicator")):
        review.add_person("owner", name, role)
    for errors in (2, 1, 0):
        items = review.open_round("owner", ["ann", "bob"])
        for k, item in enumerate(items):
            for who in ("ann", "bob"):
                if k < errors:
                    rewrite(review, who, item, "One request at a time, please?")
                review.decide(who, item, review.item(item).seen_by(who)[1], "approve")
    (item, *_) = review.open_round("owner", ["ann", "bob"])
    for who, text in (("ann", "make it Tuesday then"), ("bob", "ok, Tuesday")):
        rewrite(review, who, item, text)
        review.decide(who, item, review.item(item).seen_by(who)[1], "approve")
    review.close()


def rewrite(review: ReviewProject, who: str, item: str, text: str) -> None:
    content, seen = review.item(item).seen_by(who)
    field = next(part.field for part in review.format.parts(content) if part.kind == "user text")
    review.edit(who, item, seen, [Change(field, value_at(content, field), text)])
    found = review.item(item)
    review.recheck(who, item, found.seen_by(who)[1], sorted(found.stale_for(who)))


def main() -> None:
    """Starts the server, and keeps a picture of each page."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        place = Path(folder)
        copyfile(WILD_MINI_FILE, place / "set.jsonl")
        made_review(place)
        command = [
            sys.executable,
            "-m",
            "wildtool",
            "review",
            "serve",
            "set.jsonl",
            "--port",
            "0",
            "--no-token",
        ]
        with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
            browser = playwright.chromium.launch(executable_path=chromium)
            for name, page, size, scheme in (
                ("review-queue", "#queue=all", SCREEN, "light"),
                ("review-item", "#queue=all&item=wild_mini_0", SCREEN, "light"),
                ("review-conflict", "#queue=conflicts", SCREEN, "dark"),
                ("review-figures", "#figures=", SCREEN, "light"),
                ("review-phone", "#queue=all&item=wild_mini_0", PHONE, "dark"),
            ):
                shown = browser.new_page(viewport=size, color_scheme=scheme, locale="en")  # pyright: ignore[reportArgumentType]
                shown.goto(address + page)
                shown.locator("article").wait_for()
                prepare(shown, name)
                shown.screenshot(path=IMAGES / f"{name}.png")
            server.terminate()


def prepare(shown: Page, name: str) -> None:
    if name == "review-conflict":
        shown.locator(".row a").first.click()
        shown.locator(".conflict").wait_for()
    if name == "review-item":
        shown.evaluate("document.querySelector('.graphbox').scrollIntoView({ block: 'center' })")


main()
