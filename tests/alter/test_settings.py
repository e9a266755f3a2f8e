"""What the options and files of alterations may hold, and what is said of anything else, word for word."""

from wildtool.alter.hints.hint_files import Hint
from wildtool.alter.hints.hints import Hints
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.types import Item


def items(name: str) -> tuple[Benchmark, list[Item]]:
    benchmark = load_benchmark(name)
    return benchmark, list(benchmark.load(data_of(benchmark).locate(None)))[:2]


def test_hints_for_other_units_are_counted():
    benchmark, sample = items("wild-mini")
    hints = (Hint("wild_mini_0", "0", 0, "x"), Hint("wild_mini_0", "9", 0, "x"))
    aid = Hints(hints, rationale="given", rationales={("wild_mini_1", "0"): "y", ("none", "0"): "y"})
    assert aid.check(benchmark, sample, "fixed") == "2 of 4 hints and rationales are for no selected unit"
    assert Hints(hints[:1]).check(benchmark, sample, "fixed") == ""
    assert (aid.label, aid.described, aid.folder_parts) == (
        "hints, rationale given", "hints, rationale given", ["hints", "rationale", "given"]
    )  # fmt: skip
    assert Hints(hints, True, "own").label == "hints shuffled, rationale own"
    assert [bool(each) for each in (Hints(), Hints(hints), Hints(rationale="own"))] == [False, True, True]
