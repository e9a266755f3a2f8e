"""A whole review: two reviewers and an adjudicator take a set with twelve planted faults to a release."""

from pathlib import Path

import pytest

from review.made_sets import decide, project, tiny_records
from review.planted import UNSEEN
from wildtool.json_codec import read_json_lines
from wildtool_data.pointers import Change
from wildtool_review.figures import review_figures
from wildtool_review.project import ReviewProject
from wildtool_review.release import write_release
from wildtool_review.rounds import round_qualities, stop_rule

PLANTED = {f"s{k}": code for k, code in enumerate(UNSEEN)}
"""The fault of each faulty item; the other items of 24 have none."""
MISSED_BY = {"ann": "subtype", "bob": "unfaithful"}
"""The one fault that each reviewer does not see. Bob also rejects s20, which has none."""


def review_round(review: ReviewProject) -> list[str]:
    """Opens a round of half the items and plays it; gives its items."""
    drawn = review.open_round("owner", ["ann", "bob"], share=0.5)
    for who, missed in MISSED_BY.items():
        for item in drawn:
            found = PLANTED.get(item) if review.state.items[item].version == 1 else None
            if found and found != missed:
                decide(review, who, item, "reject", found)
            elif (who, item) == ("bob", "s20") and len(review.state.rounds) < 3:
                decide(review, who, item, "reject", "unnatural")
            else:
                decide(review, who, item)
    for item in [one.id for one in review.state.queue("conflicts")]:
        resolve(review, item)
    review.close_round("owner", len(review.state.rounds))
    return drawn


def resolve(review: ReviewProject, item: str) -> None:
    """What the adjudicator does: corrects the subtype, drops the unfaithful answer, keeps what has no fault."""
    found = review.item(item)
    if PLANTED.get(item) == "unfaithful":
        review.resolve("judge", item, found.digest, "reject", reasons=["unfaithful"])
    else:
        old = found.content["english_turn_subtypes"][0]
        changes = (
            [Change("/english_turn_subtypes/0", old, "Long-Range Dependency")] if item in PLANTED else []
        )
        review.resolve("judge", item, found.digest, "approve", changes)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReviewProject, list[list[str]]]:
    review = project(tmp_path_factory.mktemp("review"), tiny_records(24), people="ann bob")
    list(review.check_items())
    assert len(PLANTED) == 12
    assert not review.state.queue("warnings")
    return review, [review_round(review) for _ in range(3)]


def test_all_planted_faults_are_out_of_the_release(
    done: tuple[ReviewProject, list[list[str]]], tmp_path: Path
):
    review, _ = done
    write_release(review, tmp_path / "out")
    released = {row["id"]: row for _, row in read_json_lines(tmp_path / "out" / "sessions.jsonl")}
    corrected = next(item for item, code in PLANTED.items() if code == "subtype")
    assert released.keys() == {corrected, *(f"s{k}" for k in range(12, 24))}
    assert released[corrected]["english_turn_subtypes"] == ["Long-Range Dependency"]


def test_the_chart_is_right_by_hand(done: tuple[ReviewProject, list[list[str]]]):
    review, rounds = done
    first, second, third = round_qualities(review.state)
    assert [one.sampled for one in (first, second, third)] == [12, 12, 7]
    for one, drawn in zip((first, second), rounds, strict=False):
        assert one.errors == len(PLANTED.keys() & set(drawn))
    assert first.errors + second.errors == 12
    assert (third.rate, third.fresh) == (1.0, True)
    assert [one.published for one in (first, second, third)] == [0.62, 0.78, 0.86]


def test_kappa_is_right_by_hand(done: tuple[ReviewProject, list[list[str]]]):
    agreement = {one.name: one for one in review_figures(done[0]) if one.group == "agreement"}
    # 31 decisions each: both reject 10, both approve 18, only ann rejects 1, only bob 2.
    assert (agreement["same verdict"].numerator, agreement["same verdict"].denominator) == (28, 31)
    chance = (11 * 12 + 20 * 19) / 31**2
    assert agreement["Cohen's kappa, verdict"].value == pytest.approx((28 / 31 - chance) / (1 - chance))


def test_the_review_may_stop_only_after_the_round_without_errors(done: tuple[ReviewProject, list[list[str]]]):
    rule = stop_rule(done[0].state)
    assert (rule.covered, rule.total, rule.open_conflicts, rule.last_errors, rule.met) == (24, 24, 0, 0, True)
    # With 7 items, zero errors still allow 35 %.
    assert rule.upper == pytest.approx(1.96**2 / (7 + 1.96**2), abs=0.001)
