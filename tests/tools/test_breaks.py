"""Where accuracy breaks: placed where data place it, and a sentence where they do not."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.tools import breaks
from wildtool.tools.breaks import Break, find_break

Rows = dict[str, list[tuple[float, float]]]
SIZES = (10, 20, 40, 80, 160, 320, 640)


def series(begins: float, slope: float, items: int, seed: int = 1) -> Rows:
    """Items of four units; each is right while its own luck lies below the rate of the size."""
    random = Random(seed)
    rows: Rows = {}
    for number in range(items):
        luck = [random.random() for _ in range(4)]
        rates = [0.9 - slope * max(0.0, math.log(size / begins)) for size in SIZES]
        rows[str(number)] = [(float(sum(each < rate for each in luck)), 4.0) for rate in rates]
    return rows


def roughly(rows: Rows, sizes: tuple[int, ...], p: float) -> Break:
    """The break with an interval of fewer resamples, where its last digits do not matter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(breaks, "BREAK_RESAMPLES", 200)
        return find_break(rows, sizes, p)


@pytest.mark.parametrize("begins", [40, 80, 160])
def test_a_clear_break_is_placed_within_its_interval(begins: int):
    place = roughly(series(begins, 0.25, 200), SIZES, 0.0001)
    assert place.size is not None
    assert place.low is not None
    assert place.high is not None
    assert place.low <= begins <= place.high
    assert place.high / place.low < 4


@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=19, max_size=24),
    p=st.floats(0, 1),
)
def test_any_series_gives_a_break_within_the_sizes_or_a_reason(rows: list[list[int]], p: float):
    place = roughly({str(n): [(x, 3.0) for x in row] for n, row in enumerate(rows)}, SIZES[:4], p)
    assert isinstance(place, Break)
    ends = [each for each in (place.low, place.size, place.high) if each is not None]
    assert ends == sorted(ends)
    assert all(SIZES[0] - 0.001 <= each <= SIZES[3] + 0.001 for each in ends)
    assert (place.size is None) == bool(place.reason)
