"""Agents that are programs, for the tests of this folder."""

import os
from pathlib import Path

import pytest

from agents.programs import install


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which programs with the names of real agents are found first."""
    folder = install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder
