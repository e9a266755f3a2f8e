"""`wildtool compare --curve size` and `show --published TABLE --chart FILE`, as they are typed."""

import csv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from wildtool.cli import app
from wildtool.engine.compare.model_size import size_in_name


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "no-data"))
    monkeypatch.setenv("COLUMNS", "200")


def type_(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="wildtool")


def rows(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path, "model_sizes.csv").read_text("utf-8").splitlines()))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Qwen2.5-7B-Instruct", 7.0),
        ("llama3:8b", 8.0),
        ("org/Model-0.5B", 0.5),
        ("smol-135m-chat", 0.135),
        ("Qwen3-30B-A3B", 30.0),
        ("xLAM-2-70B", 70.0),
        ("Qwen2.5-7B-Instruct-1M", 7.0),
        ("pythia-14m", 0.014),
        ("Mixtral-8x7B", None),
        ("Llama-4-Scout-17B-16E-Instruct", None),
        ("gemini-1.5-pro-1m", None),
        ("draft-1b-of-70b", None),
        ("gpt-4o", None),
        ("phi-3-mini-128k", None),
        ("v2.5build", None),
    ],
)
def test_a_size_is_read_from_a_name_that_states_one(name: str, size: float | None):
    assert size_in_name(name) == size


@given(st.integers(1, 999), st.sampled_from(["a-{}b", "a/{}B-chat", "a:{}b", "{}b"]))
def test_any_whole_size_is_read_as_it_is_written(size: int, form: str):
    assert size_in_name(form.format(size)) == size


def test_the_models_of_a_paper_are_placed_by_their_size():
    done = type_("compare", "wildtoolbench", "--curve", "size", "-o", "out")
    assert done.exit_code == 0, done.output
    found = {row["model"]: (row["billions"], row["value"]) for row in rows("out")}
    assert float(found["Qwen2.5-72B-Instruct"][0]) == 72
    assert "GPT-4o" not in found and "GPT-4o" in done.output
    (chart,) = Path("out").glob("*.svg")
    assert "Qwen3-" in chart.read_text("utf-8")


@pytest.mark.long
def test_runs_are_placed_by_a_file_with_counts_and_papers_of_other_data_are_not_beside_them():
    models = ("--model", "baseline/gold", "--model", "baseline/chat")
    assert type_("run", "wild-mini", "--limit", "3", "-q", *models, "-o", "runs").exit_code == 0
    refused = type_("compare", "runs", "--curve", "size")
    assert refused.exit_code == 2 and "--sizes" in refused.output
    Path("sizes.csv").write_text("model,size\nbaseline/gold,7\nbaseline/chat,500m\n", "utf-8")
    done = type_("compare", "runs", "--curve", "size", "--sizes", "sizes.csv", "-o", "out")
    assert done.exit_code == 0, done.output
    found = [
        (row["model"], float(row["billions"]), row["size_from"], row["denominator"]) for row in rows("out")
    ]
    assert found == [("baseline/chat", 0.5, "file", "12.0"), ("baseline/gold", 7.0, "file", "12.0")]
    assert "not drawn beside these runs" in done.output


@pytest.mark.long
def test_a_run_without_a_number_is_named_and_not_placed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    run = ("run", "wild-mini", "--limit", "3", "-q")
    assert type_(*run, "-m", "baseline/gold", "-o", "runs/gold").exit_code == 0
    nowhere = ("-m", "openai/dead-7b", "--base-url", "http://127.0.0.1:9/v1", "--retries", "0")
    assert type_(*run, *nowhere, "-o", "runs/dead").exit_code != 0
    Path("sizes.csv").write_text("model,size\nbaseline/gold,7\n", "utf-8")
    done = type_("compare", "runs", "--curve", "size", "--sizes", "sizes.csv", "-o", "out")
    assert [row["model"] for row in rows("out")] == ["baseline/gold"]
    assert "no such number: openai/dead-7b (incomplete)" in done.output
    alone = type_("compare", "runs/dead", "--curve", "size")
    assert alone.exit_code == 2 and "no run has a number" in alone.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,size\na,7\n", "no column model"),
        ("model,size\na,big\n", "sizes.csv:2: size"),
        ("model,size\na,7\na,8\n", "sizes.csv:3: model"),
    ],
)
def test_a_file_of_sizes_that_cannot_be_read_is_refused_by_line(text: str, said: str):
    Path("sizes.csv").write_text(text, "utf-8")
    done = type_("compare", "wildtoolbench", "--curve", "size", "--sizes", "sizes.csv")
    assert done.exit_code == 2
    assert said in done.output


@pytest.mark.long
def test_a_published_table_is_drawn_with_a_panel_for_each_column():
    name = "wildtoolbench_table5_other_benchmarks"
    done = type_("show", "--published", name, "--chart", "table.svg")
    assert done.exit_code == 0, done.output
    text = "".join(ET.fromstring(Path("table.svg").read_text("utf-8")).itertext())
    assert "tau2-bench, telecom" in text and "GPT5" in text
    refused = type_("show", "--published", "wildtoolbench", "--chart", "more.svg")
    assert refused.exit_code == 2 and not Path("more.svg").exists()
