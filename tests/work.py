"""Counts work instead of time: how many functions a call runs, on any machine the same."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def work_of(action: Callable[[], object]) -> int:
    """Functions and generators that were entered, in Python and in C."""
    count = 0

    def seen(_frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def growth(action: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times the work grows where the input doubles; about 2 where it is linear, 4 where it is quadratic.

    Args: action: makes the call for a size; what it does before it returns that call is not counted.
    """
    action(size)()  # what is loaded or compiled once is no work of either
    return work_of(action(2 * size)) / work_of(action(size))
