"""How often Python looks for cycles of objects while many are made."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

GC_THRESHOLD = 10_000
"""New objects after which the collector of reference cycles looks for some."""


@contextmanager
def relaxed_gc() -> Generator[None, None, None]:
    """Lets the collector of cycles look less often: playing and judging make many objects and hardly a cycle."""
    before = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
