"""The same session in two languages: an edit of one makes the same tasks of the other stale."""

from pathlib import Path
from typing import Any

import pytest

from review.made_sets import TEXT, decide, edit, project, recheck, tiny_records
from review.server.served import served
from wildtool_review.project import ReviewProject

SECOND = "/english_tasks/1"


def twins(path: Path, people: str = "") -> ReviewProject:
    """Two sessions that are twins, a third one, and a fourth with another twin."""
    records = tiny_records(4)
    for record, twin in zip(records, ("1/0", "1/0", "", "1/7"), strict=True):
        record["made_by"] = {"twin": twin} if twin else {}
    return project(path, records, people=people)


def stale(review: ReviewProject) -> list[set[int]]:
    return [review.item(f"s{k}").stale for k in range(4)]


@pytest.mark.parametrize(
    ("field", "after", "tasks"),
    [
        (TEXT, "Edited?", {0}),
        ("/english_turn_subtypes/0", "Long-Range Dependency", {1}),
        ("/english_answer_list/1/0/observation", "Other.", {1}),
        ("/english_env_info", "2024-05-06 14:29:52 Monday", {0, 1}),
    ],
)
def test_an_edit_makes_the_same_tasks_of_the_twin_stale(
    tmp_path: Path, field: str, after: str, tasks: set[int]
):
    review = twins(tmp_path)
    edit(review, "owner", "s0", after, field)
    assert stale(review)[1:] == [tasks, set(), set()]
    assert [one.id for one in review.state.queue("stale")][-1] == "s1"
    review.verify("log")


def test_an_approved_twin_is_not_released_before_somebody_has_looked(tmp_path: Path):
    review = twins(tmp_path)
    decide(review, "owner", "s1")
    edit(review, "owner", "s0", "Edited?", SECOND)
    assert review.state.items["s1"].stage == "in review"
    recheck(review, "owner", "s1")
    assert review.state.items["s1"].stage == "approved"


def test_an_edit_that_follows_the_twin_does_not_come_back(tmp_path: Path):
    review = twins(tmp_path)
    edit(review, "owner", "s0", "Edited?", SECOND)
    edit(review, "owner", "s1", "Edited, too?", SECOND)
    assert stale(review)[:2] == [set(), {1}]
    edit(review, "owner", "s1", "Edited first?")
    assert stale(review)[:2] == [{0}, {1}]


def test_a_blind_copy_makes_the_twin_stale_only_when_the_item_takes_its_edits(tmp_path: Path):
    review = twins(tmp_path, people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    for who in ("ann", "bob"):
        edit(review, who, "s0", "Edited?", SECOND)
    assert stale(review)[1] == set()
    for who in ("ann", "bob"):
        decide(review, who, "s0")
    assert [review.item("s1").stale_for(who) for who in ("ann", "bob", "owner")] == [{1}] * 3


def test_one_record_of_two_languages_is_its_own_twin(tmp_path: Path):
    (record,) = tiny_records(1)
    both: dict[str, Any] = {**record}
    both |= {key.replace("english", "chinese"): value for key, value in record.items() if "english" in key}
    review = project(tmp_path, [both])
    edit(review, "owner", "s0", "Edited?", SECOND)
    assert review.item("s0").stale == {1}


async def test_the_page_links_twins(tmp_path: Path):
    async with served(twins(tmp_path)) as pages:
        assert [(await pages.item(f"s{k}"))["twins"] for k in range(3)] == [["s1"], ["s0"], []]
