"""Numbers of verdicts: every metric of a summary with all its fields."""

from collections import Counter
from dataclasses import replace

import duckdb

from wildtool.evidence import Evidence
from wildtool.stats.describe import count_metrics, histogram, mean_metric, measure_metrics, share_metric
from wildtool.stats.metrics import (
    Rate,
    best_first,
    change_metrics,
    cost,
    coverage,
    default_rates,
    default_summary,
    headline_first,
    mean_of_rates,
    rate_metrics,
    repeats,
    sql_name,
    sql_text,
)
from wildtool.types import Metric

ROWS = """SELECT * FROM (VALUES
 ('i','0',true,'correct',NULL,2,100,10,1.0,
  '{"format:hermes": 2, "repair:code-fence": 1, "merged-messages": 1}',1,2,0,0,'a','x',1.0),
 ('i','1',false,'wrong','E',3,50,5,2.0,
  '{"format:hermes": 3, "repair:code-fence": 2, "repair:bare-word": 1, "long": "text"}',2,3,1,1,'b','x',0.5),
 ('j','0',false,'infra_error','F',1,NULL,NULL,NULL,NULL,0,0,0,0,'a','y',0.0),
 ('j','1',true,'correct',NULL,1,20,2,0.5,'{"merged-messages": 1, "cut": 2}',0,1,0,1,'a','y',1.0),
 ('k','0',false,'unplayed',NULL,0,NULL,NULL,NULL,NULL,0,0,0,0,'b','y',0.0),
 ('k','1',false,'wrong','reply refused',1,10,1,0.25,NULL,0,0,NULL,0,'','y',0.0)
) AS r(item, unit, correct, outcome, error, steps, prompt_tokens, completion_tokens, latency_s,
  changes, mended_replies, calls, unread_calls, cut_off, part, split, score)"""
REPEATS = """SELECT * FROM (VALUES
 ('i','0',true),('i','0',false),('i','0',true),('i','1',false),('i','1',false),('i','1',true),
 ('j','0',true),('j','0',true),('j','0',true)
) AS r(item, unit, correct)"""


def rounded(metrics: list[Metric]) -> list[Metric]:
    """With nine decimals."""
    return [
        replace(
            metric,
            value=None if metric.value is None else round(metric.value, 9),
            numerator=round(metric.numerator, 9),
            low=None if metric.low is None else round(metric.low, 9),
            high=None if metric.high is None else round(metric.high, 9),
        )
        for metric in metrics
    ]


def test_changes_are_counted_over_steps_replies_and_calls() -> None:
    assert change_metrics(duckdb.sql(ROWS)) == [
        Metric("calls read from text", "replies in the format hermes", None, 5, 8.0, kind="count"),
        Metric("calls read from text", "replies that could be read", None, 4.0, 5, kind="count"),
        Metric("calls read from text", "replies that were mended", None, 3.0, 5, kind="count"),
        Metric("calls read from text", "calls", None, 6.0, 0, kind="count"),
        Metric(
            "calls read from text",
            "calls per reply that could be read",
            1.5,
            6.0,
            4.0,
            kind="mean",
            unit="calls",
            better="",
        ),
        Metric("calls read from text", "repair: bare-word", None, 1, 6.0, kind="count"),
        Metric("calls read from text", "repair: code-fence", None, 3, 6.0, kind="count"),
        Metric("changed on the way", "cut", None, 2, 8.0, kind="count"),
        Metric("changed on the way", "merged-messages", None, 2, 8.0, kind="count"),
    ]


def test_changes_of_the_way_alone_say_nothing_of_replies_read_from_text() -> None:
    rows = duckdb.sql(ROWS).filter("item = 'j'")
    assert change_metrics(rows) == [
        Metric("changed on the way", "cut", None, 2, 2.0, kind="count"),
        Metric("changed on the way", "merged-messages", None, 1, 2.0, kind="count"),
    ]
    assert change_metrics(duckdb.sql(ROWS).filter("item = 'k'")) == []


def test_replies_that_were_all_unread_have_no_mean_of_calls() -> None:
    rows = (
        duckdb.sql(ROWS)
        .filter("item = 'i'")
        .project("changes, steps, 0 AS calls, mended_replies, 9 AS unread_calls")
    )
    assert change_metrics(rows)[4] == Metric(
        "calls read from text",
        "calls per reply that could be read",
        None,
        0.0,
        0.0,
        kind="mean",
        unit="calls",
        better="",
    )


