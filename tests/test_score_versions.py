"""Scores have versions: what a change moves in the scores of recorded replies is meant, and the changelog says so."""

import pytest
import score_versions
from score_versions import Move


@pytest.mark.parametrize("replies", score_versions.OWN)
def test_recorded_runs_of_our_own_have_the_scores_that_are_meant(replies: str) -> None:
    found = score_versions.measured(replies)
    assert found
    for profile, scores in found.items():
        kept = score_versions.kept("now", replies, profile)
        moved = None if kept is None else score_versions.move(replies, profile, kept, scores)
        assert kept == scores, f"{replies}, {profile}: {moved}; see scripts/score_versions.py"


def test_the_changelog_says_what_moved_since_the_last_release() -> None:
    moved = score_versions.moves(score_versions.read_table())
    unsaid = score_versions.unsaid(moved, score_versions.texts_of_notes())
    assert unsaid == [], "a file changelog.d/NAME.scores.md names the profile and the benchmark"


def test_a_move_is_said_only_by_a_text_that_names_its_profile_and_its_benchmark() -> None:
    move = Move("bfcl", "fixed", 4234, 9, 0, 0.2)
    assert score_versions.unsaid([move], ["- `fixed` reads dates on BFCL."]) == []
    for text in ("- `official` on BFCL.", "- `fixed` on ACEBench.", "- fixed a crash of BFCL.", ""):
        assert score_versions.unsaid([move], [text]) == [move], text


def test_moves_that_cancel_out_are_moves() -> None:
    move = score_versions.move("bfcl", "fixed", bytes([0, 200, 50]), bytes([200, 0, 50]))
    assert move is not None
    assert (move.gained, move.lost, move.points) == (1, 1, 0)
    assert score_versions.move("bfcl", "fixed", b"\0\1", b"\0\1") is None


def test_the_sentence_names_where_a_profile_moves_and_what_is_new() -> None:
    def scores(*values: int) -> str:
        return score_versions.packed(bytes(values))

    before = {
        "bfcl": {"fixed": scores(0, 0), "official": scores(0, 0)},
        "acebench": {"official": scores(200)},
    }
    after = {"bfcl": {"fixed": scores(200, 0), "official": scores(0, 0)}, "acebench": {"official": scores(0)}}
    table = {"released": {"version": "1.0", "scores": before}, "now": {"scores": {**after, "ledger": {}}}}
    said = score_versions.sentence("1.1", table)
    assert "`fixed` moves on BFCL by +50.0 points" in said
    assert "`official` moves nowhere but on ACEBench by -100.0 points" in said
    assert said.endswith("New, so without a figure: ledger.")
