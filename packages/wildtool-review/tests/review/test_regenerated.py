"""Which sessions are made again, and what becomes of what models make."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from review.made_sets import mini_records, project
from wildtool.errors import DataError, UsageError
from wildtool_data.formats import format_of
from wildtool_data.make.sessions.continuation import Continuation, ContinuationSpec, RemadeTasks
from wildtool_data.pointers import Change
from wildtool_review.project import ReviewProject
from wildtool_review.regenerate import (
    NotRegenerated,
    Remade,
    remade_changes,
    remade_result,
    remade_sessions,
    session_of_call,
    stale_sessions,
)
from wildtool_review.store.sqlite import SqliteStore

SPEC = ContinuationSpec()


def places(
    found: tuple[list[Continuation], list[NotRegenerated]],
) -> tuple[list[tuple[str, int]], list[tuple[str, str]]]:
    return [(each.id, each.first) for each in found[0]], [(each.item, each.reason) for each in found[1]]


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
