"""Single draws of a procedural session: the tools it has, and how a task of it begins."""

from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any

import pytest

from wildtool_data.make.core.diversity import MessageStyle
from wildtool_data.make.core.plan import SessionPlan, TaskPlan
from wildtool_data.make.procedural.calls import HistoryReference, ResultSampler, draft_call
from wildtool_data.make.procedural.guess_semantics import ReturnSemantics
from wildtool_data.make.procedural.history import Mention
from wildtool_data.make.procedural.sessions import (
    _easier,  # pyright: ignore[reportPrivateUsage]
)
from wildtool_data.make.procedural.shapes import NoSuchTaskError
from wildtool_data.make.procedural.tasks import TaskMaker
from wildtool_data.make.procedural.tool_sets import ParameterSlot, ToolSpec
from wildtool_data.make.procedural.values import ValueSampler
from wildtool_data.make.procedural.wording import Wording

DAY = datetime(2025, 3, 4)
CITY = ParameterSlot(("city",), "city", "city", "title", required=True)


def spec(name: str, *slots: ParameterSlot) -> ToolSpec:
    tool: Any = {"type": "function", "function": {"name": name, "description": "", "parameters": {}}}
    clause = f"do {name}" + "".join(f"[ with {{{slot.key}}}]" for slot in slots)
    return ToolSpec(name, tool, slots, ReturnSemantics(), (clause,), clause_from_name=True)


def task(group: str, subtype: str = "First Turn") -> TaskPlan:
    return TaskPlan(group, "", subtype, "", 1, "", (MessageStyle("question", "direct", "short"),), "easy")


def maker(*specs: ToolSpec, seed: int = 1) -> TaskMaker:
    draw = Random(seed)
    return TaskMaker(specs, ValueSampler(draw, "en", DAY), Wording(draw, "en"), {})


def test_a_question_at_the_last_resort_needs_a_value_of_before_only_in_later_tasks():
    first = maker(spec("go", CITY)).make(task("Clarify"), 0, 0, forced=True)
    assert first.type == "Clarify"
    assert [node["action"]["name"] for node in first.nodes][1:] == ["go", "prepare_to_answer"]
    for subtype, known in (("Partial Information", 1), ("Long-Range Dependency", 0)):
        tasks = maker(spec("go", CITY))
        with pytest.raises(NoSuchTaskError):
            tasks.make(task("Clarify", subtype), 2, 0, forced=True)
        tasks.history.add([Mention(CITY, "Oslo", known)])
        assert tasks.make(task("Clarify", subtype), 2, 0, forced=True).type == "Clarify"


@pytest.mark.parametrize(
    ("slot", "able"),
    [
        (CITY, True),
        (ParameterSlot(("city",), "city", "city", "title", required=False), False),
        (ParameterSlot(("on",), "on", "on", "flag", required=True), False),
        (ParameterSlot(("on",), "on", "on", "boolean", required=True), False),
        (ParameterSlot(("go_id",), "go_id", "go", "id", required=True), True),
    ],
)
def test_a_user_forgets_required_values_that_are_no_flags(slot: ParameterSlot, able: bool):
    if able:
        assert maker(spec("go", slot)).make(task("Clarify"), 0, 0, forced=False).type == "Clarify"
    else:
        with pytest.raises(NoSuchTaskError):
            maker(spec("go", slot)).make(task("Clarify"), 0, 0, forced=False)


def test_a_call_has_optional_values_at_times_but_never_beside_what_it_takes_from_an_earlier_task():
    size = ParameterSlot(("size",), "size", "size", "title", required=False)
    tool = spec("go", CITY, size)
    hidden = HistoryReference(CITY, Mention(CITY, "Oslo", 0), far=False, is_ellipsis=False)
    keys: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
    for seed in range(40):
        draw = Random(seed)
        values, words = ValueSampler(draw, "en", DAY), Wording(draw, "en")
        for refers in keys:
            call = draft_call(tool, values, words, linked={}, hidden=hidden if refers else None)
            keys[refers].add(tuple(slot.key for slot in call.values))
            assert (call.arguments["city"] == "Oslo") is refers
            assert call.coreferences == ({"city"} if refers else set())
    assert keys == {True: {("city",)}, False: {("city",), ("city", "size")}}


def test_lists_in_lists_have_one_element_from_the_third_on():
    schema = {
        "type": "array",
        "items": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
    }
    lengths: dict[int, set[int]] = {0: set(), 1: set(), 2: set()}
    for seed in range(20):
        drawn = ResultSampler(ValueSampler(Random(seed), "en", DAY), {}).of(schema)
        for depth, lists in enumerate(([drawn], drawn, [inner for row in drawn for inner in row])):
            lengths[depth] |= set(map(len, lists))
    assert lengths == {0: {2}, 1: {2}, 2: {1}}


def test_a_plan_that_tools_do_not_allow_becomes_easier_in_two_steps():
    shapes: Any = ("", "parallel", "sequential", "mixed")
    many = [replace(task("Multi-Tool"), topology=shape) for shape in shapes[1:]]
    plan = SessionPlan(0, "s", "en", DAY, 0, "s", "1", (task("Clarify"), task("Chat"), *many))
    flat = [replace(each, topology="parallel") for each in many]
    assert [*_easier(plan)] == [
        replace(plan, tasks=(task("Clarify"), task("Chat"), *flat)),
        replace(plan, tasks=(task("Single-Tool"), task("Chat"), *flat)),
    ]
