"""Statistics on inputs small enough to compute by hand: every branch, boundary and default."""

import math
from fractions import Fraction

import pytest

from wildtool.stats import power, tests
from wildtool.stats.beta import exact_rate
from wildtool.stats.intervals import (
    bootstrap_interval,
    clustered_rate,
    t_probability,
    t_quantile,
    tail_share,
    weighted_sum,
    wilson,
)
from wildtool.stats.learning_curve import TrainedScore, trained_score
from wildtool.stats.tests import ItemPair, difference, finding, flip_test, mean_difference, worst_flip_test


def test_too_many_items_are_tested_by_the_normal_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    def normal(distance: int, *sizes: int) -> object:
        spread = math.sqrt(sum(size**2 for size in sizes))
        return pytest.approx(math.erfc(distance / spread / math.sqrt(2)))

    def of(*differences: int) -> list[ItemPair]:
        return [ItemPair(each, 1) for each in differences]

    three = of(3, 1, 2)
    # Three items whose differences sum to six at most, of two bits for each pattern in a byte.
    monkeypatch.setattr(tests, "_MAX_WORK", 8 * 6 * 1 * 3)
    assert flip_test(three) == (2 / 8, True)
    monkeypatch.setattr(tests, "_MAX_WORK", 8 * 6 * 1 * 3 - 1)
    assert flip_test(three) == (normal(6 - 1, 3, 1, 2), False)
    monkeypatch.setattr(tests, "_MAX_WORK", 0)
    assert flip_test(of(0, 3, 1, -2)) == (normal(2 - 1, 3, 1, 2), False)
    assert worst_flip_test(of(3, 1, -2), of(4, 1, 1), 0.5) == (normal(2 - 1, 4, 1, 2), False)
    assert worst_flip_test(of(-4, -1, 1), of(-1, -1, 2), -0.5) == (1.0, True)
    assert worst_flip_test(of(-4, -1, 1), of(-3, -1, 2), -0.5) == (normal(2 - 1, 4, 1, 2), False)


def test_a_rate_of_no_units_has_no_interval_and_items_without_units_do_not_count() -> None:
    assert clustered_rate([]) is None
    assert clustered_rate([(0, 0)]) is None
    assert clustered_rate([(1, 2), (0, 0), (2, 2)]) == clustered_rate([(1, 2), (2, 2)])


@pytest.mark.parametrize(
    ("clusters", "rate", "size"),
    [
        ([(1, 4)], 0.25, 1),
        ([(0, 4), (0, 4)], 0.0, 2),
        ([(4, 4), (2, 2), (1, 1)], 1.0, 3),
        # Alike in all items: as many as were observed.
        ([(1, 2), (1, 2)], 0.5, 4),
        # As different as can be: 2 / 1 * (1 + 1) / 16 = 1/4 of variance.
        ([(2, 2), (0, 2)], 0.5, 1),
        ([(2, 2), (0, 2), (2, 2), (0, 2)], 0.5, 3),
    ],
)
def test_the_effective_size_follows_from_the_spread_of_items(
    clusters: list[tuple[float, float]], rate: float, size: float
) -> None:
    assert clustered_rate(clusters) == pytest.approx((rate, *wilson(rate, size)))


def test_exact_intervals_end_at_0_and_1() -> None:
    assert exact_rate(0, 0) == (0.0, 1.0)
    assert exact_rate(0, 1) == pytest.approx((0.0, 0.975))
    assert exact_rate(1, 1) == pytest.approx((0.025, 1.0))
    assert exact_rate(1, 2) == pytest.approx((1 - math.sqrt(0.975), math.sqrt(0.975)))


def test_a_weighted_sum_has_the_distances_of_its_parts() -> None:
    parts = [(0.5, (0.5, 0.2, 0.9)), (0.25, (0.4, 0.4, 0.8))]
    below, above = 0.5 * 0.3, math.hypot(0.5 * 0.4, 0.25 * 0.4)
    assert weighted_sum(parts) == pytest.approx((0.35, 0.35 - below, 0.35 + above))


