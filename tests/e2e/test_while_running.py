"""What others may do with a run while it goes on."""

import asyncio
from pathlib import Path

from e2e.command import Ended, lines, playing, start, verdicts, wildtool
from faults.server import FaultServer
from wildtool.benchmarks.wildtoolbench import WILD_MINI


async def while_running(tmp_path: Path, *words: object) -> tuple[Ended, int]:
    """Ends another command while a run is under way; how it ended, and the exit status of the run."""
    folder = tmp_path / "run"
    async with FaultServer("ok", delay_s=0.05) as server:
        run = await start(*playing(server, folder, "--concurrency", 2, "--quiet", limit=8), cwd=tmp_path)
        while lines(folder) < 5:
            assert run.returncode is None
            await asyncio.sleep(0.001)
        server.hold()
        other = await wildtool(*words, cwd=tmp_path)
        assert run.returncode is None
        server.release()
        await run.communicate()
    assert run.returncode is not None
    return other, run.returncode


async def test_a_run_can_be_shown_and_ends_as_if_nobody_had_looked(tmp_path: Path):
    shown, status = await while_running(tmp_path, "show", "run")
    assert shown.status == 0
    assert "were not played" in " ".join(shown.out.split())
    assert status == 0
    assert len(verdicts(tmp_path / "run")) == 32


async def test_a_second_run_into_the_same_folder_is_refused(tmp_path: Path):
    second = ("run", "wild-mini", "--model", "baseline/gold", "--out", "run")
    refused, status = await while_running(tmp_path, *second)
    assert (refused.status, status) == (2, 0)
    assert "another wildtool is writing" in refused.err


async def test_a_run_whose_data_were_deleted_meanwhile_says_so(tmp_path: Path):
    data = tmp_path / "mine.jsonl"
    data.write_bytes(WILD_MINI.data.locate(None).path.read_bytes())
    async with FaultServer("ok", delay_s=0.05) as server:
        words = (
            "run",
            "wildtoolbench",
            "--data",
            data,
            "--model",
            "m",
            "--base-url",
            server.base_url,
            "--limit",
            1,
        )
        run = await start(*words, "--out", "run", cwd=tmp_path)
        while lines(tmp_path / "run") < 2:
            assert run.returncode is None
            await asyncio.sleep(0.001)
        data.unlink()
        _, err = await run.communicate()
    assert run.returncode == 0
    assert "mine.jsonl: not found at the end of the run" in " ".join(err.decode().split())
