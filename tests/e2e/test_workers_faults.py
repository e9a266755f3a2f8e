"""Stores that are away, machines that are lost, clocks that are wrong: the run ends with the verdicts of one process."""

import os
import random
import shutil
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from e2e.command import ended, start, until, verdicts, wildtool
from e2e.test_workers import CONCURRENCY, SESSIONS, WORKERS, calm_run, reports, shared
from faults.bucket import Bucket
from faults.server import FaultServer
from long import a_fiftieth_of

ADDRESS = "s3://runs/some/model-at-fault"
TOKENS = 18
"""Of each call to the server."""
EXPIRED_S = 100
"""Longer than a worker may be silent."""
ROUND = ("worker", "node", "worker", "worker", "store", "worker", "controller")
EVERY_KILL = (*ROUND, *ROUND, *("worker", "node") * 3)
KILLS = EVERY_KILL[: a_fiftieth_of(len(EVERY_KILL))]
WRONG_CLOCKS = """
import os, time
now, skew = time.time, 60 * (os.getpid() % 3 - 1)
time.time = lambda: now() + skew
"""


async def copied_verdicts(folder: Path, environment: dict[str, str]) -> list[dict[str, Any]]:
    """The verdicts of the run in the bucket."""
    pytest.importorskip("obstore")
    score = await wildtool(
        "score", ADDRESS, cwd=folder, WILDTOOL_CACHE_DIR=str(folder / "copies"), **environment
    )
    assert score.status == 0, score.err
    return verdicts(folder / "copies" / "runs" / "s3" / "runs" / "some" / "model-at-fault")


