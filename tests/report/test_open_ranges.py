"""Where calls failed, each table says what is possible, and never a number that nothing was counted for."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from report.report_build import Scripted, play, undrawn
from wildtool.cli import app
from wildtool.errors import InfraError
from wildtool.types import Reply, Request


class Failing(Scripted):
    """Fails in the calls of some units."""

    async def complete(self, request: Request) -> Reply:
        assert request.address is not None
        if self.right(request.address):
            raise InfraError("http 500", "down")
        return await super().complete(request)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("failed")
    play(place / "whole", Scripted("whole", right=lambda address: address.unit != "0"))
    play(place / "half", Failing("half", right=lambda address: address.unit in "13"))
    play(place / "none", Failing("none", right=lambda address: True))
    return place


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wildtool.report.pages.metrics.render_chart", undrawn)
        assert type_("report", runs, "-o", folder).exit_code == 3
    return folder


def type_(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), prog_name="wildtool")


def row_of(text: str, name: str) -> str:
    return " ".join(next(line for line in text.splitlines() if name in line).split())


def test_a_run_without_any_verdict_has_no_accuracy_beside_others(runs: Path):
    said = type_("compare", runs).stdout
    assert row_of(said, "none (incomplete)").startswith("none (incomplete) – 0.0 to 100.0")
    assert "95 % or possible" in row_of(said, "rank  model")


def test_a_difference_is_a_range_on_pages_as_in_the_terminal(runs: Path, site: Path):
    said = row_of(type_("compare", runs, "--against", "whole").stdout.partition("against whole")[2], "half")
    found = said.removeprefix("half ").partition(" [")[0]
    assert " to " in found
    assert f">{found}</a>" in (site / "side-by-side.html").read_text("utf-8")
    text = (site / "data" / "pairs-side-by-side.js").read_text("utf-8")
    pairs: Any = json.loads(text.partition(",")[2].rpartition(")")[0])["pairs"]
    assert found in {row[-1] for rows in pairs for row in rows if row}


def test_latex_says_what_a_range_is_and_gives_no_rank_to_runs_that_lack_units(runs: Path):
    text = type_("report", runs, "--format", "latex").stdout
    assert "the range that units without a verdict leave open" in text
    assert "    1 whole & " in text and "    half (incomplete) & " in text


def test_csv_has_no_rank_for_runs_that_lack_units(site: Path):
    (path,) = (site / "files").glob("*-official.csv")
    ranks = {(line.split(",")[0], line.rpartition(",")[2]) for line in path.read_text("utf-8").splitlines()}
    assert ranks == {("model", "rank"), ("whole", "1"), ("half", ""), ("none", "")}


def test_a_passport_has_the_range_of_each_number(runs: Path, tmp_path: Path):
    place = tmp_path / "half.json"
    assert type_("export", runs / "half", "--format", "passport", "-o", place).exit_code == 0
    numbers = json.loads(place.read_text("utf-8"))["numbers"]
    assert all(each["least"] < each["most"] for each in numbers if each["headline"] and each["low"] is None)
    assert any(each["low"] is None and each["most"] is not None for each in numbers)
