"""The cluster bootstrap: scipy's on the same data, its seed, its coverage."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stats.paired_draws import two_runs
from wildtool.stats.intervals import bootstrap_interval, tail_share
from wildtool.stats.tests import ItemPair, difference

CLUSTERS = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=12
)


def examples() -> list[list[tuple[int, int]]]:
    random = np.random.default_rng(3)
    right = random.binomial(4, random.beta(1.8, 0.2, 64))
    sizes = random.integers(1, 6, 64)
    return [
        [(x, 4) for x in right.tolist()],
        list(zip(np.minimum(right, sizes).tolist(), sizes.tolist(), strict=True)),
        [(x, 1) for x in (random.random(100) < 0.05).astype(int).tolist()],
    ]


@pytest.mark.parametrize("clusters", examples(), ids=["items of one size", "of several sizes", "rare"])
def test_the_interval_is_scipys_with_percentiles_moved_outwards(clusters: list[tuple[int, int]]) -> None:
    above, below = (np.array(side, float) for side in zip(*clusters, strict=True))
    expected = stats.bootstrap(
        (above, below),
        lambda x, n, axis: x.sum(axis) / n.sum(axis),
        paired=True,
        n_resamples=9_999,
        method="percentile",
        confidence_level=1 - 2 * tail_share(len(clusters)),
        vectorized=True,
        rng=np.random.default_rng(5),
    ).confidence_interval
    found = bootstrap_interval(clusters, resamples=9_999)
    # Ends lie on the grid of possible rates; both have a Monte Carlo error of about that size.
    assert found == pytest.approx((expected.low, expected.high), abs=0.0101)


def test_of_many_items_2_5_percent_are_left_out_at_either_end_and_of_few_less() -> None:
    assert tail_share(10_000) == pytest.approx(0.025, abs=1e-4)
    assert tail_share(32) == pytest.approx(stats.norm.cdf(-math.sqrt(32 / 31) * stats.t.ppf(0.975, 31)))


def test_a_seed_gives_the_same_interval_again_and_another_seed_another() -> None:
    clusters = examples()[1]
    assert bootstrap_interval(clusters, seed=1) == bootstrap_interval(clusters, seed=1)
    assert len({bootstrap_interval(clusters, seed=seed, resamples=200) for seed in range(8)}) > 1


def test_without_spread_it_is_a_point() -> None:
    assert bootstrap_interval([(2, 4)] * 9) == (0.5, 0.5)


def test_no_observation_gives_no_interval() -> None:
    assert bootstrap_interval([(0, 0)]) is None


@given(CLUSTERS)
def test_it_stays_between_the_least_and_the_largest_rate_of_an_item(clusters: list[tuple[int, int]]) -> None:
    found = bootstrap_interval(clusters, resamples=50)
    assert found is not None
    rates = [x / n for x, n in clusters]
    assert min(rates) - 1e-12 <= found[0] <= found[1] <= max(rates) + 1e-12


def test_for_a_difference_it_agrees_with_the_sandwich() -> None:
    a, b = two_runs(np.random.default_rng(7), 1, 256, 4, (0.55, 0.6), of_items=0.3, of_runs=0.5)
    row = (b - a)[0].tolist()
    robust = difference([ItemPair(Fraction(each), 4) for each in row])
    resampled = bootstrap_interval([(each, 4) for each in row])
    assert robust is not None
    assert resampled == pytest.approx((robust.low, robust.high), abs=0.01)


@pytest.mark.long
def test_95_percent_of_intervals_hold_the_difference_they_were_drawn_from() -> None:
    replicates = 400
    a, b = two_runs(np.random.default_rng(11), replicates, 100, 4, (0.5, 0.6), of_items=0.3, of_runs=0.5)
    held = 0
    for row in (b - a).tolist():
        found = bootstrap_interval([(each, 4) for each in row], resamples=400)
        assert found is not None
        held += found[0] <= 0.1 <= found[1]
    assert abs(held / replicates - 0.95) < 0.02
