"""What a resources server of NeMo Gym answers, whole."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from environments.bridges.sources import SOURCES
from wildtool_train.bridges import nemo_gym
from wildtool_train.bridges.nemo_gym import COOKIE, ResourcesServer
from wildtool_train.core import UnitEnvironment

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
