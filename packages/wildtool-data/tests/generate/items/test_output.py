"""What a set of items is written to, and how a dialogue is played: every line of it, with what is refused on the way."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from generate.golden import check, digest
from generate.items.test_rules import INCOMPLETE, LESSON, PREFERENCE, SINGLE, plan
from wildtool import __version__
from wildtool.errors import DataError
from wildtool.findings import fault
from wildtool_data.make.core.parsing import Action, RefusedReplyError
from wildtool_data.make.core.roles import AttemptFailedError
from wildtool_data.make.items.acebench_format import format_faults
from wildtool_data.make.items.collect import CollectedItem, GeneratedItems, HumanDecision
from wildtool_data.make.items.item import DialogueTurn, MissingParameters, Utterance
from wildtool_data.make.items.maker import ItemGenerationSpec
from wildtool_data.make.items.output import read_decisions, write_items
from wildtool_data.make.items.procedural import procedural_items
from wildtool_data.make.items.role_replies import RequestProblem
from wildtool_data.make.items.rules import ITEM_CHECKS, ITEM_RULES
from wildtool_data.make.items.script import (
    _alternatives,  # pyright: ignore[reportPrivateUsage]
    play_dialogue_item,
)

LOSS = {"item": 3, "kind": "single", "lang": "en", "reason": "S4", "detail": "d", "replaced": False}


def _lines(folder: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(folder)): [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in sorted(folder.rglob("*.json*"))
        if path.name != "yield.json"
    }


def test_a_folder_holds_the_items_of_the_last_command_alone(tmp_path: Path):
    stale = tmp_path / "items" / "en" / "data_normal_similar_api.json"
    stale.parent.mkdir(parents=True)
    stale.write_text("[]")
    other = replace(SINGLE, plan=replace(plan("single"), index=2, lang="zh"))
    kept = (CollectedItem(SINGLE, {"by": "a"}), CollectedItem(other, {"by": "b"}), CollectedItem(SINGLE, {}))
    doubtful = (CollectedItem(INCOMPLETE, {"votes": [{"valid": False}]}, doubtful=True),)
    write_items(GeneratedItems(kept, (LOSS,), doubtful=doubtful), tmp_path)
    ids = ["normal_single_turn_single_function_1000", "normal_single_turn_single_function_1002"]
    english, chinese = (
        {
            "id": id_,
            "question": "user: A top lesson with Ada Moss, please.\n",
            "function": [*SINGLE.functions],
            "time": "",
        }
        for id_ in ids
    )
    truths = [{"id": id_, "ground_truth": {"bookLesson": dict(LESSON.arguments)}} for id_ in ids]
    name = "data_normal_single_turn_single_function.json"
    asked = {
        "id": "special_incomplete_1000",
        "question": "user: A top lesson, please.",
        "function": [*INCOMPLETE.functions],
        "time": "",
    }
    truth = {"id": asked["id"], "ground_truth": {"bookLesson": ["trainer"]}}
    assert _lines(tmp_path) == {
        f"items/en/{name}": [english, english],
        f"items/en/possible_answer/{name}": [truths[0]] * 2,
        f"items/zh/{name}": [chinese],
        f"items/zh/possible_answer/{name}": [truths[1]],
        "doubtful.jsonl": [
            {
                "item": "0",
                "votes": [{"valid": False}],
                "records": [{"question": asked, "answer": truth}],
                "mended": [{"assistant": "With whom?"}, {"user": "With Ada Moss."}],
                "made_by": {"votes": [{"valid": False}]},
            }
        ],
        "losses.jsonl": [LOSS],
        "provenance.jsonl": [
            {"ids": [ids[0]], "by": "a"},
            {"ids": [ids[1]], "by": "b"},
            {"ids": [ids[0]]},
        ],
    }
    write_items(GeneratedItems((), ()), tmp_path)
    assert _lines(tmp_path) == {"doubtful.jsonl": [], "losses.jsonl": [], "provenance.jsonl": []}
    assert not (tmp_path / "items").exists()


def test_kept_and_planned_items_are_counted_by_kind():
    kept = (CollectedItem(SINGLE, {}), CollectedItem(INCOMPLETE, {}))
    made = GeneratedItems(kept, (LOSS, {**LOSS, "kind": "error"}), doubtful=(CollectedItem(SINGLE, {}),))
    rows = [(each.group, each.name, each.numerator, each.denominator) for each in made.attrition()]
    assert rows == [
        ("items", "kept", 2, 5),
        ("items", "doubtful", 1, 5),
        ("items", "in place of lost ones", 0, 0),
        ("items lost", "S4", 2, 5),
        ("kept by kind", "error", 0, 1),
        ("kept by kind", "incomplete", 1, 1),
        ("kept by kind", "single", 1, 3),
    ]


@pytest.mark.parametrize("row", [{}, {"item": 1.5, "keep": True}, {"item": "0", "keep": True, "reason": 3}])
def test_decisions_of_people_name_an_item_and_have_a_text_as_reason(tmp_path: Path, row: dict[str, Any]):
    file = tmp_path / "decided.jsonl"
    assert read_decisions(file) == {}
    right = [{"item": 0, "keep": True}, {"item": "0.1", "keep": False, "reason": "odd"}]
    file.write_text("".join(json.dumps(each) + "\n" for each in right))
    assert read_decisions(file) == {"0": HumanDecision(True, ""), "0.1": HumanDecision(False, "odd")}
    file.write_text(json.dumps(row))
    with pytest.raises(DataError) as refused:
        read_decisions(file)
    expected = "expected item (its name), keep and perhaps a reason (a text)"
    assert str(refused.value) == f"{file}:1: {expected}, found {row}"


def test_what_the_format_refuses_of_a_record_is_named_with_its_rule():
    lesson = SINGLE.functions[0]
    twice = "function: 'bookLesson' is offered 2 times; the first one counts"
    absent = "ground_truth.bookLesson: the function 'bookLesson' is not offered"
    assert [
        format_faults(replace(SINGLE, functions=each)) for each in ((lesson, lesson), SINGLE.functions[1:])
    ] == [
        [fault("lint duplicate function", twice)],
        [fault("lint not offered", absent)],
    ]


@pytest.mark.parametrize(("length", "fits"), [(0, False), (1, True), (4_000, True), (4_001, False)])
def test_a_profile_has_a_length(length: int, fits: bool):
    (finding,) = ITEM_RULES.findings_of("L5", replace(PREFERENCE, profile="x" * length))
    taken = "At least one value of the call must stand in the profile and not in what is said."
    assert finding.message == (taken if fits else "The profile must have 1 to 4000 characters.")


def test_other_answers_are_lists_of_calls():
    row = {"name": "a", "arguments": {"x": 1}}
    call = Action("a", {"x": 1})
    assert [_alternatives(rows) for rows in (None, [], [[row], [row, row]])] == [
        (),
        (),
        ((call,), (call, call)),
    ]
    for rows, why in (
        ({}, "`alternatives` is a list of lists of calls."),
        ([[]], "`calls` must be a list of at least one call."),
    ):
        with pytest.raises(RefusedReplyError) as refused:
            _alternatives(rows)
        assert refused.value.faults == [fault("W2", why)]


class Roles:
    """Roles of which each says what is next in its list."""

    def __init__(self, *acts: Any) -> None:
        self.acts = iter(acts)
        self.asked: list[str] = []

    def ask(self, role: str, blocks: list[str], situation: Any, read: Any) -> Any:
        self.asked.append(" ".join([role, *blocks]))
        said = {"agent act": self.acts, "tool": iter([["ok"]])}.get(self.asked[-1])
        return next(said) if said else f"{self.asked[-1]} {len(self.asked)}"
        yield  # it is asked as a script is


def test_an_assistant_asks_at_most_twice_before_it_calls():
    asking = RequestProblem(MissingParameters("bookLesson", ("level",)), "Which level?")
    choice: Any = SimpleNamespace(
        targets=[SimpleNamespace(name="bookLesson")], offered=[], parameter="", returns={}
    )

    def played(roles: Any) -> Any:
        try:
            next(play_dialogue_item(plan("adjust", 2), choice, roles))
        except StopIteration as stop:
            return stop.value

    roles = Roles(asking, asking, [LESSON], [LESSON])
    assert roles.asked == []
    first, second = played(roles).turns
    begin = ["user first", *["agent act", "user reply"] * 2, "agent act"]
    assert roles.asked == [*begin, "tool", "agent answer", "user adjust", "agent act"]
    asked = Utterance("assistant", "Which level?")
    replies = [Utterance("user", text) for text in ("user first 1", "user reply 3", "user reply 5")]
    assert first == DialogueTurn((replies[0], asked, replies[1], asked, replies[2]), (LESSON,))
    answer = Utterance("assistant", "agent answer 8")
    assert second == DialogueTurn((answer, Utterance("user", "user adjust 9")), (LESSON,))
    with pytest.raises(AttemptFailedError) as lost:
        played(Roles(asking, asking, asking))
    assert (lost.value.reason, str(lost.value)) == ("no call", "turn 0: no call after 2 questions")


def test_items_of_templates_are_the_same():
    made = procedural_items(ItemGenerationSpec(51, seed="3", langs=("en", "zh")), [].append)
    rows = [f"{each.item.plan.kind} {each.item.plan.lang} {digest(repr(each.item))}" for each in made.kept]
    check("items_of_templates", {"kept": rows, "lost": made.losses})
    plan = made.kept[0].item.plan
    place = {"item": 0, "kind": plan.kind, "lang": plan.lang}
    origin = {"model": "procedural", "version": __version__, "seed": "3", "checks": list(ITEM_CHECKS)}
    assert made.kept[0].made_by == {**place, **origin}
