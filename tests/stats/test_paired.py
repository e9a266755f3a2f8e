"""Paired comparison: McNemar's test, its form for items of several units, the clustered difference."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stats.paired_draws import two_runs
from wildtool.stats.intervals import t_quantile
from wildtool.stats.tests import ItemPair, difference, flip_test

WHOLE = st.lists(st.integers(-4, 4), min_size=1, max_size=30)


def pairs(differences: list[int], units: int = 4) -> list[ItemPair]:
    return [ItemPair(Fraction(each), units) for each in differences]


# Student's t --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 31, 257, 2039])
def test_the_t_quantile_is_scipys(freedom: int) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)


def test_with_many_degrees_of_freedom_t_is_normal() -> None:
    assert t_quantile(0.975, 5_000) == pytest.approx(stats.t.ppf(0.975, 5_000), abs=5e-4)


# Tests --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "p"),
    # statsmodels.stats.contingency_tables.mcnemar(exact=True), 0.15.0
    [(3, 12, 0.03515625), (0, 5, 0.0625), (7, 7, 1.0), (25, 48, 0.009542211425865477)],
)
def test_for_single_units_p_is_that_of_statsmodels_mcnemar(first: int, second: int, p: float) -> None:
    found = flip_test(pairs([1] * first + [-1] * second, units=1))
    assert found == (pytest.approx(p, rel=1e-12), True)


def binomial(first: int, second: int) -> float:
    """McNemar's exact test, two-sided: p for numbers of units that only one of two runs got right."""
    return stats.binomtest(first, first + second, 0.5).pvalue if first + second else 1.0


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_for_single_units_the_test_by_item_is_mcnemars(gained: int, lost: int, same: int) -> None:
    p, exact = flip_test(pairs([1] * gained + [-1] * lost + [0] * same, units=1))
    assert exact
    assert p == pytest.approx(binomial(lost, gained), rel=1e-9)


@pytest.mark.parametrize(
    "differences", [[1, -1, 2, 3, 4, -2, 1, 1], [4, 3, 0, 2, 1], [1, 1, 1, -1], [-3, -2, -4, 1, -1, 0, -2]]
)
def test_the_test_by_item_counts_all_sign_patterns(differences: list[int]) -> None:
    """scipy's permutation test with one sample enumerates them."""
    found = stats.permutation_test(
        (np.array(differences, float),),
        lambda x, axis: np.abs(x.sum(axis)),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
        alternative="greater",
    )
    assert flip_test(pairs(differences)) == (pytest.approx(found.pvalue), True)


@given(WHOLE)
def test_which_run_comes_first_does_not_change_p(differences: list[int]) -> None:
    assert flip_test(pairs(differences)) == flip_test(pairs([-each for each in differences]))


@given(WHOLE, st.integers(1, 7))
def test_shares_of_repeats_are_counted_exactly(differences: list[int], repeats: int) -> None:
    shares = [ItemPair(Fraction(each, repeats), 1) for each in differences]
    assert flip_test(shares) == flip_test(pairs(differences))


def test_equal_runs_have_p_1() -> None:
    assert flip_test(pairs([0, 0, 0])) == (1.0, True)


def test_very_many_items_fall_back_to_the_normal_distribution_and_say_so() -> None:
    random = np.random.default_rng(1)
    many = random.choice([-1, 1], 6_000, p=[0.51, 0.49]).tolist()
    p, exact = flip_test(pairs(many, units=1))
    assert not exact
    gained = many.count(1)
    assert p == pytest.approx(stats.binomtest(gained, len(many), 0.5).pvalue, rel=1e-3)


@pytest.mark.long
def test_under_equal_models_p_is_below_5_percent_in_at_most_5_percent() -> None:
    """Items of four units that agree, where counting flipped units as independent would not hold the level."""
    a, b = two_runs(np.random.default_rng(4), 1000, 64, 4, (0.5, 0.5), of_items=0.6, of_runs=0.3)
    found = [flip_test(pairs(row))[0] for row in (b - a).tolist()]
    naive = [flip_by_unit(x, y) for x, y in zip(a, b, strict=True)]
    assert 0.035 < np.mean(np.array(found) < 0.05) < 0.055
    assert np.mean(np.array(naive) < 0.05) > 0.1, "the example must be one where clusters matter"


