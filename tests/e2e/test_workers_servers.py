"""Each worker has a model server of its own, which lives as long as the worker."""

import asyncio
import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from e2e.command import ended, playing, start, until, verdicts, wildtool
from e2e.test_workers import SESSIONS, calm_run, is_alive
from faults import server as server_module
from faults.server import Answer, FaultServer, http

SCRIPT = """
import os, runpy, sys
from pathlib import Path
Path({folder!r}, str(os.getpid())).write_text(sys.argv[1])
sys.argv[1:] = ["--port", sys.argv[1], "--behaviour", "ok", "--delay-ms", {delay!r}]
runpy.run_path({server!r}, run_name="__main__")
"""


def script(folder: Path, delay_ms: int) -> str:
    """The command of a server that leaves a file named by its process id, with its port."""
    (folder / "servers").mkdir()
    text = SCRIPT.format(
        folder=str(folder / "servers"), delay=str(delay_ms), server=str(server_module.__file__)
    )
    (folder / "server.py").write_text(text)
    return f"{shlex.join([sys.executable, str(folder / 'server.py')])} {{port}}"


def words(folder: Path, command: str, *more: object, workers: int = 2) -> list[object]:
    """A run by workers with a server each."""
    model = [
        "run",
        "wild-mini",
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:{port}/v1",
        "--limit",
        SESSIONS,
    ]
    return [*model, "-j", 2, "--on", f"local:{workers}", "--server", command, "--quiet", *more]


def servers(folder: Path) -> list[int]:
    """The process ids of all servers that were started."""
    return [int(file.name) for file in (folder / "servers").iterdir()]


async def calm(folder: Path) -> list[dict[str, object]]:
    async with FaultServer("ok") as server:
        return await calm_run(server, folder)


async def test_each_worker_has_a_server_and_the_run_is_that_of_one(tmp_path: Path):
    command = script(tmp_path, 20)
    run = await wildtool(
        *words(tmp_path, command, "--out", tmp_path / "run"),
        cwd=tmp_path,
        WILDTOOL_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert run.status == 0, run.err
    assert verdicts(tmp_path / "run") == await calm(tmp_path)
    assert len(servers(tmp_path)) == 2
    assert not any(map(is_alive, servers(tmp_path)))
    # Ports differ from start to start, and the run does not.
    assert "http://127.0.0.1:0/v1" in (tmp_path / "run" / "run.json").read_text()
    assert len(list((tmp_path / "cache" / "servers").iterdir())) == 2
    job = (tmp_path / "run" / "store" / "job.json").read_text()
    assert "server.py" not in job, "a store chooses no command"


async def test_shares_of_a_worker_whose_server_dies_are_played_by_the_others(tmp_path: Path):
    command = script(tmp_path, 100)
    process = await start(*words(tmp_path, command, "--out", tmp_path / "run"), cwd=tmp_path)
    store = tmp_path / "run" / "store"
    # Both workers work: one whose server ends before has said nothing yet.
    await until(lambda: len(list(store.glob("worker/[!.]*"))) == 2, process)
    os.kill(servers(tmp_path)[0], signal.SIGKILL)
    run = await ended(process)
    assert run.status == 0, run.err
    assert "the server of this worker ended with status 137" in run.err
    assert verdicts(tmp_path / "run") == await calm(tmp_path)
    said = [json.loads(file.read_bytes())["said"] for file in store.glob("worker/[!.]*")]
    assert any("ended with status 137" in text for text in said)


async def test_calls_in_a_tool_format_go_to_the_server_of_the_worker(tmp_path: Path):
    format_ = ("--tool-format", "hermes", "--retries", 0, "--out", tmp_path / "run")
    run = await wildtool(*words(tmp_path, script(tmp_path, 0), *format_, workers=1), cwd=tmp_path)
    assert run.status == 0, run.err


async def test_where_every_call_failed_the_reason_is_said(tmp_path: Path):
    async with FaultServer("ok") as server:
        server.behave = lambda call: Answer(http(200, b'{"error": {"message": "out of paper"}}'))
        shared = playing(server, tmp_path / "run", "--on", "local:1")
        run = await wildtool(*shared, cwd=tmp_path)
    assert run.status == 3
    assert "every call failed: wrong shape (4)" in run.err and "out of paper" in run.err


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_no_server_outlives_the_command(tmp_path: Path, sent: signal.Signals):
    command = script(tmp_path, 200)
    process = await start(*words(tmp_path, command, "--out", tmp_path / "run"), cwd=tmp_path)
    await until(lambda: any((tmp_path / "run" / "store").glob("share/*/*.held")), process)
    process.send_signal(sent)
    await ended(process)
    started = servers(tmp_path)
    assert started
    await until(lambda: not any(map(is_alive, started)))


async def test_no_loading_server_outlives_the_command(tmp_path: Path):
    (tmp_path / "servers").mkdir()
    loading = "import os, sys, time; open(f'{sys.argv[1]}/{os.getpid()}', 'x'); time.sleep(600)"
    command = f"{shlex.join([sys.executable, '-c', loading, str(tmp_path / 'servers')])} {{port}}"
    process = await start(*words(tmp_path, command, "--out", tmp_path / "run"), cwd=tmp_path)
    await until(lambda: len(servers(tmp_path)) == 2, process)
    process.send_signal(signal.SIGKILL)
    assert (await ended(process)).status == -signal.SIGKILL
    await until(lambda: not any(map(is_alive, servers(tmp_path))))
    assert len(servers(tmp_path)) == 2, "none was started again"


async def test_a_server_that_does_not_start_is_named(tmp_path: Path):
    command = "wildtool-no-such-server --port {port}"
    run = await wildtool(*words(tmp_path, command, "--out", tmp_path / "run", workers=1), cwd=tmp_path)
    assert run.status == 3
    assert "wildtool-no-such-server: No such file or directory" in run.err


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ("--server", "serve {port}", "--on", "local:1", "--base-url", "http://127.0.0.1:1/v1"),
            "need {port}",
        ),
        (("--server", "serve", "--on", "local:1", "--base-url", "http://127.0.0.1:{port}/v1"), "need {port}"),
        (("--server", "serve {port}", "--base-url", "http://127.0.0.1:{port}/v1"), "give --on"),
    ],
)
async def test_what_cannot_be_served_is_refused(tmp_path: Path, more: tuple[str, ...], message: str):
    run = await wildtool("run", "wild-mini", "--model", "m", *more, "--out", tmp_path / "run", cwd=tmp_path)
    assert run.status == 2
    assert message in run.err


async def test_a_worker_executes_no_command_that_a_store_names(tmp_path: Path):
    url = (tmp_path / "run").as_uri()
    command = script(tmp_path, 0)
    launch = ["worker", "slurm", *words(tmp_path, command)[1:], "--out", url, "--workers", 1, "--print"]
    position = launch.index("--on")
    del launch[position : position + 2]
    printed = await wildtool(*launch, cwd=tmp_path)
    assert printed.status == 0, printed.err
    line = shlex.split(printed.out.splitlines()[-1])
    assert line[:-1] == ["exec", "wildtool", "worker", "--run", url, "--server", command, "--trust"]
    without = await wildtool(*line[2:5], cwd=tmp_path)
    assert without.status == 2
    assert "give --server" in without.err
    assert (await wildtool(*line[2:], cwd=tmp_path)).status == 0
    assert len(await asyncio.to_thread(servers, tmp_path)) == 1
