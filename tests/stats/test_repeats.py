"""pass@k and pass^k over the repeats of a run."""

import math
from itertools import combinations
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.stats.intervals import wilson
from wildtool.stats.metrics import pass_all, pass_at, repeats
from wildtool.types import Metric

COUNTS = st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n)))


def found(rows: list[tuple[str, str, int, bool]]) -> dict[str, Metric]:
    """Numbers of rows of (item, unit, repeat, correct)."""
    values = ", ".join(map(str, rows))
    table: Any = duckdb.connect().sql(f"SELECT * FROM (VALUES {values}) AS t(item, unit, repeat, correct)")
    return {metric.name: metric for metric in repeats(table)}


@given(COUNTS)
def test_both_are_the_share_of_all_choices_of_k_tries(counts: tuple[int, int, int]) -> None:
    right, tries, k = counts
    chosen = list(combinations([True] * right + [False] * (tries - right), k))
    assert pass_at(k, right, tries) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_all(k, right, tries) == pytest.approx(sum(map(all, chosen)) / len(chosen))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_both_are_unbiased(k: int) -> None:
    """Over all outcomes of five tries that succeed with 0.3 their mean is the chance itself."""
    rate, tries = 0.3, 5
    chances = [math.comb(tries, c) * rate**c * (1 - rate) ** (tries - c) for c in range(tries + 1)]
    at, every = (
        sum(p * chance(k, c, tries) for c, p in enumerate(chances)) for chance in (pass_at, pass_all)
    )
    assert (at, every) == pytest.approx((1 - (1 - rate) ** k, rate**k))


def test_a_run_shows_them_per_unit_with_intervals_by_item() -> None:
    metrics = found([("a", "0", 0, True), ("a", "0", 1, False), ("b", "0", 0, True), ("b", "0", 1, True)])
    assert [(name, m.value) for name, m in metrics.items()] == [
        ("pass@1", 0.75),
        ("pass@2", 1.0),
        ("pass^1", 0.75),
        ("pass^2", 0.5),
    ]
    assert metrics["pass@2"].denominator == 2
    assert (metrics["pass@2"].low, metrics["pass@2"].high) == wilson(1.0, 2)
    assert {m.group for m in metrics.values()} == {"repeats"}


def test_a_run_without_repeats_has_none() -> None:
    assert found([("a", "0", 0, True), ("b", "0", 0, False)]) == {}


def test_of_many_repeats_powers_of_two_are_shown_and_all() -> None:
    metrics = found([("a", "0", repeat, repeat % 2 == 0) for repeat in range(10)])
    assert [name for name in metrics if "@" in name] == ["pass@1", "pass@2", "pass@4", "pass@8", "pass@10"]
