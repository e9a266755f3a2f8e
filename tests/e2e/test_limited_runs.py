"""Limits, cache and config file through the installed command; no key in anything that a run leaves or says."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from e2e.command import HURRIED, contents, playing, recorded, verdicts, wildtool
from faults.server import FaultServer
from wildtool import trust

KEY = "sk-very-secret-7f3a"


def config(server: FaultServer, folder: Path, more: str = "") -> None:
    (folder / "wildtool.toml").write_text(
        f'[run]\nlimit = 2\n[models.mine]\nmodel = "m"\nbase_url = "{server.base_url}"\napi_key_env = "MY_KEY"\n'
        f"prices = {{input = 1000, output = 1000}}\n{more}"
    )
    trust(folder, trust(folder).digest)


async def test_a_run_stopped_by_a_limit_says_which_and_goes_on_with_a_higher_one(tmp_path: Path):
    words = ["run", "wild-mini", "--model", "mine", "--out", "run", "--limit", "32"]
    async with FaultServer("ok") as server:
        config(server, tmp_path)
        ended = await wildtool(*words, "--max-cost", "2.5", cwd=tmp_path, MY_KEY=KEY)
        assert ended.status == 3, ended
        assert (
            "run: stopped: the limit of 2.5 USD (--max-cost) leaves no room for the next call." in ended.err
        )
        assert "Run the same command with a higher limit to continue." in ended.err
        steps, asked = recorded(tmp_path / "run"), server.received
        assert len(steps) == asked > 0
        assert "unplayed" in {row["outcome"] for row in verdicts(tmp_path / "run")}

        assert (await wildtool(*words, "--max-cost", 500, cwd=tmp_path, MY_KEY=KEY)).status == 0
        assert len(recorded(tmp_path / "run")) == server.received > asked
    assert set(server.asked.values()) == {1}
    sittings = json.loads((tmp_path / "run" / "run.json").read_text())["sittings"]
    assert [sitting["status"] for sitting in sittings] == ["limit reached", "done"]
    assert sum(sitting["spent"]["calls"] for sitting in sittings) == server.received


async def test_an_endpoint_that_refuses_at_times_gets_all_calls_answered_in_the_end(tmp_path: Path):
    async with FaultServer("faults-then-ok:1") as server:
        words = playing(server, tmp_path / "run", "--rpm", 60_000, "--tpm", 60_000_000, retries=5, limit=2)
        assert (await wildtool(*words, cwd=tmp_path, **HURRIED)).status == 0
    assert len(recorded(tmp_path / "run")) == len(server.answered)


async def test_two_processes_share_a_cache_and_none_believes_a_damaged_reply(tmp_path: Path):
    cache = tmp_path / "cache"
    async with FaultServer("ok") as server:
        for name in ("one", "two"):
            words = playing(server, tmp_path / name, "--cache", cache)
            assert (await wildtool(*words, cwd=tmp_path)).status == 0
        asked = server.received
        assert set(server.asked.values()) == {1}
        with closing(sqlite3.connect(cache / "replies.sqlite")) as database, database:
            database.execute(
                "UPDATE reply SET line = substr(line, 1, 50) WHERE key = (SELECT min(key) FROM reply)"
            )
        assert (
            await wildtool(*playing(server, tmp_path / "three", "--cache", cache), cwd=tmp_path)
        ).status == 0
    assert server.received == asked + 1
    assert verdicts(tmp_path / "one") == verdicts(tmp_path / "two") == verdicts(tmp_path / "three")


async def test_models_of_a_command_each_get_a_folder_and_one_that_fails_does_not_stop_the_other(
    tmp_path: Path,
):
    async with FaultServer("ok") as good, FaultServer("401") as bad:
        config(good, tmp_path, f'[models.broken]\nmodel = "m"\nbase_url = "{bad.base_url}"\n')
        ended = await wildtool(
            "run", "wild-mini", "--model", "broken", "--model", "mine", cwd=tmp_path, MY_KEY=KEY
        )
    assert ended.status == 2
    assert "every call was refused" in ended.err
    assert len(recorded(tmp_path / "runs/wild-mini/mine")) == good.received


@pytest.mark.parametrize(("behaviour", "status"), [("echo-key-401", 2), ("echo-key-200", 0), ("429", 3)])
async def test_no_file_and_no_output_at_any_verbosity_holds_the_key(
    behaviour: str, status: int, tmp_path: Path
):
    async with FaultServer(behaviour) as server:
        config(server, tmp_path)
        ended = await wildtool(
            "run",
            "wild-mini",
            "--model",
            "mine",
            "--cache",
            "cache",
            "--retries",
            0,
            "--max-cost",
            1000,
            cwd=tmp_path,
            MY_KEY=KEY,
            WILDTOOL_DEBUG="1",
        )
        dry = await wildtool("run", "wild-mini", "--model", "mine", "--dry-run", cwd=tmp_path, MY_KEY=KEY)
        listed = await wildtool("list", "models", cwd=tmp_path, MY_KEY=KEY)
    assert (ended.status, dry.status, listed.status) == (status, 0, 0), ended
    assert server.heads and KEY.encode() in server.heads[0]
    said = "".join(one.out + one.err for one in (ended, dry, listed))
    assert KEY not in said
    assert not [path for path, data in contents(tmp_path).items() if KEY.encode() in data]
