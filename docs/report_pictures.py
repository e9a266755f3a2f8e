"""Draws docs/images/report*.png: pages of the demo's report in Chromium. Run it after `make demo`."""

import sys
from pathlib import Path
from shutil import which

from playwright.sync_api import Browser, Page, sync_playwright

SCREEN, LARGE, PHONE = (
    {"width": width, "height": height} for width, height in ((1440, 760), (1440, 900), (390, 844))
)
A_FEW = "outcome=wrong&error=Param%20Value%20Error"


def main(site: str) -> None:
    place = Path(site).resolve()
    with sync_playwright() as playwright:
        chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium)
        for name, page, size, scheme in (
            ("report", "index", SCREEN, "light"),
            ("report-types", "types-and-positions", SCREEN, "light"),
            ("report-dataset", "dataset", LARGE, "light"),
            ("report-side-by-side", "side-by-side", SCREEN, "dark"),
            ("report-phone", "types-and-positions", PHONE, "dark"),
        ):
            shown = opened(browser, size, scheme)
            shown.goto((place / f"{page}.html").as_uri())
            keep(shown, name)
        for name, size in (("report-trajectory", LARGE), ("report-trajectory-phone", PHONE)):
            shown = opened(browser, size, "light")
            shown.goto(f"{(place / 'trajectories.html').as_uri()}#{A_FEW}")
            shown.locator("#trajectories .trajectory-list li a", has_text="Param Value Error").first.click()
            shown.locator(".gold").first.wait_for()
            keep(shown, name)


def opened(browser: Browser, size: dict[str, int], scheme: str) -> Page:
    return browser.new_page(viewport=size, color_scheme=scheme)  # pyright: ignore[reportArgumentType]


def keep(page: Page, name: str) -> None:
    page.screenshot(path=Path(__file__).parent / "images" / f"{name}.png")


main(sys.argv[1] if len(sys.argv) > 1 else "runs/demo-report")
