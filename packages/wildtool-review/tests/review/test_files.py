"""Review by files alone: logs merge, what contradicts becomes a conflict, nothing is lost."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from review.made_sets import decide, edit, project, tiny_records
from review.steps import STEPS, Step, step
from wildtool.errors import RecordError
from wildtool_review.files import MergeReport, export_log, merge_log
from wildtool_review.log import GENESIS, Draft, chained, entry_line
from wildtool_review.project import ReviewProject
from wildtool_review.store.sqlite import SqliteStore


def copies(review: ReviewProject, folder: Path, names: str) -> list[ReviewProject]:
    """Copies of a review, each of which continues alone."""
    review.close()
    made: list[ReviewProject] = []
    for name in names:
        (folder / name).mkdir()
        shutil.copy(folder / "set.review.sqlite", folder / name / "set.review.sqlite")
        made.append(ReviewProject.open(SqliteStore(folder / name / "set.review.sqlite")))
    return made


def exported(review: ReviewProject, folder: Path) -> Path:
    export_log(review.store, folder / "log.jsonl")
    return folder / "log.jsonl"


def contents(review: ReviewProject) -> dict[str, tuple[object, str, tuple[int, ...]]]:
    """What a reader sees of each item."""
    return {
        one.id: (review.item(one.id).content, one.stage, one.stale) for one in review.state.items.values()
    }


def test_a_log_read_into_an_empty_review_is_the_same_log(tmp_path: Path):
    review = project(tmp_path, people="ann")
    edit(review, "ann", "s0", "Better.")
    file = exported(review, tmp_path)
    other = ReviewProject.create(SqliteStore(tmp_path / "other.sqlite"), review.format)
    merge_log(other, file)
    assert list(other.store.lines()) == list(review.store.lines())
    assert other.state.dump() == review.state.dump()


def test_two_blind_reviewers_who_work_by_files_end_a_review_when_they_agree(tmp_path: Path):
    review = project(tmp_path, people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    ours, theirs = copies(review, tmp_path, "ab")
    for one, who in ((ours, "ann"), (theirs, "bob")):
        edit(one, who, "s0", "Better.")
        decide(one, who, "s0")
    decide(ours, "ann", "s1")
    decide(theirs, "bob", "s1", "reject", "duplicate")
    report = merge_log(ours, exported(theirs, tmp_path))
    assert (report.contradictions, report.settled) == (0, 1)
    assert ours.state.items["s0"].stage == "approved"
    assert ours.state.items["s1"].conflicts == ("one approves, one rejects",)


def test_edits_of_one_field_become_a_conflict_with_both_texts(tmp_path: Path):
    ours, theirs = copies(project(tmp_path), tmp_path, "ab")
    edit(ours, "ann", "s0", "Ann's text.")
    edit(theirs, "bob", "s0", "Bob's text.")
    edit(theirs, "bob", "s1", "Only Bob's.")
    report = merge_log(ours, exported(theirs, tmp_path))
    assert report.contradictions == 1
    assert ours.state.items["s0"].conflicts == ("merged files contradict each other",)
    assert ours.item("s0").content["english_tasks"][0] == "Ann's text."
    assert [change.after for change in ours.item("s0").proposal()[1]] == ["Bob's text."]
    assert ours.item("s1").content["english_tasks"][0] == "Only Bob's."


def test_an_outcome_of_what_nobody_decided_is_taken_for_the_version_that_is_here(tmp_path: Path):
    ours = project(tmp_path)
    digests = {"s0": ours.item("s0").digest, "s1": "another"}
    outcomes = [
        Draft("settle", "bob", item, version=digest, after="approve") for item, digest in digests.items()
    ]
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(entry_line(entry) + b"\n" for entry in chained(outcomes, 0, GENESIS)))
    assert merge_log(ours, file) == MergeReport(added=2, known=0, contradictions=1, settled=0)
    assert [item.stage for item in ours.state.items.values()] == ["approved", "generated"]
    assert ours.item("s1").entries[-1].note == (
        "a merged file ended the review of another version: settle approve"
    )


def test_outcomes_that_differ_are_discussed(tmp_path: Path):
    ours, theirs = copies(project(tmp_path), tmp_path, "ab")
    decide(ours, "ann", "s0")
    decide(theirs, "bob", "s0", "reject", "privacy")
    merge_log(ours, exported(theirs, tmp_path))
    assert ours.state.items["s0"].conflicts == ("sent to discussion",)


def test_merging_a_file_again_adds_nothing(tmp_path: Path):
    ours, theirs = copies(project(tmp_path), tmp_path, "ab")
    edit(theirs, "bob", "s0", "Bob's text.")
    file = exported(theirs, tmp_path)
    assert merge_log(ours, file).added > 0
    before = ours.state.n
    assert merge_log(ours, file).added == 0
    back = merge_log(theirs, exported(ours, tmp_path / "a"))
    assert (ours.state.n, back.added) == (before, 0)


def test_a_damaged_file_adds_nothing(tmp_path: Path):
    ours, theirs = copies(project(tmp_path), tmp_path, "ab")
    edit(theirs, "bob", "s0", "Bob's text.")
    edit(theirs, "bob", "s1", "Bob's other text.")
    file = exported(theirs, tmp_path)
    file.write_text(file.read_text("utf-8").replace("Bob's text.", "Eve's text."), "utf-8")
    before = ours.state.n
    with pytest.raises(RecordError, match=r"log\.jsonl, line 3: was changed"):
        merge_log(ours, file)
    assert ours.state.n == before


Said = set[tuple[str, str, str]]
"""Who wrote or decided what, of which item."""


def said(review: ReviewProject) -> Said:
    """Every text that a person wrote into an item, and every decision."""
    return {(one.who, one.item, one.after) for one in review.store.read() if isinstance(one.after, str)}


def lost(wanted: Said, review: ReviewProject) -> Said:
    """What a review does not hold; a decision that contradicts an ended review is in the note of what is discussed."""
    kept = list(review.store.read())
    return {
        (who, item, text)
        for who, item, text in wanted
        if not any(
            (one.who, one.item) == (who, item) and (one.after == text or text in one.note) for one in kept
        )
    }


def test_a_log_to_be_published_has_pseudonyms_and_gives_the_same_items(tmp_path: Path):
    review = project(tmp_path, people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    for who in ("ann", "bob"):
        edit(review, who, "s0", "Better.")
        decide(review, who, "s0")
    review.remark("ann", "s1", "bob should look at this")
    export_log(review.store, tmp_path / "log.jsonl", anonymous=True)
    text = (tmp_path / "log.jsonl").read_text("utf-8")
    assert not [name for name in ("ann", "bob", "judge") if name in text]
    again = ReviewProject.create(SqliteStore(tmp_path / "again.sqlite"), review.format)
    merge_log(again, tmp_path / "log.jsonl")
    assert contents(again) == contents(review)
    assert again.state.items["s1"].open is not None
    assert again.state.items["s1"].open.people == ("person 1", "person 3")


def test_files_that_are_merged_both_ways_end_alike(tmp_path: Path):
    review = project(tmp_path, people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    ours, theirs = copies(review, tmp_path, "ab")
    for one, who in ((ours, "ann"), (theirs, "bob")):
        edit(one, who, "s0", "Better.")
        decide(one, who, "s0")
        edit(one, who, "s1", f"As {who} says.")
        decide(one, who, "s1")
    merge_log(ours, exported(theirs, tmp_path / "b"))
    taken, excluded = ours.item("s1").proposal()
    ours.resolve("judge", "s1", ours.item("s1").digest, "approve", taken)
    assert merge_log(theirs, exported(ours, tmp_path / "a")).contradictions == 0
    assert contents(theirs) == contents(ours)
    assert [change.after for change in excluded] == ["As bob says."]
    assert {item.stage for item in theirs.state.items.values()} == {"approved"}


EDITS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from("xyz")), max_size=3)
"""Edits of a task's text."""


