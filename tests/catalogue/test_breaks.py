"""Where accuracy breaks: placed where data place it, and a sentence where they do not."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wildtool.catalogue import breaks
from wildtool.catalogue.breaks import Break, find_break

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


def test_a_break_is_placed_to_the_number():
    place = find_break(series(80, 0.25, 40), SIZES, 0.0001)
    ends = [None if each is None else round(each, 3) for each in (place.size, place.low, place.high)]
    assert (ends, place.reason) == ([87.241, 73.36, 123.377], "")


def test_the_interval_covers_the_break_as_often_as_it_says():
    hits = 0
    for seed in range(20):
        place = roughly(series(80, 0.2, 60, seed), SIZES, 0.0001)
        hits += (place.low or 0) <= 80 <= (place.high or math.inf)
    assert hits >= 17


FALL_AND_RISE: Rows = {
    str(n): [(x, 3.0) for x in row]
    for n, row in enumerate([(2, 0, 2, 1)] * 2 + [(0, 0, 0, 1)] + [(0, 0, 0, 0)] * 17)
}
"""Lower at the last size than at the first, and lowest in between."""


@pytest.mark.parametrize(
    ("rows", "sizes", "p", "reason"),
    [
        (series(80, 0.2, 60), SIZES[:3], 0.001, "3 sizes were run; it takes 4"),
        (series(9999, 0.2, 60), SIZES, 1.0, "does not fall"),
        (series(80, 0.2, 60), SIZES, 0.2, r"no significant fall up to 640 tools \(p = 0.200"),
        (series(10, 0.1, 300), SIZES, 0.001, "from the smallest size on cannot be excluded"),
        (series(500, 0.4, 200), SIZES, 0.001, "larger sizes would place it"),
        (series(80, 0.2, 10), SIZES, 0.001, "10 items were run; it takes 20"),
        (FALL_AND_RISE, SIZES[:4], 0.001, "no steady fall begins anywhere"),
    ],
)
def test_what_cannot_be_told_is_said(rows: Rows, sizes: tuple[int, ...], p: float, reason: str):
    place = roughly({item: row[: len(sizes)] for item, row in rows.items()}, sizes, p)
    assert place.size is None
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(place.reason)


@settings(max_examples=20, deadline=None)
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
