"""Draws docs/images/agent-*.png: a unit of an agent beside that of the bare model, in Chromium.

Args: a report of two runs of wild-mini, the bare model's first, then the agent's.
"""

import sys
from pathlib import Path
from shutil import which

from playwright.sync_api import Page, sync_playwright

UNIT = "run=1&item=wild_mini_0&unit={unit}&repeat=0&of=all"
SIZE = {"width": 1320, "height": 1000}


def main(site: str) -> None:
    trajectories = (Path(site).resolve() / "trajectories.html").as_uri()
    with sync_playwright() as playwright:
        chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium)
        shown = browser.new_page(viewport=SIZE, color_scheme="light")  # pyright: ignore[reportArgumentType]
        shown.goto(f"{trajectories}#{UNIT.format(unit=1)}&beside=0")
        shown.locator(".gold").nth(1).wait_for()
        keep(shown, "agent-side-by-side", 1060)
        shown.goto("about:blank")
        shown.goto(f"{trajectories}#{UNIT.format(unit=0)}")
        shown.locator(".gold").first.wait_for()
        shown.get_by_text("what the model was shown of its result").first.click()
        keep(shown, "agent-trajectory", 1000)
        browser.close()


def keep(page: Page, name: str, height: int) -> None:
    """Keeps the upper part of the unit's pane. Args: height: in pixels."""
    box = page.locator("section.trajectory").bounding_box()
    assert box is not None, "the page shows a unit"
    top = page.evaluate("window.scrollY") + box["y"]
    page.screenshot(
        path=Path(__file__).parent / "images" / f"{name}.png",
        full_page=True,
        clip={"x": box["x"], "y": top, "width": box["width"], "height": height},
    )


main(sys.argv[1])
