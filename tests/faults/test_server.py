"""The loopback server does what its behaviours say, whatever the order of the calls."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from faults.server import FAILURES, FaultServer, behaviour_named, request_digest
from wildtool.errors import CallError
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.types import Request

TOOLS = [{"type": "function", "function": {"name": n, "parameters": {"properties": {}}}} for n in "abc"]


def request(text: str) -> Request:
    return Request([{"role": "user", "content": text}], TOOLS)


async def outcomes(behaviour: str, texts: list[str], seed: int = 0) -> dict[str, Any]:
    """What each text is answered with: the message or the kind of failure."""
    said: dict[str, Any] = {}
    async with FaultServer(behaviour, seed=seed) as server:
        model = OpenAIModel("m", server.base_url)
        for text in texts:
            try:
                said[text] = (await model.complete(request(text))).message
            except CallError as error:
                said[text] = error.kind
        await model.close()
    return said


TEXTS = [str(n) for n in range(60)]


async def test_ok_depends_on_the_request_only():
    assert await outcomes("ok", TEXTS) == await outcomes("ok", TEXTS[::-1])


async def test_ok_gives_texts_and_calls_of_offered_tools():
    messages = (await outcomes("ok", TEXTS)).values()
    counts = {len(message["tool_calls"] or []) for message in messages}
    assert counts == {0, 1, 2}
    names = {call["function"]["name"] for message in messages for call in message["tool_calls"] or []}
    assert names == {"a", "b", "c"}


async def test_mix_fails_about_its_share_whatever_the_order():
    forth = await outcomes("mix:0.5", TEXTS)
    assert forth == await outcomes("mix:0.5", TEXTS[::-1])
    assert 15 <= sum(isinstance(said, str) for said in forth.values()) <= 45


async def test_another_seed_mixes_otherwise():
    assert await outcomes("mix:0.5", TEXTS, seed=1) != await outcomes("mix:0.5", TEXTS, seed=2)


async def test_gold_answers_by_digest_and_refuses_the_rest(tmp_path: Path):
    file = tmp_path / "gold.json"
    file.write_text(json.dumps({request_digest(request("x").messages): {"content": "gold"}}))
    assert await outcomes(f"gold:{file}", ["x", "y"]) == {"x": {"content": "gold"}, "y": "http 404"}


async def test_behaviours_are_put_one_around_the_other(tmp_path: Path):
    file = tmp_path / "gold.json"
    file.write_text(json.dumps({request_digest(request("x").messages): {"content": "gold"}}))
    async with FaultServer(f"faults-then-ok:1+gold:{file}") as server:
        model = OpenAIModel("m", server.base_url)
        with pytest.raises(CallError):
            await model.complete(request("x"))
        assert (await model.complete(request("x"))).message == {"content": "gold"}
        await model.close()
        key = ("m", request_digest(request("x").messages))
        assert (server.asked[key], server.answered[key]) == (2, 1)


async def test_every_failure_comes_up_in_turn():
    async with FaultServer(f"faults-then-ok:{len(FAILURES)}") as server:
        model = OpenAIModel("m", server.base_url)
        for _ in FAILURES:
            with pytest.raises(CallError):
                await model.complete(request("x"))
        assert (await model.complete(request("x"))).message
        await model.close()


def test_an_unknown_behaviour_is_refused():
    with pytest.raises(ValueError, match="nonsense"):
        behaviour_named("nonsense")


def test_as_a_process_it_prints_its_port_and_shows_its_log():
    script = Path(__file__).with_name("server.py")
    with subprocess.Popen([sys.executable, script, "--behaviour", "ok"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        base = f"http://127.0.0.1:{int(process.stdout.readline())}"
        body = json.dumps({"model": "m", "messages": []}).encode()
        urllib.request.urlopen(f"{base}/v1/chat/completions", body).read()
        log = json.loads(urllib.request.urlopen(f"{base}/log").read())
        process.kill()
    assert log["asked"] == log["answered"] == [["m", request_digest([]), 1]]
