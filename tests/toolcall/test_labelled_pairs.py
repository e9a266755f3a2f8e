"""Pairs of values labelled by hand: how many that differ are accepted, and how many that mean the same are refused."""

import re
from collections import Counter
from pathlib import Path

import pytest

from toolcall.labelled import Pair, pairs

PAGE = (Path(__file__).parents[2] / "docs" / "fixed-values.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def labelled() -> list[Pair]:
    return pairs()


def rates(of: list[Pair]) -> dict[str, tuple[int, int]]:
    """Wrong judgements and all pairs, of those that differ and of those that mean the same."""
    differ, same = ([pair for pair in of if pair.same == is_same] for is_same in (False, True))
    accepted = sum(pair.judged_same for pair in differ)
    return {"accepted": (accepted, len(differ)), "refused": (sum(not p.judged_same for p in same), len(same))}


def test_there_are_a_thousand_pairs_of_many_kinds_and_half_of_them_differ(labelled: list[Pair]):
    assert len(labelled) >= 1_000
    assert 2 * sum(not pair.same for pair in labelled) >= len(labelled)
    kinds = Counter((pair.kind, pair.same) for pair in labelled)
    assert len({kind for kind, _ in kinds}) >= 30
    assert all(kinds[kind, same] for kind, _ in kinds for same in (True, False))
    assert not [
        pair for pair in labelled if pair.gold == pair.said and type(pair.gold) is type(pair.said) is str
    ]


def test_no_gold_value_is_in_both_halves(labelled: list[Pair]):
    halves = [
        {(pair.kind, repr(pair.gold)) for pair in labelled if pair.part == part}
        for part in ("tuning", "unseen")
    ]
    assert not halves[0] & halves[1]
    assert all(len(half) > 200 for half in halves)


@pytest.mark.parametrize("part", ["tuning", "unseen", "later", "against", "against later"])
def test_at_most_one_in_two_hundred_is_accepted_and_one_in_twenty_refused(labelled: list[Pair], part: str):
    found = rates([pair for pair in labelled if pair.part == part])
    assert found["accepted"][0] <= 0.005 * found["accepted"][1], found
    assert found["refused"][0] <= 0.05 * found["refused"][1], found


@pytest.mark.parametrize("part", ["blind", "blind once", "by role, met"])
def test_of_blind_pairs_at_most_one_in_a_hundred_is_accepted_and_one_in_eight_refused(
    labelled: list[Pair], part: str
):
    found = rates([pair for pair in labelled if pair.part == part])
    assert found["accepted"][0] <= 0.01 * found["accepted"][1], found
    assert found["refused"][0] <= 0.125 * found["refused"][1], found


@pytest.mark.parametrize("part", ["by role", "by role, later", "by role, once", "by role, varied"])
def test_of_pairs_by_role_at_most_one_in_a_hundred_is_accepted_and_one_in_twenty_refused(
    labelled: list[Pair], part: str
):
    found = rates([pair for pair in labelled if pair.part == part])
    assert found["accepted"][0] <= 0.01 * found["accepted"][1], found
    assert found["refused"][0] <= 0.05 * found["refused"][1], found


@pytest.mark.long
def test_the_page_gives_the_figures_of_the_unseen_half(labelled: list[Pair]):
    found = rates([pair for pair in labelled if pair.part == "unseen"])
    said = [
        tuple(map(int, row))
        for row in re.findall(r"\| unseen half \| (\d+) of (\d+) .*?\| (\d+) of (\d+) ", PAGE)
    ]
    assert said == [(*found["accepted"], *found["refused"])]
