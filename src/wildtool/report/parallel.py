"""Work in several parts, spread over the cores where it is worth starting processes."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def run_jobs(jobs: Sequence[Callable[[], T]], *, parallel: bool) -> Generator[Iterator[T], None, None]:
    """What each job gives, in order, or the error it raises.

    Args:
        jobs: each a function that another process can be sent, which need no order among them.
        parallel: whether they are begun at once by processes of their own, and go on while the block does other work;
            else each is done when it is asked for.
    """
    if not parallel:
        yield (job() for job in jobs)
        return
    # Fresh processes: libraries of this one may have threads, which a copy of it would lack.
    pool = ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))
    try:
        begun = [pool.submit(job) for job in jobs]
        yield (job.result() for job in begun)
    finally:
        pool.shutdown(cancel_futures=True)