def test_coverage_counts_what_has_no_verdict_or_was_ended_by_a_reply() -> None:
    assert rounded(coverage(duckdb.sql(ROWS), 2, "task")) == [
        Metric("coverage", "infra errors", None, 1, 6, kind="count"),
        Metric("coverage", "unplayed", None, 1, 6, kind="count"),
        Metric("coverage", "not scorable by the original", None, 2, 6, kind="count"),
        Metric("coverage", "reply refused", None, 1, 6, kind="count"),
        Metric("coverage", "task accuracy if all of these were right", 0.666666667, 4, 6),
    ]
    complete = coverage(duckdb.sql(ROWS).filter("item = 'i'"), 0, "task")
    assert complete == [
        Metric("coverage", "infra errors", None, 0, 2, kind="count"),
        Metric("coverage", "unplayed", None, 0, 2, kind="count"),
        Metric("coverage", "not scorable by the original", None, 0, 2, kind="count"),
    ]


def test_cost_is_a_mean_over_units_that_report_it() -> None:
    assert rounded(cost(duckdb.sql(ROWS), "task")) == [
        Metric("cost", "steps per task", 1.333333333, 8.0, 6.0, kind="mean", unit="steps", better="less"),
        Metric("cost", "prompt tokens per task", 45.0, 180.0, 4.0, kind="mean", unit="tokens", better="less"),
        Metric(
            "cost", "completion tokens per task", 4.5, 18.0, 4.0, kind="mean", unit="tokens", better="less"
        ),
        Metric("cost", "latency per step", 0.46875, 3.75, 8.0, kind="mean", unit="s", better="less"),
    ]
    assert [metric.value for metric in cost(duckdb.sql(ROWS).filter("FALSE"), "task")] == [None] * 4


def test_the_default_summary_has_accuracy_groups_errors_coverage_and_cost() -> None:
    summary = rounded(default_summary(duckdb.sql(ROWS), ["part", "split", "error"]))
    assert summary[:11] == [
        Metric(
            "accuracy",
            "unit",
            0.333333333,
            2.0,
            6.0,
            low=0.096771411,
            high=0.700006685,
            headline=True,
            evidence=Evidence(units=6, failed=1, unplayed=1, cut_off=2, unread=None),
        ),
        Metric(
            "accuracy",
            "mean score",
            0.416666667,
            2.5,
            6.0,
            low=0.125895994,
            high=0.779851083,
            evidence=Evidence(units=6, failed=1, unplayed=1, cut_off=2, unread=None),
        ),
        Metric(
            "split",
            "x",
            0.5,
            1.0,
            2.0,
            low=0.054620756,
            high=0.945379244,
            evidence=Evidence(units=2, failed=0, unplayed=0, cut_off=1, unread=1),
        ),
        Metric(
            "split",
            "y",
            0.25,
            1.0,
            4.0,
            low=0.036841196,
            high=0.74390732,
            evidence=Evidence(units=4, failed=1, unplayed=1, cut_off=1, unread=None),
        ),
        Metric(
            "part",
            "a",
            0.666666667,
            2.0,
            3.0,
            low=0.207659601,
            high=0.938508055,
            evidence=Evidence(units=3, failed=1, unplayed=0, cut_off=1, unread=0),
        ),
        Metric(
            "part",
            "b",
            0.0,
            0.0,
            2.0,
            low=0.0,
            high=0.657619772,
            evidence=Evidence(units=2, failed=0, unplayed=1, cut_off=1, unread=1),
        ),
        Metric(
            "error",
            "E",
            0.0,
            0.0,
            1.0,
            low=0.0,
            high=0.793450686,
            evidence=Evidence(units=1, failed=0, unplayed=0, cut_off=1, unread=1),
        ),
        Metric(
            "error",
            "F",
            0.0,
            0.0,
            1.0,
            low=0.0,
            high=0.793450686,
            evidence=Evidence(units=1, failed=1, unplayed=0, cut_off=0, unread=0),
        ),
        Metric(
            "error",
            "reply refused",
            0.0,
            0.0,
            1.0,
            low=0.0,
            high=0.793450686,
            evidence=Evidence(units=1, failed=0, unplayed=0, cut_off=0, unread=None),
        ),
        Metric(
            "errors",
            "E",
            0.5,
            1.0,
            2.0,
            low=0.054620756,
            high=0.945379244,
            better="",
            evidence=Evidence(units=2, failed=0, unplayed=0, cut_off=1, unread=None),
        ),
        Metric(
            "errors",
            "reply refused",
            0.5,
            1.0,
            2.0,
            low=0.054620756,
            high=0.945379244,
            better="",
            evidence=Evidence(units=2, failed=0, unplayed=0, cut_off=1, unread=None),
        ),
    ]
    verdicts = duckdb.sql(ROWS)
    assert summary[11:] == rounded([*coverage(verdicts, 0, "unit"), *cost(verdicts, "unit")])


