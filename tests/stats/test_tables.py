"""Declared tables: which numbers a summary has, in which order."""

from typing import Any

import duckdb

from wildtool.stats.metrics import Rate
from wildtool.stats.tables import Table, error_table, summary_of, usual_tables
from wildtool.types import Metric


def rows() -> Any:
    return duckdb.sql(
        "SELECT * FROM (VALUES ('i', 'a', true, 2), ('i', 'b', false, 6), ('j', 'b', true, 0))"
        " AS rows(item, part, correct, size)"
    )


def test_a_rate_for_each_measure_and_cut():
    table = Table(
        title="T",
        measures={"right": "CAST(correct AS INTEGER)", "size": ("size", "8")},
        cuts={"all": "TRUE", "b": "part = 'b'"},
        headline=True,
    )
    found = [
        (m.group, m.name, m.numerator, m.denominator, m.headline) for m in summary_of([table], rows(), "p")
    ]
    assert found == [
        ("right", "all", 2, 3, True),
        ("right", "b", 1, 2, True),
        ("size", "all", 8, 24, True),
        ("size", "b", 6, 16, True),
    ]


def test_numbers_keep_their_order_whatever_they_are():
    own = Metric("own", "n", 1.0, 1, 1)
    table = Table(
        numbers=lambda verdicts, profile: [
            lambda rates: [rates["g", "late"]],
            own,
            Rate("g", "late", "part = 'a'"),
            Rate("g", "no rows", "part = 'x'", only_if_any=True),
            Rate("g", "no rows, shown", "part = 'x'"),
        ]
    )
    found = [(metric.group, metric.name) for metric in summary_of([table], rows(), "p")]
    assert found == [("g", "late"), ("own", "n"), ("g", "late"), ("g", "no rows, shown")]


def test_a_weight_counts_for_the_value_alone():
    rate = Rate("g", "n", "TRUE", weight="CASE part WHEN 'a' THEN 2 ELSE 0.5 END")
    (metric,) = summary_of([Table(numbers=lambda verdicts, profile: [rate])], rows(), "p")
    assert (metric.value, metric.numerator, metric.denominator) == (2.5 / 3, 2, 3)


def test_a_table_of_other_profiles_is_left_out():
    table = Table(measures={"m": "1"}, cuts={"c": "TRUE"}, profiles=("fixed",))
    assert not summary_of([table], rows(), "official")
    assert summary_of([table], rows(), "fixed")


def test_errors_coverage_and_cost_need_no_declaration_of_their_own():
    verdicts = duckdb.sql(
        "SELECT 'i' AS item, false AS correct, 'wrong' AS outcome, 'E' AS error, 1 AS steps, 5 AS prompt_tokens,"
        " 2 AS completion_tokens, 1.5 AS latency_s, 'raises' AS reference_error"
    )
    tables = (error_table(["E", "F"]), *usual_tables("record", "about"))
    found = {(m.group, m.name): m.numerator for m in summary_of(tables, verdicts, "p")}
    assert (found["errors", "E"], found["errors", "F"]) == (1, 0)
    assert found["coverage", "not scorable by the original"] == 1
    assert found["cost", "prompt tokens per record"] == 5
    assert [table.title for table in tables] == ["Errors", "", "Cost"]
