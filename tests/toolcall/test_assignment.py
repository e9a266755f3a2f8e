"""Matchings are those of networkx, ties included; ascents are the longest, and pairs in order the heaviest."""

from itertools import combinations

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.toolcall.assignment import PairWeights, heaviest_in_order, longest_ascent, max_weight_matching

# Equal weights, and some that differ in their last bits alone.
weights = st.sampled_from([0.81, 0.875, 0.9999999999999998, 1.0, 1.0000000000000002]) | st.floats(0.8, 1)
matrices = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.just(0.0) | weights, min_size=width, max_size=width), min_size=1, max_size=7
    )
)


def networkx_matching(pairs: PairWeights) -> set[tuple[object, ...]]:
    graph: networkx.Graph[int | str] = networkx.Graph()
    graph.add_weighted_edges_from((left, str(right), weight) for (left, right), weight in pairs.items())
    return {
        tuple(sorted(pair, key=lambda node: isinstance(node, str)))
        for pair in networkx.max_weight_matching(graph)
    }


@settings(max_examples=a_fiftieth_of(1_500), deadline=None)
@given(matrices, st.booleans())
def test_matchings_are_those_of_networkx(matrix: list[list[float]], from_the_end: bool) -> None:
    pairs = {(i, j): weight for i, row in enumerate(matrix) for j, weight in enumerate(row) if weight}
    if from_the_end:
        pairs = dict(reversed(pairs.items()))
    matching = max_weight_matching(pairs)
    assert {(left, str(right)) for left, right in matching.items()} == networkx_matching(pairs)


def test_of_equal_matchings_the_order_of_pairs_decides() -> None:
    """T-Eval's published numbers hang on it (Q3)."""
    pairs = [(i, j) for i in range(3) for j in range(2)]
    assert max_weight_matching(dict.fromkeys(pairs, 1.0)) == {1: 1, 2: 0}
    assert max_weight_matching(dict.fromkeys(reversed(pairs), 1.0)) == {0: 1, 1: 0}


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


@given(matrices)
def test_pairs_in_order_are_the_heaviest(matrix: list[list[float]]) -> None:
    rows, columns = range(len(matrix)), range(len(matrix[0]))
    sums = (
        sum(matrix[row][column] for row, column in zip(some, others, strict=True))
        for size in range(min(len(rows), len(columns)) + 1)
        for some in combinations(rows, size)
        for others in combinations(columns, size)
    )
    assert heaviest_in_order(matrix) == pytest.approx(max(sums))
