"""What a user sees of an endpoint that cannot be reached, refuses, turns calls away or blocks prompts."""

import re
from pathlib import Path

import pytest

from e2e.command import playing, recorded, verdicts, wildtool
from faults.server import Answer, Call, FaultServer, http

CLOSED = "http://127.0.0.1:9/v1"
UNKNOWN = "http://nohost.invalid/v1"


def run(base_url: str, *more: object) -> list[object]:
    return ["run", "wild-mini", "--model", "m", "--base-url", base_url, "--out", "run", *more]


@pytest.mark.parametrize(
    ("base_url", "said"),
    [(CLOSED, "Connection refused"), (UNKNOWN, "check the host's name in the base URL")],
)
async def test_a_host_that_is_not_reached_stops_the_run_with_the_reason_and_without_a_table(
    base_url: str, said: str, tmp_path: Path
):
    ended = await wildtool(*run(base_url, "--retries", 0), cwd=tmp_path)
    assert (ended.status, ended.out) == (3, "")
    assert "the model never answered" in ended.err
    assert said in ended.err
    assert not list((tmp_path / "run").glob("*.parquet"))
    again = await wildtool(*run(base_url, "--retries", 0, "--quiet"), cwd=tmp_path)
    assert (again.status, again.out) == (3, "")
    assert said in again.err


async def test_retries_of_all_calls_are_not_waited_out(tmp_path: Path):
    async with FaultServer("500") as server:
        ended = await wildtool(*run(server.base_url, "--retries", 1, "--limit", 2), cwd=tmp_path)
        assert server.received <= 16
    assert ended.status == 3
    assert re.search(r"all \d+ tries failed .*by http 500 .*HTTP 500: broken", ended.err)


async def test_the_dead_one_of_several_models_stops_and_the_others_are_shown(tmp_path: Path):
    words = run(CLOSED, "--retries", 0, "--model", "baseline/gold", "--limit", 4)
    ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 3
    assert "m did not finish" in ended.err
    assert "baseline/gold" in ended.out
    assert {row["outcome"] for row in verdicts(tmp_path / "run" / "baseline--gold")} == {"correct"}


async def test_a_run_that_was_stopped_goes_on_once_the_endpoint_answers(tmp_path: Path):
    async with FaultServer("500") as server:
        words = playing(server, tmp_path / "run", limit=4)
        assert (await wildtool(*words, cwd=tmp_path)).status == 3
        assert recorded(tmp_path / "run") == []
        server.behave = FaultServer("ok").behave
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    assert len(verdicts(tmp_path / "run")) == 16


async def test_a_throttled_run_ends_whole(tmp_path: Path):
    answers = FaultServer("ok").behave

    def every_other(call: Call) -> Answer:
        return Answer(http(429, b"{}")) if call.attempt == 0 and int(call.digest, 16) % 2 else answers(call)

    async with FaultServer("ok") as server:
        server.behave = every_other
        ended = await wildtool(
            *playing(server, tmp_path / "run", "--concurrency", 4, retries=1), cwd=tmp_path
        )
    assert ended.status == 0, ended
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} <= {"correct", "wrong"}
