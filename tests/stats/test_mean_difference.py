"""The mean of independent differences: its interval, its test, and how often each holds."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from stats.paired_draws import two_runs
from wildtool.stats.tests import AccuracyDifference, ItemPair, difference, mean_difference


def test_two_groups_have_welchs_interval_and_p():
    first, second = [0.1, 0.4, 0.2, 0.3, 0.0], [-0.5, 0.3, -0.1, -0.2, -0.4, 0.1, -0.3]
    parts = [
        (AccuracyDifference(float(np.mean(group)), 0, 0, float(stats.sem(group))), len(group))
        for group in (first, [-value for value in second])
    ]
    mean, p = mean_difference(parts)
    welch: Any = stats.ttest_ind(first, second, equal_var=False)
    low, high = welch.confidence_interval()
    assert mean.value == pytest.approx((np.mean(first) - np.mean(second)) / 2)
    # Degrees of freedom are rounded down, which widens the interval a little.
    assert mean.low < low / 2 < high / 2 < mean.high
    assert (mean.low, mean.high) == pytest.approx((low / 2, high / 2), abs=0.01)
    assert p == pytest.approx(welch.pvalue, abs=0.005)


def test_one_alone_is_itself():
    only = difference([ItemPair(step, 4) for step in (1, 0, -1, 2, 0, 0, 1)])
    assert only is not None
    mean, p = mean_difference([(only, 7)])
    assert mean == pytest.approx(only)
    assert p == pytest.approx(2 * stats.t.sf(only.value / only.error, 6))


def test_variances_add_up():
    parts = [(AccuracyDifference(value, 0, 0, error), 500) for value, error in ((0.3, 0.03), (-0.1, 0.04))]
    assert mean_difference(parts)[0].error == pytest.approx(math.hypot(0.03, 0.04) / 2)


@pytest.mark.long
@pytest.mark.parametrize("truth", [0.0, 0.1])
def test_over_benchmarks_of_different_sizes_intervals_cover_and_equal_models_are_rarely_told_apart(
    truth: float,
):
    random, draws = np.random.default_rng(26), 1_500
    shapes = [(30, 4, 0.5), (100, 1, 0.3), (60, 2, 0.8)]
    strata = [
        two_runs(random, draws, items, units, (rate, rate + truth), of_items=0.3, of_runs=0.5)
        for items, units, rate in shapes
    ]
    covered = significant = 0
    for draw in range(draws):
        parts: list[tuple[AccuracyDifference, int]] = []
        for (first, second), (items, units, _) in zip(strata, shapes, strict=True):
            steps = (second[draw] - first[draw]).tolist()
            part = difference([ItemPair(step, units) for step in steps])
            assert part is not None
            parts.append((part, items))
        mean, p = mean_difference(parts)
        covered += mean.low <= truth <= mean.high
        significant += p < 0.05
        assert (p < 0.05) == (not mean.low <= 0 <= mean.high)
    assert covered / draws >= 0.94
    assert significant / draws <= 0.06 if truth == 0 else significant / draws > 0.5
