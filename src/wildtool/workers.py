"""Processes that work for this one."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import parent_process
from threading import Thread


@contextmanager
def starting_workers() -> Generator[None]:
    """Processes that are started inside leave Ctrl-C to this one from their first moment on: before `start_worker` runs
    in them they import, and would each show a traceback. One that comes meanwhile is heeded at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker() -> None:
    """Prepares a process of a pool, as its initializer: it leaves Ctrl-C to the process that started it, and ends with
    that one. Else, where that was killed, it would wait forever for work and keep what it inherited, such as a lock."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A pool ends its processes by this signal, for which a command has a handler that they inherit.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
