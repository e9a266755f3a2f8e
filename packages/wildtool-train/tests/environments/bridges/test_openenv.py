"""OpenEnv's socket plays units as the core does, in the versions that docs/environments.md names."""

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from environments.bridges.page import blocks
from environments.bridges.sources import EPISODES, SOURCES
from environments.random_policy import reply
from wildtool.benchmark import judge_unit
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import ItemUnits

uvicorn: Any = pytest.importorskip("uvicorn", reason="the extra [openenv] is not installed")
client: Any = pytest.importorskip(
    "openenv.core.generic_client", reason="the extra [openenv] is not installed"
)
bridge: Any = pytest.importorskip("wildtool_train.bridges.openenv")

UNITS = SOURCES["wild-mini"]


@contextmanager
def serving(app: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def app_of(units: ItemUnits) -> Any:
    return bridge.create_app(units, judged=["official"], reward={"verdict": 0.75, "progress": 0.25})


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(app_of(UNITS)) as address:
        yield address


async def episode(env: Any, seed: int, units: ItemUnits = UNITS) -> tuple[bool, float]:
    """Plays a random episode over the socket and beside it in the core; the judge's verdict, and the last reward."""
    draw = random.Random(seed)
    mirror = UnitEnvironment(units, judged=["official"])
    opening = mirror.reset(seed)
    tools = opening.tools or []
    seen = await env.reset(unit=mirror.name)
    assert seen.observation["messages"] == opening.messages and seen.observation["tools"] == tools
    assert seen.reward is None and not seen.done
    while True:
        message = reply(mirror, tools, draw)
        step, seen = mirror.step(message), await env.step({"message": message})
        shown = seen.observation
        assert shown["components"] == dict(step.components) and shown["reason"] == step.reason
        assert (shown["messages"], shown["tools"], shown["replaces"], seen.done) == (
            step.observation.messages,
            step.observation.tools,
            step.observation.replaces,
            step.done,
        )
        assert (seen.reward is not None) == seen.done
        if seen.done:
            verdict = judge_unit(
                units.benchmark, *units.find(mirror.name), mirror.transcript(), mirror.profile
            )
            assert seen.reward == pytest.approx(
                0.75 * step.components["verdict"] + 0.25 * step.components.get("progress", 0)
            )
            return verdict.outcome == "correct", shown["components"]["verdict"]


@pytest.mark.parametrize("source", SOURCES)
async def test_random_episodes_are_the_cores_and_the_judges(source: str):
    verdicts: list[tuple[bool, float]] = []
    with serving(app_of(SOURCES[source])) as url:
        async with client.GenericEnvClient(url) as env:
            for seed in range(EPISODES):
                verdicts.append(await episode(env, seed, SOURCES[source]))
    assert all(judged == reward for judged, reward in verdicts)
    assert {judged for judged, _ in verdicts} == {True, False}


async def test_episodes_of_many_connections_do_not_mix(url: str):
    async def play(first: int) -> list[tuple[bool, float]]:
        async with client.GenericEnvClient(url) as env:
            return [await episode(env, seed) for seed in range(first, first + 4)]

    played = await asyncio.gather(*(play(4 * number) for number in range(16)))
    assert sum(map(len, played)) == 64, "each is compared with its own episode in the core"


async def test_an_episode_goes_on_in_another_connection_and_keeps_its_components(url: str):
    mirror = UnitEnvironment(UNITS)
    name = next(name for name in UNITS.names if len(golds(mirror, name)) > 2)
    messages = golds(mirror, name)
    async with client.GenericEnvClient(url) as env:
        assert (await env.state())["saved"] is None
        await env.reset(unit=name, episode_id="mine")
        await env.step({"message": messages[0]})
        state = await env.state()
    assert (state["unit"], state["episode_id"], state["step_count"]) == (name, "mine", 1)
    async with client.GenericEnvClient(url) as env:
        shown = (await env.reset(saved=state["saved"])).observation
        mirror.open(name)
        mirror.step(messages[0])
        assert shown["replaces"] and shown["messages"] == mirror.shown().messages
        for message in messages[1:]:
            last = await env.step({"message": message})
    assert last.done and last.reward == 1


def golds(mirror: UnitEnvironment, name: str) -> list[Any]:
    mirror.open(name)
    messages: list[Any] = []
    while not mirror.is_over:
        messages.append(mirror.gold())
        mirror.step(messages[-1])
    return messages


async def test_mistakes_of_a_trainer_are_told_in_words_and_end_nothing(url: str):
    async with client.GenericEnvClient(url) as env:
        for words, text in (
            ({"unit": "a/b"}, "no unit 'a/b'"),
            ({"saved": "x"}, "no saved"),
            ({"task": 1}, "task"),
        ):
            with pytest.raises(Exception, match=text):
                await env.reset(**words)
        with pytest.raises(Exception, match="no episode is open"):
            await env.step({"message": {"content": "x"}})
        await env.reset(unit=UNITS.names[0])
        await env.step({"message": {"content": ""}})
        with pytest.raises(Exception, match="is over"):
            await env.step({"message": {"content": "x"}})
        await env.reset(seed=3)
        odd = {"content": "\ud800", "tool_calls": [{"id": "\udfff"}]}
        assert (await env.step({"message": odd})).done
        assert (await env.state())["saved"]


async def test_without_a_seed_each_unit_comes_once(url: str):
    names: set[str] = set()
    async with client.GenericEnvClient(url) as env:
        for _ in UNITS.names:
            await env.reset()
            names.add((await env.state())["unit"])
    assert names == set(UNITS.names)


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
async def test_another_host_and_a_web_page_get_nothing(headers: dict[str, str], url: str):
    import aiohttp

    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/health", headers=headers) as refused:
            assert refused.status == 403
        async with session.get(f"{url}/health") as answered:
            assert answered.status == 200
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await session.ws_connect(f"{url}/ws", headers=headers)


def test_the_page_runs(capsys: pytest.CaptureFixture[str]):
    server, client_code = blocks("OpenEnv")
    names: dict[str, Any] = {}
    exec(server, names)
    with serving(names["app"]) as address:
        exec(client_code.replace("http://127.0.0.1:8000", address), {"__name__": "page"})
    lines = capsys.readouterr().out.splitlines()
    assert "verdict" in lines[-2] and lines[-1] in ("0.0", "1.0")
