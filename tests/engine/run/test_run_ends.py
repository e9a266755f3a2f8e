"""How runs end: in which words and with which exit status, with data that were edited meanwhile, one after another."""

from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import plan_of
from wildtool.engine.run.runner import run_plan


def test_ctrl_c_before_a_run_begins_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(task: Any) -> None:
        task.close()
        raise KeyboardInterrupt

    monkeypatch.setattr("asyncio.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan_of(), tmp_path, command=[])
