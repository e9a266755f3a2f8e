"""From how many tools on an exposure pays: the crossing of its gains over the logarithm of the size, with an interval."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.cli.output.sizes import gain_words
from wildtool.tools.break_even import FEWEST_ITEMS, break_even

SIZES = [10, 50, 200, 1000]


def rows(*gains, items=FEWEST_ITEMS):
    return {str(number): [(gain, 1.0) for gain in gains] for number in range(items)}


def test_a_gain_that_rises_above_nothing_between_two_sizes_pays_from_between_them():
    place = break_even(rows(-0.3, -0.1, 0.1, 0.3), SIZES)
    assert place.size == place.low == place.high == pytest.approx(math.sqrt(50 * 200))


def test_a_gain_at_all_sizes_pays_from_the_smallest_and_one_at_no_size_never():
    assert break_even(rows(0.1, 0.1, 0.1, 0.1), SIZES).size == 0
    assert break_even(rows(0.1, 0.1, 0.1, -0.1), SIZES).size == math.inf


@pytest.mark.parametrize("gain", [0.1, -0.1])
def test_what_pays_at_all_sizes_or_at_none_is_said_without_a_size(gain):
    words = gain_words("accuracy", break_even(rows(*[gain] * 4), SIZES))
    assert "inf" not in words and "[" not in words


@pytest.mark.parametrize(("items", "sizes"), [(FEWEST_ITEMS - 1, SIZES), (FEWEST_ITEMS, SIZES[:1])])
def test_too_few_items_or_sizes_say_nothing_and_why(items, sizes):
    assert break_even(rows(*[0.1] * len(sizes), items=items), sizes).reason


@given(st.lists(st.tuples(*[st.floats(-1, 1)] * 4), min_size=FEWEST_ITEMS, max_size=FEWEST_ITEMS))
def test_the_interval_holds_the_size(gains):
    place = break_even({str(n): [(gain, 1.0) for gain in row] for n, row in enumerate(gains)}, SIZES)
    assert place.low <= place.size <= place.high


def test_a_known_crossing_lies_in_its_interval():
    inside, draws = 0, max(4, a_fiftieth_of(200))
    for seed in range(draws):
        draw = random.Random(seed)
        gains = {
            str(item): [(level + draw.gauss(0, 0.4), 1.0) for level in (-0.3, -0.1, 0.1, 0.3)]
            for item in range(60)
        }
        place = break_even(gains, SIZES)
        inside += place.low <= 100 <= place.high
    assert inside >= 0.9 * draws - 1
