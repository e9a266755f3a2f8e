"""Raises the garbage collector's threshold while many objects are allocated."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

GC_THRESHOLD = 10_000
"""New objects after which the collector looks for reference cycles."""


@contextmanager
def relaxed_gc() -> Generator[None, None, None]:
    """Collects less often: running and judging make many objects and hardly any cycles."""
    before = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
