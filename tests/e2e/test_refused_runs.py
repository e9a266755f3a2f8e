"""What a run says of a server without tools, an empty account, a role that is turned away, and its own limits."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from e2e.command import playing, recorded, wildtool
from faults.server import Answer, FaultServer, http

NO_PARSER = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
EMPTY = {"message": "You exceeded your current quota, please check your plan", "code": "insufficient_quota"}


def refusal(status: int, **error: str) -> Answer:
    return Answer(http(status, json.dumps({"error": error}).encode()))


async def test_a_server_without_a_tool_parser_ends_a_run_with_what_to_do(tmp_path: Path):
    async with FaultServer("ok") as server:
        server.behave = lambda call: refusal(400, message=NO_PARSER)
        ended = await wildtool(*playing(server, tmp_path / "run", limit=4, retries=5), cwd=tmp_path)
    assert (ended.status, ended.out) == (2, "")
    assert NO_PARSER in ended.err and "--tool-format auto" in ended.err
    assert "check the key" not in ended.err


@pytest.mark.parametrize(("status", "advice"), [(401, "check the key"), (404, "check the model's name")])
async def test_a_refusal_is_followed_by_what_mends_it(tmp_path: Path, status: int, advice: str):
    async with FaultServer(str(status)) as server:
        words = playing(server, tmp_path / "run", "--api-key-env", "SOME_KEY", limit=4)
        ended = await wildtool(*words, cwd=tmp_path, SOME_KEY="sk-some")
    assert ended.status == 2 and f"; {advice}" in ended.err


async def test_a_refusal_that_names_what_mends_it_is_followed_by_nothing_else_to_do(tmp_path: Path):
    async with FaultServer("401") as server:
        ended = await wildtool(*playing(server, tmp_path / "run", limit=4), cwd=tmp_path)
    assert ended.status == 2 and "name its variable with --api-key-env" in ended.err
    assert ended.err.endswith("; do so, then run again\n")


async def test_a_server_without_tls_is_told_so(tmp_path: Path):
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        words = ["run", "wild-mini", "--model", "m", "--base-url", address, "--out", "run", "--limit", 4]
        ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 2 and "the server speaks http, not https" in ended.err
    assert "SSL" not in ended.err and "check the base URL, then" in ended.err


@pytest.mark.parametrize("answered", [0, 5])
async def test_an_empty_account_stops_a_run_at_once_and_nothing_is_lost(tmp_path: Path, answered: int):
    good = FaultServer("ok").behave
    async with FaultServer("ok") as server:
        server.behave = lambda call: good(call) if server.received <= answered else refusal(429, **EMPTY)
        words = playing(server, tmp_path / "run", "--concurrency", 1, limit=8, retries=5)
        ended = await wildtool(*words, cwd=tmp_path)
        assert server.received == answered + 1
        assert ended.status == 3 and len(recorded(tmp_path / "run")) == answered
        assert "stopped: " in ended.err and "the account has no quota left: You exceeded" in ended.err
        assert "rate limited" not in ended.err and "/32 tasks, stopped at the end of the quota" in ended.err
        server.behave = good
        assert (await wildtool(*words, cwd=tmp_path)).status == 0


async def test_a_limit_shows_what_was_done_until_then(tmp_path: Path):
    async with FaultServer("ok") as server:
        words = playing(server, tmp_path / "run", "--max-tokens-total", 500, "--concurrency", 1, limit=8)
        ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 3
    done = re.search(r"m: (\d+)/32 tasks, stopped at the token limit", ended.err)
    assert done and 0 <= int(done[1]) < 32
    assert f"{32 - int(done[1])} of 32 units are unfinished" in ended.err


async def test_a_deadline_is_named_in_the_line(tmp_path: Path):
    async with FaultServer("ok", delay_s=0.3) as server:
        words = playing(server, tmp_path / "run", "--deadline", 1, "--concurrency", 1, limit=8)
        ended = await wildtool(*words, cwd=tmp_path)
    done = re.search(r"m: (\d+)/32 tasks, stopped at the deadline", ended.err)
    assert done and int(done[1]) < 8


DIALOGUES = [
    {"messages": [{"role": "user", "content": said}, {"role": "assistant", "content": "Hi, how are you?"}]}
    for said in ("Hello", "Good day", "Hi")
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("answered", "error", "said"),
    [
        (0, {"message": "slow down"}, r"judge \(j\): the model never answered.*HTTP 429: slow down"),
        (1, {"message": "slow down"}, r"stopped: judge \(j\): for 30 minutes every call was turned away"),
        (1, EMPTY, r"stopped: judge \(j\): .*the account has no quota left"),
    ],
)
async def test_a_judge_that_is_turned_away_for_long_ends_the_run_and_is_named(
    tmp_path: Path, answered: int, error: dict[str, str], said: str
):
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DIALOGUES))
    good = FaultServer("ok").behave
    async with FaultServer("ok") as agent, FaultServer("ok") as judge:
        judge.behave = lambda call: good(call) if judge.received <= answered else refusal(429, **error)
        words = ["run", "training", "--data", "train.jsonl", "--model", "m", "--base-url", agent.base_url]
        judged = ["--judge", "j", "--judge-base-url", judge.base_url, "--concurrency", 1, "--out", "run"]
        ended = await wildtool(*words, *judged, cwd=tmp_path, CLOCK_TIMES="500")
    assert ended.status == 3 and re.search(said, ended.err), ended.err
