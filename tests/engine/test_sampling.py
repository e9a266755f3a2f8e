"""Which items a sample has, and how much each counts."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.echo_benchmark import EchoBenchmark
from long import a_fiftieth_of
from wildtool.benchmarks import OURS
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Selection
from wildtool.engine.registry import load_benchmark
from wildtool.engine.sampling import ItemSample
from wildtool.types import Item


def item(id_: str, *topics: str, split: str = "s", lang: str = "en") -> Item:
    units = tuple(str(number) for number in range(len(topics)))
    return Item(id_, units, {"topics": topics}, split, lang)


class Parted(EchoBenchmark):
    headline_parts = ("split",)


def splits_of(size: int, counts: Mapping[str, int]) -> dict[str, int]:
    """How many items a sample has of each split."""
    items = [item(f"{split}{n}", "x", split=split) for split, count in counts.items() for n in range(count)]
    sample = ItemSample(size).draw(Parted(), items)
    assert sum(sample.weights.values()) == pytest.approx(min(size, len(items)))
    split_of = {each.id: each.split for each in items}
    drawn_splits = [split_of[id_] for id_ in sample.weights]
    return {split: drawn_splits.count(split) for split in counts}


@pytest.mark.parametrize("size", [7, 8, 13, 14, 20])
def test_a_sample_has_items_of_every_part_of_the_headline_while_it_is_large_enough(size: int) -> None:
    found = splits_of(size, {"a": 500, "b": 100, "c": 50, "d": 30, "e": 2, "f": 1, "g": 1})
    assert sum(found.values()) == size
    least = 2 if size >= 14 else 1
    assert all(count >= min(least, {"f": 1, "g": 1}.get(split, 2)) for split, count in found.items())


def test_a_sample_smaller_than_the_headline_has_parts_is_drawn_all_the_same() -> None:
    found = splits_of(3, {"a": 5, "b": 5, "c": 5, "d": 5})
    assert sum(found.values()) == 3


@given(
    counts=st.dictionaries(st.text("abcdefgh", min_size=1, max_size=2), st.integers(1, 40), min_size=1),
    size=st.integers(2, 40),
)
@settings(max_examples=a_fiftieth_of(2000))
def test_every_sample_of_at_least_as_many_items_as_parts_has_all_parts(
    counts: dict[str, int], size: int
) -> None:
    found = splits_of(size, counts)
    if size >= len(counts):
        assert all(found.values())


@pytest.mark.parametrize("name", OURS)
def test_the_parts_of_a_headline_are_columns_of_their_benchmark(name: str) -> None:
    benchmark = load_benchmark(name)
    assert {*benchmark.headline_parts} <= {"split", "lang", *benchmark.columns}


def test_a_selection_says_which_parts_of_the_headline_it_lacks() -> None:
    class Three(Parted):
        def load(self, source: Any, *, split: Any = None, lang: Any = None) -> Any:
            return iter([item(name, "x", split=name) for name in ("a", "b", "c")])

    source = data_of(EchoBenchmark()).locate(None)

    def lacks(**selection: Any) -> tuple[str, ...]:
        return Selection(benchmark=Three(), source=source, **selection).read().lacks

    assert lacks() == lacks(limit=3) == lacks(sample=ItemSample(3)) == ()
    assert lacks(limit=1) == ("b", "c")
    assert lacks(ids=("a", "c")) == ("b",)
    assert len(lacks(sample=ItemSample(2))) == 1
