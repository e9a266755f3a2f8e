"""What a judge's passes say: exact intervals, the rates behind its scores, and simulations of what is promised."""

from collections.abc import Callable, Iterator
from math import isclose, sqrt
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from long import WHOLE, a_fiftieth_of
from stats import judge_draws
from wildtool.errors import UsageError
from wildtool.stats.beta import beta_probability, beta_quantile
from wildtool.stats.judged import (
    JudgedShare,
    corrected_difference,
    corrected_rate,
    discordance_of,
    exact_share,
    mean_over_kinds,
    rate_with_labels,
    smallest_difference,
    youden,
)

sizes = st.floats(0.2, 3000)


@given(st.floats(0, 1), sizes, sizes)
def test_the_beta_distribution_is_that_of_scipy(value: float, a: float, b: float):
    assert isclose(beta_probability(value, a, b), scipy_stats.beta.cdf(value, a, b), abs_tol=1e-9)


@given(st.floats(0.001, 0.999), st.floats(1, 2000), st.floats(1, 2000))
def test_its_quantile_is_that_of_scipy(probability: float, a: float, b: float):
    assert isclose(beta_quantile(probability, a, b), scipy_stats.beta.ppf(probability, a, b), abs_tol=1e-8)


def test_a_share_of_independent_cases_has_the_exact_interval():
    share = exact_share(27, 30)
    exact = scipy_stats.binomtest(27, 30).proportion_ci(method="exact")
    assert (share.low, share.high) == pytest.approx((exact.low, exact.high))


def test_one_case_an_item_of_one_kind_knows_no_more_than_the_exact_interval():
    cases = [(str(n), "kind", n < 27) for n in range(30)]
    share, exact = mean_over_kinds(cases), exact_share(27, 30)
    assert share is not None and share.value == 0.9
    assert share.low <= exact.low + 0.01 and share.high >= exact.high - 0.01


def test_every_kind_weighs_the_same():
    many = [(str(n), "common", True) for n in range(90)]
    few = [(str(n), "rare", False) for n in range(10)]
    share = mean_over_kinds([*many, *few])
    assert share is not None and share.value == 0.5


