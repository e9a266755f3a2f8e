"""Matchings have the sum of scipy's, and ascents the length of the longest one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from wildtool.toolcall.assignment import hungarian, longest_ascent, max_weight_matching

matrices = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([0.0, 0.81, 0.9, 0.95, 1.0]) | st.floats(0, 1), min_size=width, max_size=width),
        min_size=1,
        max_size=7,
    )
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(matrices)
def test_matchings_weigh_as_much_as_scipys(matrix: list[list[float]]) -> None:
    weights = {(i, j): w for i, row in enumerate(matrix) for j, w in enumerate(row) if w > 0.5}
    found = max_weight_matching(weights)
    assert len(set(found.values())) == len(found)
    padded = np.array([[weights.get((i, j), 0.0) for j in range(len(row))] for i, row in enumerate(matrix)])
    best = padded[linear_sum_assignment(padded, maximize=True)].sum()
    assert sum(weights[pair] for pair in found.items()) == pytest.approx(best)


@settings(max_examples=300, deadline=None)
@given(matrices.filter(lambda matrix: len(matrix) <= len(matrix[0])))
def test_assignments_cost_as_much_as_scipys(matrix: list[list[float]]) -> None:
    columns = hungarian(matrix)
    assert len(set(columns)) == len(matrix)
    costs = np.array(matrix)
    best = costs[linear_sum_assignment(costs)].sum()
    assert costs[list(range(len(matrix))), columns].sum() == pytest.approx(best)


def test_a_heavier_pair_is_preferred_to_two_that_weigh_less_together() -> None:
    assert max_weight_matching({(0, 0): 0.2, (1, 0): 0.9, (1, 1): 0.3}) == {1: 0}


@given(st.lists(st.integers(0, 9), max_size=9))
def test_ascents_are_the_longest(values: list[int]) -> None:
    lengths = (
        size
        for size in range(len(values), 0, -1)
        if any(list(some) == sorted(set(some)) for some in combinations(values, size))
    )
    assert longest_ascent(values) == next(lengths, 0)
