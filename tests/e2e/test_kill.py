"""A run that is killed loses at most the calls in flight, and ends as if nothing had happened."""

import asyncio
import json
import random
import signal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from e2e.command import Ended, lines, playing, recorded, start, verdicts, wildtool
from engine.test_suite import SCHEMA
from faults.server import Answer, Call, FaultServer
from long import a_fiftieth_of
from parity.cases import oracle_folder

KILLS = a_fiftieth_of(20)
CONCURRENCY = 4


async def signalled(sent: signal.Signals, at: int, words: list[object], folder: Path, cwd: Path) -> Ended:
    """Starts the command, sends it a signal once its record has so many lines, and waits for its end."""
    process = await start(*words, cwd=cwd)
    ended = asyncio.create_task(process.communicate())
    while lines(folder) < at:
        assert not ended.done(), await ended
        await asyncio.sleep(0.001)
    process.send_signal(sent)
    out, err = await ended
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def test_a_run_killed_many_times_ends_as_an_undisturbed_one(tmp_path: Path):
    async with FaultServer("ok", delay_s=0.01) as server:
        calm, torn = tmp_path / "calm", tmp_path / "torn"
        more = ("--concurrency", CONCURRENCY, "--quiet")
        assert (await wildtool(*playing(server, calm, *more, limit=32), cwd=tmp_path)).status == 0
        steps = len(recorded(calm))
        server.received = 0

        words = playing(server, torn, *more, limit=32)
        lost = 0
        for moment in sorted(random.Random(2026).sample(range(1, steps - CONCURRENCY), KILLS)):
            ended = await signalled(signal.SIGKILL, moment, words, torn, tmp_path)
            assert ended.status == -signal.SIGKILL
            lost_so_far = server.received - len(recorded(torn))
            assert 0 <= lost_so_far - lost <= CONCURRENCY
            lost = lost_so_far
        assert (await wildtool(*words, cwd=tmp_path)).status == 0

    assert server.received == steps + lost
    assert len(set(recorded(torn))) == len(recorded(torn)) == steps
    assert verdicts(torn) == verdicts(calm)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
async def test_ctrl_c_and_sigterm_end_a_run_with_130_and_the_same_command_goes_on(
    sent: signal.Signals, tmp_path: Path
):
    async with FaultServer("ok", delay_s=0.01) as server:
        words = playing(server, tmp_path / "run", "--concurrency", CONCURRENCY, limit=32)
        ended = await signalled(sent, 20, words, tmp_path / "run", tmp_path)
        assert ended.status == 130
        assert "run the same command again" in ended.err
        assert "Traceback" not in ended.err
        asked = set(server.answered)
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    assert len(verdicts(tmp_path / "run")) == 128
    assert sum(server.asked[key] - 1 for key in asked) <= CONCURRENCY


MOMENTS = (4, 16)
"""Requests at which a suite is killed: in its first calls, and when a part of several benchmarks is recorded."""
PULLED = oracle_folder("rotbench").parents[1] / "data"
OTHERS = {
    name: source
    for name, source in {
        "rotbench": PULLED / "rotbench",
        "glaive": PULLED / "glaive" / "synthetic_raw.jsonl",
    }.items()
    if source.exists()
}
"""Benchmarks of the suite other than the embedded sets, with their data, where these are at hand."""


def suite_document(place: Path) -> Any:
    """The document of a suite without what differs between equal runs."""
    document = json.loads((place / "runs" / "suite.json").read_text())
    jsonschema.validate(document, SCHEMA)
    for run in document["runs"]:
        run["metrics"] = [metric for metric in run["metrics"] if metric["unit"] != "s"]
    return document


async def test_a_suite_killed_in_the_middle_ends_as_an_undisturbed_one(tmp_path: Path):
    data = {"WILDTOOL_DATA_DIR": str(tmp_path / "data")}
    for name, source in OTHERS.items():
        pulled = await wildtool("data", "pull", name, "--from", source, cwd=tmp_path, **data)
        assert pulled.status == 0
    calm, torn = tmp_path / "calm", tmp_path / "torn"
    for place in (calm, torn):
        place.mkdir()
    async with FaultServer("ok") as server:
        words = ["run", "all", "--model", "m", "--base-url", server.base_url]
        words += ["--limit", "2", "--concurrency", str(CONCURRENCY), "--out", "runs", "--quiet"]
        assert (await wildtool(*words, cwd=calm, **data)).status == 0
        steps, server.received = server.received, 0
        ok = server.behave

        for moment in MOMENTS:
            process = await start(*words, cwd=torn, **data)

            def behave(call: Call, process: Any = process, moment: int = moment) -> Answer:
                if server.received == moment:
                    process.send_signal(signal.SIGKILL)
                return ok(call)

            server.behave = behave
            await process.communicate()
            assert process.returncode == -signal.SIGKILL, "it was over before the request to be killed at"
            assert not (torn / "runs" / "suite.json").exists()
        server.behave = ok
        left = {folder.parent.name for folder in (torn / "runs").glob("*/m") if recorded(folder)}
        assert left, "something was recorded before"
        assert (await wildtool(*words, cwd=torn, **data)).status == 0
        assert steps <= server.received <= steps + CONCURRENCY * len(MOMENTS) * (2 + len(OTHERS))

    document = suite_document(torn)
    assert document == suite_document(calm)
    assert {run["benchmark"] for run in document["runs"]} == {"wild-mini", "ledger", *OTHERS}
    for run in document["runs"]:
        folders = [place / run["folder"] for place in (calm, torn)]
        assert sorted(recorded(folders[0])) == sorted(recorded(folders[1]))
        assert len(set(recorded(folders[1]))) == len(recorded(folders[1]))
        assert verdicts(folders[0], run["profile"]) == verdicts(folders[1], run["profile"])
