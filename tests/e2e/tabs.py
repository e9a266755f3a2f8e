"""One tab of the browser for many tests: to open one takes Chromium longer than what most tests do in it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

Size = Mapping[str, int]


@contextmanager
def lent(tab: "Page", size: Size, hear: Mapping[str, Callable[[Any], None]]) -> "Iterator[Page]":
    """A tab as good as new, for a test that leaves behind no script of its own, clock or setting of a context.

    Args:
        size: of the window, in pixels.
        hear: what is called by the tab's events.
    """
    tab.set_viewport_size({"width": size["width"], "height": size["height"]})
    listening: Any = tab
    for event, heard in hear.items():
        listening.on(event, heard)
    yield tab
    for event, heard in hear.items():
        listening.remove_listener(event, heard)
    tab.emulate_media(media="null", color_scheme="null")
    tab.evaluate("() => { try { localStorage.clear() } catch { /* a blank page has none */ } }")
    tab.goto("about:blank")
