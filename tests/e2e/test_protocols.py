"""Runs against peers of each protocol that know the gold answers: all is right, and a broken run goes on."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.command import contents, verdicts, wildtool
from faults.server import Answer, http
from models.peers import PROTOCOLS, Body, Peer, digest_of
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.models.providers.base import HttpModel
from wildtool.types import Message, Reply, Request

KEY = "sk-peer-7d21f0c4"


def rehearsed(protocol: str) -> dict[str, Message]:
    """What a peer must say to each request of a run that plays gold, by the request's digest."""
    speaks = PROTOCOLS[protocol]
    model = speaks.model(speaks.prefix, "http://127.0.0.1:1/v1", KEY, sent_as=speaks.prefix.partition("/")[2])
    said: dict[str, Message] = {}

    async def ask(unit: str, request: Request) -> Reply:
        assert request.gold is not None
        digest = digest_of(model.body(request))
        said[digest] = request.gold("parallel")
        return as_read(model, json.loads(json.dumps(speaks.write(said[digest], digest))), request)

    async def play() -> None:
        benchmark = load_benchmark("wild-mini", None)
        for item in benchmark.load(data_of(benchmark).locate(None)):
            await benchmark.play(item, ask, "official")

    asyncio.run(play())
    return said


def as_read(model: HttpModel, answer: Body, request: Request) -> Reply:
    reply = model.parse(answer, model.build(request))
    assert reply is not None
    return reply


@pytest.fixture(scope="module", params=list(PROTOCOLS))
def script(request: pytest.FixtureRequest) -> tuple[str, dict[str, Message]]:
    return request.param, rehearsed(request.param)


def from_script(said: dict[str, Message]) -> Callable[[Body, str], Message | Answer]:
    return lambda body, digest: (
        said.get(digest) or Answer(http(404, b'{"error":{"message":"not in the script"}}'))
    )


def ends_with_results(body: Body) -> bool:
    """Whether the model asked for what stands last in the request."""
    last = (body.get("messages") or body.get("contents") or body.get("input"))[-1]
    return any(
        kind in json.dumps(last) for kind in ('"tool_result"', '"functionResponse"', '"function_call_output"')
    )


def words(peer: Peer, out: Path, *more: object) -> list[object]:
    address = ["--model", peer.protocol.prefix, "--base-url", peer.base_url, "--api-key-env", "PEER_KEY"]
    return ["run", "wild-mini", *address, "--out", out, *more]


@pytest.mark.long
@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=["whole", "stream"])
async def test_gold_replies_reach_all(script: Any, stream: tuple[str, ...], tmp_path: Path):
    protocol, said = script
    async with Peer(protocol, from_script(said)) as peer:
        ended = await wildtool(*words(peer, tmp_path / "run", *stream), cwd=tmp_path, PEER_KEY=KEY)
    assert ended.status == 0, ended.err
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} == {"correct"}
    assert peer.mistakes == [] and len(peer.digests) == len(set(peer.digests)) == len(said)
    if protocol != "chat":
        after_calls = [body for body in peer.bodies if ends_with_results(json.loads(body))]
        assert after_calls and all(b'"sig-' in body or b'"enc-' in body for body in after_calls)
    everything = [ended.out.encode(), ended.err.encode(), *contents(tmp_path).values()]
    assert not any(KEY.encode() in text for text in everything)


@pytest.mark.long
async def test_a_run_that_broke_off_goes_on_and_asks_nothing_twice(script: Any, tmp_path: Path):
    protocol, said = script
    answer = from_script(said)

    def half(body: Body, digest: str) -> Message | Answer:
        return answer(body, digest) if int(digest, 16) % 2 else Answer(http(529, b"{}"))

    async with Peer(protocol, half) as peer:
        command = words(peer, tmp_path / "run", "--retries", 0)
        assert (await wildtool(*command, cwd=tmp_path, PEER_KEY=KEY)).status == 3
        assert 0 < len(peer.digests) < len(said)
        peer.said = answer
        assert (await wildtool(*command, cwd=tmp_path, PEER_KEY=KEY)).status == 0
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} == {"correct"}
    assert peer.mistakes == [] and sorted(peer.digests) == sorted(said)
