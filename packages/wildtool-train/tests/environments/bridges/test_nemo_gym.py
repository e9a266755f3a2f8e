"""NeMo Gym's protocol, as its agent of tool calls speaks it; `test_nemo_gym_agent.py` plays that agent itself."""

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from environments.bridges.page import blocks
from environments.bridges.sources import EPISODES, SOURCES
from environments.random_policy import reply
from wildtool.benchmark import judge_unit
from wildtool.json_codec import as_objects
from wildtool.shapes import Reading
from wildtool.types import Message
from wildtool_train.bridges.nemo_gym import ROUTES, ResourcesServer, gym_rows
from wildtool_train.bridges.responses import messages_of
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import ItemUnits

UNITS = SOURCES["wild-mini"]
ROWS = list(gym_rows(UNITS, len(UNITS.names)))


@asynccontextmanager
async def serving(units: ItemUnits) -> AsyncIterator[Any]:
    weights = {"verdict": 1.0, "arguments": 0.5}
    async with TestClient(TestServer(ResourcesServer(units, weights).application())) as session:
        yield session


@pytest.fixture
async def client() -> AsyncIterator[Any]:
    async with serving(UNITS) as session:
        yield session


def plain(message: Message) -> Message:
    """What of a message a Responses output can hold."""
    calls = [
        call
        for call in as_objects(message.get("tool_calls"))
        if isinstance(function := call.get("function"), dict)
        and isinstance(function.get("name"), str)
        and isinstance(function.get("arguments"), str)
        and call.get("id")
    ]
    content = message.get("content")
    text = content if isinstance(content, str) else None
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def items(message: Message) -> list[dict[str, Any]]:
    calls = message.get("tool_calls", [])
    text = {"type": "output_text", "text": message["content"] or "", "annotations": []}
    said = [{"type": "message", "role": "assistant", "id": "m", "content": [text]}]
    return [
        {"type": "reasoning", "id": "r", "summary": []},
        *(said if message["content"] or not calls else []),
        *({"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls),
    ]


async def rollout(
    client: Any, units: ItemUnits, row: dict[str, Any], draw: random.Random
) -> tuple[dict[str, Any], Any]:
    """One rollout as the agent does it: seed, calls one by one, verify; cookies are those of the last response."""
    seeded = await client.post("/seed_session", json=row)
    cookies, output = seeded.cookies, []
    mirror = UnitEnvironment(units)
    tools = mirror.open(row["unit"]).tools or []
    while True:
        message = (
            plain(reply(mirror, tools, draw)) if not mirror.is_over else {"role": "assistant", "content": "?"}
        )
        output += items(message)
        step = None if mirror.is_over else mirror.step(message)
        for number, call in enumerate(message.get("tool_calls", ())):
            name, text = call["function"]["name"], call["function"]["arguments"]
            answer = await client.post(f"/{name}", data=text, cookies=cookies)
            cookies, result = answer.cookies, await answer.text()
            assert answer.status == 200
            if step is not None and not step.done:
                assert result == step.observation.messages[number]["content"]
            output.append({"type": "function_call_output", "call_id": call["id"], "output": result})
        if not message.get("tool_calls"):
            break
    verified = await client.post("/verify", json={**row, "response": {"output": output}}, cookies=cookies)
    return await verified.json(), mirror


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
async def test_random_rollouts_have_the_judges_verdict_as_reward(source: str):
    units, verdicts = SOURCES[source], list[bool]()
    rows = list(gym_rows(units, len(units.names)))
    async with serving(units) as client:
        for seed in range(EPISODES):
            row = rows[seed % len(rows)]
            answer, mirror = await rollout(client, units, row, random.Random(seed))
            verdict = judge_unit(
                units.benchmark, *units.find(row["unit"]), mirror.transcript(), mirror.profile
            )
            verdicts.append(verdict.outcome == "correct")
            components = answer["reward_components"]
            assert components["verdict"] == verdicts[-1] and components.keys() == {"verdict", "arguments"}
            assert answer["reward"] == components["verdict"] + 0.5 * components["arguments"]
            assert answer["unit"] == row["unit"] and answer["responses_create_params"]
    assert {*verdicts} == {True, False}


def test_rows_are_what_can_be_played_in_the_form_of_a_responses_request():
    assert 0 < len(ROWS) < len(UNITS.names)
    environment = UnitEnvironment(UNITS)
    for row in ROWS:
        opening = environment.open(row["unit"])
        request = row["responses_create_params"]
        assert [tool["name"] for tool in request["tools"]] == [
            tool["function"]["name"] for tool in opening.tools or ()
        ]
        assert not ROUTES & {tool["name"] for tool in request["tools"]}
        calls = [item for item in request["input"] if item.get("type") == "function_call"]
        outputs = [item for item in request["input"] if item.get("type") == "function_call_output"]
        assert [item["call_id"] for item in calls] == [item["call_id"] for item in outputs]
        assert request["input"][-1]["role"] == "user"
    assert any(
        item.get("type") == "function_call"
        for row in ROWS
        for item in row["responses_create_params"]["input"]
    )


def test_messages_are_divided_by_results():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    both = {"role": "assistant", "content": "x", "tool_calls": [call, {**call, "id": "b"}]}
    last = {"role": "assistant", "content": "done"}
    result = {"type": "function_call_output", "call_id": "a", "output": "1"}
    assert messages_of([*items(both), result, result, *items(last)], Reading()) == [both, last]
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
    assert messages_of([refused], Reading())[0]["refusal"] == "no"
    assert messages_of(None, Reading()) == []


async def test_an_unfinished_rollout_earns_nothing_and_says_so(client: Any):
    response = await client.post("/verify", json={**ROWS[0], "response": {"output": []}})
    answer = await response.json()
    assert (answer["reward"], answer["reason"]) == (0.0, "the response ends before the episode")


async def test_mistakes_of_an_agent_are_told_in_words(client: Any):
    for path, body, text in (
        ("/seed_session", {"unit": "a/b"}, "no unit 'a/b'"),
        ("/verify", {"response": {}}, "field unit: expected a text, found null"),
        ("/some_tool", {}, "no session"),
    ):
        response = await client.post(path, json=body)
        assert response.status == 400 and text in await response.text()
    assert await (await client.get("/reverify_mode")).json() == "stateless"
    metrics = await client.post(
        "/aggregate_metrics", json={"verify_responses": [{"reward": 1}, {"reward": 0}]}
    )
    assert (await metrics.json())["key_metrics"] == {"mean/reward": 0.5}


async def test_the_page_makes_rows_and_a_server(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("aiohttp.web.run_app", lambda app, **settings: served.append(app))
    served: list[Any] = []
    (code,) = blocks("NeMo Gym")
    exec(code, {})
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    async with TestClient(TestServer(served[0])) as session:
        assert len(rows) > 50 and (await session.post("/seed_session", json=rows[0])).status == 200
