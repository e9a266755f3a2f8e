"""A newcomer's own `wildtool.toml` at a terminal: one question, and none afterwards."""

import os
import pty
import re
import subprocess
from pathlib import Path

from e2e.command import COMMAND, LIMIT_S, playing, wildtool
from faults.server import FaultServer

FILE = '[run]\nmodel = "baseline/gold"\nlimit = 1\nout = "../runs"\n'


def at_a_terminal(folder: Path, answer: str, *words: str) -> tuple[int, str]:
    """The exit status and the screen of a command whose standard streams are a terminal."""
    shown, terminal = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("WILDTOOL_")}
    process = subprocess.Popen(
        [COMMAND, *words], cwd=folder, env={**clean, "XDG_CONFIG_HOME": str(folder / "config")},
        stdin=terminal, stdout=terminal, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    os.write(shown, f"{answer}\n".encode())
    screen = b""
    try:
        while part := os.read(shown, 4096):
            screen += part
    except OSError:
        pass  # how Linux says that the other side is closed
    finally:
        os.close(shown)
    return process.wait(LIMIT_S), screen.decode()


def test_a_newcomers_own_file_costs_one_answer(tmp_path: Path):
    place = tmp_path / "mine"
    place.mkdir()
    (place / "wildtool.toml").write_text(FILE)
    status, screen = at_a_terminal(place, "n", "run", "wild-mini", "-q")
    assert status == 2 and "write to ../runs" in screen and "[y/N]" in screen
    assert not (tmp_path / "runs").exists()
    status, screen = at_a_terminal(place, "y", "run", "wild-mini", "-q")
    assert status == 0 and "write to ../runs" in screen
    status, screen = at_a_terminal(place, "n", "run", "wild-mini", "-q")
    assert status == 0 and "[y/N]" not in screen
    (place / "wildtool.toml").write_text(FILE.replace("limit = 1", "limit = 2"))
    assert at_a_terminal(place, "n", "run", "wild-mini", "-q")[0] == 2
    status, screen = at_a_terminal(place, "y", "trust")
    assert status == 0 and "is trusted until it changes" in screen


async def test_workers_of_a_command_trust_its_own_options(tmp_path: Path):
    async with FaultServer("ok") as server:
        key = {"MY_KEY": "sk-of-mine-0451-long"}
        shared = [*playing(server, tmp_path / "run"), "--api-key-env", "MY_KEY", "--on", "local:1"]
        ended = await wildtool(*shared, cwd=tmp_path, **key)
        assert ended.status == 0, ended.err
        by_hand = await wildtool("worker", "--run", tmp_path / "run", cwd=tmp_path, **key)
        assert by_hand.status == 2 and "send MY_KEY to" in by_hand.err
        digest = re.findall(r"\b[0-9a-f]{64}\b", by_hand.err)[0]
        helped = await wildtool("worker", "--run", tmp_path / "run", "--trust", digest, cwd=tmp_path, **key)
        assert helped.status == 0, helped.err
