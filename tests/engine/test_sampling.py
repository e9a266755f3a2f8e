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
from wildtool.engine.sampling import DrawnItems, ItemSample
from wildtool.errors import UsageError
from wildtool.types import Item


class Grouped(EchoBenchmark):
    groups = ("topic", "kind")

    def fields(self, item: Item, unit: str) -> Mapping[str, Any]:
        return {"topic": item.data["topics"][int(unit)], "kind": item.id}


def item(id_: str, *topics: str, split: str = "s", lang: str = "en") -> Item:
    units = tuple(str(number) for number in range(len(topics)))
    return Item(id_, units, {"topics": topics}, split, lang)


def test_a_sample_as_large_as_the_data_is_all_of_them() -> None:
    items = [item("b", "x"), item("a", "y"), item("c", "x")]
    whole = DrawnItems({"b": 1.0, "a": 1.0, "c": 1.0}, 3)
    for size in (3, 4):
        assert ItemSample(size).draw(Grouped(), items) == whole
    assert not whole.weighted
    assert len(ItemSample(2).draw(Grouped(), items).weights) == 2


def test_a_sample_has_two_items_at_least() -> None:
    with pytest.raises(UsageError) as raised:
        ItemSample(1).draw(Grouped(), [])
    assert str(raised.value) == "a sample has at least 2 items, not 1"
    assert ItemSample(2).draw(Grouped(), []) == DrawnItems({}, 0)
    assert ItemSample(2) == ItemSample(2, 0)


def drawn(sizes: dict[str, int], size: int, seed: int = 0) -> tuple[dict[str, int], dict[str, float]]:
    """How many items of each topic are drawn, and the weight of each topic."""
    items = [item(f"{topic}{number}", topic) for topic, count in sizes.items() for number in range(count)]
    sample = ItemSample(size, seed).draw(Grouped(), items)
    assert sample.of == len(items)
    ids = [each.id for each in items]
    assert [*sample.weights] == sorted(sample.weights, key=ids.index)
    assert sum(sample.weights.values()) == pytest.approx(size)
    counts = {topic: sum(id_[0] == topic for id_ in sample.weights) for topic in sizes}
    return counts, {id_[0]: round(weight, 9) for id_, weight in sample.weights.items()}


@pytest.mark.parametrize(
    ("sizes", "size", "counts"),
    [
        ({"a": 10, "b": 10}, 4, {"a": 2, "b": 2}),
        ({"a": 10, "b": 10}, 5, {"a": 3, "b": 2}),
        ({"a": 20, "b": 10}, 6, {"a": 4, "b": 2}),
        ({"a": 7, "b": 13}, 10, {"a": 4, "b": 6}),
        ({"a": 97, "b": 2, "c": 1}, 10, {"a": 7, "b": 2, "c": 1}),
        ({"a": 50, "b": 48, "c": 2}, 6, {"a": 2, "b": 2, "c": 2}),
        ({"a": 40, "b": 30, "c": 20, "d": 10}, 8, {"a": 2, "b": 2, "c": 2, "d": 2}),
        ({"a": 40, "b": 30, "c": 20, "d": 10}, 11, {"a": 4, "b": 3, "c": 2, "d": 2}),
    ],
)
def test_groups_are_drawn_in_proportion_but_two_of_each(
    sizes: dict[str, int], size: int, counts: dict[str, int]
) -> None:
    by_topic, weights = drawn(sizes, size)
    assert by_topic == counts
    total = sum(sizes.values())
    assert weights == {
        topic: round(sizes[topic] / counts[topic] * size / total, 9) for topic in sizes if counts[topic]
    }


def test_weights_differ_where_less_of_a_group_was_drawn() -> None:
    assert not DrawnItems({"a": 1.0, "b": 1.0 + 1e-12}, 5).weighted
    assert DrawnItems({"a": 1.0, "b": 1.1}, 5).weighted
    assert not DrawnItems({"a": 0.5}, 5).weighted


def test_traits_that_make_too_many_groups_are_left_out() -> None:
    # Split makes 2 groups, language with it 4, which is too many for 6 items; the topics alone go with the split.
    items = [
        item(f"{split}{lang}{number}", "x" if split == "p" else "y", split=split, lang=lang)
        for split in "pq"
        for lang in ("en", "zh")
        for number in range(5)
    ]
    sample = ItemSample(6).draw(Grouped(), items)
    assert [sum(id_[0] == split for id_ in sample.weights) for split in "pq"] == [3, 3]
    more = ItemSample(8).draw(Grouped(), items)
    assert [sum(id_.startswith(kind) for id_ in more.weights) for kind in ("pen", "pzh", "qen", "qzh")] == [
        2
    ] * 4


def test_units_of_an_item_tell_its_kind_together_in_any_order() -> None:
    items = [item(f"m{number}", *("xy" if number % 2 else "yx")) for number in range(6)]
    items += [item(f"s{number}", "x") for number in range(6)]
    sample = ItemSample(4).draw(Grouped(), items)
    assert [sum(id_[0] == kind for id_ in sample.weights) for kind in "ms"] == [2, 2]


def test_items_are_taken_at_equal_distances_among_those_sorted_by_kind() -> None:
    # Of twelve topics no group is made, but a sample of six has one of each two neighbours.
    items = [item(f"{topic}", topic) for topic in "lkjihgfedcba"]
    for seed in range(5):
        ids = sorted(ItemSample(6, seed).draw(Grouped(), items).weights)
        assert [id_ in pair for id_, pair in zip(ids, ("ab", "cd", "ef", "gh", "ij", "kl"), strict=True)] == [
            True
        ] * 6


def test_a_seed_draws_the_same_items_whatever_their_order() -> None:
    items = [item(f"i{number}", "x") for number in range(50)]
    first = ItemSample(5, 1).draw(EchoBenchmark(), items)
    assert ItemSample(5, 1).draw(EchoBenchmark(), items[::-1]).weights == first.weights
    others = {tuple(ItemSample(5, seed).draw(EchoBenchmark(), items).weights) for seed in range(20)}
    assert len(others) > 15
    assert [*first.weights] == ["i6", "i8", "i21", "i23", "i26"]


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
