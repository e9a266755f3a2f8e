"""The gate, run with commands that only say that they were called: where one fails it ends, and says why."""

import os
import shutil
import subprocess
from itertools import chain
from pathlib import Path
from select import select

import pytest

GATE = Path(__file__).resolve().parents[1] / ".ci" / "run"
BESIDE = (["lint", "types", "docs"], ["parity", "floors", "wheel"])
"""What runs beside `e2e`, those of a list one after another."""


def gate(folder: Path, commands: dict[str, str]) -> tuple[subprocess.CompletedProcess[str], bool]:
    """The gate with these commands in place of its own, and whether all that it started has ended."""
    said = {
        name: f"echo {name} was made"
        for name in ("test", "parity", "types", "docs", "lint", "e2e", "floors", "wheel")
    }
    said |= commands
    (folder / ".ci").mkdir()
    shutil.copy(GATE, folder / ".ci" / "run")
    # What the gate would install where it is missing.
    for name, body in ((".ci/wheel", said.pop("wheel")), ("initdb", "true")):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    (folder / "Makefile").write_text("".join(f"{name}:\n\t@{body}\n" for name, body in said.items()))
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    alive, held = os.pipe()
    ended = subprocess.run(
        ["bash", ".ci/run"],
        cwd=folder,
        env={"PATH": path, "WILDTOOL_CHROMIUM": "none"},
        pass_fds=[held],
        capture_output=True,
        text=True,
    )
    os.close(held)
    # A pipe that nobody holds any more can be read.
    all_ended = bool(select([alive], [], [], 20)[0])
    os.close(alive)
    return ended, all_ended


def test_all_commands_are_made_once(tmp_path: Path):
    ended, all_ended = gate(tmp_path, {})
    assert ended.returncode == 0 and all_ended, ended.stderr
    made = [line.split()[0] for line in ended.stdout.splitlines() if line.endswith(" was made")]
    assert made == ["test", "e2e", *chain(*BESIDE)]


@pytest.mark.parametrize("name", [*chain(*BESIDE)])
def test_a_failure_beside_ends_the_gate_and_is_shown(tmp_path: Path, name: str):
    ended, _ = gate(tmp_path, {name: "echo a planted fault; exit 1"})
    assert ended.returncode != 0
    (its,) = (names for names in BESIDE if name in names)
    left_out = its[its.index(name) + 1 :]
    assert not [each for each in left_out if f"{each} was made" in ended.stdout]
    assert "a planted fault" in ended.stdout and "== done" not in ended.stdout


@pytest.mark.parametrize("beside", ["lint", "wheel"])
def test_where_the_gate_fails_what_runs_beside_is_shown_and_ended(tmp_path: Path, beside: str):
    # The command fails once the other is at work.
    os.mkfifo(tmp_path / "begun")
    ended, all_ended = gate(
        tmp_path,
        {"e2e": "read line <begun; exit 1", beside: "echo a second fault; echo >begun; sleep 600"},
    )
    assert ended.returncode != 0 and "a second fault" in ended.stdout
    assert all_ended
