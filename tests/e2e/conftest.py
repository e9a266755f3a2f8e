"""The browser that pages are tested in: the system's own Chromium, without a window."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from e2e.forks import end_all

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Parts of the window that no page of ours needs, each with a process of its own.
WITHOUT = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of killed workers wait longest. They begin first: at the end the other processes would have nothing to do."""
    items.sort(key=lambda item: not item.path.name.startswith("test_workers"))


def _chromium() -> str | None:
    named = os.environ.get("WILDTOOL_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(autouse=True)
def no_command_left() -> Iterator[None]:
    """No command outlives the test that started it, however that ends."""
    yield
    end_all()


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Chromium. Where there is none the test is skipped; with CI=true, where one must be, it fails.

    Of one module, since its event loop keeps others from running in the thread until it is closed.
    """
    path = _chromium()
    if path is None:
        reason = f"no browser: none of {', '.join(NAMES)} is installed; WILDTOOL_CHROMIUM may name one"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root, as in a container, has no sandbox to put a browser into.
        found = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=os.geteuid() != 0, args=[WITHOUT]
        )
        yield found
        found.close()


@pytest.fixture(scope="module")
def tab(browser: "Browser") -> "Page":
    """One tab for `lent`, which lends it to one test after another."""
    return browser.new_context().new_page()
