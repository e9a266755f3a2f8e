"""The installed command as a process, and what it left behind."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.forks import Fork, fork
from faults.server import FaultServer
from wildtool.engine.score.verdict_table import relation, verdicts_path

COMMAND = Path(sys.executable).with_name("wildtool")
HURRIED = {"CLOCK_TIMES": "20"}
"""Variables of a command that waits for nothing but the clock: its event loop's runs so much faster, on Linux."""
LIMIT_S = 400
"""No command of a test takes longer, however slow the machine: it hangs."""
END_S = 30
"""For a process to end that shall."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


async def start(
    *words: object, cwd: Path, program: Path = COMMAND, **environment: str
) -> Fork | asyncio.subprocess.Process:
    """Starts `wildtool WORDS`, or another Python program, without any key or endpoint of the developer's own."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "WILDTOOL_"))
    }
    if sys.platform == "linux":
        return fork(program, *map(str, words), cwd=cwd, env=clean | environment)
    return await asyncio.create_subprocess_exec(
        program,
        *map(str, words),
        cwd=cwd,
        env=clean | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def wildtool(*words: object, cwd: Path, **environment: str) -> Ended:
    """Runs `wildtool WORDS` to its end."""
    return await ended(await start(*words, cwd=cwd, **environment))


async def ended(process: Fork | asyncio.subprocess.Process) -> Ended:
    """How a command ends that was started. It is killed where it does not."""
    try:
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        raise AssertionError(f"the command did not end in {LIMIT_S} s") from None
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


def end(process: "subprocess.Popen[Any]") -> None:
    """Ends a process of a test, which gets some time for it."""
    process.terminate()
    try:
        process.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(END_S)


async def until(
    condition: Callable[[], bool], process: Fork | asyncio.subprocess.Process | None = None
) -> None:
    """Waits for something that other processes do. Fails where it does not come about, with the words of a process that
    ended without doing it."""
    async with asyncio.timeout(LIMIT_S):
        while not condition():
            if process is not None and process.returncode is not None:
                assert condition(), f"the command ended too early: {await ended(process)}"
                return
            await asyncio.sleep(0.005)


def playing(server: FaultServer, out: Path, *more: object, limit: int = 1, retries: int = 0) -> list[object]:
    """The words of a run of the embedded set against the server."""
    words = ["run", "wild-mini", "--model", "m", "--base-url", server.base_url, "--out", out]
    return [*words, "--limit", limit, "--retries", retries, *more]


def verdicts(folder: Path, profile: str = "official") -> list[dict[str, Any]]:
    """The verdict rows of a run, without what differs between equal runs."""
    rows = relation([verdicts_path(folder, profile)])
    unsteady = {"run", "model", "latency_s", "attempts"}
    return [
        {name: value for name, value in zip(rows.columns, row, strict=True) if name not in unsteady}
        for row in rows.fetchall()
    ]


def lines(folder: Path) -> int:
    """How many whole lines a record has, its header included."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("record*"))


def recorded(folder: Path) -> list[tuple[str, int, str, int]]:
    """The addresses of all replies in a record, a torn last line left out."""
    lines = [line for path in folder.glob("record*") for line in path.read_bytes().splitlines(keepends=True)]
    rows = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return [(r["item"], r["repeat"], r["unit"], r["step"]) for r in rows if r["row"] == "step"]


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
