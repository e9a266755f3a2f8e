"""Whatever an endpoint does, a run ends, every unit keeps its place, and only failed calls are made again."""

import json
from pathlib import Path

import pytest

from e2e.command import HURRIED, contents, playing, recorded, verdicts, wildtool
from faults.server import FAILURES, HOSTILE, Answer, Call, FaultServer, behaviour_named, http

UNITS = 4
"""Units of one item of the embedded set."""


@pytest.mark.long
@pytest.mark.parametrize("fault", [*FAILURES, "silence"])
async def test_a_failed_call_is_an_infra_error_that_the_same_command_mends(fault: str, tmp_path: Path):
    folder = tmp_path / "run"
    async with FaultServer(fault) as server:
        words = playing(server, folder, "--timeout", 1)
        ended = await wildtool(*words, cwd=tmp_path)
        assert ended.status == 3, ended
        assert "run the same command to retry only those" in ended.err
        assert [row["outcome"] for row in verdicts(folder)] == ["infra_error"] * UNITS
        assert all(row["reason"] for row in verdicts(folder))

        server.behave = behaviour_named("ok")
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    assert len(verdicts(folder)) == UNITS
    assert {row["outcome"] for row in verdicts(folder)} <= {"correct", "wrong"}


async def test_running_again_asks_only_for_what_failed(tmp_path: Path):
    folder = tmp_path / "run"
    async with FaultServer("mix:0.3") as server:
        words = playing(server, folder, limit=8)
        assert (await wildtool(*words, cwd=tmp_path)).status == 3
        assert len(verdicts(folder)) == 8 * UNITS
        answered, asked_before, steps = set(server.answered), server.received, len(recorded(folder))
        assert len(answered) == steps > 0

        server.behave = behaviour_named("ok")
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    assert all(server.asked[request] == 1 for request in answered)
    assert server.received - asked_before == len(recorded(folder)) - steps


async def test_a_fault_that_passes_is_not_seen_in_the_verdicts(tmp_path: Path):
    async with FaultServer("ok") as server:
        assert (await wildtool(*playing(server, tmp_path / "calm"), cwd=tmp_path)).status == 0
        server.behave = behaviour_named("faults-then-ok:1")
        server.asked.clear()
        ended = await wildtool(*playing(server, tmp_path / "faulty", retries=3), cwd=tmp_path, **HURRIED)
    assert ended.status == 0
    assert verdicts(tmp_path / "faulty") == verdicts(tmp_path / "calm")


@pytest.mark.long
@pytest.mark.parametrize("reply", [*HOSTILE, "calls"])
async def test_a_hostile_reply_is_a_named_verdict(reply: str, tmp_path: Path):
    async with FaultServer(reply) as server:
        ended = await wildtool(*playing(server, tmp_path / "run", "--quiet"), cwd=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    rows = verdicts(tmp_path / "run")
    assert len(rows) == UNITS
    assert all(row["outcome"] == "correct" or (row["outcome"] == "wrong" and row["error"]) for row in rows)


@pytest.mark.parametrize(("behaviour", "status"), [("echo-key-401", 2), ("echo-key-200", 0)])
async def test_a_key_that_the_endpoint_repeats_is_nowhere_to_be_found(
    behaviour: str, status: int, tmp_path: Path
):
    key = "sk-very-secret-7f3a"
    async with FaultServer(behaviour) as server:
        ended = await wildtool(*playing(server, tmp_path / "run"), cwd=tmp_path, OPENAI_API_KEY=key)
        assert server.received > 0
    assert ended.status == status, ended
    assert key not in ended.out + ended.err
    written = contents(tmp_path)
    assert written
    assert not [path for path, data in written.items() if key.encode() in data]


async def test_one_model_that_fails_does_not_stop_the_others(tmp_path: Path):
    async with FaultServer("500") as server:
        words = playing(server, tmp_path / "runs", "--model", "baseline/gold")
        ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 3
    assert {row["outcome"] for row in verdicts(tmp_path / "runs" / "m")} == {"infra_error"}
    assert {row["outcome"] for row in verdicts(tmp_path / "runs" / "baseline--gold")} == {"correct"}


async def test_a_server_that_refuses_the_ids_of_calls_is_asked_with_others_and_each_step_says_so(
    tmp_path: Path,
):
    good = behaviour_named("ok")

    def strict(call: Call) -> Answer:
        made = [c["id"] for message in call.body["messages"] for c in message.get("tool_calls") or []]
        for id_ in made:
            if len(id_) != 9 or not id_.isalnum():
                why = f"Tool call id was {id_} but must be a-z, A-Z, 0-9, with a length of 9."
                return Answer(
                    http(400, json.dumps({"object": "error", "message": why, "code": 400}).encode())
                )
        return good(call)

    async with FaultServer("ok") as server:
        server.behave = strict
        ended = await wildtool(*playing(server, tmp_path / "run"), cwd=tmp_path)
    assert ended.status == 0, ended
    assert b"call-id-replaced" in b"".join(contents(tmp_path / "run").values())
