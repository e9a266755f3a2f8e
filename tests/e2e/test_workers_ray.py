"""Workers on a real Ray cluster of four nodes on this machine, in a bucket where there is one.

Skipped where Ray is not installed: `pip install 'wildtool[ray]'`.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import ended, start, until, verdicts, wildtool
from e2e.test_workers import SESSIONS, calm_run, shared
from e2e.test_workers_s3 import s3  # noqa: F401 - a fixture
from faults.clusters import ray_cluster
from faults.planted_modules import PlantedModules
from faults.server import FaultServer


@pytest.fixture(scope="module")
def cluster(s3: dict[str, str]) -> Iterator[dict[str, str]]:  # noqa: F811
    """The environment that names the cluster and the store, which its nodes reach."""
    pytest.importorskip("ray", reason="no Ray: pip install 'wildtool[ray]'")
    with ray_cluster(4, s3) as started:
        yield {**s3, "RAY_ADDRESS": started.address}


async def test_workers_on_four_nodes_give_the_verdicts_of_one_process(
    tmp_path: Path, cluster: dict[str, str]
):
    async with FaultServer("ok", delay_s=0.05) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        words = shared(server, "s3://runs/ray/model", "--quiet")
        words[words.index("--on") + 1] = "ray,workers=4"
        run = await wildtool(*words, cwd=tmp_path, **cluster)
        assert run.status == 0, run.err
        assert server.received == steps
        copies = str(tmp_path / "copies")
        score = await wildtool(
            "score", "s3://runs/ray/model", cwd=tmp_path, WILDTOOL_CACHE_DIR=copies, **cluster
        )
        assert score.status == 0, score.err
    assert verdicts(tmp_path / "copies" / "runs" / "s3" / "runs" / "ray" / "model") == calm


async def test_workers_on_two_nodes_make_the_sessions_of_one_process(tmp_path: Path, cluster: dict[str, str]):
    words = ("generate", "--model", "procedural", "--sessions", 5, "-o")
    assert (await wildtool(*words, "one.jsonl", cwd=tmp_path)).status == 0
    made = await wildtool(*words, "two.jsonl", "--on", "ray,workers=2", cwd=tmp_path, **cluster)
    assert made.status == 0, made.err
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()


async def test_a_run_ends_when_a_node_is_lost_that_nothing_replaces(tmp_path: Path):
    pytest.importorskip("ray", reason="no Ray: pip install 'wildtool[ray]'")
    store, modules = tmp_path / "shared", PlantedModules(tmp_path)
    with ray_cluster(2, {"WILDTOOL_CACHE_DIR": str(tmp_path / "cache")}) as cluster:
        async with FaultServer("ok", delay_s=0.05) as server:
            calm = await calm_run(server, tmp_path)
            words = shared(server, store.as_uri(), "--quiet")
            words[words.index("--on") + 1] = "ray,workers=2"
            process = await start(*words, cwd=tmp_path, RAY_ADDRESS=cluster.address)
            await until(lambda: len(list(store.glob("share/*/*.done"))) >= SESSIONS // 2, process)
            cluster.lose_node()
            run = await ended(process)
            assert run.status == 0, run.err
    copies = str(tmp_path / "copies")
    score = await wildtool("score", store.as_uri(), cwd=tmp_path, WILDTOOL_CACHE_DIR=copies)
    assert score.status == 0, score.err
    (run_json,) = (tmp_path / "copies").rglob("run.json")
    assert verdicts(run_json.parent) == calm
    assert modules.executed() == [], "Ray would let its workers import what lies in the current folder"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
async def test_a_run_that_has_lost_a_node_stops_at_a_signal(sent: signal.Signals, tmp_path: Path):
    pytest.importorskip("ray", reason="no Ray: pip install 'wildtool[ray]'")
    store = tmp_path / "shared"
    with ray_cluster(2, {"WILDTOOL_CACHE_DIR": str(tmp_path / "cache")}) as cluster:
        async with FaultServer("ok", delay_s=0.2) as server:
            words = shared(server, store.as_uri(), "--quiet")
            words[words.index("--on") + 1] = "ray,workers=2"
            process = await start(*words, cwd=tmp_path, RAY_ADDRESS=cluster.address)
            await until(lambda: len(list(store.glob("share/*/*.held"))) >= 2, process)
            cluster.lose_node()
            process.send_signal(sent)
            run = await ended(process)
    assert run.status == 130, run.err
    assert "run the same command again to continue" in run.err
