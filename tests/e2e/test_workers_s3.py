"""Workers meet in a bucket of a server that speaks S3 (moto, on loopback).

Skipped where there is none: `pip install 'moto[server]'` beside wildtool, or name the program by WILDTOOL_MOTO_SERVER.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import verdicts, wildtool
from e2e.test_workers import calm_run, files, shared
from faults.clusters import MOTO_SERVER, s3_server
from faults.server import FaultServer


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """The environment that names a server with the bucket `runs`."""
    if MOTO_SERVER is None:
        pytest.skip("no moto_server: pip install 'moto[server]', or name it by WILDTOOL_MOTO_SERVER")
    pytest.importorskip("obstore")
    with s3_server() as environment:
        yield environment


async def test_workers_in_a_bucket_give_the_verdicts_of_one_process(tmp_path: Path, s3: dict[str, str]):
    async with FaultServer("ok", delay_s=0.01) as server:
        calm = await calm_run(server, tmp_path)
        steps, server.received = server.received, 0
        address = "s3://runs/some/model"
        run = await wildtool(*shared(server, address, "--quiet", workers=2), cwd=tmp_path, **s3)
        assert run.status == 0, run.err
        assert server.received == steps
        local = tmp_path / "copies"
        shown = await wildtool("show", "s3://runs/some", cwd=tmp_path, WILDTOOL_CACHE_DIR=str(local), **s3)
        assert shown.status == 0, shown.err
        gate = ("gate", address, "--against", tmp_path / "calm")
        gated = await wildtool(*gate, cwd=tmp_path, WILDTOOL_CACHE_DIR=str(local), **s3)
        assert gated.status == 0, gated.err
        score = await wildtool("score", address, cwd=tmp_path, WILDTOOL_CACHE_DIR=str(local), **s3)
        assert score.status == 0, score.err
    copy = local / "runs" / "s3" / "runs" / "some" / "model"
    assert verdicts(copy) == calm
    assert not any(b"anything-secret" in content for content in files(tmp_path))


async def test_a_store_that_is_away_is_named_with_what_to_do(tmp_path: Path, s3: dict[str, str]):
    ended = await wildtool("show", "s3://no-such-bucket/run", cwd=tmp_path, **s3)
    assert ended.status in (2, 3)
    assert "s3://no-such-bucket/run" in ended.err
    assert "Traceback" not in ended.err
