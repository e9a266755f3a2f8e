"""Processes that work for another one end with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest

from wildtool import workers


class _Parent:
    """A process that ends when it is joined."""

    def __init__(self, events: list[object]) -> None:
        self._events = events

    def join(self) -> None:
        self._events.append("joined")


@pytest.mark.parametrize("has_parent", [True, False])
def test_a_worker_leaves_ctrl_c_alone_and_ends_after_its_parent(
    has_parent: bool, monkeypatch: pytest.MonkeyPatch
):
    events: list[object] = []

    class Inline:
        def __init__(self, *, target: Callable[[], None], daemon: bool) -> None:
            assert daemon, "else a worker whose work is done would wait for its parent"
            self.start = target

    monkeypatch.setattr(signal, "signal", lambda *what: events.append(what))
    monkeypatch.setattr(workers, "Thread", Inline)
    monkeypatch.setattr(workers, "parent_process", lambda: _Parent(events) if has_parent else None)
    monkeypatch.setattr(os, "_exit", events.append)
    workers.start_worker()
    signals = [(signal.SIGINT, signal.SIG_IGN), (signal.SIGTERM, signal.SIG_DFL)]
    assert events == [*signals, *(["joined", 1] if has_parent else [])]


FORKED = "from concurrent.futures import ProcessPoolExecutor\npool = ProcessPoolExecutor(2, initializer=start_worker)"
SPAWNED = """
import gc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from wildtool.report.parallel import _start_worker
pool = ProcessPoolExecutor(2, get_context("spawn"), initializer=_start_worker, initargs=gc.get_threshold())
"""


@pytest.mark.parametrize("pool", [FORKED, SPAWNED], ids=["forked", "spawned"])
def test_workers_end_with_a_process_that_is_killed(pool: str):
    code = f"""
import signal, time
from wildtool.workers import start_worker
{pool}
list(pool.map(time.sleep, [0.05, 0.05]))
print("up", flush=True)
signal.pause()
"""
    # Whatever inherits the pipe keeps it open: its end is read only when all processes are gone.
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == b"up\n"
            process.kill()
            assert process.communicate(timeout=60)[0] == b""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
