"""What a store says of a run to its workers."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from wildtool.cli.options.run import RunOptions
from wildtool.errors import DataError
from wildtool.scale.job import (
    SharedJob,
    options_as_json,
    options_from_json,
)
from wildtool.scale.store import JOB_KEY, FolderStore

JOB = SharedJob(
    benchmark="wild-mini",
    model="baseline/gold",
    options={"profile": "fixed", "limit": 2},
    explicit=["limit"],
    original_prompts=False,
    items=5,
    share_items=2,
    workers=3,
    controlled=True,
    sitting=4,
    run="abc",
    spent={"cost": 0.5},
)


def test_headers_reach_the_workers_and_their_secrets_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GATEWAY_KEY", "gk-41xQ7m/Zx9Lr8")
    own = ["X-Team=a", "X-Api-Key=env:GATEWAY_KEY"]
    given = RunOptions(model=["m"], base_url="http://127.0.0.1:1/v1", header=own, user_header=["X-B=b"])
    store = FolderStore(tmp_path)
    replace(JOB, model="m", options=options_as_json(given)).write(store)
    job = SharedJob.read(store)
    taken = RunOptions(**options_from_json(job.options), model=["m"])
    assert (taken.header, taken.user_header) == (given.header, given.user_header)
    assert b"gk-41xQ7m" not in (tmp_path / JOB_KEY).read_bytes()
    effects = job.trust_request("file:///run").effects
    assert "add the headers X-Team to every request" in effects and "X-Api-Key" in "".join(effects)


def options(**values: Any) -> RunOptions:
    return RunOptions(**{"model": ["m"], **values})


@pytest.mark.parametrize("name", [each.name for each in fields(RunOptions)])
def test_a_value_of_another_type_is_refused_with_the_name_of_its_option(name: str):
    for value in ({}, [{}], None):
        with pytest.raises(DataError, match=f"option '{name}': expected"):
            options_from_json({name: value})


def test_a_word_that_an_option_does_not_know_is_refused_with_the_name_of_the_option():
    with pytest.raises(DataError, match="option 'sampling'"):
        options_from_json({"sampling": "as it likes"})
