"""SIGTERM stops a command as Ctrl-C does: in order, with one line and exit status 130."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


def stop_at_sigterm() -> None:
    """From now on SIGTERM does what Ctrl-C does at this moment. Does nothing where SIGTERM has a meaning already.

    For the command only: a program that uses wildtool as a library chooses its signals itself.
    """
    if current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)


@contextmanager
def keep_sigterm() -> Generator[None]:
    """Gives SIGTERM back what it meant before: a library that is used meanwhile may take it."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, before)


def _interrupt(sent: int, frame: FrameType | None) -> None:
    if not callable(signal.getsignal(signal.SIGINT)):
        # A script that starts a command in the background lets it ignore Ctrl-C, but not SIGTERM.
        raise KeyboardInterrupt
    # An event loop has a handler of its own, which lets its tasks end.
    signal.raise_signal(signal.SIGINT)
