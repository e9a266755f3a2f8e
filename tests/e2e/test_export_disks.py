"""Exports where nothing can be written: status 3 on a full disk, and nothing half written."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from e2e.command import wildtool
from e2e.filesystems import fill, freeze, small
from export.export_build import play
from wildtool.export import EXPORT_FORMATS


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of the gold answers to the embedded set."""
    return play(tmp_path_factory.mktemp("gold") / "r", ids=())


# One form for each way in which files are written.
@pytest.mark.long
@pytest.mark.parametrize(
    "form", ["csv", "parquet", "openai", "hf-results", "hf-card", "eee", "bundle", "inspect"]
)
async def test_a_full_disk_ends_an_export_with_3_and_leaves_nothing(tmp_path: Path, form: str, gold: Path):
    if form == "inspect" and find_spec("inspect_ai") is None:
        pytest.skip("the extra [inspect] is not installed")
    with small(tmp_path / "disk", 12) as disk:
        target = disk / f"x{EXPORT_FORMATS[form].suffix}"
        fill(disk)
        words = ["--hub-dataset", "a/b"] * ("hub_dataset" in EXPORT_FORMATS[form].options)
        ended = await wildtool("export", gold, "--to", form, "-o", target, *words, cwd=tmp_path)
        left = [path for path in disk.rglob("*") if path.is_file()]
    assert ended.status == 3, ended
    assert "could not be written" in ended.err
    assert [path.name for path in left] == ["filler"]


async def test_a_disk_that_may_only_be_read_ends_an_export_with_2(tmp_path: Path):
    await wildtool("run", "wild-mini", "--model", "baseline/gold", "--limit", 1, "--out", "r", cwd=tmp_path)
    with small(tmp_path / "disk", 100) as disk:
        freeze(disk)
        ended = await wildtool("export", "r", "--to", "csv", "-o", disk / "x.csv", cwd=tmp_path)
    assert ended.status == 2, ended
    assert "name another place with --out" in ended.err


async def test_a_run_that_may_only_be_read_is_exported(tmp_path: Path):
    with small(tmp_path / "disk", 3000) as disk:
        await wildtool(
            "run", "wild-mini", "--model", "baseline/gold", "--limit", 1, "--out", disk / "r", cwd=tmp_path
        )
        freeze(disk)
        words = ("export", disk / "r", "--to", "csv", "--profile", "fixed", "-o", "x.csv")
        ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 0, ended
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 5