def flip_by_unit(a: np.ndarray, b: np.ndarray) -> float:
    """A test of flipped units that takes them as independent: the least of them that the counts allow."""
    return binomial(int(np.maximum(a - b, 0).sum()), int(np.maximum(b - a, 0).sum()))


# The difference -----------------------------------------------------------------------------------------------------

ITEMS = [[1, 0, -1, 1], [0, 0, 1], [1, 1], [-1], [0, 1, 0, 0, -1], [1, 1, 0]]
"""Unit differences of six items."""


def test_the_difference_is_the_mean_over_units() -> None:
    found = difference([ItemPair(Fraction(sum(item)), len(item)) for item in ITEMS])
    assert found is not None
    assert found.value == pytest.approx(5 / 18)


def test_its_standard_error_is_that_of_a_cluster_robust_regression_with_two_units_added() -> None:
    """Least squares on a constant with the variance matrix of Liang and Zeger, as statsmodels computes it."""
    items = [*ITEMS, [1], [-1]]
    y = np.array([value for item in items for value in item], float)
    x = np.ones((len(y), 1))
    owner = np.repeat(range(len(items)), [len(item) for item in items])
    beta, *_ = np.linalg.lstsq(x, y, rcond=None)
    residues = y - x @ beta
    bread = np.linalg.inv(x.T @ x)
    scores = [x[owner == g].T @ residues[owner == g] for g in range(len(items))]
    variance = bread @ sum(np.outer(s, s) for s in scores) @ bread * len(items) / (len(items) - 1)
    found = difference([ItemPair(Fraction(sum(item)), len(item)) for item in ITEMS])
    assert found is not None
    assert found.error == pytest.approx(math.sqrt(variance[0, 0]))
    half = stats.t.ppf(0.975, len(ITEMS) - 1) * found.error
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))


def test_for_single_units_its_variance_is_that_of_bonett_and_price() -> None:
    gained, lost, same = 12, 5, 33
    found = difference(pairs([1] * gained + [-1] * lost + [0] * same, units=1))
    n = gained + lost + same + 2
    p, q = (gained + 1) / n, (lost + 1) / n
    assert found is not None
    # Theirs divides by n, the sandwich by n - 1.
    assert found.error == pytest.approx(math.sqrt((p + q - (p - q) ** 2) / (n - 1)))


@given(WHOLE)
def test_the_interval_holds_the_difference_and_has_a_width(differences: list[int]) -> None:
    found = difference(pairs(differences))
    assert found is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_no_unit_gives_no_difference() -> None:
    assert difference([]) is None


@pytest.mark.long
@pytest.mark.parametrize(("items", "units"), [(256, 4), (32, 4), (100, 1)])
@pytest.mark.parametrize("rates", [(0.5, 0.6), (0.3, 0.7)])
def test_95_percent_of_intervals_hold_the_difference_they_were_drawn_from(
    items: int, units: int, rates: tuple[float, float]
) -> None:
    a, b = two_runs(np.random.default_rng(20261120), 2000, items, units, rates, of_items=0.3, of_runs=0.5)
    held = 0
    for row in (b - a).tolist():
        found = difference([ItemPair(each, units) for each in row])
        assert found is not None
        held += found.low <= rates[1] - rates[0] <= found.high
    assert abs(held / 2000 - 0.95) < 0.015


@given(st.lists(st.tuples(st.integers(-4, 4), st.floats(0.05, 3)), min_size=1, max_size=12))
def test_weights_are_rounded_to_hundredths_and_all_patterns_of_signs_are_counted(
    items: list[tuple[int, float]],
) -> None:
    weighted = [ItemPair(step * Fraction(weight), 4 * Fraction(weight)) for step, weight in items]
    sizes = [round(100 * pair.difference) for pair in weighted]
    sums = [
        abs(sum(s * size for s, size in zip(signs, sizes, strict=True)))
        for signs in product((1, -1), repeat=len(sizes))
    ]
    p, exact = flip_test(weighted)
    assert exact
    if max(pair.difference.denominator for pair in weighted) > 100_000:
        assert p == pytest.approx(sum(total >= abs(sum(sizes)) for total in sums) / len(sums))
