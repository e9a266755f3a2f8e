"""The browser that pages are tested in: the system's own Chromium, without a window."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
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


@pytest.fixture(scope="session")
def chromium() -> Iterator["tuple[Browser, asyncio.AbstractEventLoop]"]:
    """Chromium, and the event loop through which it is spoken with.

    Where there is none the test is skipped; with CI=true, where one must be, it fails.
    """
    path = _chromium()
    if path is None:
        reason = f"no browser: none of {', '.join(NAMES)} is installed; WILDTOOL_CHROMIUM may name one"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        # Root, as in a container, has no sandbox to put a browser into.
        found = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=os.geteuid() != 0, args=[WITHOUT]
        )
        with _another_loop(None):
            yield found, loop
        found.close()


@pytest.fixture(scope="module")
def browser(chromium: "tuple[Browser, asyncio.AbstractEventLoop]") -> Iterator["Browser"]:
    """Chromium for the tests of a module: while its event loop counts as running, no other can run in this thread."""
    found, loop = chromium
    with _another_loop(loop):
        yield found


@contextmanager
def _another_loop(loop: asyncio.AbstractEventLoop | None) -> Iterator[None]:
    """Meanwhile that event loop, or none, counts as the one that runs in this thread.

    Playwright's goes on between its calls, in a greenlet.
    """
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(before)


@pytest.fixture(scope="module")
def tab(browser: "Browser") -> Iterator["Page"]:
    """One tab for `lent`, which lends it to one test after another."""
    context = browser.new_context()
    yield context.new_page()
    context.close()
