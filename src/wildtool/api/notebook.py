"""The progress bar of a notebook."""

import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

from wildtool.api.plans import NamedRun
from wildtool.engine.observer import Observer
from wildtool.engine.run.progress import ProgressObserver

EVERY_S = 0.5


@contextmanager
def notebook_display(
    planned: Sequence[NamedRun], *, quiet: bool
) -> Generator[Sequence[Observer], None, None]:
    """Observers of runs, whose progress a notebook shows until the end; elsewhere they show nothing."""
    if quiet or not in_notebook():
        yield [Observer() for _ in planned]
        return
    pages: Any = import_module("IPython.display")
    runs = [ProgressObserver(each.label, tally=each.plan.tally) for each in planned]
    handle: Any = pages.display(pages.HTML(""), display_id=True)
    closed = threading.Event()

    def refresh() -> None:
        while not closed.wait(EVERY_S):
            handle.update(pages.HTML(progress_html(runs)))

    ticker = threading.Thread(target=refresh, daemon=True)
    ticker.start()
    try:
        yield runs
    finally:
        closed.set()
        ticker.join()
        handle.update(pages.HTML(progress_html(runs)))


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    instance: Any = shell and getattr(shell, "get_ipython", lambda: None)()
    return hasattr(instance, "kernel")


def progress_html(runs: Sequence[ProgressObserver]) -> str:
    """A bar and a line for each run that has started."""
    lines = [
        f'<progress max="{run.progress.total}" value="{run.progress.done}"></progress> {escape(run.text(None))}'
        for run in runs
        if run.progress.total
    ]
    return "<br>".join(lines)
