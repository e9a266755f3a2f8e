"""`wildtool run all`: several benchmarks in one command."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from engine.test_suite import SCHEMA
from parity.cases import oracle_folder
from wildtool.cli import app

PULLED = oracle_folder("rotbench").parents[1] / "data"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    return tmp_path


def typed(*words: object) -> tuple[int, str]:
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    return ended.exit_code, " ".join(ended.output.split())


def run(*more: object) -> tuple[int, str]:
    models = ("--model", "baseline/gold", "--model", "baseline/chat")
    return typed("run", "all", *models, "--limit", 2, "--out", "runs", *more)


def document() -> Any:
    return json.loads(Path("runs", "suite.json").read_text("utf-8"))


@pytest.mark.long
def test_all_runs_what_has_data_names_what_has_none_and_resumes():
    status, told = run()
    assert status == 0
    assert "acebench is left out" in told
    assert "all: models side by side baseline/gold baseline/chat" in told
    assert "mean of 2 benchmarks" in told
    assert "Not all items: wild-mini, --limit 2; ledger, --limit 2." in told
    first = document()
    jsonschema.validate(first, SCHEMA)
    assert {(each["benchmark"], each["model"]) for each in first["runs"]} == {
        (name, f"baseline/{model}") for name in ("wild-mini", "ledger") for model in ("gold", "chat")
    }
    assert "wildtoolbench" in {each["benchmark"] for each in first["left_out"]}
    assert {each["part"] for each in first["runs"]} == {"--limit 2"}
    gold, chat = first["overall"]
    assert gold["mean"]["value"] == 1.0
    assert (gold["mean_rank"], chat["mean_rank"]) == (1.0, 2.0)
    record = next(Path("runs", "wild-mini", "baseline--gold").glob("record-*.jsonl"))
    before = record.read_bytes()
    status, told = run()
    assert status == 0
    assert record.read_bytes() == before
    assert document() == first


@pytest.mark.long
def test_a_suite_over_pulled_data_runs_them_side_by_side():
    if not (PULLED / "rotbench").is_dir():
        pytest.skip(f"no folder {PULLED / 'rotbench'}")
    for name in ("rotbench", "sealtools"):
        assert typed("data", "pull", name, "--from", PULLED / name)[0] == 0
    status, told = typed(
        "run", "toleap", "--model", "baseline/gold", "--sample", 3, "--out", "runs", "--quiet"
    )
    assert status == 0
    assert {each["benchmark"] for each in document()["runs"]} == {"rotbench", "sealtools"}
    assert all(each["profile"] == "toleap" for each in document()["runs"])
    assert "mean of 2 benchmarks" in told
    # Each row of the table of metrics names one that these benchmarks have.
    overall = document()["overall"][0]["toleap"]
    assert overall["benchmarks"] == ["rotbench", "sealtools"]
    assert overall["metrics"] == 15 + 21  # a sample has items of each split of Seal-Tools
    assert f"ToLeaP's overall (36 of 97 metrics, by {overall['samples']} samples)" in told


@pytest.mark.long
def test_a_suite_says_which_benchmarks_have_no_headline_of_the_few_items_that_were_run():
    if not (PULLED / "sealtools").is_dir():
        pytest.skip(f"no folder {PULLED / 'sealtools'}")
    for name in ("rotbench", "sealtools"):
        assert typed("data", "pull", name, "--from", PULLED / name)[0] == 0
    status, told = typed(
        "run", "toleap", "--model", "baseline/gold", "--limit", 1, "--out", "runs", "--quiet"
    )
    assert status == 0
    assert "leave out: sealtools (test_in_domain, test_out_domain)." in told
    assert document()["overall"][0]["benchmarks"] == ["rotbench"]


def test_a_suite_without_any_headline_says_so():
    if not (PULLED / "sealtools").is_dir():
        pytest.skip(f"no folder {PULLED / 'sealtools'}")
    assert typed("data", "pull", "sealtools", "--from", PULLED / "sealtools")[0] == 0
    words = ("run", "toleap", "--model", "baseline/gold", "--limit", 1, "--out", "runs", "--quiet")
    status, told = typed(*words)
    assert status == 0
    assert "toleap: No headline" in told


@pytest.mark.parametrize("option", ["--mode", "--profile", "--split", "--data", "--noise", "--ids"])
def test_what_belongs_to_one_benchmark_is_refused(option: str):
    status, told = run(option, "names:heavy")
    assert status == 2
    assert f"{option} belongs to one benchmark" in told
    assert not Path("runs").exists()


def test_a_document_of_somebody_else_is_not_overwritten():
    Path("runs").mkdir()
    Path("runs", "suite.json").write_text('{"mine": 1}')
    status, told = run()
    assert status == 2
    assert "wildtool did not make it" in told
    assert document() == {"mine": 1}


def test_a_suite_without_any_data_says_how_to_get_them():
    status, told = typed("run", "toleap", "--model", "baseline/gold")
    assert status == 2
    assert "data pull rotbench" in told
