"""What baselines read of tools, and the values that they make of schemas, by seeds."""

import hashlib
import json
import random
from typing import Any

import pytest

from wildtool.errors import CallError, UsageError
from wildtool.models.baselines import (
    BASELINE_DESCRIPTIONS,
    BASELINES,
    CHAT_TEXT,
    MAX_RANDOM_DEPTH,
    make_baseline,
    random_answer,
    random_value,
)
from wildtool.models.baselines.offered import (
    OfferedTool,
    Parameter,
    as_text,
    assistant_calls,
    is_plain,
    offered_tools,
    parameters_of,
)
from wildtool.types import Address, Request

SCHEMA = {
    "properties": {
        "a": {"type": "integer", "description": "A."},
        "b": {"enum": ["x", None, [1], 2.5]},
        "c": {"type": "boolean"},
    },
    "required": ["c", "a"],
}


def test_tools_are_read_with_required_parameters_first():
    tools = [
        {"function": {"name": "f", "description": "D.", "parameters": SCHEMA}},
        {"function": {"name": ""}},
        {"function": {"name": 5}},
        {"function": {"name": "g"}},
        "x",
    ]
    first, second = offered_tools(tools)
    assert first == OfferedTool(
        "f",
        "D.",
        (
            Parameter("a", SCHEMA["properties"]["a"], True),
            Parameter("c", SCHEMA["properties"]["c"], True),
            Parameter("b", SCHEMA["properties"]["b"], False),
        ),
    )
    assert second == OfferedTool("g", "", ())
    assert [(each.description, each.members) for each in first.parameters] == [
        ("A.", []),
        ("", []),
        ("", ["x", None, 2.5]),
    ]
    assert parameters_of({"properties": {"a": 5}}) == (Parameter("a", {}, False),)


def test_texts_and_plain_values():
    assert as_text([{"text": "a"}, {"text": 5}, "x", {"text": "b"}]) == "a\nb"
    assert as_text([{"text": "a"}] * 60) == "\n".join("a" * 50)
    assert (as_text("a" * 7000), as_text(5), as_text("a\ud800")) == ("a" * 6000, "", "a?")
    plain = [
        is_plain(each) for each in (None, "a", True, 1.5, 2**63 - 1, 2**63, -(2**63), float("inf"), [], {})
    ]
    assert plain == [True] * 5 + [False] * 5


def test_calls_have_ids_of_their_place():
    assert assistant_calls([("f", {"a": "é"}), ("g", {})], "p") == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "p_0", "type": "function", "function": {"name": "f", "arguments": '{"a":"é"}'}},
            {"id": "p_1", "type": "function", "function": {"name": "g", "arguments": "{}"}},
        ],
    }


def values(schema: Any, count: int = 300, depth: int = 0) -> list[Any]:
    return [random_value(schema, random.Random(seed), depth) for seed in range(count)]


def test_values_fit_their_types():
    for name in ("integer", "int"):
        numbers = values({"type": name}, 2000)
        assert {*map(type, numbers)} == {int}
        assert (min(numbers), max(numbers)) == (0, 100)
    for name in ("number", "float", "double"):
        numbers = values({"type": name})
        assert {*map(type, numbers)} == {float}
        assert 0 <= min(numbers) < 5 and 95 < max(numbers) <= 100
        assert all(round(number, 2) == number for number in numbers)
        assert any(round(number, 1) != number for number in numbers)
    for name in ("boolean", "bool"):
        assert 100 < sum(values({"type": name})) < 200
    assert {*values({"type": "null"})} == {None}
    for name in ("array", "list"):
        lists = values({"type": name, "items": {"type": "null"}})
        assert {len(each) for each in lists} == {1, 2, 3}
        assert {item for each in lists for item in each} == {None}
    assert {len(text.split()) for text in values({"type": "string"})} == {1, 2}
    assert {type(each) for each in values({"type": ["null", "integer"]})} == {int, type(None)}
    assert {*values({"enum": ["a", [1], 2], "type": "null"})} == {"a", 2}
    assert {type(each) for each in values({"anyOf": [{"type": "null"}, {"type": "bool"}]})} == {
        bool,
        type(None),
    }
    assert {*values({"oneOf": [{"type": "null"}]})} == {None}
    assert {*map(type, values(None))} == {str}


def test_objects_have_what_they_require_and_a_third_of_the_rest():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
        "required": ["a"],
    }
    for name in ("object", "dict"):
        made = values({**schema, "type": name})
        assert all("a" in each for each in made)
        assert 60 < sum("b" in each for each in made) < 120


def test_deep_values_are_empty():
    nested = {"type": "array", "items": {"type": "array"}}
    assert all(value == [] for value in values(nested, 5, depth=6))
    assert all(value != [] for value in values(nested, 5, depth=5))
    assert all(inner == [] for value in values(nested, 5, depth=5) for inner in value)
    deep = {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}
    assert (values(deep, 1, depth=6), values(deep, 1, depth=5)) == ([{}], [{"a": None}])
    branch = {"anyOf": [{"type": "integer"}]}
    assert (values(branch, 1, depth=6), type(values(branch, 1, depth=5)[0])) == ([None], int)


