"""Runs by batch APIs through the installed command: gold is right, nothing is paid for twice, no key is left behind."""

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.command import contents, recorded, start, verdicts, wildtool
from e2e.test_protocols import rehearsed
from faults.batch_server import BatchServer, Said
from faults.server import Answer, http
from models.peers import Peer
from wildtool.types import Message

KEY = "sk-batch-90aa41c7"
GATEWAY_KEY = "gk-batch-81f0c7"
KINDS = ("chat", "anthropic", "responses")
KILLED_AT = {"chat": (1, 2, 3, 4, 5), "anthropic": (1, 2, 3), "responses": (3,)}
"""Requests of a process: upload, creation, state, results and errors; creation, state, results."""


def from_script(said: dict[str, Message]) -> Said:
    missing = Answer(http(404, b'{"error":{"message":"not in the script"}}'))
    return lambda body, digest: said.get(digest) or missing


def by_digest(body: dict[str, Any], digest: str) -> Message:
    """A question, a call that makes no sense, or the end, whichever the digest says."""
    return {
        "role": "assistant",
        "content": ("Which account?", "[balance()]", "finish conversation")[int(digest, 16) % 3],
    }


@pytest.fixture(scope="module", params=KINDS)
def script(request: pytest.FixtureRequest) -> tuple[str, dict[str, Message]]:
    return request.param, rehearsed(request.param)


@pytest.fixture(scope="module")
def chat() -> dict[str, Message]:
    return rehearsed("chat")


def words(server: BatchServer | Peer, out: Path, *more: object) -> list[object]:
    address = ["--model", server.protocol.prefix, "--base-url", server.base_url, "--api-key-env", "PEER_KEY"]
    return ["run", "wild-mini", *address, "--out", out, *more]


@pytest.mark.long
async def test_gold_by_batches_is_all_right_and_leaves_no_key(script: Any, tmp_path: Path):
    protocol, said = script
    async with BatchServer(protocol, from_script(said)) as server:
        # Over at once, so that nobody waits here.
        server.polls = 0
        header = ("--header", "X-Gateway-Key=env:GATEWAY_KEY")
        line = words(server, tmp_path / "batch", "--batch", *header)
        ended = await wildtool(*line, cwd=tmp_path, PEER_KEY=KEY, GATEWAY_KEY=GATEWAY_KEY)
    assert ended.status == 0, ended.err
    assert server.mistakes == []
    assert all(f"\r\nX-Gateway-Key: {GATEWAY_KEY}".encode() in head for head in server.heads)
    assert sorted(server.digests) == sorted(said)
    longest = max(step for *_, step in recorded(tmp_path / "batch")) + 1
    assert len(server.batches) == longest
    assert {row["outcome"] for row in verdicts(tmp_path / "batch")} == {"correct"}
    everything = [ended.out.encode(), ended.err.encode(), *contents(tmp_path).values()]
    assert not any(key.encode() in text for text in everything for key in (KEY, GATEWAY_KEY))


async def until(found: Callable[[], object], process: "asyncio.Future[Any]") -> None:
    while not found():
        assert not process.done(), process.result()
        await asyncio.sleep(0.005)


async def cut(server: BatchServer, command: list[object], sent: signal.Signals, at: int, cwd: Path) -> Any:
    """Starts the command, sends it a signal when the server holds so many batches that do not get over, and waits."""
    process = await start(*command, cwd=cwd, PEER_KEY=KEY)
    ended = asyncio.create_task(process.communicate())

    def begin(batch: Any) -> None:
        server.frozen = len(server.batches) >= at

    server.begin = begin
    await until(lambda: server.frozen and server.counts["state"] > at, ended)
    process.send_signal(sent)
    out, err = await ended
    server.frozen, server.begin = False, lambda batch: None
    return process.returncode, out.decode(), err.decode()


@pytest.mark.long
async def test_a_process_killed_at_any_of_its_requests_pays_for_nothing_twice(script: Any, tmp_path: Path):
    """The server has done what the last request wants, and the process never learns of it."""
    protocol, said = script
    async with BatchServer(protocol, from_script(said), now=time.time()) as server:
        command = words(server, tmp_path / "run", "--batch", "--limit", 1)
        for number in KILLED_AT[protocol]:
            server.received, server.last = 0, number
            process = await start(*command, cwd=tmp_path, PEER_KEY=KEY)
            ended = asyncio.create_task(process.communicate())
            await until(lambda number=number: server.received >= number, ended)
            process.kill()
            await ended
        server.last = server.polls = 0
        assert (await wildtool(*command, cwd=tmp_path, PEER_KEY=KEY)).status == 0
    assert server.mistakes == []
    assert len(server.digests) == len(set(server.digests)) == len(recorded(tmp_path / "run"))
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} == {"correct"}


async def test_ctrl_c_leaves_the_batch_pending_and_says_how_to_go_on_and_how_to_cancel(
    chat: dict[str, Message], tmp_path: Path
):
    async with BatchServer("chat", from_script(chat), now=time.time()) as server:
        command = words(server, tmp_path / "run", "--batch", "--limit", 2)
        status, _, err = await cut(server, command, signal.SIGINT, 1, tmp_path)
        assert status == 130
        assert "Batch b1 (8 requests, in_progress) is still running" in err
        assert f"POST {server.base_url}/batches/b1/cancel" in err
        assert "run the same command again" in err and "Traceback" not in err
        server.polls = 0
        assert (await wildtool(*command, cwd=tmp_path, PEER_KEY=KEY)).status == 0
    assert len(server.digests) == len(set(server.digests))


async def test_episodes_with_a_user_who_is_asked_directly_are_played_as_without_batches(tmp_path: Path):
    user = ["--user-model", "u", "--user-api-key-env", "PEER_KEY"]
    played: dict[str, Any] = {}
    async with BatchServer("chat", by_digest) as agents, Peer("chat", by_digest) as people:
        agents.polls = 0
        for name, server, more in (("batch", agents, ["--batch"]), ("alone", people, [])):
            command = words(server, tmp_path / name, *user, "--user-base-url", people.base_url, *more)
            command[1] = "acebench"
            ended = await wildtool(
                *command, "--split", "agent_finance", "--limit", 3, cwd=tmp_path, PEER_KEY=KEY
            )
            assert ended.status == 0, ended.err
            played[name] = verdicts(tmp_path / name), sorted(recorded(tmp_path / name))
    assert agents.mistakes == people.mistakes == []
    assert len(agents.batches) > 1
    assert played["batch"] == played["alone"]
