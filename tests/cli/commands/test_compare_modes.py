"""`wildtool compare --modes`, as it is typed: runs in several modes, and nothing else that differs."""

from pathlib import Path
from shutil import copytree

import pytest
from typer.testing import CliRunner, Result

from report.report_build import runs_of_two_benchmarks
from wildtool.cli import app

pytestmark = pytest.mark.usefixtures("no_benchmark_files")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return runs_of_two_benchmarks(tmp_path)


def type_(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, words)], prog_name="wildtool")


def test_runs_in_several_modes_are_compared_by_name_only(runs: Path):
    both = (runs / "sums-chat", runs / "sums-completion")
    refused = type_(*both)
    assert refused.exit_code == 2 and "differ in mode" in refused.output
    done = type_(*both, "--modes")
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "+25.0" in said and "mode chat" in said and "mode completion" in said


@pytest.mark.long
def test_runs_of_one_mode_are_no_comparison_of_modes(runs: Path):
    copytree(runs / "sums-chat", runs / "again")
    refused = type_(runs / "sums-chat", runs / "again", "--modes")
    assert refused.exit_code == 2 and "these are all in mode chat" in " ".join(refused.output.split())


@pytest.mark.long
def test_what_else_differs_is_refused_as_before(runs: Path):
    refused = type_(runs / "sums-chat", runs / "wild-mini", "--modes")
    assert refused.exit_code == 2
    assert type_(runs / "sums-chat", runs / "sums-completion", "--modes", "--anyway").exit_code == 2