def test_cases_of_one_item_that_agree_count_as_few():
    alike = mean_over_kinds([(str(n // 10), str(n % 10), n // 10 < 8) for n in range(100)])
    apart = mean_over_kinds([(str(n), str(n % 10), n // 10 < 8) for n in range(100)])
    assert alike is not None and apart is not None
    assert alike.size < 12 < 80 < apart.size


def test_one_item_says_nothing():
    share = mean_over_kinds([("one", str(n), True) for n in range(50)])
    assert share is not None and share.low < 0.03


def test_nothing_is_corrected_where_the_judge_may_be_no_better_than_chance():
    blind = exact_share(10, 20)
    rate = corrected_rate(exact_share(700, 1000), blind, blind)
    assert (rate.value, rate.low, rate.high) == (None, 0.0, 1.0)
    gap = corrected_difference(10, 60, 500, blind, blind)
    assert (gap.value, gap.low, gap.high) == (None, -1.0, 1.0)


def test_a_perfect_judge_is_not_corrected():
    sure = exact_share(1000, 1000)
    rate = corrected_rate(exact_share(700, 1000), sure, sure)
    assert rate.value == pytest.approx(0.7) and rate.low < 0.7 < rate.high and not rate.is_outside


def test_a_rate_outside_is_said_and_its_interval_clipped():
    tp, tn = exact_share(180, 200), exact_share(180, 200)
    above = corrected_rate(exact_share(990, 1000), tp, tn)
    assert above.is_outside and above.value is not None and above.value > 1 and above.high == 1
    below = corrected_rate(exact_share(10, 1000), tp, tn)
    assert below.is_outside and below.value is not None and below.value < 0 and below.low == 0


def test_a_rate_lies_in_its_interval_however_few_the_audited_cases():
    sure, two = exact_share(20, 20), exact_share(2, 2)
    for passed in range(50, 100, 5):
        rate = corrected_rate(exact_share(10 * passed, 1000), sure, two)
        assert rate.value is not None and rate.low <= rate.value <= rate.high, passed


def test_a_score_of_one_mix_is_wrong_for_another():
    """The example of docs/judges.md: wrong units of one kind only, where the audit had two of them."""
    tp, mix = exact_share(980, 1000), exact_share(740, 1000)
    found = [corrected_rate(exact_share(1000 * passed, 1000), tp, mix).value for passed in (0.596, 0.788)]
    assert found == pytest.approx([0.467, 0.733], abs=0.001)


@pytest.mark.parametrize(("j", "points"), [(1, 4.0), (0.9, 5.0), (0.8, 6.1), (0.6, 9.2), (0.4, 14.9)])
def test_the_smallest_difference_grows_as_a_judge_gets_worse(j: float, points: float):
    rate = (1 + j) / 2
    gap = smallest_difference(discordance_of(rate, rate), 1000, j)
    assert gap is not None and round(100 * gap, 1) == points


def test_a_judge_without_j_shows_no_difference():
    assert smallest_difference(0.3, 1000, 0.0) is None


def test_labels_of_the_run_need_no_judge():
    labelled = [(n % 2 == 0, True) for n in range(100)]
    rate = rate_with_labels(labelled, [True] * 900)
    assert rate.value == 0.5 and rate.low == pytest.approx(0.4, abs=0.01)


def test_labels_with_a_good_judge_say_more_than_labels_alone():
    labelled = [(n % 2 == 0, n % 2 == 0) for n in range(100)]
    rest = [n % 2 == 0 for n in range(900)]
    with_judge, alone = rate_with_labels(labelled, rest), rate_with_labels(labelled, [])
    assert with_judge.high - with_judge.low < (alone.high - alone.low) / 2


def test_labels_that_all_agree_leave_a_width():
    rate = rate_with_labels([(True, True)] * 20, [True] * 500)
    assert rate.value == 1 and rate.low < 0.95


def test_a_difference_to_the_disadvantage_of_the_second_is_not_outside():
    sure = exact_share(180, 200)
    worse = corrected_difference(45, 20, 500, sure, sure)
    assert worse.value is not None and worse.value < 0 and not worse.is_outside
    assert corrected_difference(1000, 0, 1000, sure, sure).is_outside


@pytest.mark.parametrize("counts", [(1, 2, 0), (-1, 5, 10), (6, 5, 10)])
def test_counts_that_cannot_be_are_no_difference(counts: tuple[int, int, int]):
    sure = exact_share(180, 200)
    with pytest.raises(UsageError, match="units"):
        corrected_difference(*counts, sure, sure)


def test_one_label_tells_nothing():
    with pytest.raises(UsageError, match="at least 2"):
        rate_with_labels([(True, True)], [True])


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 40), st.integers(1, 40))
def test_j_lies_in_its_interval(a: int, n: int, b: int, m: int):
    tp, tn = exact_share(min(a, n), n), exact_share(min(b, m), m)
    value, low, high = youden(tp, tn)
    assert -1 <= low <= value <= high <= 1


Cells = Callable[[int], Iterator[judge_draws.Cell]]
PROMISED, LEAST = 0.945, 0.93
DRAWS = a_fiftieth_of(1000)


@pytest.mark.long
@pytest.mark.timeout(3600)  # a table of 108 cells takes minutes, and several times that on a busy machine
@pytest.mark.parametrize(
    "table",
    [
        judge_draws.headline,
        judge_draws.corrected,
        judge_draws.differences,
        judge_draws.labels,
        judge_draws.unreadable,
    ],
)
def test_intervals_of_scripted_judges_hold_the_truth(table: Cells):
    found = [cell.found for cell in table(DRAWS)]

    def by_chance(count: int) -> float:
        """Four standard errors of a share of so many draws; of the whole table none are allowed."""
        return 0.0 if WHOLE and table is not judge_draws.unreadable else 4 * sqrt(0.05 * 0.95 / count)

    assert fmean(found) >= PROMISED - by_chance(DRAWS * len(found))
    assert min(found) >= LEAST - by_chance(DRAWS)


def test_the_smallest_difference_is_found_as_often_as_it_says():
    for cell in judge_draws.smallest(DRAWS):
        assert abs(cell.found - 0.8) < 0.03 + 4 * sqrt(0.16 / DRAWS), cell


def test_a_bias_of_five_points_is_found_and_a_fair_judge_is_not_accused():
    for cell in judge_draws.biases(DRAWS):
        if cell.what.startswith("fair"):
            assert cell.found <= 0.05 + 4 * sqrt(0.05 * 0.95 / DRAWS), cell
        else:
            assert cell.found >= (0.9 if "one test" in cell.what else 0.54) - 4 * sqrt(0.09 / DRAWS), cell


def test_a_share_knows_its_spread():
    assert JudgedShare(0.5, 0.4, 0.6, 100).spread == 0.0025
