"""How many rows each set gives."""

from hypothesis import given
from hypothesis import strategies as st

from wildtool_data.prepare.mix.mix import apportion

SETS = st.lists(st.tuples(st.floats(0.01, 100), st.integers(0, 60)), min_size=1, max_size=6)


@given(SETS, st.integers(0, 250))
def test_a_larger_total_takes_rows_from_no_set(sets, total):
    weights, limits = zip(*sets, strict=True)
    smaller, larger = apportion(weights, limits, total), apportion(weights, limits, total + 1)
    assert sum(smaller) == min(total, sum(limits))
    assert all(a <= b for a, b in zip(smaller, larger, strict=True))
    assert all(count <= limit for count, limit in zip(smaller, limits, strict=True))


def test_shares_follow_the_weights_and_others_take_what_a_small_set_lacks():
    assert apportion([60, 30, 10], [1000, 1000, 1000], 100) == [60, 30, 10]
    assert apportion([60, 30, 10], [20, 1000, 1000], 100) == [20, 60, 20]
