"""What units without a verdict leave open of a rate."""

from itertools import product

import pytest

from held_rows import held_rows
from wildtool.evidence import Evidence
from wildtool.stats.metrics import Rate, mean_of_rates, rate_metrics, without_false_intervals
from wildtool.types import Metric

COLUMNS = {
    "item": "VARCHAR",
    "unit": "VARCHAR",
    "correct": "BOOLEAN",
    "outcome": "VARCHAR",
    "part": "VARCHAR",
}


def rates(outcomes: str) -> tuple[Metric, Metric]:
    """Accuracy of units in two parts, the first half and the rest; a letter is the outcome of a unit."""
    names = {"c": "correct", "w": "wrong", "i": "infra_error", "u": "unplayed"}
    rows = [
        [
            f"i{place % 3}",
            str(place),
            letter == "c",
            names[letter],
            "first" if place < len(outcomes) / 2 else "rest",
        ]
        for place, letter in enumerate(outcomes)
    ]
    first, rest = rate_metrics(
        held_rows(COLUMNS, rows), [Rate("part", name, f"part = '{name}'") for name in ("first", "rest")]
    )
    return first, rest


def test_the_range_holds_every_value_that_the_missing_units_could_make_and_no_other():
    found = rates("ciwuc" + "ccccc")[0]
    values = [rates(f"c{a}w{b}c" + "ccccc")[0].value for a, b in product("cw", repeat=2)]
    assert (found.least, found.most) == (2 / 5, 4 / 5)
    assert {found.least, found.most} < {*values}


def test_a_rate_with_missing_units_has_a_range_and_no_interval_and_another_an_interval():
    lacking, whole = rates("ciwwcc")
    assert (lacking.low, lacking.high, lacking.least, lacking.most) == (None, None, 1 / 3, 2 / 3)
    assert whole.low is not None
    assert (whole.least, whole.most) == (None, None)


def test_a_rate_of_which_nothing_is_known_can_be_anything():
    found = rates("iuiwcc")[0]
    assert (found.least, found.most) == (0, 1)


def test_a_mean_of_rates_has_the_mean_of_their_ranges():
    mean = mean_of_rates("mean", "both", rates("ciwwcc"))
    assert (mean.low, mean.high) == (None, None)
    assert (mean.least, mean.most) == pytest.approx(((1 / 3 + 2 / 3) / 2, 2 / 3))


def test_a_number_whose_benchmark_does_not_say_what_it_rests_on_has_no_interval_in_a_run_that_lacks_units():
    silent = Metric("g", "n", 0.5, 1, 2, 0.1, 0.9)
    ((lacking,), (whole,)) = (
        tuple(without_false_intervals([silent], evidence))
        for evidence in (Evidence(2, failed=1), Evidence(2))
    )
    assert (lacking.low, lacking.high) == (None, None)
    assert (whole.low, whole.high) == (0.1, 0.9)
