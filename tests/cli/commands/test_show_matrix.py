"""`wildtool show --group "A x B"`, as it is typed, and `Run.matrix`."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wildtool import Run
from wildtool.cli import app


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("matrix") / "runs"
    both = ("--model", "baseline/gold", "--model", "baseline/chat")
    assert type_("run", "wild-mini", "--quiet", "--limit", "6", *both, "-o", str(place)).exit_code == 0
    return place


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "200")
    yield


def type_(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="wildtool")


@pytest.mark.long
def test_a_pair_of_groups_has_a_row_of_csv_for_each_cell_of_each_run(runs: Path):
    shown = type_("show", str(runs), "--group", "task type × position", "--csv")
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert {row["model"] for row in rows} == {"baseline/gold", "baseline/chat"}
    single = [row for row in rows if row["model"] == "baseline/chat" and row["name"].startswith("Chat ×")]
    assert single and all(row["numerator"] == row["denominator"] for row in single)
    plain = type_("show", str(runs), "--group", "task type", "--csv").stdout
    chat = next(
        row
        for row in csv.DictReader(io.StringIO(plain))
        if (row["model"], row["name"]) == ("baseline/chat", "Chat")
    )
    assert sum(float(row["denominator"]) for row in single) == float(chat["denominator"])


def test_a_matrix_is_printed_with_intervals_and_counts_and_says_what_is_small(runs: Path):
    shown = type_("show", str(runs / "baseline--gold"), "--group", "task type x position")
    assert shown.exit_code == 0
    assert "100.0 %" in shown.output and "[" in shown.output
    assert "fewer than 10 units" in shown.output


def test_two_groups_that_count_different_things_are_refused_once(runs: Path):
    shown = type_("show", str(runs), "--group", "errors x calls")
    assert shown.exit_code == 2
    assert shown.output.count("count different things") == 1


def test_a_group_that_is_shown_but_cannot_be_crossed_is_said(runs: Path):
    shown = type_("show", str(runs / "baseline--gold"), "--group", "what went before x position")
    assert shown.exit_code == 2
    assert "what went before cannot be crossed" in " ".join(shown.output.split())


def test_the_python_door_gives_the_same_cells(runs: Path):
    matrix = Run(runs / "baseline--gold").matrix("task type", "position")
    cell = matrix["Chat", "1"]
    assert cell.value == 1.0 and cell.denominator
    assert cell.name == "Chat × 1" and cell in list(matrix)
    assert "Chat" in repr(matrix) and "<table>" in matrix._repr_html_()
