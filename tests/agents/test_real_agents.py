"""The real agents, as `make agents` installs them. WILDTOOL_AGENTS names the folder."""

import os
from pathlib import Path

import pytest

import wildtool as wt
from faults.server import FaultServer
from wildtool.agents.templates import agent_templates
from wildtool.errors import WildtoolError

FOLDER = os.environ.get("WILDTOOL_AGENTS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="WILDTOOL_AGENTS names no folder of agents: `make agents`")
each_agent = pytest.mark.parametrize("name", agent_templates())
KEY = "OPENAI_API_KEY"


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Path(FOLDER, "node_modules", ".bin").absolute()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(KEY, "none")


@each_agent
def test_gold_goes_through_a_real_agent_to_the_letter(name: str, tmp_path: Path):
    run = wt.run("wild-mini", model="baseline/gold", agent=name, out=tmp_path / "run", quiet=True)
    rows = list(run.verdicts().rows())
    assert [row["unit"] for row in rows if row["outcome"] != "correct"] == []
    assert len(rows) == 128


@each_agent
async def test_a_dead_endpoint_is_no_score_of_a_real_agent(name: str, tmp_path: Path):
    async with FaultServer("echo-key-401") as server:
        play = wt.arun(
            "wild-mini", model="m", base_url=server.base_url, agent=name, limit=1, out=tmp_path / "run"
        )
        with pytest.raises(WildtoolError, match=r"every call was refused .*http 401"):
            await play


@each_agent
async def test_whatever_its_model_says_a_real_agent_is_scored(name: str, tmp_path: Path):
    async with FaultServer("hostile:0.7") as server:
        run = await wt.arun(
            "wild-mini", model="m", base_url=server.base_url, agent=name, limit=2, out=tmp_path / "run"
        )
    assert "infra_error" not in {row["outcome"] for row in run.verdicts().rows()}
