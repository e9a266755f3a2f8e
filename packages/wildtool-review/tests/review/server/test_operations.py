"""What pages of a review can ask for and do: queues, items, edits, decisions, conflicts, rounds, figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from review.made_sets import TEXT, decide, edit, mini_records, project, tiny_records
from review.server.served import served
from wildtool.errors import UsageError
from wildtool_data.pointers import value_at
from wildtool_review.server.steps import with_step, without_step
from wildtool_review.state import fold

ANSWERS = "/english_answer_list/0"


async def test_a_search_finds_texts_of_items_as_each_person_sees_them(tmp_path: Path):
    records = mini_records(2)
    records[1]["english_answer_list"][0][0]["observation"] = {"note": "Straße 17", "n": 4711}
    review = project(tmp_path, records, people="ann bob")

    async def found(who: str, text: str) -> list[str]:
        async with served(review, alone=who) as pages:
            return (await (await pages.get("queue", queue="all", text=text)).json())["ids"]

    review.close = lambda: None  # each server closes what it served
    assert await found("ann", "STRASSE 17") == await found("ann", "4711") == ["wild_mini_1"]
    assert await found("ann", "MINI_0") == ["wild_mini_0"]
    assert await found("ann", "Lists all accounts") == []  # a definition of a tool
    review.open_round("owner", ["ann", "bob"], share=1)
    edit(review, "ann", "wild_mini_0", "Only Ann knows of zucchini.")
    assert [await found(who, "zucchini") for who in ("ann", "bob", "owner")] == [["wild_mini_0"], [], []]
    for who in ("ann", "bob"):
        if who == "bob":
            edit(review, "bob", "wild_mini_0", "Only Ann knows of zucchini.")
        decide(review, who, "wild_mini_0")
    assert await found("owner", "zucchini") == ["wild_mini_0"]


async def test_queues_are_filtered_and_paged(tmp_path: Path):
    review = project(tmp_path, tiny_records(3), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=0.3)
    (drawn,) = review.state.rounds[0].items
    async with served(review, alone="ann") as pages:
        assert (await (await pages.get("queue", queue="mine")).json())["ids"] == [drawn]
        found = await (await pages.get("queue", queue="all", text="s1")).json()
        assert [row["id"] for row in found["items"]] == ["s1"]
        assert (await (await pages.get("queue", queue="all", start="2")).json())["items"][0]["id"] == "s2"
        for wrong in ({"queue": "no"}, {"round": "x"}, {"max_confidence": "2"}, {"assignee": "bob"}):
            assert (await pages.get("queue", **wrong)).status == 422


async def test_an_item_has_parts_tools_graph_and_orders(tmp_path: Path):
    async with served(project(tmp_path, mini_records(1))) as pages:
        item = await pages.item("wild_mini_0")
        assert (await pages.get("item", id="nothing")).status == 422
    first = item["tasks"][0]
    assert first["parts"][0]["text"].startswith("lunch at Corner Bistro")
    assert first["graph"]["min_depth"] == 4
    assert len(first["graph"]["orders"]) == 3
    assert [tool["name"] for tool in item["tools"]][:2] == ["list_accounts", "add_expense"]
    assert [p["name"] for p in item["tools"][3]["parameters"] if p["required"]] == ["entry_id"]
    assert "derived" in first["extras"]["1"]
    assert "runs" not in item


async def test_recorded_runs_are_shown_beside_what_the_person_sees(tmp_path: Path):
    review = project(tmp_path)

    def runs(item: str, first: Any, shown: Any) -> Any:
        return [{"model": "m", "task": 0, "before": True, "after": first == shown}]

    async with served(review, runs=runs) as pages:
        assert (await pages.item("s0"))["runs"][0]["after"] is True
        saved = await (await pages.edit("s0", TEXT, text="Other?")).json()
        assert saved["runs"][0]["after"] is False


async def test_an_edit_that_recorded_runs_propose_can_be_accepted(tmp_path: Path):
    review = project(tmp_path)
    changes = [{"field": TEXT, "before": "Tell me about number 0.", "after": "Proposed?"}]
    rows: list[Any] = [{"model": "m"}, {"model": "2 of 3 models", "proposal": {"changes": changes}}]
    async with served(review, runs=lambda item, first, shown: rows) as pages:
        seen = (await pages.item("s0"))["seen"]
        for index, status in ((0, 422), (7, 422), (-1, 422), (1, 200), (1, 409)):
            assert (await pages.post("accept", id="s0", seen=seen, index=index)).status == status
    assert project(tmp_path, []).item("s0").content["english_tasks"][0] == "Proposed?"


async def test_a_save_runs_the_rules_and_marks_later_tasks_as_stale(tmp_path: Path):
    async with served(project(tmp_path, mini_records(1))) as pages:
        field = f"{ANSWERS}/3/dependency_list"
        saved = await (await pages.edit("wild_mini_0", field, json="[9]")).json()
        assert saved["version"] == 2
        assert saved["findings"]
        assert saved["stale"] == [1, 2, 3]
        refused = await pages.post("decide", id="wild_mini_0", seen=saved["seen"], choice="approve")
        assert (refused.status, "check task 2, 3, 4 again" in (await refused.json())["problem"]) == (
            422,
            True,
        )
        checked = await (
            await pages.post("recheck", id="wild_mini_0", seen=saved["seen"], tasks=[1, 2, 3])
        ).json()
        assert checked["stale"] == []


async def test_what_a_release_would_refuse_is_approved_only_despite_its_findings(tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    async with served(review) as pages:
        saved = await (await pages.edit("wild_mini_0", f"{ANSWERS}/3/dependency_list", json="[9]")).json()
        decision = {"id": "wild_mini_0", "seen": saved["seen"], "choice": "approve"}
        await pages.post("recheck", id="wild_mini_0", seen=saved["seen"], tasks=[1, 2, 3])
        answer = await pages.post("decide", **decision)
        refused = await answer.json()
        assert answer.status == 422
        assert refused["despite"] is True
        assert saved["findings"][0]["message"] in refused["problem"]
        assert review.state.items["wild_mini_0"].stage != "approved"
        assert (await pages.post("decide", **decision, despite=True)).status == 200
        assert review.state.items["wild_mini_0"].stage == "approved"


async def test_a_decision_is_taken_back_with_what_it_ended(tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    async with served(review) as pages:
        edited = await (await pages.edit("s0", TEXT, text="Another text.")).json()
        for choice in ("approve", "reject", "discuss"):
            before = review.state.items["s0"]
            seen = (await pages.item("s0"))["seen"]
            await pages.post("recheck", id="s0", seen=seen, tasks=edited["stale"])
            said = {"id": "s0", "seen": seen, "choice": choice, "reasons": ["call"], "despite": True}
            decided = await (await pages.post("decide", **said)).json()
            assert decided["withdrawable"]
            back = await (await pages.post("withdraw", id="s0", seen=seen)).json()
            after = review.state.items["s0"]
            assert (after.stage, after.passes, after.conflicts) == (before.stage, before.passes, ())
            assert not back["withdrawable"]
            assert (await pages.post("withdraw", id="s0", seen=seen)).status == 422
        assert fold(review.format, review.store.read()).items == review.state.items


async def test_a_reviewer_takes_back_a_decision_only_until_the_other_has_decided(tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    seen = review.item("s0").seen_by("ann")[1]
    decide(review, "ann", "s0")
    review.withdraw("ann", "s0", seen)
    assert review.state.items["s0"].waits_for("ann")
    decide(review, "ann", "s0")
    decide(review, "bob", "s0", "reject", "call")
    for who in ("ann", "bob"):
        with pytest.raises(UsageError, match="taken back"):
            review.withdraw(who, "s0", seen)


async def test_a_queue_has_the_users_words_and_can_be_of_what_is_undecided(tmp_path: Path):
    review = project(tmp_path, tiny_records(3))
    async with served(review) as pages:
        rows = (await (await pages.get("queue", queue="all")).json())["items"]
        assert rows[0]["said"] == review.item("s0").content["english_tasks"][0]
        decide(review, "owner", "s1")
        decide(review, "owner", "s2", "discuss")
        assert (await (await pages.get("queue", queue="all", undecided="1")).json())["ids"] == ["s0"]


async def test_numbers_come_back_as_they_were_typed(tmp_path: Path):
    async with served(project(tmp_path, mini_records(1))) as pages:
        field = f"{ANSWERS}/1/action/arguments/amount"
        for typed in ("42.0", "42", "123456789012345678901234567890", "1e-7"):
            await pages.edit("wild_mini_0", field, json=typed)
            (part,) = [
                p for p in (await pages.item("wild_mini_0"))["tasks"][0]["parts"] if p["field"] == field
            ]
            assert part["json"] == json.dumps(json.loads(typed))
        for wrong in ("{", "[1,]", "NaN", "1e999", "-Infinity", ""):
            answer = await pages.edit("wild_mini_0", field, json=wrong)
            assert (answer.status, "Not JSON" in (await answer.json())["problem"]) == (422, True)
        removed = await (await pages.edit("wild_mini_0", field, remove=True)).json()
        assert field not in [part["field"] for part in removed["tasks"][0]["parts"]]


async def test_the_second_saver_gets_both_versions_and_overwrites_nothing(tmp_path: Path):
    review = project(tmp_path)
    async with served(review) as pages:
        seen = (await pages.item("s0"))["seen"]
        assert (await pages.post("edit", id="s0", seen=seen, field=TEXT, text="First")).status == 200
        answer = await pages.post("edit", id="s0", seen=seen, field=TEXT, text="Second")
        told = await answer.json()
        assert answer.status == 409
        assert told["now"] == {"text": "First"}
        assert review.item("s0").content["english_tasks"][0] == "First"
        for what, body in (
            ("decide", {"choice": "approve"}),
            ("recheck", {"tasks": [1]}),
            ("choose", {"field": TEXT, "text": "Third", "candidate": 0}),
            ("steps", {"field": ANSWERS, "index": 0}),
        ):
            assert (await pages.post(what, id="s0", seen=seen, **body)).status == 409
        assert (
            await pages.post("edit", id="s0", seen=told["item"]["seen"], field=TEXT, text="Second")
        ).status == 200


async def test_another_process_on_the_same_store_is_seen_at_once(tmp_path: Path):
    review, other = project(tmp_path), project(tmp_path, [])
    async with served(review) as pages:
        seen = (await pages.item("s0"))["seen"]
        edit(other, "owner", "s0", "From elsewhere")
        answer = await pages.post("edit", id="s0", seen=seen, field=TEXT, text="Mine")
        assert (answer.status, (await answer.json())["now"]) == (409, {"text": "From elsewhere"})


async def test_nobody_sees_the_other_s_work_before_both_have_decided(tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob eve")
    review.open_round("owner", ["ann", "bob"], share=1)
    edit(review, "ann", "s0", "Ann's secret")
    review.remark("ann", "s0", "Ann's remark")
    decide(review, "ann", "s0", "reject", "privacy")
    for who in ("bob", "eve"):
        async with served(project(tmp_path, []), alone=who) as pages:
            text = await (await pages.get("item", id="s0")).text()
            assert "Ann" not in text.replace('"who":"Ann', "") and "privacy" not in text
            assert (await pages.post("edit", id="s0", seen="", field=TEXT, text="x")).status in (409, 422)
    async with served(project(tmp_path, []), alone="judge") as pages:
        assert "Ann's secret" in await (await pages.get("item", id="s0")).text()


@pytest.mark.parametrize(
    ("who", "own_copy"), [("ann", True), ("bob", True), ("eve", False), ("judge", False)]
)
async def test_only_those_who_review_an_item_are_told_that_they_see_their_own_copy(
    tmp_path: Path, who: str, own_copy: bool
):
    review = project(tmp_path, tiny_records(2), people="ann bob eve")
    review.open_round("owner", ["ann", "bob"], share=0.3)
    (drawn,) = review.state.rounds[0].items
    (other,) = {*review.state.items} - {drawn}
    async with served(review, alone=who) as pages:
        shown = [(await pages.item(item))["own_copy"] for item in (drawn, other)]
    assert shown == [own_copy, False]


async def test_an_adjudicator_takes_edits_of_both(tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    edit(review, "ann", "s0", "Ann's text?")
    edit(review, "bob", "s0", "Bob's text?", "/english_tasks/1")
    edit(review, "bob", "s0", "Bob's other?")
    decide(review, "ann", "s0")
    decide(review, "bob", "s0")
    async with served(project(tmp_path, []), alone="ann") as pages:
        assert (await pages.item("s0"))["conflict"] is None
    async with served(project(tmp_path, []), alone="judge") as pages:
        clash = (await pages.item("s0"))["conflict"]
        assert [(one["who"], one["after"], one["together"]) for one in clash["changes"]] == [
            (["ann"], "Ann's text?", True),
            (["bob"], "Bob's text?", True),
            (["bob"], "Bob's other?", False),
        ]
        body = {"id": "s0", "seen": clash["seen"], "choice": "approve", "take": [1, 2]}
        assert (await pages.post("resolve", **body, proposal="other")).status == 409
        ended = await (await pages.post("resolve", **body, proposal=clash["proposal"])).json()
        assert ended["stage"] == "approved"
    assert project(tmp_path, []).item("s0").content["english_tasks"] == ["Bob's other?", "Bob's text?"]


async def test_candidates_are_chosen_or_merged(tmp_path: Path):
    records = tiny_records(1)
    records[0]["made_by"] = {"candidates": [["One?", {"text": "Two?", "difficulty": 3}]]}
    review = project(tmp_path, records)
    async with served(review) as pages:
        item = await pages.item("s0")
        assert item["tasks"][0]["candidates"] == [
            {"text": "One?", "about": {}}, {"text": "Two?", "about": {"difficulty": "3"}}
        ]  # fmt: skip
        for candidate, reason in ((1, "candidate 1"), (None, "merge")):
            body = {
                "id": "s0",
                "seen": item["seen"],
                "field": TEXT,
                "text": f"Chosen {candidate}",
                "candidate": candidate,
            }
            item = await (await pages.post("choose", **body)).json()
            assert review.item("s0").entries[-2].reason == (reason,)
        assert (await pages.post("choose", **{**body, "seen": item["seen"], "candidate": "x"})).status == 422


async def test_an_edge_has_a_kind_that_goes_with_it_and_moves_with_its_steps(tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    async with served(review) as pages:
        step = f"{ANSWERS}/2"

        async def act(what: str, **body: Any) -> Any:
            body = {"id": "wild_mini_0", "seen": (await pages.item("wild_mini_0"))["seen"], **body}
            return await pages.post(what, **body)

        before = review.item("wild_mini_0").content
        saved = await (await act("edge", field=step, source=0, needed=True, kind="control")).json()
        (edge,) = [e for e in saved["tasks"][0]["graph"]["edges"] if (e["source"], e["target"]) == (0, 2)]
        assert (edge["written"], edge["set_kind"], saved["stale"]) == (True, "control", [])
        assert not [finding for finding in saved["findings"] if "kind" in finding["message"]]
        await act("steps", field=ANSWERS, index=0, add="get_budget_status")
        assert value_at(review.item("wild_mini_0").content, f"{ANSWERS}/3/dependency_kinds") == {
            "1": "control"
        }
        await act("steps", field=ANSWERS, index=0)
        removed = await (await act("edge", field=step, source=0, needed=False)).json()
        assert removed["stale"] == [1, 2, 3]
        await act("edge", field=step, source=0, needed=True)
        assert review.item("wild_mini_0").content == before
        assert (await act("edge", field=step, source=0, needed=True, kind="because")).status == 422
        wrong = await pages.edit(
            "wild_mini_0", f"{step}/dependency_kinds", json='{"1": "argument", "0": "x"}'
        )
        said = [finding["message"] for finding in (await wrong.json())["findings"]]
        assert [text for text in said if "is no kind" in text or "does not depend on" in text] == [
            "the node does not depend on '1'",
            "'x' is no kind; expected one of barrier, argument, logical, control",
        ]


async def test_other_values_of_an_argument_are_accepted_and_make_nothing_stale(tmp_path: Path):
    async with served(project(tmp_path, mini_records(1))) as pages:
        field = f"{ANSWERS}/1/action/arguments/amount"

        async def accept(**body: Any) -> Any:
            seen = (await pages.item("wild_mini_0"))["seen"]
            return await pages.post("alternative", id="wild_mini_0", seen=seen, field=field, **body)

        for typed in ("43.0", "null", '"x"'):
            saved = await (await accept(json=typed)).json()
        (part,) = [one for one in saved["tasks"][0]["parts"] if one["field"] == field]
        assert part["accepted"] == [{"json": "43.0"}, {"json": "null"}, {"text": "x"}]
        assert saved["stale"] == []
        assert any("'x' for amount" in finding["message"] for finding in saved["findings"])
        again = await accept(json="43.0")
        assert (again.status, (await again.json())["problem"]) == (422, "this value is accepted already")
        for _ in range(3):
            saved = await (await accept(index=0)).json()
        assert (await accept(index=0)).status == 422
        assert (
            "alternatives"
            not in project(tmp_path, []).item("wild_mini_0").content["english_answer_list"][0][1]
        )
        before = project(tmp_path, []).item("wild_mini_0").content
        answered = f"{ANSWERS}/{len(before['english_answer_list'][0]) - 1}/action/arguments/answer_type"
        amount, seen = field, (await pages.item("wild_mini_0"))["seen"]
        for other in (TEXT, f"{amount}/0", amount.removesuffix("amount"), answered):
            body = {"id": "wild_mini_0", "seen": seen, "field": other, "json": "1"}
            assert (await pages.post("alternative", **body)).status == 422
        assert (await accept(remove=True)).status == 422
        assert project(tmp_path, []).item("wild_mini_0").content == before


async def test_what_models_say_is_accepted_beside_gold(tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    place = f"{ANSWERS}/1/alternatives"
    beside = [{"field": place, "after": {"amount": [43]}}]
    rows = [{"model": "2 of 3 models", "proposal": {"changes": [], "beside": beside}}]
    async with served(review, runs=lambda item, first, shown: rows) as pages:
        seen = (await pages.item("wild_mini_0"))["seen"]
        body = {"id": "wild_mini_0", "seen": seen, "index": 0}
        assert (await pages.post("accept", **body)).status == 422
        assert (await pages.post("accept", **body, beside=True)).status == 200
    assert value_at(review.item("wild_mini_0").content, place) == {"amount": [43]}


async def test_calls_are_added_and_removed_with_their_dependencies(tmp_path: Path):
    async with served(project(tmp_path, mini_records(1))) as pages:
        before = await pages.item("wild_mini_0")
        body = {"id": "wild_mini_0", "field": ANSWERS, "index": 1}
        added = await (await pages.post("steps", **body, seen=before["seen"], add="get_budget_status")).json()
        assert len(added["tasks"][0]["graph"]["nodes"]) == 6
        removed = await (await pages.post("steps", **body, seen=added["seen"])).json()
        assert removed["tasks"][0]["parts"] == before["tasks"][0]["parts"]
        assert (await pages.post("steps", **{**body, "index": 99}, seen=removed["seen"])).status == 422
        assert (await pages.post("steps", **{**body, "index": 0}, seen=removed["seen"])).status == 200


def test_what_needed_a_removed_step_needs_what_that_step_needed():
    steps: list[dict[str, Any]] = [{"idx": k, "dependency_list": [k - 1] if k else []} for k in range(4)]
    assert [step["dependency_list"] for step in without_step(steps, 1)] == [[], [0], [1]]
    assert [step["dependency_list"] for step in with_step(steps, 2, "f")] == [[], [0], [], [1], [3]]
    assert [step["idx"] for step in with_step(steps, 4, "f")] == [0, 1, 2, 3, 4]


async def test_an_owner_opens_and_closes_rounds(tmp_path: Path):
    review = project(tmp_path, tiny_records(2), people="ann bob")
    async with served(project(tmp_path, []), alone="ann") as pages:
        assert (await pages.post("open-round", people=["ann", "bob"])).status == 422
    async with served(review) as pages:
        figures = await (await pages.post("open-round", people=["ann", "bob"], share=1)).json()
        assert figures["rounds"][0]["sampled"] == 2
        assert (await pages.post("close-round", round=1)).status == 422
        for item in ("s0", "s1"):
            decide(project(tmp_path, []), "ann", item)
            decide(project(tmp_path, []), "bob", item)
        assert (await (await pages.post("close-round", round=1)).json())["rounds"][0]["closed"]
        figures = await (await pages.get("figures")).json()
        assert (figures["stop"]["met"], figures["rounds"][0]["rate"]) == (True, 1.0)
        assert figures["published"] == [0.62, 0.78, 0.86, 0.94, 1.0]


@pytest.mark.parametrize("field", ["no pointer", "/english_tasks/99", "/nothing/below", "/english_tasks/x"])
async def test_a_place_that_is_not_there_is_refused(tmp_path: Path, field: str):
    async with served(project(tmp_path)) as pages:
        assert (await pages.edit("s0", field, text="x")).status == 422
        stale = await pages.post("edit", id="s0", seen="old", field=field, text="x")
        assert stale.status in (409, 422)


async def test_records_of_other_formats_are_edited_as_a_whole(tmp_path: Path):
    from wildtool_data.formats import format_of
    from wildtool_data.formats.base import RawItem
    from wildtool_review.project import ReviewProject
    from wildtool_review.store.sqlite import SqliteStore

    review = ReviewProject.create(SqliteStore(tmp_path / "x.review.sqlite"), format_of("apibank"))
    review.import_items([RawItem("1", {"a": [1, 2.0]})])
    async with served(review) as pages:
        item = await pages.item("1")
        assert item["tasks"][0]["parts"][0]["json"] == '{\n "a": [\n  1,\n  2.0\n ]\n}'
        assert (await pages.edit("1", "", json='{"a": []}')).status == 200
        assert (await (await pages.get("part", id="1", field="/a")).json())["json"] == "[]"


async def test_what_somebody_saved_in_another_tab_is_their_own(tmp_path: Path):
    review = project(tmp_path)
    async with served(review) as pages:
        seen = (await pages.item("s0"))["seen"]
        for text, status, own in (("First", 200, None), ("Second", 409, True)):
            answer = await pages.post("edit", id="s0", seen=seen, field=TEXT, text=text)
            assert (answer.status, (await answer.json()).get("own")) == (status, own)
        edit(review, "somebody", "s0", "From elsewhere")
        answer = await pages.post("edit", id="s0", seen=seen, field=TEXT, text="Third")
        assert (await answer.json())["own"] is False