@pytest.mark.long
async def test_a_store_that_is_away_for_a_while_costs_no_call(tmp_path: Path):
    pytest.importorskip("obstore")
    async with FaultServer("ok", delay_s=0.05) as server, Bucket() as bucket:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        process = await start(
            *shared(server, ADDRESS, "--quiet", workers=2), cwd=tmp_path, **bucket.environment
        )
        await until(lambda: server.received >= steps // 4, process)
        bucket.away = True
        await until(lambda: bucket.refused >= 6, process)
        bucket.away = False
        run = await ended(process)
        assert run.status == 0, run.err
        assert bucket.refused >= 6
        assert server.received == steps
        assert await copied_verdicts(tmp_path, bucket.environment) == calm


@pytest.mark.long
async def test_clocks_of_workers_that_differ_by_a_minute_change_nothing(tmp_path: Path):
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(WRONG_CLOCKS)
    async with FaultServer("ok", delay_s=0.02) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        run = await wildtool(
            *shared(server, tmp_path / "run", "--quiet"), cwd=tmp_path, PYTHONPATH=str(tmp_path / "path")
        )
        assert run.status == 0, run.err
        assert server.received == steps
    assert verdicts(tmp_path / "run") == calm
    assert {file.name.split(".")[1] for file in (tmp_path / "run" / "store").glob("share/*/*.held")} == {
        "0001"
    }


def spooled_steps(cache: Path) -> int:
    """Replies on the disk of a machine, at least those that only it has."""
    return sum(file.read_bytes().count(b'"row":"step"') for file in cache.rglob("record*.jsonl"))


class Cluster:
    """A command with its workers, and one worker on a machine of its own."""

    def __init__(self, folder: Path, server: FaultServer, bucket: Bucket) -> None:
        self._spools = folder / "machine-0"
        """The cache of the command's machine, where its workers have what they have not sent."""
        self.environment = {**bucket.environment, "WILDTOOL_CACHE_DIR": str(self._spools)}
        self.lost_calls = 0
        """Calls that may be repeated, since they were in flight or on a disk that is gone."""
        self._folder, self._server, self._bucket = folder, server, bucket
        self._chance = random.Random(2026)
        self._killed: set[int] = set()
        self._nodes = 0

    async def begin(self) -> None:
        words = shared(self._server, ADDRESS, "--quiet")
        self.command = await start(*words, cwd=self._folder, **self.environment)

    async def begin_node(self) -> None:
        self._nodes += 1
        self.cache = self._folder / f"machine-{self._nodes}"
        self.node = await start(
            "worker",
            "--run",
            ADDRESS,
            cwd=self._folder,
            **{**self.environment, "WILDTOOL_CACHE_DIR": str(self.cache)},
        )

    def is_over(self) -> bool:
        """Whether the command has ended."""
        return self.command.returncode is not None

    def working(self) -> list[int]:
        """Process ids of the command's workers that have a heartbeat."""
        pids = {
            int(key.rpartition(".")[2].split("-")[0]): stored.data
            for key, stored in self._bucket.objects.items()
            if "/worker/" in key and "/control/" not in key
        }
        return [
            pid
            for pid, said in pids.items()
            if b'"ended": false' in said and pid != self.node.pid and pid not in self._killed
        ]

    async def age_killed(self) -> None:
        """A worker killed just as it took a share leaves a lease that nobody releases; it expires without a wait.

        Not before the next worker of the machine has sent what the killed one had on its disk: it would be lost to
        whoever takes over the share.
        """
        for pid in self._killed:
            await until(lambda: self.is_over() or not any(self._spools.rglob(f"*.{pid}-*")))  # noqa: B023
            self._bucket.age(f".{pid}-", EXPIRED_S)

    async def kill(self, what: str) -> None:
        """Kills something, and starts it again where nothing else does."""
        if what == "worker" and (working := self.working()):
            self._killed.add(victim := self._chance.choice(working))
            self.lost_calls += CONCURRENCY
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        if what == "controller":
            self.lost_calls += CONCURRENCY * WORKERS
            self.command.send_signal(signal.SIGKILL)
            # Its workers give up their shares meanwhile.
            await until(self.is_over)
            await self.begin()
        if what == "store":
            refused = self._bucket.refused
            self._bucket.away = True
            await until(lambda: self._bucket.refused >= refused + 5 or self.is_over())
            self._bucket.away = False
        if what == "node":
            self.node.send_signal(signal.SIGKILL)
            await ended(self.node)
            self.lost_calls += CONCURRENCY + spooled_steps(self.cache)
            shutil.rmtree(self.cache, ignore_errors=True)
            self._bucket.age(f".{self.node.pid}-", EXPIRED_S)
            await self.begin_node()


async def test_after_kills_of_workers_nodes_controllers_and_the_store_the_verdicts_are_the_same(
    tmp_path: Path,
):
    pytest.importorskip("obstore")
    async with FaultServer("ok", delay_s=0.1) as server, Bucket() as bucket:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        cluster = Cluster(tmp_path, server, bucket)
        await cluster.begin()
        await until(lambda: "runs/some/model-at-fault/run.json" in bucket.objects, cluster.command)
        await cluster.begin_node()
        for number, what in enumerate(KILLS, 1):
            # While the others work, so that calls are in flight each time.
            target = server.received + max(1, (steps - server.received) // (len(KILLS) + 4 - number))
            await until(lambda: server.received >= target or cluster.is_over())  # noqa: B023
            await cluster.kill(what)
        await cluster.age_killed()
        last = await ended(cluster.command)
        bucket.age(f".{cluster.node.pid}-", EXPIRED_S)
        cluster.node.send_signal(signal.SIGKILL)
        await ended(cluster.node)
        assert last.status == 0, last.err
        assert steps <= server.received <= steps + cluster.lost_calls, (
            server.received - steps,
            cluster.lost_calls,
        )
        assert await copied_verdicts(tmp_path, bucket.environment) == calm


@pytest.mark.long
async def test_killed_workers_and_controllers_go_beyond_a_limit_by_the_calls_in_flight_at_most(
    tmp_path: Path,
):
    out, chance = tmp_path / "run", random.Random(7)
    async with FaultServer("ok", delay_s=0.02) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        limit = steps // 2
        words = shared(server, out, "--quiet")
        limited = [*words, "--max-tokens-total", limit * TOKENS]
        process = await start(*limited, cwd=tmp_path)
        killed: set[int] = set()
        for number, what in enumerate(("worker", "worker", "controller", "worker"), 1):
            target = number * limit // 8
            await until(lambda: server.received >= target or process.returncode is not None)  # noqa: B023
            working = [
                pid for pid, said in reports(out / "store").items() if not said["ended"] and pid not in killed
            ]
            if what == "controller":
                process.send_signal(signal.SIGKILL)
                await ended(process)
                process = await start(*limited, cwd=tmp_path)
            elif working:
                killed.add(victim := chance.choice(working))
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
        last = await ended(process)
        assert last.status == 3, last.err
        assert server.received <= limit + CONCURRENCY * (len(killed) + 2 * WORKERS)
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    assert verdicts(out) == calm
    assert len(calm) == 4 * SESSIONS
