"""Which tools write, by rule."""

from collections.abc import Iterator

import pytest

from wildtool.alter.failures.writing import writes
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.types import Tool


def tool(name: str, description: str = "", **more: object) -> Tool:
    return {"type": "function", "function": {"name": name, "description": description}, **more}


@pytest.mark.parametrize(
    "name", ["get_order", "listHolds", "search", "CheckStock", "reverse_geocode", "user_get"]
)
def test_a_reading_verb_reads(name: str):
    assert not writes(tool(name, "Deletes everything."))


@pytest.mark.parametrize("name", ["pay_order", "createReturn", "SendNote", "order_delete", "set_light"])
def test_a_writing_verb_writes(name: str):
    assert writes(tool(name, "Gets something."))


def test_the_description_tells_where_the_name_does_not():
    assert not writes(tool("weather", "Returns the weather of a city."))
    assert not writes(tool("plan_metro_route", "规划从地铁站到景点的地铁路线。"))
    assert writes(tool("plan_run", "Puts a run into the training plan."))


@pytest.mark.parametrize(
    "odd", [{}, {"function": None}, tool("x"), {"function": {"name": 3, "description": []}}]
)
def test_a_tool_that_nothing_tells_of_writes(odd: Tool):
    assert writes(odd)


def test_an_annotation_decides():
    assert not writes(tool("delete", annotations={"readOnlyHint": True}))
    assert writes(tool("get", annotations={"readOnlyHint": False}))
    assert not writes(tool("get", annotations={"readOnlyHint": "no"}))


def own_tools() -> Iterator[Tool]:
    benchmark = load_benchmark("wild-mini")
    for item in benchmark.load(data_of(benchmark).locate(None)):
        yield from item.data.sent_tools


def test_of_our_own_tools_the_rule_misjudges_one():
    # Read one by one: it suggests seats and holds none. Nothing that writes is taken for a reader.
    readers = {"suggest_seats"}
    verbs = ("get", "list", "find", "search", "check", "compare", "estimate", "track", "translate")
    names = {each["function"]["name"]: writes(each) for each in own_tools()}
    assert {name for name, its in names.items() if not its} == {
        name for name in names if name.startswith(verbs) or name == "plan_metro_route"
    }
    assert all(names[name] for name in readers)
