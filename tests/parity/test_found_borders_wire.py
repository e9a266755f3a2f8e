"""Endpoints that want back what belongs to a reply get it under its key, or what their guides say to send."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from models.peers import Body, Peer
from parity.cases import oracle_folder, present
from wildtool.engine.score.results import load_result
from wildtool.types import Message

THOUGHT = "R# 思考"
DETAILS = [{"type": "reasoning.text", "text": THOUGHT, "signature": "c2ln", "index": 0}]


class ThinkingGold:
    """Plays the gold of wild-mini, thinks before each step, and counts the second steps that show the thought again."""

    def __init__(self, key: str, value: Any) -> None:
        self.key, self.value = key, value
        self.second_steps = self.carried = 0
        self.gold: dict[str, list[Message]] = {}
        for item in wt.load("wild-mini"):
            for unit in item.units:
                messages, _ = item.request(unit)
                self.gold[_asked(messages)] = item.gold[unit]

    def __call__(self, body: Body, digest: str) -> Message:
        messages = body["messages"]
        last = max(place for place, message in enumerate(messages) if message["role"] == "user")
        mine = [message for message in messages[last:] if message["role"] == "assistant"]
        if mine:
            self.second_steps += 1
            self.carried += mine[-1].get(self.key) == self.value
        # Where the user was asked back, what it answered is not in the request of a perfect history.
        steps = self.gold.get(_asked(messages), [])
        step = steps[len(mine)] if len(mine) < len(steps) else {"content": "ok"}
        return {"role": "assistant", "content": None, **step, self.key: self.value}


def _asked(messages: list[Message]) -> str:
    return json.dumps([message.get("content") for message in messages if message["role"] == "user"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reasoning_content", THOUGHT),
        ("reasoning", THOUGHT),
        ("thinking", THOUGHT),
        ("reasoning_details", DETAILS),
    ],
)
async def test_reasoning_goes_back_under_the_key_it_came_with(
    key: str, value: Any, stream: bool, tmp_path: Path
):
    said = ThinkingGold(key, value)
    async with Peer("chat", said) as peer:
        await wt.arun(
            "wild-mini",
            model="m",
            base_url=peer.base_url,
            limit=12,
            stream=stream,
            out=tmp_path / "run",
            quiet=True,
        )
    assert not peer.mistakes
    assert said.second_steps == said.carried == 47


@pytest.fixture
def odd_server() -> Iterator[str]:
    script = present(oracle_folder("found") / "borders") / "servers" / "odd_server.py"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([sys.executable, str(script), str(port)]) as server:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
        server.kill()


@pytest.mark.parametrize(
    ("model", "change"),
    [
        ("deepseek_reasoner", "empty-reasoning-added"),
        ("deepseek_reasoner_calls_only", "empty-reasoning-added"),
        ("gemini_sig", "thought-signature-added"),
    ],
)
def test_a_sound_history_is_sent_so_that_the_endpoint_takes_it(
    model: str, change: str, odd_server: str, tmp_path: Path
):
    run = wt.run("wild-mini", model=model, base_url=odd_server, limit=12, out=tmp_path / "run", quiet=True)
    rows = run.verdicts().rows()
    assert {row["outcome"] for row in rows} <= {"correct", "wrong"}
    assert any(change in (row["changes"] or "") for row in rows)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("vllm41902", "replies empty"),
        ("vllm45736", "with a call that the server left in the reasoning"),
        ("mlx562", "no call in"),
        ("zx_bench", "cut off at a token limit"),
        ("deepseek_reasoner", "sent with an empty reasoning"),
        ("gemini_sig", "sent with a placeholder for each missing thought signature"),
    ],
)
def test_what_an_odd_endpoint_does_is_said_below_its_numbers(
    model: str, words: str, odd_server: str, tmp_path: Path
):
    wt.run("wild-mini", model=model, base_url=odd_server, limit=3, out=tmp_path / "run", quiet=True)
    assert words in " · ".join(map(str, load_result(tmp_path / "run").trust))
