"""The baselines that need no network: gold, chat and random."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.models.baselines import MAX_RANDOM_DEPTH, make_baseline
from wildtool.types import Address, Message, Request

NAMES = ("baseline/gold", "baseline/gold-serial", "baseline/chat", "baseline/random", "baseline/lexical")
ARBITRARY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def tool(name: str, parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "", "parameters": parameters}}


def at(step: int, *, repeat: int = 0) -> Address:
    return Address("item", repeat, "0", step)


PICK = tool("pick", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


async def answers(seed: int | None, tools: list[Any], steps: int = 40, repeat: int = 0) -> list[Message]:
    model = make_baseline("baseline/random", seed)
    requests = [Request([], tools, address=at(step, repeat=repeat)) for step in range(steps)]
    return [(await model.complete(request)).message for request in requests]


def calls(message: Message) -> list[tuple[str, dict[str, Any]]]:
    functions = [call["function"] for call in message.get("tool_calls") or []]
    return [(function["name"], json.loads(function["arguments"])) for function in functions]


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_bears_the_name_it_was_asked_by(name: str):
    assert make_baseline(name, None).name == name


def test_the_seed_of_random_is_among_its_settings():
    assert make_baseline("baseline/random", 7).settings() == {"seed": 7}


async def test_random_repeats_itself_for_the_same_seed_and_address():
    assert await answers(3, [PICK]) == await answers(3, [PICK])


async def test_random_differs_by_seed_and_by_repeat():
    first = await answers(3, [PICK])
    assert first != await answers(4, [PICK]) and first != await answers(3, [PICK], repeat=1)


async def test_random_is_the_same_in_every_process():
    # A value written down once: the built-in hash would give another in each process.
    text, *others = await answers(0, [PICK], steps=9)
    assert text == {
        "role": "assistant",
        "content": "2025-03-14 A-1042 A-1042 09:30 blue blue alpha A-1042",
    }
    assert next(calls(message) for message in others if calls(message)) == [("pick", {"n": 82})]


async def test_random_arguments_follow_the_schema():
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", "b"]},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "on": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "place": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
            "note": {"type": "string"},
        },
        "required": ["kind", "count", "share", "on", "tags", "place"],
    }
    made = [arguments for message in await answers(0, [tool("t", schema)]) for _, arguments in calls(message)]
    for arguments in made:
        assert arguments["kind"] in ("a", "b")
        assert type(arguments["count"]) is int and type(arguments["share"]) is float
        assert type(arguments["on"]) is bool
        assert arguments["tags"] and all(type(tag) is str for tag in arguments["tags"])
        assert type(arguments["place"]["x"]) is float
    assert {"note" in arguments for arguments in made} == {True, False}


async def test_random_ends_in_a_schema_that_contains_itself():
    schema: dict[str, Any] = {"type": "object", "required": ["again"]}
    schema["properties"] = {"again": schema}
    depths = {
        len(json.dumps(a).split("again")) - 1
        for m in await answers(0, [tool("t", schema)])
        for _, a in calls(m)
    }
    assert depths == {MAX_RANDOM_DEPTH + 1}


@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(
    tools=st.lists(ARBITRARY | st.builds(tool, st.text(min_size=1), ARBITRARY), max_size=3),
    seed=st.integers(),
)
async def test_random_survives_any_tools(tools: list[Any], seed: int):
    names = {entry["function"]["name"] for entry in tools if isinstance(entry, dict) and "function" in entry}
    for message in await answers(seed, tools, steps=4):
        assert message["content"] or message["tool_calls"]
        assert all(name in names and isinstance(arguments, dict) for name, arguments in calls(message))
