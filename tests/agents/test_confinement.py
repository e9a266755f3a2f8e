"""What an agent that is a program can reach, in a sandbox and without one."""

import json
import os
import socket
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import wildtool
from agents.programs import place
from wildtool.agents.command_agent import agent_named
from wildtool.agents.confine import confinement_here

pytestmark = pytest.mark.usefixtures("installed")
HERE = confinement_here()
in_a_sandbox = pytest.mark.skipif(not HERE.bubblewrap, reason=f"no sandbox: {HERE.missing}")
GOLD = Path(wildtool.__file__).parent / "data" / "wild_mini.jsonl"


async def said(folder: Path, text: str, *, sandbox: bool = True, **more: Any) -> str:
    live = await agent_named("someones {prompt}", sandbox=sandbox).start(place(folder, **more))
    try:
        return (await live.turn(text)).text
    finally:
        await live.close()


@in_a_sandbox
async def test_an_agent_in_a_sandbox_reads_its_own_folder_only(tmp_path: Path):
    own = tmp_path / "conversation" / "home" / "note"
    own.parent.mkdir(parents=True)
    other = tmp_path / "another-conversation"
    for file in (own, other):
        file.write_text("x")
    paths = [
        own,
        other,
        GOLD,
        Path(__file__),
        Path("/etc/hostname"),
        Path(f"/proc/{os.getpid()}/environ"),
    ]
    can_read = json.loads(await said(tmp_path, f"!read {' '.join(map(str, paths))}"))
    assert {path for path, can in can_read.items() if can} == {str(own)}


@in_a_sandbox
async def test_an_agent_in_a_sandbox_writes_into_its_own_folder_only(tmp_path: Path, installed: Path):
    own = tmp_path / "conversation" / "work" / "note"
    paths = [
        own,
        tmp_path / "note",
        installed / "claude",
        Path("/usr/note"),
        Path("/note"),
        Path("/etc/passwd"),
    ]
    can_write = json.loads(await said(tmp_path, f"!write {' '.join(map(str, paths))}"))
    # Where this is in `/tmp`, it writes into a folder of its own.
    assert not (tmp_path / "note").exists()
    assert {path for path, can in can_write.items() if can} - {str(tmp_path / "note")} == {str(own)}


@pytest.mark.parametrize("sandbox", [pytest.param(True, marks=in_a_sandbox), False])
async def test_without_a_network_only_the_doors_are_there(sandbox: bool, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as another:
        port = another.getsockname()[1]
        assert await said(tmp_path, f"!connect {port}", sandbox=sandbox) == str(not sandbox)


@in_a_sandbox
@pytest.mark.skipif(not HERE.fake_clock, reason="libfaketime is not installed")
async def test_the_clock_shows_the_date_of_the_conversation(tmp_path: Path):
    assert await said(tmp_path, "!date", date=datetime(2024, 8, 19, 17, 20)) == "2024-08-19"
    assert await said(tmp_path, "!date") == f"{datetime.now():%Y-%m-%d}"


async def test_without_a_sandbox_the_clock_is_the_real_one(tmp_path: Path):
    day = await said(tmp_path, "!date", sandbox=False, date=datetime(2024, 8, 19, 17, 20))
    assert day == f"{datetime.now():%Y-%m-%d}"


def test_settings_say_how_an_agent_is_confined(monkeypatch: pytest.MonkeyPatch, installed: Path):
    open_ = agent_named("pi", sandbox=False).settings()
    assert (open_["sandbox"], open_["network"], open_["why"]) == ("none", "open", "switched off")
    assert open_["clock"] == "real"
    if HERE.bubblewrap:
        assert agent_named("pi").settings()["network"] == "the two doors"


@pytest.mark.parametrize("sandbox", [pytest.param(True, marks=in_a_sandbox), False])
def test_scores_say_that_an_agent_had_no_sandbox(sandbox: bool, tmp_path: Path):
    agent = agent_named("pi", sandbox=sandbox)
    run = wildtool.run("wild-mini", model="baseline/gold", agent=agent, limit=1, out=tmp_path / "run")
    said = run.scores.table()
    assert ("the agent has no sandbox (switched off)" in said) is not sandbox
    assert ("its own tools: off (`--no-builtin-tools`)" in said) is not sandbox


@in_a_sandbox
async def test_a_script_of_the_shell_plays(tmp_path: Path):
    script = tmp_path / "mine" / "agent.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nprintf '%s' \"said $1\"\n")
    script.chmod(0o755)
    for command in (f"{script} {{prompt}}", f"/bin/sh {script} {{prompt}}"):
        live = await agent_named(command).start(place(tmp_path))
        assert (await live.turn("hello")).text == "said hello"


@in_a_sandbox
async def test_a_script_is_shown_with_its_folder_and_others_where_they_are_named(tmp_path: Path):
    script = tmp_path / "mine" / "agent.py"
    beside, elsewhere = script.with_name("beside"), tmp_path / "elsewhere"
    script.parent.mkdir()
    for file in (beside, elsewhere):
        file.write_text("x")
    script.write_text("import sys\nfor path in sys.argv[2:]:\n    print(open(path).read())\n")
    command = f"{sys.executable} {script} {{prompt}} {beside} {elsewhere}"
    live = await agent_named(command).start(place(tmp_path))
    assert (await live.turn("hello")).text == "x\nx"
