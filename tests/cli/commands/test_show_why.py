"""`show --why` says what a number is, and the units that it lists add up to it."""

import csv
import io
import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

import wildtool as wt
from e2e.command import Ended
from wildtool.cli import app
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import played_benchmark
from wildtool.engine.score import explain as explain_module
from wildtool.engine.score.explain import DeclaredNumbers, explain, metric_named
from wildtool.engine.score.number_units import units_of_numbers
from wildtool.engine.score.results import open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> wt.Run:
    return wt.run("wild-mini", model="baseline/lexical", limit=12, out=tmp_path_factory.mktemp("why") / "run")


def show(run: wt.Run, *words: str) -> Ended:
    ended = CliRunner().invoke(app, ["show", str(run.folder), *words], env={"COLUMNS": "100"})
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_the_units_add_up_to_the_counts_of_every_rate(
    run: wt.Run, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = 0
    with open_results(run.folder, profile) as opened:
        # It is opened once for all numbers, which takes longer than to explain one.
        monkeypatch.setattr(explain_module, "open_results", lambda *_: nullcontext(opened))
        numbers = [
            (metric, explain(run.folder, f"{metric.group}: {metric.name}", profile))
            for metric in opened[0].metrics
        ]
    for metric, number in numbers:
        assert number.metric == metric
        assert number.formula
        if number.by_unit:
            rates += 1
            assert sum(unit.numerator for unit in number.units) == metric.numerator, metric
            assert sum(unit.denominator for unit in number.units) == metric.denominator, metric
        else:
            assert len(number.units) == 48
    assert rates > 30


def test_the_first_units_are_those_that_cost_points(run: wt.Run) -> None:
    units = explain(run.folder, "task").units
    outcomes = [unit.outcome for unit in units]
    assert outcomes == sorted(outcomes, reverse=True)
    assert {*outcomes} == {"wrong", "correct"}
    chosen = explain(run.folder, "errors: Call Error").units
    assert [unit.error == "Call Error" for unit in chosen] == sorted(
        (unit.error == "Call Error" for unit in chosen), reverse=True
    )


@pytest.mark.long
def test_a_number_is_explained_with_formula_evidence_and_reasons(run: wt.Run) -> None:
    done = show(run, "--why", "task type: Chat")
    assert done.status == 0, done.err
    assert "formula: correct units divided by units with task_type = 'Chat'" in done.out
    assert "evidence: " in done.out
    assert "Clarify needs a question to the user first" in done.out.replace("\n", " ")
    done = show(run, "--why", "task")
    assert "20 of 48 units" in done.out
    assert "--why 'accuracy: task' --all" in done.out.replace("\n", " ")
    assert "48 of 48 units" in show(run, "--why", "task", "--all").out


def test_csv_and_json_have_every_unit(run: wt.Run) -> None:
    rows = [*csv.DictReader(io.StringIO(show(run, "--why", "task", "--csv").out))]
    assert (len(rows), rows[0]["number"]) == (48, "accuracy: task")
    (number,) = json.loads(show(run, "--why", "task", "--json").out)["numbers"]
    assert len(number["units"]) == 48
    assert number["formula"] == "correct units divided by all units"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--why", "tasc"), "unknown number 'tasc'"),
        (("--why", "total"), "several numbers are called 'total'"),
        (("--why", "task", "--group", "errors"), "give --group or --why, not both"),
        (("--why", "task", "--published"), "--why explains a number of runs"),
    ],
)
def test_what_cannot_be_explained_is_refused(run: wt.Run, words: tuple[str, ...], problem: str) -> None:
    done = show(run, *words)
    assert done.status == 2
    assert problem in done.err


def test_a_benchmark_without_tables_is_explained_too(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["new", "benchmark", "calqa", "-o", str(tmp_path)])
    assert ended.exit_code == 0
    run = wt.run(tmp_path / "calqa.py", model="baseline/chat", out=tmp_path / "run")
    number = explain(run.folder, "kind: find")
    assert number.formula == "correct units divided by units with kind = 'find'"
    assert [unit.reason for unit in number.units] == ["0 calls; expected ['find_events']"] * 4
    error = explain(run.folder, "errors: wrong calls")
    assert error.formula.startswith("units with outcome = 'wrong' that also have error = 'wrong calls'")


def test_a_name_of_several_groups_needs_its_group(run: wt.Run) -> None:
    with pytest.raises(UsageError, match="several numbers"):
        metric_named(run.result.metrics, "total")
    assert metric_named(run.result.metrics, "optimal path (OP): total").name == "total"


@pytest.mark.long
def test_weights_are_explained_where_there_are_some(run: wt.Run, tmp_path: Path) -> None:
    sample = wt.run("wild-mini", model="baseline/lexical", sample=10, out=tmp_path / "run")
    assert "each unit weighted" in explain(sample.folder, "task").formula
    assert "weighted" not in explain(run.folder, "task").formula


@pytest.mark.long
def test_the_units_of_all_numbers_are_those_of_each(run: wt.Run) -> None:
    with open_results(run.folder) as (result, table):
        owner = played_benchmark(run.folder, read_run(run.folder), result.benchmark)
        rows = relation([table])
        found = units_of_numbers(DeclaredNumbers(owner, rows, result), rows, result)
    assert [number.name for number in found.numbers] == [f"{m.group}: {m.name}" for m in result.metrics]
    chosen = [number for number in found.numbers if number.by_unit][::9]
    assert len(chosen) > 3
    for number in chosen:
        alone = explain(run.folder, number.name)
        ends = {(each.item, each.repeat, each.unit): each for each in alone.units}
        for place, address in enumerate(found.units):
            its = ends.get(address)
            assert bool(number.counted >> place & 1) == (its is not None)
            if its is not None:
                assert bool(number.adding >> place & 1) == (its.numerator > 0)
                assert bool(number.losing >> place & 1) == (its.numerator < its.denominator)


def test_a_count_of_coverage_leads_to_the_units_that_it_counts(tmp_path: Path) -> None:
    from report.report_build import play

    number = explain(play(tmp_path, "baseline/chat"), "coverage: unplayed")
    assert number.by_unit and not any(unit.numerator for unit in number.units)
