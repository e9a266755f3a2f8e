"""Glaive's numbers from verdict rows."""

from typing import Any

from held_rows import held_rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.glaive import GLAIVE
from wildtool.benchmarks.glaive.summary import TABLES
from wildtool.stats.tables import summary_of


def row(number: int, error: str | None, *counts: int | None) -> dict[str, Any]:
    outcome = "correct" if error is None else "wrong"
    usual = {"item": f"{number:05}", "repeat": 0, "unit": "0", "outcome": outcome, "correct": error is None}
    columns = dict(zip(GLAIVE.columns, counts or [None] * 6, strict=True))
    return {**usual, "error": error, "steps": 1, "score": float(error is None), **columns}


def test_accuracies_are_of_what_counts_and_the_counts_are_those_of_the_platform() -> None:
    rows = [
        row(0, None, 1, 1, 1, 1, 0, 0),
        row(1, "Wrong Argument Values", 1, 1, 1, 0, 0, 0),
        row(2, "Wrong Argument Names", 1, 1, 0, 0, 0, 0),
        row(3, "Invalid Prediction", 2, 0, 0, 0, 0, 1),
        row(4, "Unusable Gold", 0, 1, 0, 0, 0, 0),
        row(5, "Unusable Gold", 1, 0, 0, 0, 1, 0),
        row(6, "no reply"),
    ]
    types = {**VERDICT_COLUMNS, **GLAIVE.columns}
    table = held_rows(types, [list((dict.fromkeys(types) | entry).values()) for entry in rows])
    metrics = summary_of(TABLES, table, "toleap")
    numbers = [(m.group, m.name, m.numerator, m.denominator, m.kind, m.headline) for m in metrics]
    assert numbers[:3] == [
        ("accuracy", "argument values", 1, 7, "rate", True),
        ("accuracy", "argument names", 2, 7, "rate", True),
        ("accuracy", "function", 4, 7, "rate", True),
    ]
    assert [number[1:4] for number in numbers if number[0] == "errors"] == [
        ("Invalid Prediction", 1, 6),
        ("Wrong Function", 0, 6),
        ("Wrong Argument Names", 1, 6),
        ("Wrong Argument Values", 1, 6),
        ("Unusable Gold", 2, 6),
    ]
    assert [number[1:] for number in numbers if number[0] == "counts as ToLeaP reports them"] == [
        ("total_samples", 6, 7, "count", False),
        ("function_correct", 4, 7, "count", False),
        ("argument_name_correct", 2, 7, "count", False),
        ("argument_value_correct", 1, 7, "count", False),
        ("invalid_ground_truth", 1, 7, "count", False),
        ("invalid_predictions", 1, 7, "count", False),
    ]
    assert [table.groups for table in GLAIVE.tables if table.title] == [("accuracy",), ("errors",), ("cost",)]