@settings(max_examples=10)
@given(EDITS, EDITS)
def test_merging_is_commutative_where_people_changed_different_parts(
    tmp_path_factory: pytest.TempPathFactory,
    first: Sequence[tuple[int, str]],
    second: Sequence[tuple[int, str]],
):
    folder = tmp_path_factory.mktemp("merge")
    ours, theirs = copies(project(folder, tiny_records(2)), folder, "ab")
    for k, text in first:
        edit(ours, "ann", f"s{k}", text, "/english_tasks/0")
    for k, text in second:
        edit(theirs, "bob", f"s{k}", text, "/english_tasks/1")
    mine, other = exported(ours, folder / "a"), exported(theirs, folder / "b")
    assert merge_log(ours, other).contradictions == merge_log(theirs, mine).contradictions == 0
    assert contents(ours) == contents(theirs)


@settings(max_examples=10)
@given(EDITS, EDITS)
def test_no_text_of_either_side_is_lost_by_merging(
    tmp_path_factory: pytest.TempPathFactory,
    first: Sequence[tuple[int, str]],
    second: Sequence[tuple[int, str]],
):
    folder = tmp_path_factory.mktemp("merge")
    ours, theirs = copies(project(folder, tiny_records(2)), folder, "ab")
    for review, who, edits in ((ours, "ann", first), (theirs, "bob", second)):
        for k, text in edits:
            edit(review, who, f"s{k}", text)
    wanted = said(ours) | said(theirs)
    merge_log(ours, exported(theirs, folder / "b"))
    assert not lost(wanted, ours)


@settings(max_examples=10)
@given(STEPS, STEPS)
@example(
    first=[("reject", "ann", "s0", "x")],
    second=[("approve", "ann", "s0", "x"), ("approve", "bob", "s0", "x")],
)
def test_whatever_two_sides_did_merging_works_and_keeps_every_text(
    tmp_path_factory: pytest.TempPathFactory, first: Sequence[Step], second: Sequence[Step]
):
    folder = tmp_path_factory.mktemp("merge")
    review = project(folder, tiny_records(3), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=0.67)
    ours, theirs = copies(review, folder, "ab")
    for one in first:
        step(ours, *one)
    for one in second:
        step(theirs, *one)
    wanted = said(ours) | said(theirs)
    merge_log(ours, exported(theirs, folder / "b"))
    assert not lost(wanted, ours)
    assert ours.verify("ours") == ours.state.n
    before = ours.state.n
    assert merge_log(ours, exported(theirs, folder / "b")).added == 0
    assert ours.state.n == before
    merge_log(theirs, exported(ours, folder / "a"))
    assert not lost(wanted, theirs)
    assert theirs.verify("theirs") == theirs.state.n
