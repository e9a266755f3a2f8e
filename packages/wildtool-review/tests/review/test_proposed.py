"""What models propose: kept in the log, accepted as edits of the model, or discarded; nothing changes by itself."""

from pathlib import Path

import pytest

from review.made_sets import TEXT, decide, edit, project, tiny_records
from review.server.served import served
from wildtool.errors import UsageError
from wildtool_data.pointers import Change, value_at
from wildtool_review.files import export_log, merge_log
from wildtool_review.history import EditConflict
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import accept_proposal, discard_proposal, merge_proposals, propose
from wildtool_review.release import item_provenance, preference_pairs

SECOND = "/english_tasks/1"


def proposed(review: ReviewProject, who: str = "owner", text: str = "Made again?", item: str = "s0") -> bool:
    content, seen = review.item(item).seen_by(who)
    changes = [Change(SECOND, content["english_tasks"][1], text)]
    return propose(review, who, item, seen, changes, "gpt", "from task 2 on")


def accept(review: ReviewProject, who: str = "owner", which: int = 0) -> None:
    found = review.item("s0")
    (*_, one) = found.proposals_for(who)[: which + 1]
    accept_proposal(review, who, "s0", found.seen_by(who)[1], one.content)


def test_an_accepted_proposal_is_an_edit_of_the_model_and_its_tasks_are_not_stale(tmp_path: Path):
    review = project(tmp_path)
    edit(review, "owner", "s0", "Edited?")
    assert review.item("s0").stale == {1}
    assert proposed(review)
    assert review.item("s0").content["english_tasks"] == ["Edited?", "And about 1000?"]
    accept(review)
    found = review.item("s0")
    assert (found.content["english_tasks"][1], found.stale, found.proposals_for("owner")) == (
        "Made again?",
        set(),
        [],
    )
    decide(review, "owner", "s0")
    written = item_provenance(review.item("s0"), {})["fields"]
    (made,) = (one for one in found.entries if one.kind == "edit" and one.field == SECOND)
    assert written[SECOND] == {"by": "model", "model": "gpt", "person": "owner", "entry": made.n}
    assert written[TEXT]["by"] == "person"
    assert [pair["field"] for pair in preference_pairs(review.item("s0"), {})] == [TEXT]
    review.verify("log")


def test_tasks_that_were_made_again_as_they_were_are_not_stale_either(tmp_path: Path):
    records = tiny_records(1)
    for name in ("tasks", "answer_list", "task_types", "turn_subtypes"):
        records[0][f"english_{name}"].append(records[0][f"english_{name}"][-1])
    review = project(tmp_path, records)
    edit(review, "owner", "s0", "Edited?")
    assert review.item("s0").stale == {1, 2}
    proposed(review)
    accept(review)
    assert review.item("s0").stale == set()


def test_earlier_tasks_than_those_that_were_made_again_stay_stale(tmp_path: Path):
    review = project(tmp_path)
    edit(review, "owner", "s0", "2024-05-06 14:29:52 Monday", "/english_env_info")
    assert review.item("s0").stale == {0, 1}
    proposed(review)
    accept(review)
    assert review.item("s0").stale == {0}


def test_after_the_result_of_one_call_later_tasks_are_stale_as_after_any_edit(tmp_path: Path):
    review = project(tmp_path)
    content, seen = review.item("s0").seen_by("owner")
    field = "/english_answer_list/0/0/observation"
    propose(review, "owner", "s0", seen, [Change(field, value_at(content, field), "It is none.")], "gpt")
    accept(review)
    found = review.item("s0")
    assert (value_at(found.content, field), found.stale) == ("It is none.", {1})


def test_a_proposal_is_gone_when_discarded_and_is_not_made_twice(tmp_path: Path):
    review = project(tmp_path)
    assert proposed(review)
    assert not proposed(review)
    assert proposed(review, text="Another?")
    found = review.item("s0")
    first, second = found.proposals_for("owner")
    discard_proposal(review, "owner", "s0", found.digest, first.content)
    assert review.item("s0").proposals_for("owner") == [second]
    assert not proposed(review)
    for act in (accept_proposal, discard_proposal):
        with pytest.raises(UsageError, match="no longer proposed"):
            act(review, "owner", "s0", found.digest, first.content)


