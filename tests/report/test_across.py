"""The page of a suite: a number of each benchmark for each model, of the better mode where that is asked for."""

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from report.report_build import run_sums, runs_of_two_benchmarks, type_, undrawn
from wildtool.cli import app
from wildtool.evidence import Evidence
from wildtool.report.model import read_runs
from wildtool.report.pages.across import choose_modes

pytestmark = pytest.mark.usefixtures("no_benchmark_files")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One model in two benchmarks, in both modes of one of them; reports draw no charts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wildtool.report.pages.metrics.render_chart", undrawn)
    return runs_of_two_benchmarks(Path())


def rows(site: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(site, "files", "across.csv").read_text("utf-8").splitlines()))


@pytest.mark.long
def test_each_benchmark_has_its_number_for_each_mode_of_a_model(runs: Path):
    type_("report", str(runs), "-o", "site")
    found = {(row["benchmark"], row["mode"]): row["value"] for row in rows("site")}
    assert set(found) == {("sums", "chat"), ("sums", "completion"), ("wild-mini", "fc")}
    page = Path("site", "across.html").read_text("utf-8")
    assert "baseline/gold (completion)" in page and "baseline/gold (chat)" in page
    assert "--limit 3" in page


def test_the_better_mode_of_a_model_is_chosen_by_name_and_said_with_the_other(runs: Path):
    type_("report", str(runs), "-o", "site", "--better-mode")
    found = {(row["benchmark"], row["mode"]): float(row["value"]) for row in rows("site")}
    assert found == {("sums", "completion"): 0.75, ("wild-mini", "fc"): 1.0}
    page = Path("site", "across.html").read_text("utf-8")
    assert "completion, 75.0 % of 4 units; chat has 50.0 %" in page


def test_of_runs_of_which_one_covers_fewer_items_none_is_chosen_and_that_is_said(runs: Path):
    run_sums("completion", runs / "some", "--limit", "2")
    shutil.rmtree(runs / "sums-completion")
    type_("report", str(runs), "-o", "site", "--better-mode")
    assert {row["run"] for row in rows("site")} == {"sums-chat", "some", "wild-mini"}
    page = Path("site", "across.html").read_text("utf-8")
    assert page.count("nothing was chosen of") == 2


def test_a_run_with_failed_units_is_not_chosen_and_loses_to_none(runs: Path):
    read = read_runs([runs / "sums-chat", runs / "sums-completion"], None)
    failed = replace(read[0], result=replace(read[0].result, evidence=Evidence(4, failed=1)))
    kept, (said,) = choose_modes([failed, read[1]])
    assert [run.result.run for run in kept] == ["sums-chat", "sums-completion"]
    assert "nothing was chosen" in said and "in mode chat" in said


@pytest.mark.long
def test_where_no_model_has_several_modes_it_is_said(runs: Path):
    shutil.rmtree(runs / "sums-chat")
    type_("report", str(runs), "-o", "site", "--better-mode")
    assert "No model has runs in several modes" in Path("site", "across.html").read_text("utf-8")


@pytest.mark.long
def test_a_choice_of_modes_needs_several_benchmarks(runs: Path):
    words = ["report", str(runs / "wild-mini"), "-o", "site", "--better-mode"]
    done = CliRunner().invoke(app, words, prog_name="wildtool")
    assert done.exit_code == 2 and "several benchmarks" in done.output


@pytest.mark.long
def test_a_report_of_one_benchmark_has_no_such_page(runs: Path):
    type_("report", str(runs / "wild-mini"), "-o", "site")
    assert not Path("site", "across.html").exists()
