"""Precision, recall and F1 of sets and of multisets."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.set_scores import Overlap, multiset_overlap, set_overlap

letters = st.lists(st.sampled_from("abcd"), max_size=8)


def test_a_repeat_counts_in_a_multiset_alone() -> None:
    assert set_overlap("aab", "ab") == Overlap(2, 2, 2)
    assert multiset_overlap("aab", "ab") == Overlap(2, 3, 2)


@given(letters, letters)
def test_hits_of_multisets_are_those_of_counters(predicted: list[str], gold: list[str]) -> None:
    both = Counter(predicted) & Counter(gold)
    assert multiset_overlap(predicted, gold) == Overlap(both.total(), len(predicted), len(gold))


@given(letters, letters)
def test_f1_is_the_harmonic_mean(predicted: list[str], gold: list[str]) -> None:
    found = set_overlap(predicted, gold)
    total = found.precision + found.recall
    assert found.f1 == pytest.approx(2 * found.precision * found.recall / total if total else 0)


def test_two_empty_sides_are_equal_only_where_that_is_asked_for() -> None:
    assert (Overlap(0, 0, 0).f1, Overlap(0, 0, 0).f1_or_equal, Overlap(0, 1, 0).f1_or_equal) == (0, 1, 0)
