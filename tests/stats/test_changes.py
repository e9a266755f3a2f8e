"""Changes on the way are counted over a run: calls mended as they were read, and what a protocol forced."""

import json
from typing import Any

import duckdb

from wildtool.stats.metrics import ON_THE_WAY, READ, change_metrics
from wildtool.types import Metric


def rows(*units: tuple[int, int, int, object], unread: int = 0) -> Any:
    """Units as (steps, calls, mended replies, changes). Args: unread: replies of each with a call that nothing read."""
    told = ", ".join(
        f"({steps}, {calls}, {mended}, {'NULL' if made is None else repr(made)}, {unread})"
        for steps, calls, mended, made in units
    )
    columns = "steps, calls, mended_replies, changes, unread_calls"
    return duckdb.connect().sql(f"SELECT * FROM (VALUES {told}) AS t({columns})")


def shown(metrics: list[Metric]) -> dict[tuple[str, str], tuple[float, float]]:
    return {(metric.group, metric.name): (metric.numerator, metric.denominator) for metric in metrics}


def test_repairs_are_counted_of_the_calls_and_mended_replies_of_the_replies_in_the_format():
    one = json.dumps({"format:hermes": 2, "repair:trailing-comma": 2, "repair:code-fence": 1})
    two = json.dumps({"format:hermes": 1, "repair:trailing-comma": 1})
    found = shown(change_metrics(rows((3, 4, 1, one), (1, 1, 1, two), (2, 0, 0, None))))
    assert found == {
        (READ, "replies in the format hermes"): (3, 6),
        (READ, "replies that could be read"): (3, 3),
        (READ, "replies that were mended"): (2, 3),
        (READ, "calls"): (5, 0),
        (READ, "calls per reply that could be read"): (5, 3),
        (READ, "repair: code-fence"): (1, 5),
        (READ, "repair: trailing-comma"): (3, 5),
    }


def test_calls_are_divided_by_the_replies_that_could_be_read():
    found = shown(change_metrics(rows((4, 1, 0, '{"format:hermes": 4}'), unread=2)))
    assert found[READ, "replies that could be read"] == (2, 4)
    assert found[READ, "calls per reply that could be read"] == (1, 2)


def test_what_a_protocol_forced_is_counted_of_the_steps():
    found = shown(change_metrics(rows((2, 1, 0, '{"system-to-top-level": 2, "seed-not-sent": 1}'))))
    assert found == {(ON_THE_WAY, "seed-not-sent"): (1, 2), (ON_THE_WAY, "system-to-top-level"): (2, 2)}


def test_a_run_without_changes_has_no_such_numbers():
    assert change_metrics(rows((2, 1, 0, None))) == []


def test_a_cell_that_was_cut_counts_nothing():
    assert change_metrics(rows((2, 1, 0, '{"cut": "longer than a table cell may be"}'))) == []
