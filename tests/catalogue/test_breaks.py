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


FALL = "a fall from the smallest size on cannot be excluded; it begins at 11 tools or fewer"
LATE = "the fall begins at 320 tools or more; larger sizes would place it"
UNSEEN = "it falls, and where the fall begins cannot be seen in these items and sizes"


@pytest.mark.parametrize(
    ("rows", "sizes", "p", "place"),
    [
        (series(80, 0.25, 40), SIZES, 0.0001, Break(87.241, 73.36, 123.377)),
        (series(80, 0.2, 20), SIZES, 0.0499, Break(80.0, 67.272, 113.137)),
        (series(10, 0.1, 60), SIZES, 0.001, Break(None, None, 10.905, FALL)),
        (series(500, 0.4, 60), SIZES, 0.001, Break(None, 320.0, None, LATE)),
        (series(20, 0.01, 20, 4), SIZES, 0.001, Break(None, None, None, UNSEEN)),
        (series(80, 0.2, 60), SIZES[:3], 0.001, "3 sizes were run; it takes 4 or more to place a break"),
        (series(80, 0.2, 19), SIZES, 0.001, "19 items were run; it takes 20 or more to place a break"),
        (series(9999, 0.2, 20), SIZES, 0.001, "accuracy does not fall up to the largest size"),
        (
            series(80, 0.2, 20),
            SIZES,
            0.05,
            "no significant fall up to 640 tools (p = 0.050 for the largest size)",
        ),
        (
            FALL_AND_RISE,
            SIZES[:4],
            0.001,
            "accuracy falls and rises again, so that no steady fall begins anywhere",
        ),
    ],
)
def test_a_break_is_placed_or_said_why_not(rows: Rows, sizes: tuple[int, ...], p: float, place: Break | str):
    its = find_break({item: row[: len(sizes)] for item, row in rows.items()}, sizes, p)
    size, low, high = (None if each is None else round(each, 3) for each in (its.size, its.low, its.high))
    assert Break(size, low, high, its.reason) == (
        Break(None, reason=place) if isinstance(place, str) else place
    )


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
