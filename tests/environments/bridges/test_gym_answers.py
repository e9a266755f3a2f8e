"""What a resources server of NeMo Gym answers, whole."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from environments.bridges.sources import SOURCES
from wildtool.environments.bridges import nemo_gym
from wildtool.environments.bridges.nemo_gym import COOKIE, ResourcesServer, gym_rows
from wildtool.environments.bridges.responses import response_items, response_tool
from wildtool.environments.core import UnitEnvironment
from wildtool.errors import UsageError

UNITS = SOURCES["wild-mini"]
NAME = "wild_mini_0/1"
"""A unit with one call and an answer."""


@pytest.fixture
def gym() -> ResourcesServer:
    return ResourcesServer(UNITS, {"verdict": 1.0, "arguments": 0.5, "refusal": 0.25})


@pytest.fixture
async def client(gym: ResourcesServer) -> AsyncIterator[Any]:
    async with TestClient(TestServer(gym.application())) as session:
        yield session


def open_sessions(gym: ResourcesServer) -> list[str]:
    return [*gym._sessions]  # pyright: ignore[reportPrivateUsage]


def gold() -> tuple[dict[str, Any], Any, Any]:
    """The call of the unit, what it is answered, and the text after it."""
    environment = UnitEnvironment(UNITS)
    environment.open(NAME)
    first = environment.gold() or {}
    (answer,) = environment.step(first).observation.messages
    return first["tool_calls"][0]["function"], answer["content"], environment.gold()


def test_rows_have_the_opening_and_the_tools_of_units_without_user_turns():
    start = next(number for number in range(200) if UNITS.draw(number) == NAME)
    (row,) = gym_rows(UNITS, 1, start)
    opening = UnitEnvironment(UNITS).open(NAME)
    assert row == {
        "id": NAME,
        "unit": NAME,
        "responses_create_params": {
            "input": [item for message in opening.messages for item in response_items(message)],
            "tools": [response_tool(tool) for tool in opening.tools or ()],
        },
    }
    asking = next(number for number in range(200) if UNITS.draw(number) == "wild_mini_0/2")
    assert [*gym_rows(UNITS, 1, asking)] == []
    assert [each["unit"] for each in gym_rows(UNITS, 3)] == [
        UNITS.draw(number) for number in range(3) if [*gym_rows(UNITS, 1, number)]
    ]


def test_units_whose_tools_are_named_as_a_path_are_left_out(monkeypatch: pytest.MonkeyPatch):
    start = next(number for number in range(200) if UNITS.draw(number) == NAME)
    monkeypatch.setattr(nemo_gym, "ROUTES", frozenset(["list_accounts"]))
    assert [*gym_rows(UNITS, 1, start)] == []


async def test_calls_are_answered_in_a_session_until_the_unit_is_over(client: Any, gym: ResourcesServer):
    function, answer, _ = gold()
    seeded = await client.post("/seed_session", json={"unit": NAME})
    assert (seeded.status, await seeded.json()) == (200, {})
    key = seeded.cookies[COOKIE].value
    assert len(key) == 32
    called = await client.post(f"/{function['name']}", data=function["arguments"])
    assert (called.status, await called.text()) == (200, answer)
    assert called.cookies[COOKIE].value == key
    wrong = await client.post("/no_such_tool", data="{}")
    assert await wrong.text() == '{"error":"no answer is recorded for this call","done":true}'
    late = await client.post(f"/{function['name']}", data=function["arguments"])
    assert await late.text() == '{"error":"no answer is recorded for this call","done":true}'
    assert open_sessions(gym) == [key]
    body = {"unit": NAME, "response": {"output": []}}
    assert (await client.post("/verify", json=body)).status == 200
    assert open_sessions(gym) == []


async def test_sessions_that_were_idle_longest_are_forgotten(
    client: Any, gym: ResourcesServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(nemo_gym, "MOST_SESSIONS", 2)
    keys = [(await client.post("/seed_session", json={"unit": NAME})).cookies[COOKIE].value for _ in range(2)]
    await client.post("/x", data="{}", cookies={COOKIE: keys[0]})
    newest = (await client.post("/seed_session", json={"unit": NAME})).cookies[COOKIE].value
    assert open_sessions(gym) == [keys[0], newest]


def call_item(function: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": "c", **function}


def text_item(text: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"text": text}]}


def test_a_rollout_is_verified_from_its_response():
    function, answer, text = gold()
    server = ResourcesServer(UNITS, {"verdict": 1.0, "arguments": 0.5, "order": 0.0, "refusal": 0.25})
    result = {"type": "function_call_output", "call_id": "c", "output": answer}
    output = [call_item(function), result, text_item(text["content"]), result, text_item("more")]
    body = {"unit": NAME, "x": 1, "response": {"output": output}}
    called = dict.fromkeys(("format", "name", "order", "redundancy", "arguments"), 1.0)
    assert server.verify(body) == {
        **body,
        "reward": 1.75,
        "reward_components": {"verdict": 1.0, "arguments": 1.0, "order": 1.0, "refusal": 1.0},
        "steps": [called, {"refusal": 1.0, "verdict": 1.0, "progress": 1.0}],
        "reason": "",
    }
    short = server.verify({**body, "response": {"output": output[:1]}})
    assert (short["reward"], short["reason"]) == (0.0, "the response ends before the episode")
    assert set(short["reward_components"].values()) == {0.0}
    wrong = server.verify({**body, "response": {"output": [text_item("No.")]}})
    assert (wrong["reward"], wrong["reason"]) == (0.0, "text although a call was due")
    assert wrong["reward_components"] == {"verdict": 0.0, "arguments": 0.0, "order": 0.0, "refusal": 0.0}
    alone = ResourcesServer(UNITS).verify(body)
    assert (alone["reward"], alone["reward_components"]) == (1.0, {"verdict": 1.0})
    with pytest.raises(UsageError, match="no component"):
        ResourcesServer(UNITS, {"verdit": 1.0})


async def test_rewards_are_averaged(client: Any):
    answers = [{"reward": 1}, {"reward": 0.5}, {"reward": None}, {}]
    response = await client.post("/aggregate_metrics", json={"verify_responses": answers})
    means = {"mean/reward": 0.75}
    assert await response.json() == {"group_level_metrics": [], "agent_metrics": means, "key_metrics": means}
    empty = await client.post("/aggregate_metrics", json={})
    assert await empty.json() == {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}


async def test_long_rollouts_are_verified_and_again_from_the_response_alone(client: Any):
    body = {"unit": NAME, "response": {"output": []}, "x": "x" * 2**21}
    answer = await client.post("/verify", json=body)
    assert (answer.status, (await answer.json())["x"]) == (200, body["x"])
    assert await (await client.get("/reverify_mode")).json() == "stateless"


async def test_mistakes_are_answered_with_what_to_do(client: Any):
    for path, body, text in (
        ("/seed_session", {"unit": "a/b"}, "no unit 'a/b'; there are 128, such as 'wild_mini_0/0'"),
        ("/verify", {"unit": "a/b"}, "no unit 'a/b'; there are 128, such as 'wild_mini_0/0'"),
        ("/f", {}, "no session: post the row to /seed_session first, and send its cookie"),
    ):
        response = await client.post(path, json=body)
        assert (response.status, await response.text()) == (400, text)