def test_a_proposal_is_for_the_content_it_was_made_for(tmp_path: Path):
    review = project(tmp_path)
    content, seen = review.item("s0").seen_by("owner")
    proposed(review)
    edit(review, "owner", "s0", "Edited meanwhile?")
    assert review.item("s0").proposals_for("owner") == []
    with pytest.raises(EditConflict):
        propose(review, "owner", "s0", seen, [Change(SECOND, content["english_tasks"][1], "Late?")], "gpt")
    edit(review, "owner", "s0", content["english_tasks"][0])
    assert len(review.item("s0").proposals_for("owner")) == 1


def test_blind_reviewers_see_only_proposals_for_their_own_copy(tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    proposed(review, "ann")
    with pytest.raises(UsageError, match="under review by others"):
        proposed(review, "owner")
    assert [len(review.item("s0").proposals_for(who)) for who in ("ann", "bob", "judge")] == [1, 0, 0]
    accept(review, "ann")
    assert review.item("s0").seen_by("ann")[0]["english_tasks"][1] == "Made again?"
    assert review.item("s0").content["english_tasks"][1] == "And about 1000?"


def test_a_merged_proposal_is_one_here_if_the_content_is_the_same(tmp_path: Path):
    (tmp_path / "other").mkdir()
    one, other = project(tmp_path), project(tmp_path / "other")
    edit(one, "ann", "s1", "Ann's?")
    proposed(one)
    proposed(one, item="s1")
    export_log(one.store, tmp_path / "one.jsonl")
    edit(other, "bob", "s1", "Bob's?", SECOND)
    merge_log(other, tmp_path / "one.jsonl")
    assert [len(other.item(item).proposals_for("owner")) for item in ("s0", "s1")] == [1, 0]
    assert merge_log(other, tmp_path / "one.jsonl").added == 0
    other.verify("log")


def test_parts_of_several_proposals_are_taken_each_as_its_model_s(tmp_path: Path):
    review = project(tmp_path)
    content, seen = review.item("s0").seen_by("owner")
    for model, texts in (("gpt", ["A?", "B?"]), ("qwen", ["C?", "D?"])):
        changes = [
            Change(f"/english_tasks/{t}", content["english_tasks"][t], text) for t, text in enumerate(texts)
        ]
        propose(review, "owner", "s0", seen, changes, model)
    gpt, qwen = (one.content for one in review.item("s0").proposals_for("owner"))
    for wrong in ({TEXT: "other"}, {"/english_task_types/0": gpt}):
        with pytest.raises(UsageError, match="no longer proposed"):
            merge_proposals(review, "owner", "s0", seen, wrong)
    found = merge_proposals(review, "owner", "s0", seen, {SECOND: qwen, TEXT: gpt})
    assert found.content["english_tasks"] == ["A?", "D?"]
    assert [(one.field, one.reason) for one in found.entries if one.kind == "edit"] == [
        (SECOND, ("model qwen",)),
        (TEXT, ("model gpt",)),
    ]
    assert found.stale == {1}


def test_all_parts_of_one_proposal_are_the_whole_proposal(tmp_path: Path):
    review = project(tmp_path)
    edit(review, "owner", "s0", "Edited?")
    proposed(review)
    (one,) = review.item("s0").proposals_for("owner")
    found = merge_proposals(review, "owner", "s0", review.item("s0").digest, {SECOND: one.content})
    assert found.stale == set()


async def test_the_page_shows_a_proposal_as_differences_and_takes_or_drops_it(tmp_path: Path):
    review = project(tmp_path)
    proposed(review)
    proposed(review, text="Another?")
    async with served(review) as pages:
        item = await pages.item("s0")
        first, second = item["proposals"]
        assert (first["model"], first["changes"]) == (
            "gpt",
            [{"field": SECOND, "before": "And about 1000?", "after": "Made again?"}],
        )
        body = {"id": "s0", "seen": item["seen"]}
        dropped = await (await pages.post("proposal", **body, proposal=first["proposal"])).json()
        assert [one["proposal"] for one in dropped["proposals"]] == [second["proposal"]]
        taken = await (await pages.post("proposal", **body, proposal=second["proposal"], take=True)).json()
        assert (taken["proposals"], taken["tasks"][1]["parts"][0]["text"]) == ([], "Another?")
        assert [row["who"] for row in taken["history"] if row["kind"] == "edit"] == ["model gpt"]
        merged = await pages.post("proposal", **body, choices={SECOND: second["proposal"]})
        assert merged.status == 409
        again = await pages.post("proposal", **body, proposal=second["proposal"], take=True)
        assert again.status == 409
