"""What a store says of a run to its workers."""

import json
import platform
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from wildtool import redact
from wildtool.cli.options.run import PromptSource, RunOptions
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.scale import job as module
from wildtool.scale.job import (
    SharedJob,
    machine_name,
    options_as_json,
    options_from_json,
    share_size,
    worker_name,
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


def test_a_job_is_read_as_it_was_written(tmp_path: Path):
    store = FolderStore(tmp_path)
    JOB.write(store)
    assert json.loads(store.get(JOB_KEY) or b"") == {
        "format": 2,
        "benchmark": "wild-mini",
        "model": "baseline/gold",
        "options": {"profile": "fixed", "limit": 2},
        "explicit": ["limit"],
        "original_prompts": False,
        "items": 5,
        "share_items": 2,
        "workers": 3,
        "controlled": True,
        "sitting": 4,
        "run": "abc",
        "spent": {"cost": 0.5},
    }
    assert (store.get(JOB_KEY) or b"").startswith(b'{\n "benchmark": "wild-mini",\n "controlled": true,\n')
    assert SharedJob.read(store) == JOB


@pytest.mark.parametrize(("items", "share_items", "shares"), [(0, 1, 0), (4, 2, 2), (5, 2, 3), (1, 64, 1)])
def test_the_last_share_may_have_fewer_items(items: int, share_items: int, shares: int):
    assert replace(JOB, items=items, share_items=share_items).shares == shares


@pytest.mark.parametrize(
    ("items", "workers", "size"),
    [
        (0, 1, 1),
        (15, 1, 1),
        (31, 1, 1),
        (32, 1, 2),
        (1024, 1, 64),
        (10**6, 1, 64),
        (1024, 4, 16),
        (1024, 3, 21),
    ],
)
def test_a_share_is_small_enough_that_each_worker_has_several(items: int, workers: int, size: int):
    assert share_size(items, workers) == size


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


def test_a_key_in_an_option_reaches_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redact, "_environment_read", False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary12345678")
    store = FolderStore(tmp_path)
    for options in ({"base_url": "http://me:pass@host/v1"}, {"order": "sk-canary12345678"}):
        with pytest.raises(UsageError) as caught:
            replace(JOB, options=options).write(store)
        assert str(caught.value) == (
            "workers read the options of this run from its store, and one of them holds a login or a key (or an"
            " address with a query); name a key by --api-key-env, and put addresses with a login into wildtool.toml"
        )
    assert store.get(JOB_KEY) is None


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (
            None,
            ": there is no run of several workers; start one with `wildtool run … --out`, or prepare it with"
            " `wildtool launch`",
        ),
        ({"format": 3}, "/job.json: written by a newer wildtool; update wildtool"),
        (
            {"format": 1},
            "/job.json: written by an older wildtool, whose workers divide a run in another way; use another --out",
        ),
        (
            {
                "format": 2,
                "benchmark": "b",
                "model": "m",
                "items": 1,
                "share_items": 1,
                "workers": 1,
                "sitting": "1",
            },
            "/job.json: damaged (field sitting: expected a whole number, found a text); start the run again",
        ),
    ],
)
def test_a_job_that_cannot_be_read_is_named(tmp_path: Path, content: Any, error: str):
    store = FolderStore(tmp_path)
    if content is not None:
        store.put(JOB_KEY, json.dumps(content).encode())
    with pytest.raises(RecordError) as caught:
        SharedJob.read(store)
    assert str(caught.value) == f"{store.url}{error}"


def options(**values: Any) -> RunOptions:
    return RunOptions(**{"model": ["m"], **values})


def test_options_become_json_and_come_back():
    before = options(
        config=Path("a b.toml"),
        limit=3,
        on="local:2",
        out=Path("x"),
        force=True,
        ids=["i"],
        order="prefix",
        server="s",
    )
    values = options_as_json(before)
    defaults = options_as_json(options())
    assert {name: value for name, value in values.items() if defaults.get(name) != value} == {
        "config": "a b.toml",
        "limit": 3,
        "ids": ["i"],
        "order": "prefix",
    }
    assert {"model", "out", "on", "force", "quiet", "dry_run", "prompts", "server"}.isdisjoint(values)
    assert None not in values.values()
    again = options_from_json(json.loads(json.dumps(values)))
    assert again["config"] == Path("a b.toml")
    assert options_as_json(options(**again)) == values


def test_an_option_of_another_version_is_named():
    with pytest.raises(UsageError) as caught:
        options_from_json({"limit": 1, "zzz": 1, "shiny": 2})
    assert str(caught.value) == "the run has the option 'shiny', which this version of wildtool does not know"


@pytest.mark.parametrize("name", [each.name for each in fields(RunOptions)])
def test_a_value_of_another_type_is_refused_with_the_name_of_its_option(name: str):
    for value in ({}, [{}], None):
        with pytest.raises(DataError, match=f"option '{name}': expected"):
            options_from_json({name: value})


def test_a_word_that_an_option_does_not_know_is_refused_with_the_name_of_the_option():
    with pytest.raises(DataError, match="option 'sampling'"):
        options_from_json({"sampling": "as it likes"})


def test_a_worker_plans_the_run_of_the_command():
    plan, run_options = JOB.plan()
    assert (plan.profile, plan.models["agent"].name, run_options.quiet) == ("fixed", "baseline/gold", True)
    assert sum(1 for _ in plan.read().addresses()) == 2
    assert (run_options.prompts, run_options.server) == (PromptSource.own, None)
    with pytest.raises(UsageError, match="no prompts of an original"):
        replace(JOB, original_prompts=True).plan()


def test_a_run_whose_workers_start_servers_needs_the_command_of_one():
    served = replace(JOB, model="m", options={"base_url": "http://127.0.0.1:{port}/v1"})
    with pytest.raises(UsageError) as caught:
        served.plan()
    assert (
        str(caught.value) == "each worker of this run starts its own server: give --server 'COMMAND {port}'"
    )


def test_processes_of_a_machine_share_a_name_and_each_worker_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WILDTOOL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(platform, "node", lambda: "My host_1." + "x" * 50)
    name = machine_name()
    written = (tmp_path / "cache" / "machine").read_text()
    assert name == f"My-host-1-{'x' * 30}.{written}" == machine_name()
    assert len(written) == 8
    monkeypatch.setattr(module.os, "getpid", lambda: 77)
    first, second = worker_name(), worker_name()
    assert first.rpartition("-")[0] == second.rpartition("-")[0] == f"{name}.77"
    assert len(first.rpartition("-")[2]) == 4
    monkeypatch.setattr(platform, "node", lambda: "..")
    assert machine_name() == f"host.{written}"