def test_one_split_and_whole_scores_have_no_lines_of_their_own() -> None:
    rows = (
        duckdb.sql(ROWS).filter("split = 'x'").project("* EXCLUDE (score), CAST(correct AS INTEGER) AS score")
    )
    names = [(metric.group, metric.name) for metric in default_summary(rows, [])]
    assert names[:3] == [("accuracy", "unit"), ("errors", "E"), ("coverage", "infra errors")]


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


def test_rates_of_a_sample_weigh_its_items() -> None:
    rows = duckdb.sql(
        ROWS.replace("SELECT *", "SELECT *, CASE item WHEN 'i' THEN 2.0 ELSE 0.5 END AS sample_weight")
    )
    rates = [
        Rate("g", "all", "TRUE", headline=True, note="n"),
        Rate("g", "steps", "part <> ''", "steps", "3", better="less"),
        Rate("g", "weighed", "TRUE", weight="1 + CAST(unit AS INTEGER)"),
        Rate("g", "none", "FALSE"),
    ]
    assert rounded(rate_metrics(rows, rates)) == [
        Metric(
            "g",
            "all",
            0.416666667,
            2.0,
            6.0,
            low=0.139467259,
            high=0.758921789,
            headline=True,
            note="n",
            evidence=Evidence(units=6, failed=1, unplayed=1, cut_off=2, unread=None),
        ),
        Metric(
            "g",
            "steps",
            0.666666667,
            7.0,
            15.0,
            low=0.315397505,
            high=0.896719912,
            better="less",
            evidence=Evidence(units=5, failed=1, unplayed=1, cut_off=2, unread=1),
        ),
        Metric(
            "g",
            "weighed",
            0.333333333,
            2.0,
            6.0,
            low=0.120583818,
            high=0.645797864,
            evidence=Evidence(units=6, failed=1, unplayed=1, cut_off=2, unread=None),
        ),
        Metric(
            "g", "none", None, 0.0, 0.0, evidence=Evidence(units=0, failed=0, unplayed=0, cut_off=0, unread=0)
        ),
    ]


def test_rates_of_a_table_without_columns_of_doubt_have_no_such_evidence() -> None:
    (metric,) = rate_metrics(duckdb.sql(ROWS).project("item, correct, outcome"), [Rate("g", "all", "TRUE")])
    assert metric.evidence == Evidence(6, 1, 1, None, None)


def test_repeats_give_the_chance_of_any_and_of_all() -> None:
    assert rounded(repeats(duckdb.sql(REPEATS))) == [
        Metric("repeats", "pass@1", 0.666666667, 2.0, 3.0, low=0.207659601, high=0.938508055),
        Metric("repeats", "pass@2", 0.888888889, 2.666666667, 3.0, low=0.34937855, high=0.991679314),
        Metric("repeats", "pass@3", 1.0, 3.0, 3.0, low=0.342380228, high=1.0),
        Metric("repeats", "pass^1", 0.666666667, 2.0, 3.0, low=0.207659601, high=0.938508055),
        Metric("repeats", "pass^2", 0.444444444, 1.333333333, 3.0, low=0.07049401, high=0.894054167),
        Metric("repeats", "pass^3", 0.333333333, 1.0, 3.0, low=0.028077176, high=0.896416308),
    ]
    assert repeats(duckdb.sql(REPEATS).filter("item = 'none'")) == []