def test_students_t_is_exact_for_small_and_normal_for_large_degrees() -> None:
    assert t_quantile(0.975, 1) == pytest.approx(math.tan(math.pi * 0.475))
    assert t_quantile(0.975, 2) == pytest.approx(0.95 / math.sqrt(2 * 0.975 * 0.025))
    assert t_quantile(0.975, 5_000) == pytest.approx(1.959963984540054)
    assert t_quantile(0.975, 4_999) == pytest.approx(1.96044, abs=1e-4)
    assert t_probability(1.0, 1) == t_probability(-1.0, 1) == pytest.approx(0.5)
    assert t_probability(2.0, 2) == pytest.approx(1 - 2 / math.sqrt(6))
    assert t_probability(1.0, 3) == pytest.approx(0.39100, abs=1e-5)
    assert t_probability(1.959963984540054, 5_000) == pytest.approx(0.05)


def test_tails_of_few_items_are_thinner() -> None:
    assert (tail_share(0), tail_share(1)) == (0.0, 0.0)
    assert tail_share(10**6) == pytest.approx(0.025, abs=1e-5)
    assert tail_share(2) < tail_share(3) < tail_share(100) < 0.025


def test_a_bootstrap_of_one_item_or_of_like_items_is_a_point() -> None:
    assert bootstrap_interval([]) is bootstrap_interval([(1, 0)]) is None
    assert bootstrap_interval([(1, 4)]) == (0.25, 0.25)
    assert bootstrap_interval([(1, 2), (2, 4)], resamples=50) == (0.5, 0.5)
    assert bootstrap_interval([(0, 1), (1, 1)] * 20, seed=1) != bootstrap_interval(
        [(0, 1), (1, 1)] * 20, seed=2
    )


def test_a_score_of_one_training_is_wilsons() -> None:
    seed = {"a": (1.0, 2.0), "b": (2.0, 2.0)}
    items = ((1 - 1.5) ** 2 + (2 - 1.5) ** 2) * 2 / 1 / 16
    size = 0.75 * 0.25 / items
    assert trained_score([seed]) == TrainedScore(0.75, *wilson(0.75, size), math.sqrt(items), None)
    assert trained_score([{"a": (0.0, 0.0)}]) is None
    alike = {"a": (1.0, 1.0), "b": (1.0, 1.0)}
    assert trained_score([alike]) == TrainedScore(1.0, *wilson(1.0, 2.0), 0.0, None)
    assert trained_score([alike, alike]) == TrainedScore(1.0, *wilson(1.0, 2.0), 0.0, 0.0)
    lone = trained_score([{"a": (1.0, 4.0)}])
    assert lone == TrainedScore(0.25, *wilson(0.25, 1.0), math.sqrt(0.1875), None)


def test_a_score_of_several_trainings_adds_both_variances() -> None:
    seeds = [{"a": (0.0, 2.0), "b": (2.0, 2.0), "c": (1.0, 1.0)}, {"a": (1.0, 2.0), "b": (2.0, 2.0)}]
    # Means of the items in both: 0.5 and 2 of 2 units each.
    items = 2 * (0.5 - 1.25) ** 2 * 2 / 1 / 16
    trainings = ((0.5 - 0.625) ** 2 + (0.75 - 0.625) ** 2) / 1 / 2
    half = t_quantile(0.975, 1) * math.sqrt(items + trainings)
    assert trained_score(seeds) == pytest.approx(
        (0.625, max(0.0, 0.625 - half), min(1.0, 0.625 + half), math.sqrt(items), math.sqrt(trainings))
    )


def test_of_few_trainings_that_vary_most_their_number_counts() -> None:
    # They score 0.4 and 0.6 on the same items, with no spread between items.
    items = [str(number) for number in range(10)]
    one, other = dict.fromkeys(items, (0.4, 1.0)), dict.fromkeys(items, (0.6, 1.0))
    half = t_quantile(0.975, 1) * math.sqrt(0.01)
    assert trained_score([one, other]) == pytest.approx(
        (0.5, max(0.0, 0.5 - half), min(1.0, 0.5 + half), 0.0, 0.1)
    )


