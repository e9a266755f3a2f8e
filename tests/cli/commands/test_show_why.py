"""`show --why` says what a number is, and the units that it lists add up to it."""

import csv
import io
import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from e2e.command import Ended
from wildtool.cli import app
from wildtool.cli.output import why
from wildtool.engine.score import explain as explain_module
from wildtool.engine.score.explain import CountedUnit, explain, metric_named
from wildtool.engine.score.results import open_results
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.types import Metric


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> wt.Run:
    return wt.run("wild-mini", model="baseline/lexical", limit=12, out=tmp_path_factory.mktemp("why") / "run")


def show(run: wt.Run, *words: str) -> Ended:
    ended = CliRunner().invoke(app, ["show", str(run.folder), *words], env={"COLUMNS": "100"})
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


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


def test_weights_are_explained_where_there_are_some(run: wt.Run, tmp_path: Path) -> None:
    sample = wt.run("wild-mini", model="baseline/lexical", sample=10, out=tmp_path / "run")
    assert "each unit weighted" in explain(sample.folder, "task").formula
    assert "weighted" not in explain(run.folder, "task").formula


def explained(by_unit: bool = True, about: str = "", **fields: Any) -> Any:
    result = SimpleNamespace(evidence=Evidence(8, failed=2, unplayed=1, cut_off=3, unread=1))
    metric = Metric("all", "task", **{"value": 0.5, "numerator": 2, "denominator": 4, **fields})
    return SimpleNamespace(metric=metric, result=result, formula="a by b", by_unit=by_unit, about=about)


def test_the_facts_of_a_number_are_those_that_there_are() -> None:
    whole = ("evidence", "1 unit with a verdict")
    own = Evidence(1, cut_off=0, unread=None)
    assert [*why._facts(explained(evidence=own))] == [
        ("value", "50.0 %"),
        ("counts", "2/4"),
        ("formula", "a by b"),
        whole,
    ]
    every = explained(False, "Of all.", low=0.25, high=0.75, note="Any text passes.")
    assert [*why._facts(every)] == [
        ("value", "50.0 %, 95 % interval 25.0 to 75.0, clustered by item"),
        ("counts", "2/4"),
        ("formula", "a by b"),
        ("units", "the number is no sum over single units; all of the run are listed"),
        ("about", "Of all."),
        ("note", "Any text passes."),
        (
            "evidence",
            "5 units with a verdict, 2 ended by a failed call, which count as not right, 1 not run completely, which"
            " count as not right, 3 with a reply that was cut off, 1 with a call that no format read",
        ),
    ]


def test_a_unit_is_a_row_with_its_repeat_where_there_are_several() -> None:
    unit = CountedUnit("i", 1, "0", "wrong", None, "r", 1 / 3, 1.0)
    assert why._cells(unit, True) == ["i", "1", "0", "0.333/1", "wrong", "", "r"]
    assert why._cells(replace(unit, error="e"), False) == ["i", "0", "0.333/1", "wrong", "e", "r"]


def test_numbers_are_printed_one_after_another_each_with_its_units(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = CountedUnit("i", 0, "0", "wrong", "odd", "because", 0.0, 1.0)
    right = replace(wrong, outcome="correct", error=None, reason="", numerator=1.0)

    def explanation(folder: Path, units: list[CountedUnit], **changes: Any) -> Any:
        names = {"model": "m", "benchmark": "b", "profile_label": "profile p", "profile": "p", "played": "p"}
        found = explained()
        vars(found.result).update({**names, "folder": folder, **changes})
        return SimpleNamespace(**{**vars(found), "units": units})

    numbers = {
        "a": explanation(Path("a"), [wrong, right]),
        "b": explanation(Path("b"), []),
        "c d": explanation(Path("c d"), [replace(wrong, repeat=1), replace(right, repeat=0)], played="q"),
    }
    monkeypatch.setattr(why, "run_folders", lambda path: [path])
    monkeypatch.setattr(why, "explain", lambda folder, name, profile: numbers[folder.name])
    monkeypatch.setattr(why, "UNITS_SHOWN", 1)
    monkeypatch.setenv("COLUMNS", "300")
    options: Any = SimpleNamespace(
        runs=[Path(name) for name in numbers], profile=None, as_json=False, as_csv=False, every=False
    )
    assert why.show_why(options, "task") == 0
    head = f"""\
all: task of m (b, profile p)
value: 50.0 %
counts: 2/4
formula: a by b
evidence: {", ".join(why._evidence(5, 2, 1, 3, 1))}
"""
    first = """
1 of 2 units

item  unit  counts  outcome  error  reason
───────────────────────────────────────────
i        0     0/1    wrong    odd  because

All of them: wildtool show a --why 'all: task' --all
What the model did, step by step: wildtool view a
"""
    last = """
1 of 2 units

item  repeat  unit  counts  outcome  error  reason
───────────────────────────────────────────────────
i          1     0     0/1    wrong    odd  because

All of them: wildtool show 'c d' --why 'all: task' --profile p --all
What the model did, step by step: wildtool view 'c d'
"""
    assert capsys.readouterr().out == f"{head}{first}\n{head}\n{head}{last}"
    options.every = True
    assert why.show_why(options, "task") == 0
    assert capsys.readouterr().out.count("\n2 of 2 units\n") == 2
