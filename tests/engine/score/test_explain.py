"""A number is explained by the table that declares it, and by its units, those first that a reader looks for."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from held_rows import held_rows
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score import explain as explaining
from wildtool.engine.score.explain import (
    CountedUnit,
    Explanation,
    _declaration,  # pyright: ignore[reportPrivateUsage]
    _formula,  # pyright: ignore[reportPrivateUsage]
    _units,  # pyright: ignore[reportPrivateUsage]
    explain,
)
from wildtool.engine.score.results import load_result
from wildtool.stats.metrics import Rate
from wildtool.types import Metric

COLUMNS = {
    "item": "VARCHAR",
    "repeat": "INTEGER",
    "unit": "VARCHAR",
    "outcome": "VARCHAR",
    "error": "VARCHAR",
    "reason": "VARCHAR",
    "correct": "BOOLEAN",
    "points": "DOUBLE",
    "of": "DOUBLE",
}
ROWS: list[Any] = [
    ["a", 0, "0", "correct", None, "fine", True, 2.0, 2.0],
    ["b", 1, "1", "wrong", "bad", None, False, 1.0, 2.0],
    ["c", 0, "2", "unplayed", None, "", False, None, 3.0],
    ["d", 0, "3", "correct", None, "", True, 5.0, None],
]
A, B, C, D = (
    ("a", 0, "0", "correct", None, "fine"),
    ("b", 1, "1", "wrong", "bad", ""),
    ("c", 0, "2", "unplayed", None, ""),
    ("d", 0, "3", "correct", None, ""),
)


@pytest.mark.parametrize(
    ("rate", "better", "units"),
    [
        (None, "more", [(*B, 0, 1), (*C, 0, 1), (*A, 1, 1), (*D, 1, 1)]),
        (None, "less", [(*A, 1, 1), (*D, 1, 1), (*B, 0, 1), (*C, 0, 1)]),
        (Rate("g", "n", "unit <> '0'"), "more", [(*B, 0, 1), (*C, 0, 1), (*D, 1, 1)]),
        # What has no part in the divisor does not count.
        (Rate("g", "n", "TRUE", "points", '"of"'), "more", [(*B, 1, 2), (*C, 0, 3), (*A, 2, 2)]),
        (Rate("g", "n", "TRUE", "points", '"of"'), "less", [(*A, 2, 2), (*B, 1, 2), (*C, 0, 3)]),
    ],
)
def test_units_that_cost_points_or_have_what_is_counted_come_first(
    rate: Rate | None, better: Any, units: list[Any]
):
    rows = held_rows(COLUMNS, ROWS)
    assert _units(rows, Metric("g", "n", 1, 1, 1, better=better), rate) == [
        CountedUnit(*unit) for unit in units
    ]


def declaring(*numbers: Any, groups: tuple[str, ...] = (), profiles: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(groups=groups, profiles=profiles, declared=lambda rows, profile: numbers)


RATE, OTHER, NUMBER = Rate("g", "n", "TRUE"), Rate("g", "m", "TRUE"), Metric("g", "n", 1, 1, 1)
FIRST, SECOND, STRICT = declaring(OTHER), declaring("odd", OTHER, RATE), declaring(RATE, profiles=("strict",))
COUNTING, LOOSE = declaring(NUMBER), declaring(OTHER, groups=("h", "g"))


@pytest.mark.parametrize(
    ("tables", "profile", "table", "rate"),
    [
        ((FIRST, SECOND), "official", SECOND, RATE),
        ((STRICT, SECOND), "official", SECOND, RATE),
        ((STRICT, SECOND), "strict", STRICT, RATE),
        ((COUNTING, SECOND), "official", COUNTING, None),
        ((FIRST, LOOSE), "official", LOOSE, None),
        ((FIRST,), "official", None, None),
    ],
)
def test_a_number_is_of_the_table_that_declares_it_or_its_group(
    tables: Any, profile: str, table: Any, rate: Rate | None
):
    owner: Any = SimpleNamespace(tables=tables, groups=())
    assert _declaration(owner, None, profile, NUMBER) == (table, rate)


def test_a_number_of_a_benchmark_without_tables_is_one_of_its_rates(monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []
    monkeypatch.setattr(explaining, "default_rates", lambda *given: asked.append(given) or [OTHER, RATE])
    owner: Any = SimpleNamespace(tables=(), groups=("split",))
    assert _declaration(owner, "rows", "official", NUMBER) == (None, RATE)
    assert _declaration(owner, "rows", "official", Metric("h", "n", 1, 1, 1)) == (None, None)
    assert asked == [("rows", ("split",))] * 2


def test_an_explanation_has_the_number_its_formula_and_its_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = tmp_path / "run"
    run_plan(plan_of(model=ScriptedModel(), limit=1), run, command=[], policy=PATIENT)
    table = SimpleNamespace(
        **vars(declaring(Rate("all", "accuracy", "TRUE"))), about="Everything.", formulas={"all": "a formula"}
    )

    def played(folder: Path, run_json: Mapping[str, Any], benchmark: str) -> Any:
        assert (folder, run_json["identity"]["benchmark"], benchmark) == (run, "echo", "echo")
        return SimpleNamespace(tables=(table,), groups=EchoBenchmark.groups)

    monkeypatch.setattr(explaining, "played_benchmark", played)
    result = load_result(run, "strict")
    units = [CountedUnit("i0", 0, unit, "wrong", None, "echo", 0.0, 1.0) for unit in ("0", "1")]
    formula = "correct units divided by all units"
    assert explain(run, "accuracy", "strict") == Explanation(
        result, result.metrics[0], "Everything.", formula, True, units
    )
    table.declared = lambda rows, profile: ()
    table.groups = ("all",)
    assert explain(run, "accuracy", "strict") == Explanation(
        result, result.metrics[0], "Everything.", "a formula", False, units
    )
    table.groups = ()
    bare = explain(run, "accuracy", "strict")
    assert (bare.about, bare.by_unit) == ("", False)


@pytest.mark.parametrize(
    ("rate", "formula"),
    [
        (Rate("g", "n", "TRUE"), "correct units divided by all units"),
        (Rate("g", "n", "kind = 'x' AND TRUE"), "correct units divided by units with kind = 'x'"),
        (
            Rate("g", "n", "TRUE", denominator='"of"'),
            "sum of correct divided by sum of of, over all units",
        ),
        (
            Rate("g", "n", "error IS NULL", "CAST(COALESCE(a, FALSE) OR b <> 1 AS INTEGER)"),
            "units with error is unknown that also have a or b ≠ 1, divided by units with error is unknown",
        ),
        (
            Rate("g", "n", "NOT a", "COALESCE(points, 0)"),
            "sum of points over units with not a, divided by their number",
        ),
        (
            Rate("g", "n", "a IN (1) AND b IS NOT NULL", "COALESCE(a, TRUE)", "points"),
            "sum of (a or unknown) divided by sum of points, over units with a in (1) and b is known",
        ),
    ],
)
def test_a_rate_is_put_in_words(rate: Rate, formula: str):
    number = Metric("g", "n", 1, 1, 1)
    weighted = f"{formula}; each unit weighted, so that the number estimates that of all items"
    assert _formula(number, rate, {"g": "not this"}, weighted=False) == formula
    assert _formula(number, rate, {}, weighted=True) == weighted
    assert _formula(number, replace(rate, weight="w"), {}, weighted=False) == weighted


def test_another_number_has_the_formula_of_its_name_or_its_group():
    number, texts = Metric("g", "n", 1, 1, 1), {"g: n": "of it", "g": "of all"}
    assert _formula(number, None, texts, weighted=True) == "of it"
    assert _formula(number, None, {"g": "of all"}, weighted=False) == "of all"
    assert _formula(number, None, {}, weighted=False) == (
        "computed by the benchmark from other numbers or from several units at once"
    )
