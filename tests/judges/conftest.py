"""Tests of judges: a set made by hand in place of a benchmark's, and the command in this process."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from judges import made_cases
from parity.conftest import cases
from wildtool.cli import app

__all__ = ["cases"]

Run = Callable[..., Result]


@pytest.fixture
def made_set(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `made_cases.cases` is called with for every benchmark; may be changed before the command runs."""
    settings: dict[str, Any] = {"items": 12}

    def audit_cases(benchmark: Any, source: Any, **its: Any) -> Any:
        return made_cases.cases(twins=its["twins"], **settings)

    monkeypatch.setattr("wildtool.judges.make.audit_cases", audit_cases)
    return settings


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_set: dict[str, Any]) -> Run:
    """Runs a line of the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(line: str) -> Result:
        return CliRunner().invoke(app, shlex.split(line), prog_name="wildtool", env={"COLUMNS": "120"})

    return command


@pytest.fixture
def audit(run: Run) -> Callable[[str], dict[str, Any]]:
    """The JSON of `wildtool audit wild-mini` with these options, and its exit status as `status`."""

    def command(options: str) -> dict[str, Any]:
        result = run(f"audit wild-mini {options} --json -q")
        assert result.stdout.startswith("{"), result.output
        return {**json.loads(result.stdout), "status": result.exit_code}

    return command
