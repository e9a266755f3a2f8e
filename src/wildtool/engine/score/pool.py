"""Judges a long record in several processes; a short one never loads what that takes."""

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any, TypeVar

from wildtool.engine.score.verdict_table import forget_database, load_database
from wildtool.workers import start_worker, starting_workers

T = TypeVar("T")
R = TypeVar("R")
_AT_ONCE = 16
"""Items and repeats that a process judges before it gives their rows back."""


def judged_by_workers(jobs: Iterator[T], judge: Callable[[Sequence[T]], R]) -> Iterator[R] | None:
    """What copies of this process make of the jobs, in order; None where it cannot be copied.

    The iterator raises whatever goes wrong in it, a killed copy included: the caller then judges alone, and meets errors
    in the order of the data.
    """
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if processes < 2 or "fork" not in get_all_start_methods():
        return None
    # Judged here, so that the copies find loaded what the rules need.
    first = [judge(some)] if (some := list(islice(jobs, _AT_ONCE))) else []
    forget_database()  # it has threads
    return None if _has_threads() else _in_order(first, jobs, judge, processes)


def _in_order(
    first: list[R], jobs: Iterator[T], judge: Callable[[Sequence[T]], R], processes: int
) -> Iterator[R]:
    yield from first
    with ProcessPoolExecutor(processes, get_context("fork"), _start_worker, (judge,)) as pool:
        gc.freeze()  # else a collection in a copy writes to all objects that it shares with this process
        try:
            begun: deque[Future[R]] = deque()
            while some := list(islice(jobs, _AT_ONCE)):
                with starting_workers():
                    begun.append(pool.submit(_judge_in_worker, some))
                # Only as many as keep the pool busy, so that memory stays flat.
                if len(begun) > 4 * processes:
                    yield begun.popleft().result()
            load_database()  # while the others judge
            while begun:
                yield begun.popleft().result()
        finally:
            gc.unfreeze()
            pool.shutdown(cancel_futures=True)


def _has_threads() -> bool:
    """Whether this process has threads that a copy would lack, with all locks that they hold."""
    tasks = Path("/proc/self/task")
    return (len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()) > 1


_worker_judge: Callable[[Sequence[Any]], Any] | None = None


def _start_worker(judge: Callable[[Sequence[Any]], Any]) -> None:
    global _worker_judge
    start_worker()
    _worker_judge = judge


def _judge_in_worker(jobs: Sequence[Any]) -> Any:
    assert _worker_judge is not None
    return _worker_judge(jobs)
