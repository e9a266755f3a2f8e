"""What a store says of a run to its workers."""

from dataclasses import replace
from pathlib import Path

import pytest

from api.settings_for import settings_for
from wildtool.api.settings import FIELDS
from wildtool.errors import DataError
from wildtool.older_names import OLDER_SETTINGS
from wildtool.scale.job import (
    SharedJob,
    explicit_as_json,
    explicit_from_json,
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
    given = settings_for(base_url="http://127.0.0.1:1/v1", header=own, user_model="u", user_header=["X-B=b"])
    store = FolderStore(tmp_path)
    replace(JOB, model="m", options=options_as_json(given)).write(store)
    job = SharedJob.read(store)
    taken = settings_for(**options_from_json(job.options))
    assert (taken.endpoint, taken.roles) == (given.endpoint, given.roles)
    assert b"gk-41xQ7m" not in (tmp_path / JOB_KEY).read_bytes()
    effects = job.trust_request("file:///run").effects
    assert "add the headers X-Team to every request" in effects and "X-Api-Key" in "".join(effects)


OF_JOBS = {"tool_format": "format_", **{name: older for older, name in OLDER_SETTINGS.items()}}
"""What jobs call settings that have another name by now."""


@pytest.mark.parametrize("name", [OF_JOBS.get(name, name) for name in FIELDS])
def test_a_value_of_another_type_is_refused_with_the_name_of_its_option(name: str):
    for value in ({}, [{}], None):
        with pytest.raises(DataError, match=f"option '{name}': expected"):
            options_from_json({name: value})


def test_a_word_that_an_option_does_not_know_is_refused_with_the_name_of_the_option():
    with pytest.raises(DataError, match="option 'sampling'"):
        options_from_json({"sampling": "as it likes"})


def test_settings_come_back_from_a_job_whose_entries_have_the_names_of_options():
    before = settings_for(
        limit=3, ids=None, tool_format="hermes", order="prefix", deadline="30m", extra_body='{"top_p": 1}',
        cache=Path("kept"), out=Path("x"), server="s {port}", base_url="http://h:{port}/v1", on="local:2",
    )  # fmt: skip
    values = options_as_json(before)
    assert (values["format_"], values["cache"], values["order"]) == ("hermes", "kept", "prefix")
    assert {"model", "out", "on", "force", "quiet", "dry_run", "prompts", "server"}.isdisjoint(values)
    assert options_as_json(settings_for(**options_from_json(values))) == values


def test_a_job_names_what_was_typed_as_earlier_versions_do():
    given = settings_for(tool_format="hermes", limit=3, explicit=["tool_format", "limit"])
    assert explicit_as_json(given) == ["format", "limit"]
    assert explicit_from_json(["format", "limit"]) == given.explicit
