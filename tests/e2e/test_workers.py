"""Workers that share a run give the verdicts of one process, whatever is killed meanwhile."""

import asyncio
import json
import os
import random
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from e2e.command import ended, playing, recorded, start, until, verdicts, wildtool
from faults.planted_modules import PlantedModules
from faults.server import FaultServer, ok
from wildtool.engine.record.worker_list import read_workers

CONCURRENCY = 2
WORKERS = 3
SESSIONS = 16
MORE = ("--concurrency", CONCURRENCY)
KILLS = 6


def shared(
    server: FaultServer,
    out: object,
    *more: object,
    workers: int = WORKERS,
    limit: int = SESSIONS,
    retries: int = 3,
) -> list[object]:
    """The words of a run by workers."""
    model = ["run", "wild-mini", "--model", "m", "--base-url", server.base_url, "--out", out]
    return [*model, "--limit", limit, "--retries", retries, *MORE, "--on", f"local:{workers}", *more]


def reports(store: Path) -> dict[int, dict[str, Any]]:
    """What each worker last said, by process id."""
    said: dict[int, dict[str, Any]] = {}
    for file in (store / "worker").glob("[!.]*"):
        with suppress(OSError, ValueError):
            said[int(file.name.rpartition(".")[2].split("-")[0])] = json.loads(file.read_bytes())
    return said


