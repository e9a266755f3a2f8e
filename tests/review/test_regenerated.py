"""Which sessions are made again, and what becomes of what models make."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from review.made_sets import TEXT, edit, mini_records, project
from wildtool.errors import DataError, UsageError
from wildtool.sets.make.sessions.continuation import Continuation, ContinuationSpec, RemadeTasks
from wildtool.sets.review.formats import format_of
from wildtool.sets.review.pointers import Change
from wildtool.sets.review.project import ReviewProject
from wildtool.sets.review.proposed import proposed_changes
from wildtool.sets.review.regenerate import (
    NotRegenerated,
    Remade,
    propose_remade,
    remade_changes,
    remade_result,
    remade_sessions,
    session_of_call,
    stale_sessions,
)
from wildtool.sets.review.store.sqlite import SqliteStore

SPEC = ContinuationSpec()


def places(
    found: tuple[list[Continuation], list[NotRegenerated]],
) -> tuple[list[tuple[str, int]], list[tuple[str, str]]]:
    return [(each.id, each.first) for each in found[0]], [(each.item, each.reason) for each in found[1]]


def test_sessions_with_stale_tasks_are_made_again_from_the_first_of_them(tmp_path: Path):
    records = mini_records(4)
    records[3]["english_task_types"][2] = "none of these"
    review = project(tmp_path, records, people="ann")
    for k in (0, 1, 3):
        edit(review, "ann", f"wild_mini_{k}", "Other?", f"/english_tasks/{k if k < 3 else 0}")
    assert places(stale_sessions(review, "ann", SPEC)) == (
        [("wild_mini_0", 1), ("wild_mini_1", 2)],
        [("wild_mini_3", "wild_mini_3: task 3 has no type and subtype of those that are made")],
    )
    items = ["wild_mini_2", "wild_mini_0", "wild_mini_2"]
    assert places(stale_sessions(review, "ann", SPEC, items)) == (
        [("wild_mini_0", 1)],
        [("wild_mini_2", "wild_mini_2 has no stale task; name the first task to make again")],
    )
    assert places(stale_sessions(review, "ann", SPEC, items, 3)) == (
        [("wild_mini_2", 3), ("wild_mini_0", 3)],
        [],
    )
    content, digest = review.item("wild_mini_0").seen_by("ann")
    assert session_of_call(review, "ann", "wild_mini_0", 0) == Continuation("wild_mini_0", digest, content, 0)


def test_only_people_of_a_review_of_sessions_have_tasks_made_again(tmp_path: Path):
    review = project(tmp_path, mini_records(1), people="ann bob cid")
    review.open_round("owner", ["ann", "bob"], share=1)
    assert places(stale_sessions(review, "cid", SPEC, ["wild_mini_0"], 1)) == (
        [], [("wild_mini_0", "wild_mini_0 is under review by others")]
    )  # fmt: skip
    with pytest.raises(DataError) as refusal:
        session_of_call(review, "cid", "wild_mini_0", 0)
    assert str(refusal.value) == "wild_mini_0 is under review by others"
    with pytest.raises(UsageError) as nobody:
        stale_sessions(review, "dan", SPEC)
    assert str(nobody.value) == "dan takes no part in this review"
    other = ReviewProject.create(SqliteStore(tmp_path / "other.sqlite"), format_of("apibank"))
    with pytest.raises(UsageError) as format_:
        stale_sessions(other, "owner", SPEC)
    assert str(format_.value) == "only sessions have tasks that can be made again; this review is of apibank"


def remade(*texts: str, doubtful: int = 0) -> RemadeTasks:
    answers = tuple([{"made": text}] for text in texts)
    return RemadeTasks("english", texts, answers, ("Chat",) * len(texts), ({"edge": 1},) * doubtful)


RECORD: dict[str, Any] = {
    "english_tasks": ["a", "b", "c"],
    "english_answer_list": [[1], [2], [3]],
    "english_task_types": ["Clarify", "Clarify", "Clarify"],
}


def test_remade_tasks_are_edits_of_each_part():
    session = Continuation("s", "d", RECORD, 1)
    assert remade_changes(session, remade("B", "C", "no such task")) == [
        Change("/english_tasks/1", "b", "B"),
        Change("/english_answer_list/1", [2], [{"made": "B"}]),
        Change("/english_task_types/1", "Clarify", "Chat"),
        Change("/english_tasks/2", "c", "C"),
        Change("/english_answer_list/2", [3], [{"made": "C"}]),
        Change("/english_task_types/2", "Clarify", "Chat"),
    ]
    plain = {**RECORD, "answer_list": RECORD["english_answer_list"]}
    del plain["english_answer_list"]
    changes = remade_changes(Continuation("s", "d", plain, 2), remade("C"))
    assert [change.field for change in changes] == [
        "/english_tasks/2",
        "/answer_list/2",
        "/english_task_types/2",
    ]


def test_what_was_made_says_from_where_and_what_is_doubtful():
    sessions = [Continuation("s", "d", RECORD, 1), Continuation("t", "e", RECORD, 2)]
    results: Any = SimpleNamespace(kept=[("t", remade("C", doubtful=2)), ("s", remade("B", "C"))])
    first, second = remade_sessions(sessions, results)
    assert (first.item, first.digest, first.note) == ("t", "e", "made again from task 3 on; 2 doubtful edges")
    assert (second.item, second.digest, second.note) == ("s", "d", "made again from task 2 on")
    assert second.changes == remade_changes(sessions[0], remade("B", "C"))


def test_a_remade_result_is_an_edit_of_its_call(tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    session = session_of_call(review, "owner", "wild_mini_0", 0)
    results: Any = SimpleNamespace(kept=["new"])
    field = "/english_answer_list/0/3/observation"
    before = session.record["english_answer_list"][0][3]["observation"]
    assert remade_result(session, 3, results) == [
        Remade(
            "wild_mini_0",
            session.digest,
            [Change(field, before, "new")],
            "result of call 3 of task 1 made again",
        )
    ]


def test_what_was_made_is_proposed_once_to_who_still_sees_that_content(tmp_path: Path):
    review = project(tmp_path, mini_records(2))
    text = review.item("wild_mini_0").content["english_tasks"][0]
    seen = review.item("wild_mini_0").digest
    change = Remade("wild_mini_0", seen, [Change(TEXT, text, "New?")], "a note")
    same = Remade("wild_mini_0", seen, [Change(TEXT, text, text)], "")
    late = Remade("wild_mini_1", "other", [Change(TEXT, text, "New?")], "")
    nowhere = Remade("none", seen, [], "")
    assert propose_remade(review, "owner", [change, change, same, late, nowhere], "gpt") == (
        ["wild_mini_0"],
        [
            NotRegenerated("wild_mini_0", "was made so before, or is as it was"),
            NotRegenerated("wild_mini_0", "was made so before, or is as it was"),
            NotRegenerated(
                "wild_mini_1", "wild_mini_1 has changed since you read it; compare, and save again"
            ),
            NotRegenerated("none", "there is no item none in this review"),
        ],
    )
    (proposal,) = review.item("wild_mini_0").proposed
    assert proposed_changes(proposal) == change.changes
    assert (proposal.note, proposal.reason, proposal.who) == ("a note", ("model gpt",), "owner")
