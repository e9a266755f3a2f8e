"""Episodes end to end: agent and simulated user at two faulty endpoints, killed, resumed, replayed without any."""

import asyncio
import json
import random
import signal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from e2e.command import HURRIED, contents, lines, recorded, start, verdicts, wildtool
from faults.server import FAILURES, Answer, Behaviour, Call, FaultServer, completion, http, mix
from long import a_fiftieth_of
from parity.cases import oracle_folder, present
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.engine.score.verdict_table import verdicts_path

AGENT_KEY, USER_KEY = "sk-agent-51c2e7", "sk-user-9b04fd"
KEYS = {"OPENAI_API_KEY": AGENT_KEY, "THE_USERS_KEY": USER_KEY}
EPISODES = 3
KILLS = a_fiftieth_of(5)


def calls_of_gold() -> list[str]:
    """What a good agent says somewhere in the finance episodes."""
    items = ACEBENCH.load(ACEBENCH.data.locate("finance"))
    records = [item.data.records[0] for item in items]
    return [
        text for r in records if isinstance(r, AgentRecord) for text in r.milestones if isinstance(text, str)
    ]


GOLD = calls_of_gold()


def agent(call: Call) -> Answer:
    """A call from some gold answer, a question, or the end, whichever the request's digest says."""
    chosen = int(call.digest, 16) % 8
    text = (
        GOLD[int(call.digest, 16) % len(GOLD)]
        if chosen > 2
        else "Which account?"
        if chosen
        else "finish conversation"
    )
    return said(text)


def native_agent(call: Call) -> Answer:
    """A native call of some offered tool without arguments, a question, or the end."""
    chosen, tools = int(call.digest, 16) % 8, call.body.get("tools") or []
    if chosen < 3 or not tools:
        return said("finish conversation" if chosen else "Which account?")
    function = {"name": tools[chosen % len(tools)]["function"]["name"], "arguments": "{}"}
    return said(None, tool_calls=[{"id": "c1", "type": "function", "function": function}])


def user(call: Call) -> Answer:
    """A wish, or that all is well."""
    return said(
        "finish conversation" if int(call.digest, 16) % 5 == 0 else f"Use the account {call.digest[:4]}."
    )


def faulty(otherwise: Behaviour) -> Behaviour:
    """Lets the second call fail, and a seventh of the others: 429, 500, half a body, a closed connection and the like."""
    mixed, calls = mix("0.15")(otherwise), count()
    return lambda call: FAILURES["500"] if next(calls) == 1 else mixed(call)


def said(content: str | None, **more: Any) -> Answer:
    return Answer(http(200, completion(json.dumps({"role": "assistant", "content": content, **more}))))


IDS = [f"en/agent_finance_{kind}_{n}" for kind in ("multi_turn", "multi_step") for n in range(EPISODES)]
PLAYED = ("run", "acebench", "--split", "agent_finance", "--ids", ",".join(IDS), "--quiet")


def playing(agents: FaultServer, users: FaultServer, out: Path, *more: object) -> list[object]:
    """The words of a run of some episodes against the two servers; a failed call is not tried again."""
    one = ["--model", "m", "--base-url", agents.base_url]
    other = ["--user-model", "u", "--user-base-url", users.base_url, "--user-api-key-env", "THE_USERS_KEY"]
    return [*PLAYED, *one, *other, "--retries", 0, "--concurrency", 2, "--out", out, *more]


async def killed(at: int, words: list[object], folder: Path, cwd: Path) -> int:
    """Starts the command, kills it once its record has so many lines, and gives its exit status."""
    process = await start(*words, cwd=cwd, **KEYS)
    ended = asyncio.create_task(process.communicate())
    while lines(folder) < at:
        if ended.done():
            break
        await asyncio.sleep(0.001)
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    await ended
    assert process.returncode is not None
    return process.returncode


async def until_all_is_played(words: list[object], cwd: Path) -> int:
    """Runs the same command until no call has failed; how often that took."""
    for times in range(1, 60):
        ended = await wildtool(*words, cwd=cwd, **KEYS, **HURRIED)
        if ended.status == 0:
            return times
        assert ended.status == 3, ended
    raise AssertionError("calls fail without end")


def messages(folder: Path) -> dict[tuple[str, str, int], tuple[str, Any]]:
    """Who said what at each step of a record."""
    rows = [
        json.loads(line)
        for path in folder.glob("record*")
        for line in path.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n")
    ]
    steps = [row for row in rows if row["row"] == "step"]
    return {(row["item"], row["unit"], row["step"]): (row["role"], row["message"]) for row in steps}


