"""Runs that continue at another address of their model."""

import re
from pathlib import Path

import pytest

from engine.echo_benchmark import plan_of
from wildtool.engine.record.addresses import asked_addresses
from wildtool.engine.record.run_folder import RunFolder, read_run
from wildtool.errors import RecordError


def opened(path: Path, address: str, name: str = "m", **settings: str) -> RunFolder:
    """A run folder of a model at an address, locked."""
    plan = plan_of()
    models = {"agent": {"name": name, "settings": {"base_url": address, **settings}}}
    return RunFolder(
        path,
        kind="played",
        identity={**plan.identity(), "models": models},
        scope=plan.scope(plan.read()),
        source=plan.source,
        command=["wildtool"],
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"),
        ("http://127.0.0.1:8000/v1", "https://gpu7.example:8443/v1"),
        ("http://[::1]:8000/v1", "http://127.0.0.1:8000/v1/"),
    ],
)
def test_a_run_continues_at_another_address_and_both_are_written_down(
    tmp_path: Path, first: str, second: str
):
    for address in (first, second, first):
        with opened(tmp_path, address) as run:
            run.finish("done", spent={"calls": 3})
    run_json = read_run(tmp_path)
    assert run_json["identity"]["models"]["agent"]["settings"]["base_url"] == first
    assert [each.get("addresses") for each in run_json["sittings"]] == [None, {"agent": second}, None]
    assert [*asked_addresses(run_json)] == [first, second]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("https://api.openai.com/v1", "https://openrouter.ai/v1", "openrouter instead of openai"),
        ("https://api.openai.com/v1", "http://127.0.0.1:8000/v1", "no known provider instead of openai"),
        ("http://127.0.0.1:8000/v1", "https://api.deepseek.com/v1", "deepseek instead of no known provider"),
        ("http://gate/models/a/v1", "http://gate/models/b/v1", "another path"),
        ("http://gate/v1?model=…", "http://gate/v1?key=…", "other parameters"),
    ],
)
def test_a_run_does_not_continue_at_another_provider_or_path(
    tmp_path: Path, first: str, second: str, said: str
):
    opened(tmp_path, first).close()
    with pytest.raises(RecordError, match=re.escape(said)):
        opened(tmp_path, second)


def test_a_model_of_another_name_at_another_address_is_another_model(tmp_path: Path):
    opened(tmp_path, "http://127.0.0.1:8000/v1", "a").close()
    with pytest.raises(RecordError, match="name was"):
        opened(tmp_path, "http://127.0.0.1:8001/v1", "b")


def test_an_address_with_a_part_that_is_not_shown_is_not_replaced_by_another(tmp_path: Path):
    opened(tmp_path, "http://127.0.0.1:8000/v1?model=…", address_digest="1").close()
    with pytest.raises(RecordError, match="base_url"):
        opened(tmp_path, "http://127.0.0.1:8001/v1?model=…", address_digest="2")


def test_a_run_with_batches_stays_at_the_address_where_they_are(tmp_path: Path):
    opened(tmp_path, "http://127.0.0.1:8000/v1").close()
    (tmp_path / "batches.jsonl").touch()
    with pytest.raises(RecordError, match="base_url"):
        opened(tmp_path, "http://127.0.0.1:8001/v1")


def test_an_address_that_gave_no_reply_is_not_among_those_that_did(tmp_path: Path):
    with opened(tmp_path, "http://127.0.0.1:8000/v1") as run:
        run.finish("limit reached", spent={"calls": 3})
    with opened(tmp_path, "http://127.0.0.1:8001/v1") as run:
        run.finish("stopped: GivenUpError")
    with opened(tmp_path, "http://127.0.0.1:8002/v1") as run:
        run.finish("done", spent={"calls": 0})
    assert [*asked_addresses(read_run(tmp_path))] == ["http://127.0.0.1:8000/v1"]
