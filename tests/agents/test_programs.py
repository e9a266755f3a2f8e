"""Agents that are programs, in each protocol: they play, and what they do wrong is an error of theirs alone."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import wildtool as wt
from agents.programs import AGENTS, LIVE, place
from wildtool.agents.agent import AgentFailedError, LiveAgent, TurnEnd
from wildtool.agents.command_agent import agent_named
from wildtool.agents.drivers.process import LOG_BYTES

pytestmark = pytest.mark.usefixtures("installed")
each_agent = pytest.mark.parametrize("name", AGENTS.values(), ids=AGENTS)
either_kind = pytest.mark.parametrize("name", [AGENTS["stream-json"], AGENTS["once"]], ids=["live", "once"])
each_live = pytest.mark.parametrize("name", LIVE.values(), ids=LIVE)
STARTS = """
import asyncio, sys
from pathlib import Path
from agents.programs import place
from wildtool.agents.command_agent import agent_named

async def main():
    live = await agent_named(sys.argv[1], sandbox=False).start(place(Path(sys.argv[2])))
    await live.turn("!hang")

asyncio.run(main())
"""


async def started(name: str, folder: Path, model: str = "a-model") -> LiveAgent:
    return await agent_named(name, sandbox=False).start(place(folder, model=model))


async def turns(name: str, folder: Path, *texts: str) -> list[TurnEnd]:
    live = await started(name, folder)
    try:
        return [await live.turn(text) for text in texts]
    finally:
        await live.close()


def pipe(folder: Path) -> Path:
    """A pipe that the processes of a hanging agent keep open."""
    work = folder / "conversation" / "work"
    work.mkdir(parents=True)
    os.mkfifo(work / "alive")
    return work / "alive"


def is_there(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


@pytest.mark.long
@each_agent
def test_gold_goes_through_both_doors(name: str, tmp_path: Path):
    run = wt.run("wild-mini", model="baseline/gold", agent=name, limit=1, out=tmp_path / "run", quiet=True)
    assert {row["outcome"] for row in run.verdicts().rows()} == {"correct"}


@pytest.mark.long
@each_agent
async def test_a_turn_ends_with_the_last_text_though_it_holds_a_line_break_of_unicode(
    name: str, tmp_path: Path
):
    ends = await turns(name, tmp_path, "!break", "!say all done")
    assert ends == [TurnEnd("answer", "one\u2028line"), TurnEnd("answer", "all done")]


@each_agent
async def test_a_turn_without_a_word_is_no_answer(name: str, tmp_path: Path):
    assert [end.kind for end in await turns(name, tmp_path, "!say")] == ["silent"]


@either_kind
async def test_an_agent_that_crashes_is_named_with_its_last_words(name: str, tmp_path: Path):
    with pytest.raises(AgentFailedError, match=rf"^{name.split()[0]}.*exit status 1.*the agent's last words"):
        await turns(name, tmp_path, "!crash")


@each_live
async def test_a_failed_endpoint_is_never_an_answer(name: str, tmp_path: Path):
    [end] = await turns(name, tmp_path, "!error")
    assert end.kind == "endpoint"
    assert "the endpoint is down" in end.detail


@pytest.mark.long
@each_live
async def test_an_end_of_an_unknown_kind_is_no_answer_and_is_said(name: str, tmp_path: Path):
    [end] = await turns(name, tmp_path, "!odd")
    assert end.kind == "failed"
    assert "odd" in end.detail


@pytest.mark.long
@either_kind
async def test_a_flood_of_output_ends_the_agent(name: str, tmp_path: Path):
    with pytest.raises(AgentFailedError, match="it wrote more than"):
        await turns(name, tmp_path, "!flood")


@pytest.mark.long
@either_kind
async def test_of_a_flood_of_errors_the_end_is_kept(name: str, tmp_path: Path):
    with pytest.raises(AgentFailedError, match="words after the noise"):
        await turns(name, tmp_path, "!chatter")
    kept = (tmp_path / "conversation" / "stderr.txt").read_bytes()
    assert kept.endswith(b"words after the noise\n")
    assert len(kept) <= LOG_BYTES


@either_kind
async def test_a_hanging_agent_is_ended_with_what_it_started(name: str, tmp_path: Path):
    alive = pipe(tmp_path)
    live = await started(name, tmp_path)
    turn = asyncio.create_task(live.turn("!hang"))
    with await asyncio.to_thread(alive.open) as its:
        assert await asyncio.to_thread(its.readline) == "up\n"
        turn.cancel()
        await live.close()
        await live.close()
        assert its.read() == ""


async def test_what_a_program_of_one_turn_leaves_behind_holds_up_no_answer(tmp_path: Path):
    [end] = await turns(AGENTS["once"], tmp_path, "!leave")
    assert not is_there(int(end.text))


@either_kind
def test_no_process_is_left_when_wildtool_is_killed(name: str, tmp_path: Path):
    alive = pipe(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    wildtool = subprocess.Popen([sys.executable, "-c", STARTS, name, str(tmp_path)], env=environment)
    with alive.open() as its:
        assert its.readline() == "up\n"
        wildtool.kill()
        wildtool.wait()
        assert its.read() == ""


@pytest.mark.long
@each_live
async def test_an_agent_without_its_tool_server_is_not_played(name: str, tmp_path: Path):
    with pytest.raises(AgentFailedError, match="server"):
        await started(name, tmp_path, model="no-server")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("claude-code", "whether it has the tool server: no idea"),
        ("codex", "thread/start has no thread.id"),
        ("pi", "could be started: no idea"),
        ("gemini-cli", "session/new has no sessionId"),
    ],
)
async def test_an_agent_that_does_not_say_that_it_is_ready_is_not_played(
    name: str, says: str, tmp_path: Path
):
    with pytest.raises(AgentFailedError, match=says):
        await started(name, tmp_path, model="no-idea")


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("other mcp__wt__add", "allow"),
        ("other add", "allow"),
        ("other wt: add", "allow"),
        ("other additional", "reject"),
        ("execute add", "reject"),
        ("execute rm -rf /", "reject"),
    ],
)
async def test_permission_is_given_for_tools_of_the_conversation_only(call: str, answer: str, tmp_path: Path):
    [end] = await turns("gemini-cli", tmp_path, f"!may {call}")
    assert end.text == answer


@either_kind
async def test_an_agent_has_a_home_of_its_own_and_none_of_the_users_variables(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_API_KEY", "secret")
    [end] = await turns(name, tmp_path, "!variables")
    variables = json.loads(end.text)
    assert "secret" not in variables.values()
    folder = tmp_path / "conversation"
    assert [variables["HOME"], variables["TMPDIR"]] == [str(folder / "home"), str(folder / "tmp")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "shows"), [("someones {prompt}", True), ("acp:someones-acp", True), ("pi", False)]
)
async def test_a_system_text_comes_first_where_an_agent_has_no_other_place_for_it(
    name: str, shows: bool, tmp_path: Path
):
    agent = agent_named(name, sandbox=False)
    live = await agent.start(place(tmp_path, instructions="!say be brief and"))
    try:
        ends = [(await live.turn("!say hello")).text for _ in range(2)]
    finally:
        await live.close()
    assert ends == ["be brief and !say hello" if shows else "hello", "hello"]


@pytest.mark.parametrize(("name", "given"), [("claude-code", " /help"), ("codex", "/help")])
async def test_what_a_user_says_is_no_command_of_the_agents_own(name: str, given: str, tmp_path: Path):
    [end] = await turns(name, tmp_path, "/help")
    assert end.text == f"said {given}"


def test_a_slow_start_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("wildtool.agents.command_agent.AGENT_START_S", 0.0)
    with pytest.raises(AgentFailedError, match="was not ready within"):
        asyncio.run(started("codex", tmp_path))
