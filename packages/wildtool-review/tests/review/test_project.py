"""What people do in a review: edits, blind decisions, conflicts, locking, stale tasks."""

import re
from pathlib import Path
from typing import Any

import pytest

from review.made_sets import TEXT, decide, edit, mini_records, project, recheck, tiny_records
from wildtool.errors import UsageError
from wildtool_data.pointers import Change, value_at
from wildtool_review.history import EditConflict
from wildtool_review.log import Draft
from wildtool_review.project import ReviewProject
from wildtool_review.release import item_provenance
from wildtool_review.restore import restore_version
from wildtool_review.store.sqlite import SqliteStore


def assigned(tmp_path: Path, records: int = 1) -> ReviewProject:
    """A review in which ann and bob have been assigned all items."""
    review = project(tmp_path, tiny_records(records), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    return review


def test_reviewers_who_agree_end_the_review(tmp_path: Path):
    review = assigned(tmp_path)
    decide(review, "ann", "s0")
    assert review.state.items["s0"].stage == "in review"
    decide(review, "bob", "s0")
    assert review.state.items["s0"].stage == "approved"


def test_equal_edits_of_both_reviewers_are_taken(tmp_path: Path):
    review = assigned(tmp_path)
    for who in ("ann", "bob"):
        edit(review, who, "s0", "Better.")
        decide(review, who, "s0")
    found = review.item("s0")
    assert found.content["english_tasks"][0] == "Better."
    assert (review.state.items["s0"].stage, len(found.versions)) == ("approved", 2)
    assert [entry.after for entry in found.passes[0].decisions.values()] == ["approve with edits"] * 2


def test_a_reviewer_sees_neither_the_edits_nor_the_decision_of_the_other(tmp_path: Path):
    review = assigned(tmp_path)
    edit(review, "ann", "s0", "Better.")
    decide(review, "ann", "s0")
    found = review.item("s0")
    assert found.seen_by("bob")[0]["english_tasks"][0] == "Tell me about number 0."
    assert list(found.decisions_for("bob")) == []
    assert list(found.decisions_for("ann")) == ["ann"]
    assert list(found.decisions_for("judge", sees_all=True)) == ["ann"]
    decide(review, "bob", "s0", "reject", "unnatural")
    assert sorted(review.item("s0").decisions_for("bob")) == ["ann", "bob"]


@pytest.mark.parametrize(
    ("second", "conflict"),
    [
        (("reject", "duplicate"), "one approves, one rejects"),
        (("discuss",), "sent to discussion"),
        (("approve",), "the edits differ"),
    ],
)
def test_what_reviewers_do_not_agree_on_goes_to_an_adjudicator(
    tmp_path: Path, second: tuple[str, ...], conflict: str
):
    review = assigned(tmp_path)
    edit(review, "ann", "s0", "Better.")
    decide(review, "ann", "s0")
    decide(review, "bob", "s0", *second)
    assert review.state.items["s0"].conflicts == (conflict,)
    assert [item.id for item in review.state.queue("conflicts")] == ["s0"]
    taken, excluded = review.item("s0").proposal()
    assert (taken, excluded) == ([Change(TEXT, "Tell me about number 0.", "Better.")], [])
    with pytest.raises(UsageError, match="takes the role adjudicator"):
        review.resolve("ann", "s0", review.item("s0").digest, "approve", taken)
    for choice, reasons, problem in (
        ("discuss", [], "a conflict ends with approve or reject, not with discuss"),
        ("approve", ["privat"], "unknown reason 'privat'; did you mean 'privacy'?"),
        ("reject", [], "say why it is rejected; reasons are: unnatural, type, "),
    ):
        with pytest.raises(UsageError, match="^" + re.escape(problem)):
            review.resolve("judge", "s0", review.item("s0").digest, choice, taken, reasons)  # pyright: ignore[reportArgumentType]
    review.resolve("judge", "s0", review.item("s0").digest, "approve", taken)
    assert review.state.items["s0"].stage == "approved"
    assert review.item("s0").content["english_tasks"][0] == "Better."


def test_edits_that_exclude_each_other_are_shown_as_such(tmp_path: Path):
    review = assigned(tmp_path)
    for who in ("ann", "bob"):
        edit(review, who, "s0", f"As {who} says.")
        edit(review, who, "s0", f"{who} too.", f"/english_tasks/{int(who == 'bob')}")
        decide(review, who, "s0")
    taken, excluded = review.item("s0").proposal()
    assert [change.after for change in taken] == ["ann too.", "bob too."]
    assert [change.after for change in excluded] == ["As bob says."]


def test_edits_that_exclude_each_other_are_not_both_taken(tmp_path: Path):
    review = assigned(tmp_path)
    whole = {"name": "prepare_to_answer", "arguments": {"answer_type": "tool"}}
    for who, field, after in (
        ("ann", "/english_answer_list/0/0/action/arguments/answer_type", "x"),
        ("bob", "/english_answer_list/0/0/action", whole),
    ):
        edit(review, who, "s0", after, field)
        decide(review, who, "s0")
    taken, excluded = review.item("s0").proposal()
    seen = review.item("s0").digest
    before = review.state.n
    for order in ([*taken, *excluded], [*excluded, *taken]):
        with pytest.raises(UsageError, match="exclude each other"):
            review.resolve("judge", "s0", seen, "approve", order)
    assert review.state.n == before
    review.resolve("judge", "s0", seen, "approve", excluded)
    assert value_at(review.item("s0").content, "/english_answer_list/0/0/action") == whole


@pytest.mark.parametrize("blind", [False, True])
def test_an_earlier_version_is_restored_with_what_was_stale_then(tmp_path: Path, blind: bool):
    review = assigned(tmp_path) if blind else project(tmp_path, tiny_records(1))
    first = review.item("s0").seen_by("ann")
    edit(review, "ann", "s0", "A.")
    recheck(review, "ann", "s0")
    second = review.item("s0").seen_by("ann")
    edit(review, "ann", "s0", "B.")
    edit(review, "ann", "s0", "C.", "/english_tasks/1")
    for content, digest in (second, first, second):
        found = restore_version(review, "ann", "s0", review.item("s0").seen_by("ann")[1], digest)
        assert found.seen_by("ann") == (content, digest)
        assert found.stale_for("ann") == set()
    assert review.item("s0").seen_by("owner")[0]["english_tasks"][0] == (
        "Tell me about number 0." if blind else "A."
    )
    with pytest.raises(UsageError, match="no such version"):
        restore_version(
            review, "bob" if blind else "ann", "s0", review.item("s0").seen_by("bob")[1], "f" * 64
        )
    if blind:
        with pytest.raises(UsageError, match="no such version"):
            restore_version(review, "bob", "s0", first[1], second[1])


def test_what_was_undone_is_released_as_written_by_its_first_author(tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    first = review.item("s0").digest
    edit(review, "ann", "s0", "A.", "/english_tasks/1")
    restore_version(review, "ann", "s0", review.item("s0").digest, first)
    decide(review, "ann", "s0")
    assert item_provenance(review.item("s0"), {})["fields"]["/english_tasks/1"] == {"by": "set"}


def test_a_task_that_a_twin_made_stale_meanwhile_stays_stale(tmp_path: Path):
    records = tiny_records(2)
    for record, lang in zip(records, ("en", "zh"), strict=True):
        record["made_by"] = {"twin": "t", "lang": lang}
    review = project(tmp_path, records)
    assert review.state.twins_of("s0") == ["s1"]
    first = review.item("s0").digest
    edit(review, "ann", "s0", "A.", "/english_tasks/1")
    recheck(review, "ann", "s1")
    edit(review, "ann", "s1", "B.", "/english_tasks/1")
    found = restore_version(review, "ann", "s0", review.item("s0").digest, first)
    assert found.stale == {1}


def test_a_second_saver_of_one_version_is_shown_what_is_there(tmp_path: Path):
    review = project(tmp_path)
    other = ReviewProject.open(SqliteStore(tmp_path / "set.review.sqlite"))
    seen = other.item("s0").digest
    edit(review, "me", "s0", "First.")
    with pytest.raises(EditConflict) as conflict:
        other.edit("me", "s0", seen, [Change(TEXT, "Tell me about number 0.", "Second.")])
    assert conflict.value.content["english_tasks"][0] == "First."
    assert other.item("s0").content["english_tasks"][0] == "First."


def test_people_who_work_on_different_items_do_not_disturb_each_other(tmp_path: Path):
    review = project(tmp_path)
    other = ReviewProject.open(SqliteStore(tmp_path / "set.review.sqlite"))
    edit(review, "me", "s0", "First.")
    edit(other, "me", "s1", "Second.")
    review.refresh()
    assert review.state.dump() == other.state.dump()


def test_tasks_after_an_edited_one_are_stale_until_they_are_checked_again(tmp_path: Path):
    review = project(tmp_path)
    edit(review, "me", "s0", "Better.")
    assert review.state.items["s0"].stale == (1,)
    with pytest.raises(UsageError, match="check task 2 again"):
        review.decide("me", "s0", review.item("s0").digest, "approve")
    recheck(review, "me", "s0")
    review.decide("me", "s0", review.item("s0").digest, "approve")
    assert (review.state.items["s0"].stale, review.state.items["s0"].stage) == ((), "approved")


def test_tasks_that_a_model_made_again_are_stale_no_more(tmp_path: Path):
    records = tiny_records(1)
    for field in ("tasks", "answer_list", "task_types"):
        records[0][f"english_{field}"] *= 2
    records[0]["english_turn_subtypes"] *= 3
    review = project(tmp_path, records)
    edit(review, "me", "s0", "Better.")
    assert review.state.items["s0"].stale == (1, 2, 3)
    item = review.item("s0")
    made = [
        Change(f"/english_tasks/{t}", item.content["english_tasks"][t], f"Made again {t}.") for t in (1, 2)
    ]
    review.edit("me", "s0", item.digest, made, model="some-model")
    assert review.state.items["s0"].stale == (3,)


def test_the_last_task_and_labels_make_nothing_stale(tmp_path: Path):
    review = project(tmp_path)
    edit(review, "me", "s0", "Better.", "/english_tasks/1")
    edit(review, "me", "s0", "Long-Range Dependency", "/english_turn_subtypes/0")
    assert review.state.items["s0"].stale == ()
    edit(review, "me", "s0", "2024-05-06 14:29:52 Monday", "/english_env_info")
    assert review.state.items["s0"].stale == (0, 1)


def test_a_round_is_opened_while_another_process_runs_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    review, other = project(tmp_path, tiny_records(3), people="ann bob"), project(tmp_path, [])
    append = review.store.append

    def after_the_rules(*asked: Any) -> Any:
        monkeypatch.undo()
        other.check_item("s1")
        return append(*asked)

    monkeypatch.setattr(review.store, "append", after_the_rules)
    assert review.open_round("owner", ["ann", "bob"], share=1) == ["s0", "s1", "s2"]
    assert len(review.state.rounds) == 1
    assert review.state.items["s1"].warnings is not None


def test_a_second_round_is_not_opened_because_somebody_else_opened_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    review, other = project(tmp_path, tiny_records(4), people="ann bob"), project(tmp_path, [])
    append = review.store.append

    def after_the_other(*asked: Any) -> Any:
        monkeypatch.undo()
        other.open_round("owner", ["ann", "bob"], share=0.5)
        return append(*asked)

    monkeypatch.setattr(review.store, "append", after_the_other)
    with pytest.raises(UsageError, match="at the same time"):
        review.open_round("owner", ["ann", "bob"], share=0.5)
    assert len(review.state.rounds) == 1


def test_every_save_runs_the_rules(tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    assert list(review.check_items()) == ["wild_mini_0"]
    assert review.state.items["wild_mini_0"].warnings == ()
    assert review.state.items["wild_mini_0"].stage == "rules passed"
    edit(review, "me", "wild_mini_0", "no such tool", "/english_answer_list/0/0/action/name")
    found = review.item("wild_mini_0").findings()
    assert found is not None
    assert "/english_answer_list/0/0/action/name" in [finding.field for finding in found]
    assert review.state.items["wild_mini_0"].stage == "generated"


def test_an_edit_after_the_approval_takes_it_back(tmp_path: Path):
    review = project(tmp_path)
    decide(review, "me", "s0")
    edit(review, "me", "s0", "Still better.")
    assert review.state.items["s0"].stage == "in review"


def test_a_decision_counts_for_what_the_reviewer_left(tmp_path: Path):
    review = assigned(tmp_path)
    decide(review, "ann", "s0")
    edit(review, "ann", "s0", "On second thought.")
    decide(review, "bob", "s0")
    assert review.state.items["s0"].stage == "in review"
    assert review.state.items["s0"].waits_for("ann")


def test_a_rejection_needs_a_known_reason(tmp_path: Path):
    review = project(tmp_path)
    seen = review.item("s0").digest
    with pytest.raises(UsageError, match="say why"):
        review.decide("me", "s0", seen, "reject")
    with pytest.raises(UsageError, match="did you mean 'unnatural'"):
        review.decide("me", "s0", seen, "reject", ["unnaturel"])


def test_those_who_are_not_asked_do_not_touch_an_item_under_review(tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob cid")
    review.open_round("owner", ["ann", "bob"], share=1)
    with pytest.raises(UsageError, match="under review by others"):
        edit(review, "cid", "s0", "Mine.")
    with pytest.raises(UsageError, match="not in this review"):
        edit(review, "dan", "s0", "Mine.")


def test_a_token_is_known_by_its_hash_and_dies_when_it_is_revoked(tmp_path: Path):
    review = project(tmp_path, people="ann")
    first = review.add_person("owner", "ann", "reviewer")
    token = review.add_person("owner", "ann", "adjudicator")
    person = review.person_of(token)
    assert person is not None and (person.name, person.role) == ("ann", "adjudicator")
    assert review.person_of(first) is None
    # Merged files remove people, and know of no tokens.
    review.append_general(
        Draft("person", "owner", field="ann", after={"role": "adjudicator", "active": False})
    )
    assert review.person_of(token) is None
    token = review.add_person("owner", "ann", "reviewer")
    assert review.person_of(token) is not None
    review.revoke_person("owner", "ann")
    assert review.person_of(token) is None
    review.close()
    assert token.encode() not in (tmp_path / "set.review.sqlite").read_bytes()


def test_a_changed_set_is_not_mixed_with_the_old_one(tmp_path: Path):
    review = project(tmp_path)
    from wildtool_data.formats.base import RawItem

    changed = tiny_records(2)
    changed[1]["english_tasks"][0] = "Another."
    with pytest.raises(UsageError, match="s1 is in the review already"):
        review.import_items(RawItem(record["id"], record) for record in changed)
    more = tiny_records(3)
    assert review.import_items(RawItem(record["id"], record) for record in more) == 1