def is_alive(pid: int) -> bool:
    """Whether there is such a process."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def files(folder: Path) -> list[bytes]:
    """The content of all files below a folder."""
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


async def calm_run(server: FaultServer, tmp_path: Path) -> list[dict[str, Any]]:
    """The verdicts of one process."""
    words = playing(server, tmp_path / "calm", *MORE, "--quiet", limit=SESSIONS, retries=3)
    assert (await wildtool(*words, cwd=tmp_path)).status == 0
    return verdicts(tmp_path / "calm")


async def test_three_workers_give_the_verdicts_of_one_process_and_send_nothing_twice(tmp_path: Path):
    async with FaultServer("ok", delay_s=0.01) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        run = await wildtool(*shared(server, tmp_path / "run"), cwd=tmp_path)
        assert run.status == 0, run.err
        assert server.received == steps
        assert "accuracy: task" in run.out
        assert "m: 16 of 16 shards done, 0 held · 0 workers · 16 items and" in run.err
        listed = read_workers(tmp_path / "run")
        assert sum(worker.items for worker in listed) == SESSIONS
        assert all(worker.ended and worker.shares == [] for worker in listed)
        again = await wildtool(*shared(server, tmp_path / "run"), cwd=tmp_path)
        assert (again.status, server.received) == (0, steps)
    assert verdicts(tmp_path / "run") == calm
    assert len(set(recorded(tmp_path / "run"))) == len(recorded(tmp_path / "run")) == steps


async def test_workers_import_nothing_from_the_current_folder(tmp_path: Path):
    modules = PlantedModules(tmp_path)
    words = ("run", "wild-mini", "--model", "baseline/gold", "--limit", 1, "--on", "local:1", "--out", "run")
    run = await wildtool(*words, cwd=tmp_path)
    assert run.status == 0, run.err
    assert modules.executed() == []


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_no_worker_outlives_the_command(sent: signal.Signals, tmp_path: Path):
    async with FaultServer("ok", delay_s=0.2) as server:
        process = await start(*shared(server, tmp_path / "run", "--quiet", workers=2), cwd=tmp_path)
        await until(lambda: len(reports(tmp_path / "run" / "store")) == 2, process)
        workers = [*reports(tmp_path / "run" / "store")]
        process.send_signal(sent)
        run = await ended(process)
        assert run.status == (-sent if sent == signal.SIGKILL else 130)
        await until(lambda: not any(map(is_alive, workers)))


async def test_a_run_whose_workers_and_controller_are_killed_ends_with_the_same_verdicts(tmp_path: Path):
    async with FaultServer("ok", delay_s=0.02) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        out, chance = tmp_path / "run", random.Random(2026)
        words = shared(server, out, "--quiet")
        process = await start(*words, cwd=tmp_path)
        killed: set[int] = set()
        for number in range(KILLS):
            target = (number + 1) * steps // (KILLS + 4)
            await until(lambda: server.received >= target or process.returncode is not None)  # noqa: B023
            working = [
                pid for pid, said in reports(out / "store").items() if not said["ended"] and pid not in killed
            ]
            if number == KILLS - 1:
                # The controller: its workers give up their shares and end.
                process.send_signal(signal.SIGKILL)
                assert (await ended(process)).status == -signal.SIGKILL
                process = await start(*words, cwd=tmp_path)
            elif working:
                killed.add(victim := chance.choice(working))
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
        last = await ended(process)
        assert last.status == 0, last.err
    # A reply is recorded before the next call of its slot begins. So a kill costs the calls in flight and no more: those
    # of one worker, or of all workers that a killed controller leaves behind.
    most_in_flight = CONCURRENCY * (len(killed) + WORKERS)
    assert steps <= server.received <= steps + most_in_flight, (server.received - steps, most_in_flight)
    assert verdicts(out) == calm


@pytest.mark.long
async def test_of_two_controllers_one_wins_and_the_other_says_so(tmp_path: Path):
    async with FaultServer("ok", delay_s=0.05) as server:
        words = shared(server, (tmp_path / "run").as_uri(), "--quiet")
        first = await start(*words, cwd=tmp_path)
        await until(lambda: server.received > 0, first)
        second = await wildtool(*words, cwd=tmp_path)
        assert second.status == 2
        assert "another wildtool" in second.err
        assert (await ended(first)).status == 0


@pytest.mark.long
async def test_a_run_at_an_address_is_read_by_other_commands_and_helped_by_other_workers(tmp_path: Path):
    url = (tmp_path / "bucket" / "model").as_uri()
    async with FaultServer("ok", delay_s=0.03) as server:
        calm = await calm_run(server, tmp_path)
        process = await start(*shared(server, url, "--quiet", workers=1), cwd=tmp_path)
        await until((tmp_path / "bucket" / "model" / "run.json").exists, process)
        helper = await wildtool("worker", "--run", url, cwd=tmp_path)
        assert helper.status == 0, helper.err
        assert "this worker played" in helper.err and "played 0 items" not in helper.err
        assert (await ended(process)).status == 0
    for verb in ("show", "score"):
        result = await wildtool(verb, url, cwd=tmp_path)
        assert result.status == 0, result.err
        assert f"{len(calm)}" in result.out
    above = await wildtool("compare", (tmp_path / "bucket").as_uri(), tmp_path / "calm", cwd=tmp_path)
    assert above.status == 0, above.err
    exported = await wildtool("export", url, "--format", "csv", "-o", tmp_path / "out.csv", cwd=tmp_path)
    assert exported.status == 0, exported.err
    gated = await wildtool(
        "gate", (tmp_path / "bucket").as_uri(), "--against", tmp_path / "calm", cwd=tmp_path
    )
    assert gated.status == 0, gated.err


@pytest.mark.long
async def test_workers_together_keep_to_a_limit_of_tokens_and_a_higher_one_continues(tmp_path: Path):
    tokens, out = 18, tmp_path / "run"
    async with FaultServer("ok", delay_s=0.01) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        limit = steps // 2
        words = shared(server, out)
        stopped = await wildtool(*words, "--max-tokens-total", limit * tokens, cwd=tmp_path)
        assert stopped.status == 3, stopped.err
        assert "--max-tokens-total" in stopped.err
        assert limit - 3 * WORKERS * CONCURRENCY * 4 <= server.received <= limit + WORKERS * CONCURRENCY * 4
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
        assert server.received == steps
    assert verdicts(out) == calm


@pytest.mark.long
async def test_workers_of_a_cluster_count_what_a_controlled_run_has_spent(tmp_path: Path):
    tokens, url = 18, (tmp_path / "run").as_uri()
    async with FaultServer("ok", delay_s=0.01) as server:
        words = shared(server, url, "--quiet")
        first = await wildtool(*words, "--max-tokens-total", 20 * tokens, cwd=tmp_path)
        assert first.status == 3, first.err
        launch = ["worker", "slurm", *words[1:-3], "--workers", 2, "--print", "--max-tokens-total"]
        assert (await wildtool(*launch, 20 * tokens, cwd=tmp_path)).status == 0
        assert (await wildtool("worker", "--run", url, cwd=tmp_path)).status == 3
        assert (spent := server.received) <= 20
        assert (await wildtool(*launch, 60 * tokens, cwd=tmp_path)).status == 0
        assert (await wildtool("worker", "--run", url, cwd=tmp_path)).status == 3
        # One of two workers has half of what is left.
        assert server.received - spent == (60 - spent) // 2


@pytest.mark.long
async def test_a_launch_is_refused_while_workers_of_an_earlier_start_work(tmp_path: Path):
    url = (tmp_path / "run").as_uri()
    async with FaultServer("ok", delay_s=0.1) as server:
        launch = ["worker", "slurm", *shared(server, url)[1:-2], "--workers", 1, "--print"]
        assert (await wildtool(*launch, cwd=tmp_path)).status == 0
        worker = await start("worker", "--run", url, cwd=tmp_path)
        await until(lambda: server.received > 0, worker)
        refused = await wildtool(*launch, cwd=tmp_path)
        assert refused.status == 2
        assert "1 workers of an earlier start still work" in refused.err
        assert (await ended(worker)).status == 0
        damaged = tmp_path / "run" / "worker" / "damaged"
        damaged.write_text("[]")
        refused = await wildtool(*launch, cwd=tmp_path)
        assert "1 workers of an earlier start still work" in refused.err, "what cannot be read may work"
        damaged.unlink()
        assert (await wildtool(*launch, cwd=tmp_path)).status == 0


async def test_what_keeps_all_workers_from_working_is_said_once(tmp_path: Path):
    async with FaultServer("401") as server:
        run = await wildtool(*shared(server, tmp_path / "run", "--quiet", workers=2), cwd=tmp_path)
    assert run.status != 0
    assert run.err.count("HTTP 401") == 1, run.err


async def test_a_worker_whose_controller_is_gone_does_not_wait_for_it(tmp_path: Path):
    url = (tmp_path / "run").as_uri()
    async with FaultServer("ok", delay_s=0.01) as server:
        words = shared(server, url, "--quiet", workers=1)
        first = await wildtool(*words, "--max-tokens-total", 20 * 18, cwd=tmp_path)
        assert first.status == 3, first.err
        spent = server.received
        late = await wildtool("worker", "--run", url, cwd=tmp_path)
        assert (late.status, server.received) == (3, spent)
        assert "--max-tokens-total" in late.err


async def test_no_key_reaches_the_store(tmp_path: Path):
    key = "sk-abcdefgh12345678"
    async with FaultServer("ok") as server:
        words = shared(server, tmp_path / "run", "--quiet", "--api-key-env", "SOME_KEY", workers=1, limit=2)
        assert (await wildtool(*words, cwd=tmp_path, SOME_KEY=key)).status == 0
        login = f"http://user:secretword@{server.base_url.removeprefix('http://')}"
        words = shared(server, tmp_path / "other", "--quiet", workers=1)
        words[words.index(server.base_url)] = login
        refused = await wildtool(*words, cwd=tmp_path)
        assert refused.status == 2
        assert "holds a login or a key" in refused.err
    assert not any(key.encode() in data or b"secretword" in data for data in files(tmp_path))


async def test_failed_calls_are_tried_again_by_the_next_start_and_not_before(tmp_path: Path):
    async with FaultServer("mix:0.2", delay_s=0.005) as server:
        words = shared(server, tmp_path / "run", "--quiet", workers=2, limit=2, retries=0)
        first = await wildtool(*words, cwd=tmp_path)
        assert first.status == 3, first.err
        assert "run the same command to continue" in first.err
        assert server.received == sum(server.asked.values()) == len(server.asked)
        server.behave = ok
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    rows = verdicts(tmp_path / "run")
    assert [row["outcome"] for row in rows if row["outcome"] not in ("correct", "wrong")] == []
    assert len(rows) == 8


@pytest.mark.long
async def test_workers_that_a_cluster_starts_share_a_run_and_its_limits_without_a_controller(tmp_path: Path):
    url = (tmp_path / "bucket" / "model").as_uri()
    async with FaultServer("ok", delay_s=0.01) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        run = shared(server, url)[1:-2]
        words = ["worker", "slurm", *run, "--workers", 2, "--print"]
        limited = await wildtool(*words, "--max-tokens-total", steps // 2 * 18, cwd=tmp_path)
        assert limited.status == 0, limited.err
        assert f"exec wildtool worker --run {url}" in limited.out
        both = await asyncio.gather(*(wildtool("worker", "--run", url, cwd=tmp_path) for _ in range(2)))
        assert [each.status for each in both] == [3, 3]
        assert "this worker's part of the limits" in both[0].err
        assert steps // 2 - 16 <= server.received <= steps // 2 + 2 * 4 * CONCURRENCY

        assert (await wildtool(*words, cwd=tmp_path)).status == 0
        both = await asyncio.gather(*(wildtool("worker", "--run", url, cwd=tmp_path) for _ in range(2)))
        assert [each.status for each in both] == [0, 0]
        assert server.received == steps
        score = await wildtool("score", url, cwd=tmp_path, WILDTOOL_CACHE_DIR=str(tmp_path / "copies"))
        assert score.status == 0, score.err
    (copy,) = {file.parent for file in (tmp_path / "copies").rglob("verdicts-*.parquet")}
    assert verdicts(copy) == calm
