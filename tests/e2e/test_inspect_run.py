"""Runs through Inspect against a peer that knows the gold answers: all is right, and a broken run goes on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import contents, verdicts, wildtool
from faults.server import Answer, FaultServer, http
from models.peers import digest_of, write_chat
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.types import Message, Reply, Request

pytest.importorskip("inspect_ai.model", reason="the extra [inspect] is not installed")
pytest.importorskip("openai", reason="Inspect asks such endpoints through the package openai")

KEY = "sk-peer-7d21f0c4"


def said_so_far(messages: list[Any]) -> str:
    """What a conversation comes to, however it is put: who said what, and which calls with which arguments."""
    parts: list[Any] = []
    for message in messages:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        calls = [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls") or ()
        ]
        parts.append([message["role"], text.strip(), calls])
    return json.dumps(parts, sort_keys=True)


@pytest.fixture(scope="module")
def gold() -> dict[str, Message]:
    """What the peer must say to each request of a run that plays gold."""
    said: dict[str, Message] = {}

    async def ask(unit: str, request: Request) -> Reply:
        assert request.gold is not None
        reply = request.gold("parallel")
        said[said_so_far(list(request.messages))] = reply
        return Reply(reply)

    async def play() -> None:
        benchmark = load_benchmark("wild-mini", None)
        for item in benchmark.load(data_of(benchmark).locate(None)):
            await benchmark.play(item, ask, "official")

    asyncio.run(play())
    return said


class Provider(FaultServer):
    """Answers by what was said so far, as far as it is willing to; what else stands in a request is Inspect's affair."""

    def __init__(self, gold: dict[str, Message]) -> None:
        super().__init__("ok")
        self.gold = gold
        self.answered: list[str] = []
        self.willing = lambda digest: int(digest, 16) % 2 == 1

    def answer(self, head: bytes, body: bytes) -> Answer:
        so_far = said_so_far(json.loads(body)["messages"])
        digest = digest_of(body)
        if so_far not in self.gold or not self.willing(digest):
            return Answer(http(400, b'{"error":{"message":"not now"}}'))
        self.answered.append(so_far)
        return Answer(http(200, json.dumps(write_chat(self.gold[so_far], digest)).encode()))


async def test_gold_replies_reach_all_and_a_run_that_broke_off_goes_on(
    gold: dict[str, Message], tmp_path: Path
):
    model = ["--model", "inspect/openai-api/peer/m", "--out", tmp_path / "run", "--retries", 0]
    async with Provider(gold) as provider:
        keys = {"PEER_API_KEY": KEY, "PEER_BASE_URL": provider.base_url}
        broken = await wildtool("run", "wild-mini", *model, cwd=tmp_path, **keys)
        assert broken.status == 3, broken.err
        assert 0 < len(provider.answered) < len(gold)
        provider.willing = lambda digest: True
        ended = await wildtool("run", "wild-mini", *model, cwd=tmp_path, **keys)
    assert ended.status == 0, ended.err
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} == {"correct"}
    assert sorted(provider.answered) == sorted(gold), "each is asked, and nothing twice"
    assert not any(KEY.encode() in text for text in contents(tmp_path).values())
