"""Runs that an earlier version recorded are shown, judged and played on; `tests/golden/runs-0.1` holds some.

`gold`, `asked`, `cached`: whole runs. `killed`: one that was killed, with a torn last line. `imported`: a replies file of
one session. A bundle of `asked`, without its data. And a cache.
"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from e2e.command import playing, recorded, wildtool
from e2e.command import verdicts as all_of
from faults.server import FaultServer

GOLDEN = Path(__file__).parents[1] / "golden" / "runs-0.1"


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    with tarfile.open(GOLDEN / "folders.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def verdicts(folder: Path) -> list[tuple[Any, ...]]:
    """What was found of each unit; how it is explained, a later version may say in other words."""
    columns = ("item", "repeat", "unit", "outcome", "score", "steps", "prompt_tokens")
    return [tuple(row[name] for name in columns) for row in all_of(folder)]


async def counts(cwd: Path, *words: object) -> dict[str, dict[str, int]]:
    ended = await wildtool("show", *words, "--json", cwd=cwd)
    assert ended.status == 0, ended.err
    runs: list[dict[str, Any]] = json.loads(ended.out)["runs"]
    return {run["run"]: {name: n for name, n in run["counts"].items() if n} for run in runs}


async def test_runs_of_before_are_shown(golden: Path):
    assert await counts(golden, "runs", "imported") == {
        "asked": {"wrong": 8},
        "cached": {"wrong": 4},
        "gold": {"correct": 8},
        "killed": {"unplayed": 3, "wrong": 5},
        "them": {"wrong": 4},
    }
    assert await counts(golden, "runs/gold", "--profile", "fixed") == {"gold": {"correct": 8}}


async def test_a_bundle_of_before_is_shown(golden: Path):
    assert await counts(golden, GOLDEN / "asked.bundle.zip") == {"asked": {"wrong": 8}}


async def test_runs_of_before_are_judged_again(golden: Path):
    for run in ("asked", "gold"):
        before = verdicts(golden / "runs" / run)
        assert (await wildtool("score", f"runs/{run}", cwd=golden)).status == 0
        assert verdicts(golden / "runs" / run) == before


async def test_a_whole_run_of_before_goes_on_and_asks_nothing(golden: Path):
    folder = golden / "runs" / "gold"
    before, rows = verdicts(folder), recorded(folder)
    words = ("run", "wild-mini", "--model", "baseline/gold", "--limit", 2, "--out", folder)
    assert (await wildtool(*words, cwd=golden)).status == 0
    assert (verdicts(folder), recorded(folder)) == (before, rows)


async def test_a_killed_run_of_before_is_played_to_its_end_and_asks_only_what_is_missing(golden: Path):
    folder, whole = golden / "runs" / "killed", golden / "runs" / "asked"
    kept = recorded(folder)
    async with FaultServer("ok") as server:
        about = json.loads((folder / "run.json").read_text())
        about["identity"]["models"]["agent"]["settings"]["base_url"] = server.base_url
        (folder / "run.json").write_text(json.dumps(about))
        assert (await wildtool(*playing(server, folder, limit=2), cwd=golden)).status == 0
        assert server.received == len(recorded(whole)) - len(kept)
    assert recorded(folder)[: len(kept)] == kept
    assert verdicts(folder) == verdicts(whole)


async def test_a_cache_of_before_still_answers(golden: Path):
    address = json.loads((golden / "runs/cached/run.json").read_text())
    url = address["identity"]["models"]["agent"]["settings"]["base_url"]
    words = ("run", "wild-mini", "--model", "m", "--base-url", url, "--limit", 1, "--retries", 0)
    # Nobody answers at that address any more.
    ended = await wildtool(*words, "--cache", "cache", "--out", "again", "--concurrency", 1, cwd=golden)
    assert ended.status == 0, ended.err
    assert verdicts(golden / "again") == verdicts(golden / "runs/cached")
