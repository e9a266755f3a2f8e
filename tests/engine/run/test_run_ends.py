"""How runs end: in which words and with which exit status, with data that were edited meanwhile, one after another."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import EchoBenchmark, ScriptedModel, plan_of
from wildtool.engine.run.runner import run_plan
from wildtool.types import Request


def test_ctrl_c_before_a_run_begins_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(task: Any) -> None:
        task.close()
        raise KeyboardInterrupt

    monkeypatch.setattr("asyncio.run", interrupted)
    monkeypatch.setitem(sys.modules, "uvloop", None)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan_of(), tmp_path, command=[])


def test_a_run_uses_the_quicker_event_loop_where_it_is_installed(tmp_path: Path):
    uvloop = pytest.importorskip("uvloop")
    loops: list[object] = []

    def answer(request: Request) -> str:
        loops.append(asyncio.get_running_loop())
        return "right"

    result = run_plan(plan_of(EchoBenchmark(items=2), ScriptedModel(answer)), tmp_path, command=[])
    assert (result.exit_status, result.counts.correct) == (0, 4)
    assert all(isinstance(loop, uvloop.Loop) for loop in loops) and loops
