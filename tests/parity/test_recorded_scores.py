"""Scores have versions: the recorded cases of published evaluators have the scores that are meant, by every profile."""

import pytest
import score_versions

import long
from parity.cases import oracle_folder, present

CASES_OF_A_PART = 4
"""Every fourth case of a benchmark with many, but in `make long`."""
MANY = "acebench"


@pytest.mark.parametrize("replies", score_versions.oracle_names())
def test_recorded_cases_have_the_scores_that_are_meant(replies: str) -> None:
    present(oracle_folder(replies))
    every = CASES_OF_A_PART if replies == MANY and not long.WHOLE else 1
    found = score_versions.measured(replies, every=every)
    for profile, scores in found.items():
        kept = score_versions.kept("now", replies, profile)
        assert kept is not None, (replies, profile)
        part = kept[::every]
        moved = score_versions.move(replies, profile, part, scores)
        assert moved is None, f"{replies}, {profile}: {moved}; see scripts/score_versions.py"
