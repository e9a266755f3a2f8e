"""Processes that work for another one end with it."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

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
