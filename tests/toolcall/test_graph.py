"""Graphs of gold calls: what is ready, how long the longest chain is, who needs whom, what shape it has."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.graph import ancestors, bit_masks, depth, heights, ready, topology

Deps = list[tuple[int, ...]]

GRAPHS = st.integers(0, 7).flatmap(
    lambda n: st.lists(st.lists(st.integers(-1, n), max_size=3).map(tuple), min_size=n, max_size=n)
)
"""Any dependencies: cycles, a node that needs itself, positions that do not exist, one named twice."""


def waves(deps: Deps) -> list[list[int]] | None:
    """What runs when everything ready goes at once; None if something never can."""
    done: list[int] = []
    result: list[list[int]] = []
    while len(done) < len(deps):
        wave = [i for i in range(len(deps)) if i not in done and all(d in done for d in deps[i])]
        if not wave:
            return None
        done += wave
        result.append(wave)
    return result


def test_a_node_is_ready_once_all_it_needs_is_done() -> None:
    masks = bit_masks([(), (0,), (0, 1)])
    assert [ready(masks, done) for done in (0b000, 0b001, 0b011, 0b111)] == [[0], [1], [2], []]


@pytest.mark.parametrize("unknown", [-1, 1, 10**9])
def test_a_node_that_needs_an_unknown_position_is_never_ready(unknown: int) -> None:
    masks = bit_masks([(unknown,)])
    assert ready(masks, 0) == []
    assert depth([(unknown,)]) is None


def test_a_dependency_named_twice_counts_once() -> None:
    assert heights([(), (0, 0)]) == [2, 1]


@given(GRAPHS)
def test_depth_is_the_number_of_waves(deps: Deps) -> None:
    found = waves(deps)
    assert depth(deps) == (None if found is None else len(found))


@given(GRAPHS)
def test_height_is_the_longest_chain_of_dependents(deps: Deps) -> None:
    def longest(node: int) -> int:
        return 1 + max((longest(later) for later, needed in enumerate(deps) if node in needed), default=0)

    if waves(deps) is not None:
        assert heights(deps) == [longest(node) for node in range(len(deps))]


@given(GRAPHS)
def test_ready_nodes_are_the_first_wave(deps: Deps) -> None:
    assert ready(bit_masks(deps), 0) == [i for i, needed in enumerate(deps) if not needed]


@given(GRAPHS)
def test_ancestors_are_all_nodes_needed_through_others(deps: Deps) -> None:
    known = [{d for d in needed if 0 <= d < len(deps)} for needed in deps]
    for _ in deps:
        known = [needed.union(*(known[d] for d in needed)) for needed in known]
    assert ancestors(deps) == known


def test_a_node_of_a_cycle_needs_itself() -> None:
    assert ancestors([(1,), (0,)]) == [{0, 1}, {0, 1}]


@pytest.mark.parametrize(
    ("deps", "shape"),
    [
        ([], "none"),
        ([()], "single"),
        ([(), ()], "parallel"),
        ([(), (0,)], "sequential"),
        ([(), (0,), (1,)], "sequential"),
        ([(), (0,), (0, 1)], "sequential"),
        ([(), (), (0, 1)], "mixed"),
        ([(), (0,), ()], "mixed"),
    ],
)
def test_topology_names_the_shape(deps: Sequence[Sequence[int]], shape: str) -> None:
    assert topology(deps) == shape


def test_a_chain_through_others_is_sequential_whatever_the_order_of_nodes() -> None:
    assert topology([(1,), (2,), ()]) == "sequential"


def test_a_chain_of_ten_thousand_nodes_needs_no_recursion() -> None:
    assert depth([(i - 1,) if i else () for i in range(10_000)]) == 10_000
