"""Comparing models over several benchmarks: what is paired, left out, corrected, and what it comes to."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.compare.test_comparison import Row, items, side
from engine.compare.test_published import run as result_of
from wildtool.alter.noise.noise import Noise
from wildtool.engine.compare import suites
from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.compare.suites import (
    OVERALL,
    SuitePair,
    SuiteRuns,
    compare_suites,
    holds_several_benchmarks,
    load_suites,
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


@pytest.mark.parametrize(
    ("places", "pairs"),
    [
        ([models("x", "y", "z")], ["xy", "xz"]),
        ([models("x"), models("y")], ["xy"]),
        ([models("x"), models("y", "z"), models("v")], ["xy", "xz", "xv"]),
        ([models("x", "y"), models("y", "x", "z")], ["yy", "xx"]),
    ],
)
def test_who_is_compared_with_whom(places: list[list[SuiteRuns]], pairs: list[str]):
    assert [old.model + new.model for old, new in suite_pairs(places)] == pairs


def test_all_pairs():
    places = [models("x"), models("y", "z")]
    assert [old.model + new.model for old, new in suite_pairs(places, all_pairs=True)] == ["xy", "xz", "yz"]


def test_models_without_a_namesake_are_no_pairs():
    with pytest.raises(UsageError, match="no two models to compare \\(x, y and z\\)"):
        suite_pairs([models("x", "y"), models("z")])


RUNS: Any = {
    "here/m": ("m", "b0"),
    "here/n": ("n", "b2"),
    "there/m": ("m", "b0"),
    "there/o": ("o", "b0"),
    "twice/1": ("m", "b"),
    "twice/2": ("m", "b"),
}
"""By folder the model and the benchmark."""


def result_at(folder: Path) -> SimpleNamespace:
    model, benchmark = RUNS[str(folder)]
    return SimpleNamespace(
        model=model, benchmark=benchmark, split=None, mode=None, prompts="", disturbances=(), folder=folder
    )


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(folder: Path, profile: str | None) -> Iterator[Any]:
        yield result_at(folder), f"table of {folder} under {profile}"

    def identity(folder: Path) -> Any:
        model, benchmark = RUNS[str(folder)]
        return {"identity": {"models": {"agent": {"name": model}}, "benchmark": benchmark}}

    monkeypatch.setattr(
        suites, "run_folders", lambda path: [Path(run) for run in RUNS if run.startswith(str(path))]
    )
    monkeypatch.setattr(suites, "read_run", identity)
    monkeypatch.setattr(suites, "open_results", opened)
    monkeypatch.setattr(suites, "relation", lambda tables: f"rows of {tables}")
    monkeypatch.setattr(suites, "benchmark_and_data", lambda result: result.benchmark)
    monkeypatch.setattr(
        suites.loaded, "load_compared_run", lambda *parts: SimpleNamespace(parts=parts, result=parts[1])
    )


@pytest.mark.usefixtures("stored")
def test_the_runs_below_each_place_are_those_of_its_models():
    here, there = Path("here"), Path("there")

    def loaded(label: str, run: str) -> Any:
        model, benchmark = RUNS[run]
        identity = {"models": {"agent": {"name": model}}, "benchmark": benchmark}
        parts = (label, result_at(Path(run)), identity, f"rows of ['table of {run} under strict']", "item")
        return SimpleNamespace(parts=parts, result=parts[1])

    assert load_suites([here, there], "strict", "item") == [
        [
            SuiteRuns("m", "m (here)", {"b0": loaded("m (here)", "here/m")}),
            SuiteRuns("n", "n", {"b2": loaded("n", "here/n")}),
        ],
        [
            SuiteRuns("m", "m (there)", {"b0": loaded("m (there)", "there/m")}),
            SuiteRuns("o", "o", {"b0": loaded("o", "there/o")}),
        ],
    ]
    for paths, problem in (
        ([here, here], "the same run is given twice; give each run once"),
        ([Path("twice")], "twice has two runs of m on b: twice/1 and twice/2; move one of them elsewhere"),
    ):
        with pytest.raises(UsageError) as raised:
            load_suites(paths)
        assert str(raised.value) == problem
    assert [holds_several_benchmarks(paths) for paths in ([there], [there, here], [Path("twice")])] == [
        False,
        True,
        False,
    ]


def test_runs_of_a_model_are_told_apart_by_all_that_they_may_differ_in():
    other = result_of(
        split="dev", mode="fc", prompts="d", alterations=(Noise.parse("names:heavy"),), data="/d/x.jsonl"
    )
    assert suites._benchmark_label(other) == (  # pyright: ignore[reportPrivateUsage]
        "wild-mini (data x.jsonl), dev, mode fc, the original's prompts, noise names:heavy"
    )
    assert suites._benchmark_label(result_of(data="/d/x.jsonl")) == "wild-mini (data x.jsonl)"  # pyright: ignore[reportPrivateUsage]


def test_two_single_runs_are_compared_whatever_they_are_of_and_the_difference_is_named():
    sides = [SuiteRuns(name, name, {name: run(HALF, name, name)}) for name in ("x", "y")]
    (pair,) = suite_pairs([[sides[0]], [sides[1]]])
    with pytest.raises(UsageError, match="benchmark: x and y"):
        compare_suites([pair])
