"""Runs independent jobs on several cores where that is worth starting processes."""

import gc
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from wildtool.children import safe_paths
from wildtool.workers import start_worker, starting_workers

T = TypeVar("T")


@contextmanager
def run_jobs(jobs: Sequence[Callable[[], T]], *, parallel: bool) -> Generator[Iterator[T], None, None]:
    """Yields the result of each job in order, or raises its error.

    Args:
        jobs: functions that can be sent to another process, in any order.
        parallel: whether to start them immediately in separate processes, which run while the block does other work;
            otherwise each runs when its result is needed.
    """
    if not parallel:
        yield (job() for job in jobs)
        return
    # New processes: this one's libraries may have threads, which a fork would lack.
    with safe_paths():
        pool = ProcessPoolExecutor(
            os.cpu_count(), get_context("spawn"), initializer=_start_worker, initargs=gc.get_threshold()
        )
    try:
        with safe_paths(), starting_workers():
            begun = [pool.submit(job) for job in jobs]
        yield (job.result() for job in begun)
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker(*gc_threshold: int) -> None:
    start_worker()
    gc.set_threshold(*gc_threshold)
