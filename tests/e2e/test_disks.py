"""Where nothing can be written: a full disk ends a command with 3, and a run that may only be read is shown."""

from pathlib import Path

import pytest

from e2e.command import wildtool
from e2e.filesystems import fill, freeze, small


@pytest.mark.long
@pytest.mark.parametrize("kilobytes", [8, 60, 300, 500])
async def test_a_full_disk_ends_a_run_with_3_and_the_record_intact(tmp_path: Path, kilobytes: int):
    with small(tmp_path / "disk", kilobytes) as disk:
        ended = await wildtool(
            "run", "wild-mini", "--model", "baseline/gold", "--out", disk / "r", cwd=tmp_path
        )
        assert not list(disk.glob("r/*.new"))
    assert (ended.status, "internal error" in ended.err) == (3, False), ended
    assert "No space left" in ended.err or "could not be written" in ended.err


@pytest.mark.parametrize("verb", ["score", "show"])
async def test_a_full_disk_ends_judging_with_3(tmp_path: Path, verb: str):
    with small(tmp_path / "disk", 3000) as disk:
        words = ("run", "wild-mini", "--model", "baseline/gold", "--out", disk / "r")
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
        fill(disk)
        ended = await wildtool(verb, disk / "r", "--profile", "fixed", cwd=tmp_path)
    assert ended.status == 3, ended
    assert "the verdicts could not be written" in ended.err


@pytest.mark.parametrize("verb", ["score", "show"])
async def test_a_run_that_may_only_be_read_is_judged_and_shown(tmp_path: Path, verb: str):
    with small(tmp_path / "disk", 3000) as disk:
        words = ("run", "wild-mini", "--model", "baseline/gold", "--limit", 1, "--out", disk / "r")
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
        freeze(disk)
        ended = await wildtool(verb, disk / "r", "--profile", "fixed", cwd=tmp_path)
    assert ended.status == 0, ended
    assert "4/4" in ended.out
    assert "read-only, so its scores are not saved" in ended.err