TOOLS: list[Any] = [{"function": {"name": name, "parameters": SCHEMA}} for name in "fg"]


def test_random_answers_are_drawn_by_seed_and_place():
    def at(step: int, seed: int = 3) -> Any:
        return random_answer(Request([], TOOLS, address=Address("i", 1, "u", step)), seed)

    answers = [at(step) for step in range(200)]
    texts = [answer["content"] for answer in answers if answer["content"]]
    called = [answer["tool_calls"] for answer in answers if "tool_calls" in answer]
    assert 70 < len(texts) < 130
    assert {len(text.split()) for text in texts} == {8}
    assert {len(calls) for calls in called} == {1, 2, 3}
    arguments = [json.loads(each["function"]["arguments"]) for calls in called for each in calls]
    assert all({"a", "c"} <= each.keys() for each in arguments)
    assert 0.15 < sum("b" in each for each in arguments) / len(arguments) < 0.45
    first = next(step for step, answer in enumerate(answers) if "tool_calls" in answer)
    digest = hashlib.sha256(f"3/i/1/u/{first}".encode()).digest()[:6].hex()
    assert answers[first]["tool_calls"][0]["id"] == f"random_{digest}_0"
    assert [at(step, 4) for step in range(9)] != answers[:9]
    bare = random_answer(Request([], TOOLS), 3)
    assert bare == random_answer(Request([], TOOLS), 3)
    assert "tool_calls" not in random_answer(Request([], [], address=Address("i", 1, "u", first)), 3)


async def said(name: str, request: Request, seed: int | None = None) -> Any:
    return (await make_baseline(name, seed).complete(request)).message


async def test_each_baseline_answers_in_its_way():
    styled = Request([{}], TOOLS, gold=lambda style: {"content": style})
    styles = ("parallel", "serial", "obedient", "always-retries", "never-retries")
    names = ("gold", "gold-serial", "obedient", "always-retries", "never-retries")
    for name, style in zip(names, styles, strict=True):
        assert await said(f"baseline/{name}", styled) == {"content": style}
        assert make_baseline(f"baseline/{name}").settings() == {"style": style}
    chat = {"role": "assistant", "content": CHAT_TEXT}
    assert await said("baseline/chat", styled) == chat
    assert await said("baseline/first-tool", Request([{}])) == chat
    (call,) = (await said("baseline/first-tool", styled))["tool_calls"]
    draw = random.Random("f")
    expected = {"a": random_value({"type": "integer"}, draw), "c": random_value({"type": "boolean"}, draw)}
    assert (call["id"], call["function"]["name"]) == ("first_1_0", "f")
    assert json.loads(call["function"]["arguments"]) == expected
    assert await said("baseline/random", styled, 5) == random_answer(styled, 5)
    user = Request([], role="user", gold=lambda style: {"content": style}, address=Address("i", 2, "u", 0))
    assert await said("baseline/user", user, 5) == {"content": "cooperative 7"}
    assert await said("baseline/user", Request([], role="user", gold=user.gold)) == {
        "content": "cooperative 0"
    }
    assert BASELINES.keys() == BASELINE_DESCRIPTIONS.keys()
    plain = {
        name: dict(make_baseline(name).settings())
        for name in ("baseline/chat", "baseline/random", "baseline/user")
    }
    assert plain == {"baseline/chat": {}, "baseline/random": {"seed": 0}, "baseline/user": {"seed": 0}}


@pytest.mark.parametrize(
    ("name", "request_", "problem"),
    [
        ("baseline/gold", Request([]), "baseline/gold needs a request with gold answers"),
        (
            "baseline/user",
            Request([], gold=lambda style: {}),
            "baseline/user answers only for a role whose words the benchmark knows",
        ),
        (
            "baseline/user",
            Request([], role="user"),
            "baseline/user answers only for a role whose words the benchmark knows",
        ),
    ],
)
async def test_a_baseline_without_gold_fails_for_good(name: str, request_: Request, problem: str):
    with pytest.raises(CallError) as raised:
        await said(name, request_)
    assert (str(raised.value), raised.value.kind, raised.value.final) == (problem, "no gold", True)


def test_an_unknown_baseline_is_named():
    with pytest.raises(
        UsageError, match=r"^unknown baseline 'baseline/goald'; did you mean 'baseline/gold'\?"
    ):
        make_baseline("baseline/goald")


@pytest.mark.parametrize(("levels", "value"), [(MAX_RANDOM_DEPTH, "x"), (MAX_RANDOM_DEPTH + 1, None)])
def test_branches_are_followed_down_to_some_levels(levels: int, value: Any):
    schema: Any = {"enum": ["x"]}
    for _ in range(levels):
        schema = {"anyOf": [schema]}
    assert random_value(schema, random.Random(0)) == value
