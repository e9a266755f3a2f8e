"""What differences a set can show: the correlation inside items, the design effect, and power by simulation."""

from fractions import Fraction

import numpy as np
import pytest

from stats.paired_draws import two_runs
from wildtool.stats.power import (
    FACTOR,
    design_effect,
    detectable,
    intra_cluster_correlation,
    rate_error,
    unpaired,
)
from wildtool.stats.tests import ItemPair, difference, flip_test


def test_units_that_always_agree_have_a_correlation_of_1() -> None:
    assert intra_cluster_correlation([(4, 4), (0, 4)] * 10) == pytest.approx(1)


def test_the_correlation_is_that_of_the_analysis_of_variance() -> None:
    """Two items of two: mean squares 1/4 between and 1/4 within by hand give 0."""
    # Units 1 1 | 0 1: between (1 - 3/4)^2 * 2 + (1/2 - 3/4)^2 * 2 = 1/4 with 1 degree, within 1/2 with 2.
    assert intra_cluster_correlation([(2, 2), (1, 2)]) == pytest.approx(0)
    # Units 1 1 | 0 1 | 0 0: between 1 with 2 degrees, within 1/2 with 3: (1/2 - 1/6) / (1/2 + 1/6).
    assert intra_cluster_correlation([(2, 2), (1, 2), (0, 2)]) == pytest.approx(0.5)


def test_the_correlation_of_drawn_answers_is_found() -> None:
    random, rho = np.random.default_rng(1), 0.3
    rates = random.beta(0.5 * (1 / rho - 1), 0.5 * (1 / rho - 1), 20_000)
    sizes = random.integers(2, 7, 20_000)
    clusters = list(zip(random.binomial(sizes, rates).tolist(), sizes.tolist(), strict=True))
    assert intra_cluster_correlation(clusters) == pytest.approx(rho, abs=0.01)


@pytest.mark.parametrize("clusters", [[], [(1, 2)], [(1, 1), (0, 1)], [(2, 2), (2, 2)]])
def test_where_the_data_cannot_tell_the_correlation_is_0(clusters: list[tuple[float, float]]) -> None:
    assert intra_cluster_correlation(clusters) == 0


def test_the_design_effect_is_the_size_of_items_that_agree_wholly() -> None:
    assert design_effect([(4, 4), (0, 4)] * 10) == pytest.approx(4)


def test_single_units_have_no_design_effect() -> None:
    assert design_effect([(1, 1), (0, 1)]) == 1


def test_the_error_of_a_planned_set_falls_with_the_root_of_its_size() -> None:
    clusters = [(3, 4), (1, 4), (4, 4), (0, 4)]
    here, four_times = rate_error(clusters), rate_error(clusters, units=64)
    assert here is not None
    assert four_times == pytest.approx(here / 2)


def test_no_unit_gives_no_error() -> None:
    assert rate_error([]) is None


def test_two_sets_add_their_errors_squared() -> None:
    assert unpaired(0.03, 0.04) == pytest.approx(FACTOR * 0.05)


def test_the_factor_is_that_of_power_80_at_level_5() -> None:
    assert pytest.approx(1.959964 + 0.841621, abs=1e-6) == FACTOR


def test_of_many_items_the_detectable_difference_is_so_many_errors() -> None:
    assert detectable(0.01, 100_000) == pytest.approx(FACTOR * 0.01, rel=1e-4)


def test_few_items_need_more() -> None:
    assert detectable(0.05, 16) > 1.1 * FACTOR * 0.05


def test_five_items_can_show_nothing() -> None:
    """Even five wins out of five have p = 2 / 2^5 > 0.05."""
    assert detectable(0.01, 5) == 1
    assert detectable(0.01, 6) < 1


@pytest.mark.parametrize("items", [32, pytest.param(256, marks=pytest.mark.long)])
def test_the_detectable_difference_is_found_four_times_out_of_five(items: int) -> None:
    """The error of a first pair of runs plans the set; then models that differ by so much are drawn."""
    units = 4
    a, b = two_runs(np.random.default_rng(2), 100, items, units, (0.5, 0.5), of_items=0.3, of_runs=0.5)
    found = [difference([ItemPair(Fraction(x), units) for x in row]) for row in (b - a).tolist()]
    gap = detectable(float(np.mean([each.error for each in found if each is not None])), items)
    a, b = two_runs(
        np.random.default_rng(3),
        800,
        items,
        units,
        (0.5 - gap / 2, 0.5 + gap / 2),
        of_items=0.3,
        of_runs=0.5,
    )
    power = np.mean(
        [flip_test([ItemPair(Fraction(x), units) for x in row])[0] < 0.05 for row in (b - a).tolist()]
    )
    assert abs(power - 0.8) < 0.03


def test_the_error_of_one_run_is_that_of_drawn_ones() -> None:
    items, units = 256, 4
    runs, _ = two_runs(np.random.default_rng(6), 1500, items, units, (0.6, 0.6), of_items=0.4, of_runs=0.5)
    spread = (runs.sum(axis=1) / (items * units)).std()
    errors = [rate_error([(x, units) for x in row]) for row in runs[:100].tolist()]
    assert np.mean([each for each in errors if each is not None]) == pytest.approx(spread, rel=0.06)
