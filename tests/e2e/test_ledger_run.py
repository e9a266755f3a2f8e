"""The ledger through the installed command: killed, resumed, scored, shown, compared, reported, viewed, audited."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.command import lines, recorded, start, verdicts, wildtool
from faults.server import FaultServer

PROFILE = "ledger"


@pytest.mark.long
async def test_a_run_that_is_killed_ends_as_an_undisturbed_one(tmp_path: Path):
    async with FaultServer("calls", delay_s=0.005) as server:
        words = [
            "run",
            "ledger",
            "--model",
            "m",
            "--base-url",
            server.base_url,
            "--limit",
            3,
            "--quiet",
            "--out",
        ]
        calm, torn = tmp_path / "calm", tmp_path / "torn"
        assert (await wildtool(*words, calm, cwd=tmp_path)).status == 0
        for moment in (5, 40, 90):
            process = await start(*words, torn, cwd=tmp_path)
            while lines(torn) < moment:
                assert process.returncode is None
                await asyncio.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            await process.communicate()
        assert (await wildtool(*words, torn, cwd=tmp_path)).status == 0
    assert len(recorded(torn)) == len(set(recorded(torn))) == len(recorded(calm))
    assert verdicts(torn, PROFILE) == verdicts(calm, PROFILE)
    assert {row["kind_1"] for row in verdicts(torn, PROFILE)} <= {"compositional", "missing"}


async def test_gold_is_right_and_the_verbs_show_it(tmp_path: Path):
    models = ["--model", "baseline/gold", "--model", "baseline/gold-serial", "--model", "baseline/random"]
    played = await wildtool("run", "ledger", *models, "--limit", 16, "--out", "runs", "--quiet", cwd=tmp_path)
    assert played.status == 0, played.err
    gold, serial, random = (f"runs/baseline--{name}" for name in ("gold", "gold-serial", "random"))
    for run in (gold, serial):
        assert all(row["correct"] and row["shortest"] == 4 for row in verdicts(tmp_path / run, PROFILE))
    shown = await wildtool("show", gold, "--all", cwd=tmp_path)
    for text in (
        "kind of turn",
        "corrections applied once",
        "wrong on the way",
        "right tasks in the least calls",
    ):
        assert text in shown.out, text
    explained = await wildtool("show", random, "--why", "session", cwd=tmp_path)
    assert "turn 1: " in explained.out, explained.err
    compared = await wildtool("compare", gold, random, cwd=tmp_path)
    assert compared.status == 0, compared.err
    assert "baseline/random is worse than baseline/gold" in compared.out
    reported = await wildtool("report", "runs", "--out", "pages", cwd=tmp_path)
    assert reported.status == 0, reported.err
    assert "corrections applied once" in (tmp_path / "pages" / "writing.html").read_text(encoding="utf-8")


@pytest.mark.long
async def test_the_audit_catches_every_mistake(tmp_path: Path):
    data = tmp_path / "own.json"
    data.write_text('{"seed": 3, "sessions": 16}')
    audited = await wildtool("audit", "ledger", "--data", data, "--strict", cwd=tmp_path)
    assert audited.status == 0, audited.err
    assert "Always caught: 16 kinds of mistakes" in audited.out


def test_without_the_extra_it_is_named(tmp_path: Path):
    hiding = (
        "import importlib.util as u; find = u.find_spec;"
        "u.find_spec = lambda name, *more: None if name.startswith('bean') else find(name, *more);"
        "from wildtool.cli import main; main()"
    )
    words = ["run", "ledger", "--model", "baseline/gold"]
    ended = subprocess.run(
        [sys.executable, "-c", hiding, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "ledger needs beancount and beanquery: pip install 'wildtool[ledger]'" in ended.stderr
    assert "Traceback" not in ended.stderr
