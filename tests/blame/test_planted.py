"""Planted faults: `audit --blame` names the party that made them, from the record and new plays alone."""

from itertools import combinations
from pathlib import Path

import pytest

from blame.planted import ENDPOINT, GOLD, MODEL, PARTIES, TOOL, USER, World, blame_world, in_turn, mended_by
from long import WHOLE

WORLDS = 7 if WHOLE else 1
ONE_EACH = [frozenset({party}) for party in PARTIES]
PAIRS = [frozenset(pair) for pair in combinations(PARTIES, 2)]
IDENTIFIED = [frozenset({USER, other}) for other in (TOOL, ENDPOINT, GOLD)]


def named(cause: str) -> str:
    return cause.partition(",")[0]


def test_the_party_of_a_planted_fault_is_named_without_noise(tmp_path: Path):
    right = failed = 0
    for seed in range(WORLDS):
        world = World(in_turn(ONE_EACH, seed), seed)
        blamed = blame_world(world, tmp_path / str(seed))
        failed += len(blamed.failed)
        right += sum({named(cause)} == world.faults[item] for item, cause in blamed.causes.items())
    assert failed >= 28 * WORLDS, "nearly every fault does something"
    assert right >= 0.975 * failed


@pytest.mark.long
def test_pairs_are_named_where_both_are_needed_and_of_the_model_it_is_said_that_others_are_not_excluded(
    tmp_path: Path,
):
    world = World(in_turn(PAIRS, 0))
    one_is_enough: set[str] = set()
    for party in PARTIES:
        mended = mended_by(world, tmp_path / f"without-{party}", party)
        one_is_enough |= {item for item in mended if party in world.faults[item]}
    seen: set[frozenset[str]] = set()
    for item, cause in blame_world(world, tmp_path).causes.items():
        planted = world.faults[item]
        if item in one_is_enough:
            continue
        seen.add(planted)
        if planted in IDENTIFIED or MODEL not in planted:
            assert set(cause.split(" and ")) == planted
        else:
            assert set(cause.split(" and ")) == planted or cause == "model, others not excluded"
    assert set(IDENTIFIED) <= seen


@pytest.mark.long
def test_with_random_errors_of_the_model_four_of_five_parties_are_named(tmp_path: Path):
    right = failed = 0
    for seed in range(WORLDS):
        world = World(in_turn(ONE_EACH, seed), seed, error_rate=0.15)
        blamed = blame_world(world, tmp_path / str(seed), plays=5)
        failed += len(blamed.failed)
        right += sum({named(cause)} == world.faults[item] for item, cause in blamed.causes.items())
    assert right >= 0.8 * failed


def test_a_failure_that_was_bad_luck_is_the_models_by_chance(tmp_path: Path):
    world = World({}, seed=3, error_rate=0.15)
    blamed = blame_world(world, tmp_path, plays=5)
    assert 0 < len(blamed.failed) < 30
    assert set(blamed.causes.values()) == {"model, by chance"}


@pytest.mark.long
def test_the_score_if_the_user_had_been_right_counts_every_unit_that_a_right_user_mends(tmp_path: Path):
    world = World(in_turn([frozenset({USER}), frozenset({MODEL}), frozenset()], 0))
    report = blame_world(world, tmp_path).report
    assert report.score == pytest.approx(10 / 30)
    score = next(row for row in report.scores if row.party == "user")
    assert (score.score, score.units) == (pytest.approx(20 / 30), 30)
    assert score.low < score.score < score.high
