"""Where units of two runs were lost: places sum to the difference, and a floor says what chance does."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.expose.places import LOSS_PLACES
from wildtool.engine.compare.losses import repeats_apart, split_losses

TRIES = st.lists(st.none() | st.sampled_from(LOSS_PLACES), max_size=3)
KEYS = st.tuples(st.sampled_from("abcd"), st.sampled_from("12"))
RUNS = st.dictionaries(KEYS, TRIES, min_size=1)


@given(RUNS, RUNS, st.dictionaries(st.sampled_from("abcd"), st.floats(0.5, 3)))
def test_places_sum_to_the_difference_of_the_accuracies(baseline, run, weights):
    split = split_losses(baseline, run, weights)
    shared = {key for key in baseline.keys() & run.keys() if baseline[key] and run[key]}
    if not shared:
        assert split is None
        return

    def right(tries):
        shares = {key: Fraction(tries[key].count(None), len(tries[key])) for key in shared}
        return sum(Fraction(weights.get(item, 1)) * value for (item, _), value in shares.items())

    units = sum(Fraction(weights.get(item, 1)) for item, _ in shared)
    assert split.net == pytest.approx(float((right(run) - right(baseline)) / units))
    assert sum(each.difference for each in split.places) == pytest.approx(-split.net)
    assert split.units == len(shared)
    assert split.left_out == len(baseline.keys() | run.keys()) - len(shared)


@given(RUNS)
def test_a_run_beside_itself_differs_at_no_place(run):
    split = split_losses(run, run, {})
    if not any(run.values()):
        assert split is None
        return
    assert not any(each.difference for each in split.places)
    assert {each.place for each in split.places} == {place for its in run.values() for place in its if place}


@given(RUNS)
def test_repeats_of_a_unit_go_to_either_half_of_a_floor(run):
    odd, even = repeats_apart(run)
    assert odd.keys() == even.keys() == {key for key, its in run.items() if len(its) > 1}
    assert all(sorted(map(str, (*odd[key], *even[key]))) == sorted(map(str, run[key])) for key in odd)


def test_units_without_a_verdict_in_one_run_or_both_are_left_out_and_counted():
    baseline = {("a", "1"): [None], ("b", "1"): ["cut off"], ("c", "1"): []}
    run = {("a", "1"): ["wrong argument"], ("b", "1"): [], ("c", "1"): []}
    split = split_losses(baseline, run, {})
    assert (split.units, split.left_out, split.net) == (1, 2, -1.0)
    assert [each.place for each in split.places] == ["wrong argument"]