@pytest.mark.long
@pytest.mark.parametrize(("mode", "behave"), [("text", agent), ("fc", native_agent)])
async def test_faults_at_both_endpoints_and_kills_leave_no_trace(
    mode: str, behave: Behaviour, tmp_path: Path
):
    calm, torn = tmp_path / "calm", tmp_path / "torn"
    async with FaultServer(delay_s=0.002) as agents, FaultServer(delay_s=0.002) as users:
        agents.behave, users.behave = behave, user
        assert await until_all_is_played(playing(agents, users, calm, "--mode", mode), tmp_path) == 1
        assert {role for role, _ in messages(calm).values()} == {"agent", "user"}

        agents.behave, users.behave = faulty(behave), faulty(user)
        for server in (agents, users):
            server.asked.clear()
            server.answered.clear()
        words = playing(agents, users, torn, "--mode", mode)
        moments = sorted(random.Random(2026).sample(range(2, len(recorded(calm)) // 2), KILLS))
        ends = [await killed(moment, words, torn, tmp_path) for moment in moments]
        assert -signal.SIGKILL in ends
        assert await until_all_is_played(words, tmp_path) > 1
        for server in (agents, users):
            assert server.asked.total() > server.answered.total() > 0
    assert messages(torn) == messages(calm)
    assert len(set(recorded(torn))) == len(recorded(torn))
    assert verdicts(torn) == verdicts(calm)


async def test_each_endpoint_gets_its_own_key_and_no_key_is_kept(tmp_path: Path):
    keys: dict[str, set[str]] = {"agent": set(), "user": set()}

    def noting(who: str, otherwise: Behaviour) -> Behaviour:
        def behave(call: Call) -> Answer:
            keys[who].add(call.authorization)
            return otherwise(call)

        return behave

    async with FaultServer() as agents, FaultServer() as users:
        agents.behave, users.behave = noting("agent", agent), noting("user", user)
        await until_all_is_played(playing(agents, users, tmp_path / "run"), tmp_path)
    assert keys == {"agent": {f"Bearer {AGENT_KEY}"}, "user": {f"Bearer {USER_KEY}"}}
    written = b"".join(contents(tmp_path / "run").values())
    assert AGENT_KEY.encode() not in written
    assert USER_KEY.encode() not in written


@pytest.mark.parametrize(("mode", "behave"), [("text", agent), ("fc", native_agent)])
async def test_a_recorded_run_is_judged_and_played_again_without_any_endpoint(
    mode: str, behave: Behaviour, tmp_path: Path
):
    run, again = tmp_path / "run", tmp_path / "again"
    async with FaultServer() as agents, FaultServer() as users:
        agents.behave, users.behave = behave, user
        await until_all_is_played(playing(agents, users, run, "--mode", mode), tmp_path)
    played = verdicts(run)
    verdicts_path(run, "official").unlink()
    assert (await wildtool("score", run, cwd=tmp_path)).status == 0
    assert verdicts(run) == played
    words = [*PLAYED, "--mode", mode, "--model", f"replay:{run}", "--out", again]
    ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 0, ended
    assert messages(again) == messages(run)
    assert verdicts(again) == played


# All episodes, with a user without a model --------------------------------------------------------------


@pytest.mark.parametrize("mode", ["text", "fc"])
async def test_all_finance_episodes_are_right_with_gold_answers_and_the_scripted_user(
    mode: str, tmp_path: Path
):
    words = ["run", "acebench", "--split", "agent_finance", "--model", "baseline/gold", "--mode", mode]
    ended = await wildtool(*words, "--profile", "fixed", "--quiet", "--out", tmp_path / "run", cwd=tmp_path)
    assert ended.status == 0, ended
    rows = verdicts(tmp_path / "run", "fixed")
    assert len(rows) == 62
    assert {(row["outcome"], row["process"]) for row in rows} == {("correct", 1.0)}


@pytest.mark.long
@pytest.mark.parametrize("mode", ["text", "fc"])
async def test_all_published_episodes_are_right_with_gold_answers_and_the_scripted_user(
    mode: str, tmp_path: Path
):
    official = present(oracle_folder("acebench").parents[1] / "data" / "acebench")
    words = [
        "run",
        "acebench",
        "--data",
        official,
        "--split",
        "agent",
        "--model",
        "baseline/gold",
        "--mode",
        mode,
    ]
    ended = await wildtool(*words, "--profile", "fixed", "--quiet", "--out", tmp_path / "run", cwd=tmp_path)
    assert ended.status == 0, ended
    rows = verdicts(tmp_path / "run", "fixed")
    assert len(rows) == 100
    assert {(row["outcome"], row["process"]) for row in rows} == {("correct", 1.0)}
