"""Comparing models over several benchmarks: what is paired, left out, corrected, and what it comes to."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from engine.compare.test_comparison import Row, items, side
from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.compare.suites import (
    OVERALL,
    SuitePair,
    SuiteRuns,
    compare_suites,
    omission_lines,
    suite_pairs,
)
from wildtool.errors import UsageError
from wildtool.stats.tests import holm

HALF = items(*["c", "w"] * 10)
BETTER = items(*["c"] * 20)


def run(rows: Sequence[Row], model: str, benchmark: str = "b", **result: Any) -> ComparedRun:
    return side(rows, model, benchmark=benchmark, **result)


def suite(model: str, rows: Mapping[str, Sequence[Row]]) -> SuiteRuns:
    return SuiteRuns(model, model, {name: run(each, model, name) for name, each in rows.items()})


def compared(
    old: Mapping[str, Sequence[Row]], new: Mapping[str, Sequence[Row]], **settings: Any
) -> SuitePair:
    (pair,) = compare_suites([(suite("old", old), suite("new", new))], **settings)
    return pair


def test_runs_are_paired_inside_each_benchmark():
    pair = compared({"a": HALF, "b": BETTER}, {"b": HALF, "a": HALF})
    assert {name: line.whole.difference for name, line in pair.benchmarks.items()} == {"a": 0, "b": -0.5}


def test_each_benchmark_counts_once_in_the_overall_whatever_its_size():
    pair = compared(
        {"small": items(*"wwwwww"), "large": items(*["c"] * 60)},
        {"small": items(*"cccccc"), "large": items(*["c"] * 60)},
    )
    assert pair.overall is not None
    assert pair.overall.whole.difference == 0.5
    assert pair.overall.whole.baseline_accuracy.value == 0.5
    assert list(pair.lines) == ["small", "large", OVERALL]


def test_every_line_of_every_pair_is_corrected_together():
    sides = [
        suite(name, {"a": HALF, "b": rows}) for name, rows in (("x", HALF), ("y", BETTER), ("z", BETTER))
    ]
    pairs = compare_suites([(sides[0], sides[1]), (sides[0], sides[2])])
    lines = [line for pair in pairs for line in pair.lines.values()]
    assert len(lines) == 6
    assert [line.p_holm for line in lines] == holm([line.p for line in lines])
    assert [line.finding for line in lines[:3]] == ["not distinguishable", "better", "better"]


def test_a_benchmark_with_a_unit_without_a_verdict_has_a_line_and_is_not_in_the_overall():
    gap = items(*["c"] * 19, "i")
    pair = compared({"a": HALF, "b": HALF, "c": BETTER}, {"a": HALF, "b": HALF, "c": gap})
    assert pair.overall is not None
    assert pair.overall.benchmarks == ("a", "b")
    assert pair.benchmarks["c"].finding == "no finding"
    both = compared({"a": HALF, "b": HALF, "c": BETTER}, {"a": HALF, "b": HALF, "c": gap}, only_played=True)
    assert both.overall is not None
    assert both.overall.benchmarks == ("a", "b", "c")


def test_the_overall_is_over_what_all_pairs_have():
    old = suite("old", {"a": HALF, "b": HALF, "c": HALF})
    full, part = suite("full", {"a": HALF, "b": HALF, "c": HALF}), suite("part", {"b": HALF, "c": HALF})
    assert [
        pair.overall and pair.overall.benchmarks for pair in compare_suites([(old, full), (old, part)])
    ] == [
        ("b", "c"),
        ("b", "c"),
    ]


def test_a_single_benchmark_has_no_overall():
    assert compared({"a": HALF, "b": HALF}, {"a": HALF}).overall is None


INCOMPLETE = {"incomplete": True, "trust": ("3 of 20 units were never run",)}


def test_what_cannot_be_compared_is_left_out_in_three_lines_with_the_reason():
    names = ("alone", "cut", "cut too", "other", "shared")
    old = {name: run(HALF, "old", name) for name in names}
    new = {name: run(HALF, "new", name) for name in names[3:]}
    new |= {name: run(HALF, "new", name, **INCOMPLETE) for name in names[1:3]}
    new["other"] = run(HALF, "new", "other", data_sha256="1" * 64)
    (pair,) = compare_suites([(SuiteRuns("old", "old", old), SuiteRuns("new", "new", new))])
    assert list(pair.benchmarks) == ["shared"]
    absent, cut, different = omission_lines([pair])
    assert absent == "Left out: alone: only in old."
    assert cut == "Left out: cut, cut too: new incomplete; --only-played compares the units that were run."
    assert different.startswith("Left out: other: old and new differ in data: d (SHA-256 000000000000…)")


def test_more_than_three_reasons_are_cut():
    old = {name: run(HALF, "old", name) for name in "abcde"}
    new = {name: run(HALF, "new", name, data_sha256=name * 64) for name in "abcd"}
    new["e"] = old["e"]
    (pair,) = compare_suites([(SuiteRuns("old", "old", old), SuiteRuns("new", "new", new))])
    assert len(pair.left_out) == 4
    assert [line.split(":")[1] for line in omission_lines([pair])] == [
        " a",
        " b",
        " more benchmarks, which --json names.",
    ]


def test_what_is_left_out_can_be_asked_for():
    old, cut = run(HALF, "old"), run(HALF, "new", **INCOMPLETE)
    other = run(HALF, "new", data_sha256="1" * 64)
    for rival, settings in ((cut, {"only_played": True}), (other, {"anyway": True})):
        sides = SuiteRuns("old", "old", {"b": old}), SuiteRuns("new", "new", {"b": rival})
        with pytest.raises(UsageError, match="no benchmark can be compared:\n  Left out: b"):
            compare_suites([sides])
        (pair,) = compare_suites([sides], **settings)
        assert list(pair.benchmarks) == ["b"]


def test_runs_that_share_no_unit_are_left_out():
    pair = compared({"a": HALF, "b": items("c")}, {"a": HALF, "b": items("i")}, only_played=True)
    assert pair.left_out == {"b": "old and new share no unit with a verdict"}


def models(*names: str) -> list[SuiteRuns]:
    return [suite(name, {"a": HALF, "b": HALF}) for name in names]


@pytest.mark.long
@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["xyz"], ["xy", "xz"]),
        (["x", "y"], ["xy"]),
        (["x", "yz", "v"], ["xy", "xz", "xv"]),
        (["xy", "yxz"], ["yy", "xx"]),
    ],
)
def test_who_is_compared_with_whom(names: list[str], pairs: list[str]):
    places = [models(*each) for each in names]
    assert [old.model + new.model for old, new in suite_pairs(places)] == pairs


def test_all_pairs():
    places = [models("x"), models("y", "z")]
    assert [old.model + new.model for old, new in suite_pairs(places, all_pairs=True)] == ["xy", "xz", "yz"]


def test_models_without_a_namesake_are_no_pairs():
    with pytest.raises(UsageError, match="no two models to compare \\(x, y and z\\)"):
        suite_pairs([models("x", "y"), models("z")])


def test_two_single_runs_are_compared_whatever_they_are_of_and_the_difference_is_named():
    sides = [SuiteRuns(name, name, {name: run(HALF, name, name)}) for name in ("x", "y")]
    (pair,) = suite_pairs([[sides[0]], [sides[1]]])
    with pytest.raises(UsageError, match="benchmark: x and y"):
        compare_suites([pair])