def test_a_paired_difference_counts_two_more_items() -> None:
    pairs = [ItemPair(1, 200), ItemPair(0, 200)]
    value = 1 / 400
    sums = [(1, 200), (0, 200), (1, 1), (-1, 1)]
    spread = sum((d - n / 402) ** 2 for d, n in sums)
    error = math.sqrt(4 / 3 * spread) / 402
    half = t_quantile(0.975, 1) * error
    assert difference(pairs) == pytest.approx((value, value - half, value + half, error))
    assert difference([ItemPair(1, 2)]) == pytest.approx((0.5, -1.0, 1.0, math.sqrt(1.5 * 2.375) / 4))
    assert difference([]) is None


def test_a_mean_of_differences_has_the_freedom_of_all() -> None:
    first, second = difference([ItemPair(1, 1)] * 5), difference([ItemPair(0, 1), ItemPair(1, 1)] * 5)
    assert first is not None and second is not None
    mean, p = mean_difference([(first, 5), (second, 10)])
    variances = (first.error**2, second.error**2)
    freedom = int(sum(variances) ** 2 / (variances[0] ** 2 / 4 + variances[1] ** 2 / 9) + 1e-9)
    error = math.sqrt(sum(variances)) / 2
    half = t_quantile(0.975, freedom) * error
    assert mean == pytest.approx((0.75, 0.75 - half, min(1.0, 0.75 + half), error))
    assert p == pytest.approx(t_probability(0.75 / error, freedom))


def test_what_is_found_depends_on_p_sign_and_missing_units() -> None:
    assert [finding(0.1, 0.049), finding(-0.1, 0.049), finding(0.1, 0.05), finding(0.1, 0.05, 1)] == [
        "better",
        "worse",
        "not distinguishable",
        "no finding",
    ]
    assert finding(0.1, 0.049, 1) == "better"


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([1, -1], 1.0),
        ([1], 1.0),
        ([1, 1], 0.5),
        ([2, -1], 1.0),
        ([3, 1, -1], 0.75),
        ([1, 1, 1, 1, 1, 1], 2 / 64),
        ([Fraction(1, 2), Fraction(1, 3)], 0.5),
        ([0, 0, 1, 1], 0.5),
        # Too fine a difference is rounded: to nothing, and to hundredths.
        ([Fraction(1, 100_001)], 1.0),
        ([Fraction(50_000, 100_001), Fraction(50_000, 100_001)], 0.5),
    ],
)
def test_the_exact_test_counts_sign_patterns(differences: list[Fraction | int], p: float) -> None:
    assert flip_test([ItemPair(each, 1) for each in differences]) == (p, True)


def test_the_worst_case_sets_missing_units_against_the_difference() -> None:
    least, most = [ItemPair(1, 1)] * 6 + [ItemPair(-1, 1)], [ItemPair(1, 1)] * 6 + [ItemPair(1, 1)]
    assert worst_flip_test(least, most, 1.0) == flip_test(least)
    assert worst_flip_test(least, most, -1.0) == (1.0, True)
    assert worst_flip_test(least, most, 0.0) == (1.0, True)
    down = [ItemPair(-pair.difference, 1) for pair in most], [ItemPair(-pair.difference, 1) for pair in least]
    assert worst_flip_test(*down, -1.0) == flip_test(least)


def test_sizes_and_errors_of_planned_sets() -> None:
    clusters = [(2.0, 2.0), (0.0, 2.0)]
    assert power.intra_cluster_correlation(clusters) == pytest.approx(1.0)
    assert power.design_effect(clusters) == pytest.approx(2.0)
    assert power.rate_error(clusters) == pytest.approx(math.sqrt(0.25 * 2 / 4))
    assert power.rate_error(clusters, units=16) == pytest.approx(math.sqrt(0.25 * 2 / 16))
    assert power.rate_error([]) is None
    assert power.design_effect([]) == 1.0
    assert power.intra_cluster_correlation([(1.0, 1.0), (0.0, 1.0)]) == 0.0
    assert power.intra_cluster_correlation([(1.0, 2.0)]) == 0.0
    assert power.intra_cluster_correlation([(1.0, 2.0), (1.0, 2.0), (0.0, 0.0)]) == pytest.approx(-1.0)
    assert power.intra_cluster_correlation([(2.0, 2.0), (2.0, 2.0)]) == 0.0
    assert power.unpaired(0.03, 0.04) == pytest.approx(power.FACTOR * 0.05)
    assert power.unpaired(1.0, 1.0) == 1.0
