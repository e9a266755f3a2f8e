"""What baselines read of tools, and the values that they make of schemas, by seeds."""

import json
import random
from typing import Any

import pytest

from wildtool.models.baselines import (
    BASELINE_DESCRIPTIONS,
    BASELINES,
    CHAT_TEXT,
    MAX_RANDOM_DEPTH,
    make_baseline,
    random_answer,
    random_value,
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


TOOLS: list[Any] = [{"function": {"name": name, "parameters": SCHEMA}} for name in "fg"]


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


@pytest.mark.parametrize(("levels", "value"), [(MAX_RANDOM_DEPTH, "x"), (MAX_RANDOM_DEPTH + 1, None)])
def test_branches_are_followed_down_to_some_levels(levels: int, value: Any):
    schema: Any = {"enum": ["x"]}
    for _ in range(levels):
        schema = {"anyOf": [schema]}
    assert random_value(schema, random.Random(0)) == value
