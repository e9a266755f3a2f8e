"""A run that is killed loses at most the calls in flight, and ends as if nothing had happened."""

import asyncio
import random
import signal
from pathlib import Path

from e2e.command import Ended, lines, playing, recorded, start, verdicts, wildtool
from faults.server import FaultServer

KILLS = 20
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


async def test_a_run_killed_twenty_times_ends_as_an_undisturbed_one(tmp_path: Path):
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


async def test_ctrl_c_ends_a_run_with_130_and_the_same_command_goes_on(tmp_path: Path):
    async with FaultServer("ok", delay_s=0.01) as server:
        words = playing(server, tmp_path / "run", "--concurrency", CONCURRENCY, limit=32)
        ended = await signalled(signal.SIGINT, 20, words, tmp_path / "run", tmp_path)
        assert ended.status == 130
        assert "run the same command again" in ended.err
        assert "Traceback" not in ended.err
        asked = set(server.answered)
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    assert len(verdicts(tmp_path / "run")) == 128
    assert sum(server.asked[key] - 1 for key in asked) <= CONCURRENCY