def test_of_many_repeats_powers_of_two_and_their_number_are_shown() -> None:
    def sizes(tries: int) -> list[str]:
        rows = duckdb.sql(f"SELECT 'i' AS item, '0' AS unit, true AS correct FROM range({tries})")
        return [metric.name for metric in repeats(rows) if metric.name.startswith("pass@")]

    assert sizes(1) == []
    assert sizes(2) == ["pass@1", "pass@2"]
    assert sizes(5) == [f"pass@{k}" for k in (1, 2, 3, 4, 5)]
    assert sizes(6) == [f"pass@{k}" for k in (1, 2, 4, 6)]
    assert sizes(8) == [f"pass@{k}" for k in (1, 2, 4, 8)]


def test_the_better_number_comes_first_and_a_missing_one_last() -> None:
    values = [0.5, None, 0.25]
    assert sorted(values, key=lambda value: best_first(value, "more")) == [0.5, 0.25, None]
    assert sorted(values, key=lambda value: best_first(value, "less")) == [0.25, 0.5, None]
    assert [best_first(value, "") for value in values] == [0, float("inf"), 0]


def test_the_number_that_models_are_ranked_by_comes_first() -> None:
    first, second = Metric("g", "a", 0.5, 1, 2), Metric("g", "b", 0.5, 1, 2)
    assert headline_first([first, second], ("g", "b")) == [replace(second, headline=True), first]
    assert (
        headline_first([first, second], None)
        == headline_first([first, second], ("h", "b"))
        == [first, second]
    )


def test_a_mean_of_rates_takes_those_with_a_value() -> None:
    parts = [
        Metric("g", "a", 0.5, 1, 2, 0.25, 0.75),
        Metric("g", "b", None, 0, 0, note="first"),
        Metric("g", "c", 0.25, 1, 4, 0.125, 0.5, note="second"),
    ]
    low, high = 0.375 - (0.125**2 + 0.0625**2) ** 0.5, 0.375 + (0.125**2 + 0.125**2) ** 0.5
    expected = Metric("m", "n", 0.375, 2, 6, low, high, headline=True, note="first")
    assert rounded([mean_of_rates("m", "n", parts, headline=True)]) == rounded([expected])
    bare = [replace(parts[0], low=None), parts[1], parts[2]]
    assert mean_of_rates("m", "n", bare) == Metric("m", "n", 0.375, 2, 6, note="first")
    assert mean_of_rates("m", "n", parts[1:2]) == Metric("m", "n", None, 0, 0, note="first")


def test_counts_come_in_the_order_that_is_asked_for_and_over_their_sum_or_a_total() -> None:
    counts = {"b": 2, "a": 1}
    assert list(count_metrics("g", counts, ["c", "a"])) == [
        Metric("g", "c", 0, 0, 3, kind="count"),
        Metric("g", "a", 1, 1, 3, kind="count"),
        Metric("g", "b", 2, 2, 3, kind="count"),
    ]
    assert [(metric.name, metric.denominator) for metric in count_metrics("g", counts, total=9)] == [
        ("b", 9),
        ("a", 9),
    ]


def test_measures_are_summed_by_part() -> None:
    metrics = measure_metrics(
        ["ab", "c", "abc"], lambda text: text[0], {"letters": len, "texts": lambda text: 1}
    )
    assert list(metrics) == [
        Metric("letters", "a", 5, 5, 6, kind="count"),
        Metric("letters", "c", 1, 1, 6, kind="count"),
        Metric("texts", "a", 2, 2, 3, kind="count"),
        Metric("texts", "c", 1, 1, 3, kind="count"),
    ]


def test_shares_and_means_have_their_parts_and_no_value_of_nothing() -> None:
    assert share_metric("g", "n", 1, 4, 0.5) == Metric("g", "n", 0.25, 1, 4, target=0.5)
    assert share_metric("g", "n", 0, 0) == Metric("g", "n", None, 0, 0)
    assert mean_metric("g", "n", [1, 4], 2.0) == Metric("g", "n", 2.5, 5, 2, kind="mean", target=2.0)
    assert mean_metric("g", "n", []) == Metric("g", "n", None, 0, 0, kind="mean")
    assert list(histogram([10, 9, 10]).items()) == [("9", 1), ("10", 2)]
    assert histogram([]) == Counter()
