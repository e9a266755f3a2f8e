"""Workers on a real Ray cluster of four nodes on this machine, in a bucket where there is one.

Skipped where Ray is not installed: `pip install 'wildtool[ray]'`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import verdicts, wildtool
from e2e.test_workers import calm_run, shared
from e2e.test_workers_s3 import s3  # noqa: F401 - a fixture
from faults.clusters import ray_cluster
from faults.server import FaultServer


@pytest.fixture
def cluster(s3: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:  # noqa: F811
    """The address of the cluster; its nodes reach the store."""
    pytest.importorskip("ray", reason="no Ray: pip install 'wildtool[ray]'")
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    with ray_cluster(4, s3) as address:
        yield address


async def test_workers_on_four_nodes_give_the_verdicts_of_one_process(tmp_path: Path, cluster: str):
    async with FaultServer("ok", delay_s=0.05) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        words = shared(server, "s3://runs/ray/model", "--quiet")
        words[words.index("--on") + 1] = "ray,workers=4"
        run = await wildtool(*words, cwd=tmp_path, RAY_ADDRESS=cluster)
        assert run.status == 0, run.err
        assert server.received == steps
        copies = {"WILDTOOL_CACHE_DIR": str(tmp_path / "copies")}
        score = await wildtool("score", "s3://runs/ray/model", cwd=tmp_path, **copies)
        assert score.status == 0, score.err
    assert verdicts(tmp_path / "copies" / "runs" / "s3" / "runs" / "ray" / "model") == calm
