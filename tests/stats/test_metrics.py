"""Numbers of verdicts: every metric of a summary with all its fields."""

import duckdb

from wildtool.stats.metrics import (
    default_rates,
    rate_metrics,
    sql_name,
    sql_text,
)


def test_groups_may_be_of_numbers_and_of_truth_values() -> None:
    rows = duckdb.sql("""SELECT *, '' AS split, 'correct' AS outcome, NULL AS error FROM (VALUES
     ('i', 10, true, true, 1.0), ('i', 9, false, true, 1.0), ('j', 9, NULL, false, 0.0)
    ) AS r(item, size, flag, correct, score)""")
    rates = default_rates(rows, ["size", "flag"])
    assert [(rate.group, rate.name, rate.where, rate.headline) for rate in rates] == [
        ("accuracy", "unit", "TRUE", True),
        ("size", "10", '"size" = 10', False),
        ("size", "9", '"size" = 9', False),
        ("flag", "False", '"flag" = False', False),
        ("flag", "True", '"flag" = True', False),
    ]
    counts = [(metric.numerator, metric.denominator) for metric in rate_metrics(rows, rates)]
    assert counts == [(2, 3), (1, 1), (1, 2), (1, 1), (1, 1)]


def test_quotes_in_sql_are_doubled() -> None:
    assert (sql_name('a"b'), sql_text("a'b")) == ('"a""b"', "'a''b'")
