"""NeMo Gym's own agent of tool calls plays our rows on our server, with a scripted model."""

import json
import random
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from environments.bridges.sources import EPISODES, SOURCES
from environments.bridges.test_nemo_gym import items, plain
from environments.random_policy import reply
from wildtool.benchmark import judge_unit
from wildtool_train.bridges.nemo_gym import ResourcesServer, gym_rows
from wildtool_train.core import UnitEnvironment
from wildtool_train.rollouts import judge_rollouts
from wildtool_train.sources import ItemUnits

pytest.importorskip("nemo_gym", reason="nemo-gym is not installed")
agents: Any = pytest.importorskip("responses_api_agents.simple_agent.app")
gym: Any = pytest.importorskip("nemo_gym.server_utils")
uvicorn: Any = pytest.importorskip("uvicorn")


class Client(gym.ServerClient):
    """Posts as NeMo Gym's own client does, to servers that no configuration names."""

    urls: dict[str, str]

    async def request(self, server_name: str, url_path: str, method: str, **words: Any) -> Any:
        body = words.pop("json")
        body = body.model_dump(exclude_unset=True) if hasattr(body, "model_dump") else body
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            response = await session.request(method, self.urls[server_name] + url_path, json=body, **words)
            return _Read(response, await response.read())


class _Read:
    """A response that was read, and can be read again."""

    def __init__(self, response: Any, body: bytes) -> None:
        self._response, self._body, self.content = response, body, self

    async def read(self) -> bytes:
        return self._body

    def __getattr__(self, name: str) -> Any:
        return getattr(self._response, name)


class Model:
    """A scripted model; it knows the unit that is played."""

    def __init__(self, units: ItemUnits) -> None:
        self.mirror, self._draw, self._tools = UnitEnvironment(units), random.Random(), list[Any]()

    def open(self, name: str, seed: int) -> None:
        self._tools = self.mirror.open(name).tools or []
        self._draw = random.Random(seed)

    async def respond(self, request: web.Request) -> web.Response:
        message: Any = {"role": "assistant", "content": "?"}
        if not self.mirror.is_over:
            message = plain(reply(self.mirror, self._tools, self._draw))
            self.mirror.step(message)
        output = [{"status": "completed", **item} for item in items(message) if item["type"] != "reasoning"]
        made = {"id": "r", "created_at": 0, "model": "scripted", "object": "response", "output": output}
        return web.json_response({**made, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []})


@asynccontextmanager
async def serving(units: ItemUnits, model: Model) -> AsyncIterator[str]:
    """The address of the agent."""
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/responses", model.respond)
    async with TestServer(app) as models, TestServer(ResourcesServer(units).application()) as resources:
        addresses = {"model": models.make_url(""), "resources": resources.make_url("")}
        urls = {name: str(address).rstrip("/") for name, address in addresses.items()}
        client = Client.model_construct(urls=urls)
        config = agents.SimpleAgentConfig.model_construct(
            name="agent",
            host="127.0.0.1",
            port=0,
            resources_server=agents.ResourcesServerRef(type="resources_servers", name="resources"),
            model_server=agents.ModelServerRef(type="responses_api_models", name="model"),
        )
        agent = agents.SimpleAgent.model_construct(config=config, server_client=client)
        server = uvicorn.Server(uvicorn.Config(agent.setup_webserver(), port=0, log_level="warning"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            assert thread.is_alive()
        urls["agent"] = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        yield urls["agent"]
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("source", SOURCES)
async def test_the_reward_that_the_agent_gets_is_the_judges_verdict(source: str, tmp_path: Path):
    units, answers, verdicts = SOURCES[source], list[str](), list[bool]()
    model = Model(units)
    rows = list(gym_rows(units, len(units.names)))
    async with serving(units, model) as url, aiohttp.ClientSession() as session:
        for seed in range(EPISODES):
            row = rows[seed % len(rows)]
            model.open(row["unit"], seed)
            async with session.post(f"{url}/run", json=row) as response:
                assert response.status == 200, await response.text()
                answer = await response.json()
            mirror = model.mirror
            verdict = judge_unit(
                units.benchmark, *units.find(row["unit"]), mirror.transcript(), mirror.profile
            )
            verdicts.append(verdict.outcome == "correct")
            assert answer["reward"] == verdicts[-1] and answer["unit"] == row["unit"]
            answers.append(json.dumps(answer))
    assert {*verdicts} == {True, False}
    (tmp_path / "rollouts.jsonl").write_text("\n".join(answers), encoding="utf-8")
    again = list(judge_rollouts(units, tmp_path / "rollouts.jsonl"))
    # Where a simulated user speaks, a file does not say what it said.
    judged = [place for place, rollout in enumerate(again) if not rollout.problem]
    assert [again[place].verdict for place in judged] == [verdicts[place] for place in judged] != []
    assert not any(rollout.disagrees for rollout in again)
