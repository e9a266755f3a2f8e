"""The plain mean of rates, with the interval that follows from theirs."""

import math

from wildtool.stats.metrics import mean_of_rates
from wildtool.types import Metric


def _rate(value: float | None, low: float | None, high: float | None, note: str = "") -> Metric:
    return Metric("g", "n", value, 3, 4, low, high, note=note)


def test_each_rate_weighs_the_same_and_distances_to_the_ends_add_up_as_squares():
    found = mean_of_rates(
        "all", "mean", [_rate(0.5, 0.2, 0.9), _rate(0.9, 0.5, 1.0, "a remark")], headline=True
    )
    assert math.isclose(found.value or 0, 0.7)
    assert math.isclose(found.low or 0, 0.7 - math.hypot(0.15, 0.2))
    assert math.isclose(found.high or 0, 0.7 + math.hypot(0.2, 0.05))
    assert (found.group, found.name, found.note, found.headline) == ("all", "mean", "a remark", True)
    assert (found.numerator, found.denominator) == (6, 8)


def test_a_rate_without_a_value_is_left_out_and_one_without_an_interval_leaves_none():
    assert mean_of_rates("all", "mean", [_rate(None, None, None), _rate(0.5, 0.4, 0.6)]).value == 0.5
    found = mean_of_rates("all", "mean", [_rate(1.5, None, None), _rate(0.5, 0.4, 0.6)])
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert mean_of_rates("all", "mean", [_rate(None, None, None)]).value is None
