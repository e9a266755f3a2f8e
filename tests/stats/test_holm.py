"""Holm's correction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.stats.tests import holm


def test_the_adjusted_values_are_those_of_statsmodels() -> None:
    # statsmodels.stats.multitest.multipletests(method="holm"), 0.15.0
    assert holm([0.01, 0.04, 0.03, 0.005, 0.2]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.2])


def test_a_single_value_stays() -> None:
    assert holm([0.03]) == [0.03]


def test_no_test_needs_no_correction() -> None:
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusting_keeps_the_order_and_never_lowers(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(before <= after <= 1 for before, after in zip(values, adjusted, strict=True))
    ranked = [after for _, after in sorted(zip(values, adjusted, strict=True))]
    assert ranked == sorted(ranked)
