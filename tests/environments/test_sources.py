"""Which units there are, and what a name and a seed stand for."""

import random
from dataclasses import replace

import pytest

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.environments.sources import ItemUnits, ProceduralUnits, benchmark_units
from wildtool.errors import DataError, UsageError
from wildtool.types import Item

ITEMS = [Item("a", ("0", "1"), None), Item("b/c", ("x",), None)]
UNITS = ItemUnits(WILD_MINI, ITEMS)
STREAM = ProceduralUnits("5", langs=("zh",))


def test_units_are_named_by_item_and_unit():
    assert UNITS.names == ["a/0", "a/1", "b/c/x"]
    assert UNITS.items == ITEMS
    assert UNITS.find("a/1") == (ITEMS[0], "1")
    assert UNITS.find("b/c/x") == (ITEMS[1], "x")
    for name in ("a/2", "c/0", "a", "", "b/c"):
        with pytest.raises(DataError) as caught:
            UNITS.find(name)
        assert str(caught.value) == f"no unit {name!r}; there are 3, such as 'a/0'"


def test_a_later_item_of_the_same_name_takes_its_place():
    assert ItemUnits(WILD_MINI, [*ITEMS, replace(ITEMS[0], units=("7",))]).names == ["a/7", "b/c/x"]


def test_without_a_unit_there_is_nothing_to_play():
    with pytest.raises(DataError, match=r"^wild-mini: no unit to play$"):
        ItemUnits(WILD_MINI, [replace(ITEMS[0], units=())])


def test_each_round_of_seeds_is_shuffled_by_its_number():
    for round_ in (0, 1):
        order = random.Random(round_).sample(UNITS.names, 3)
        assert [UNITS.draw(3 * round_ + place) for place in range(3)] == order
    with pytest.raises(UsageError):
        benchmark_units("wild-mini")


def test_the_stream_says_how_its_units_are_named():
    stream = STREAM
    for name in ("0-0", "x/0", "0/0", "0-x/0", "0-0/x", ""):
        with pytest.raises(DataError) as caught:
            stream.find(name)
        assert str(caught.value) == f"no unit {name!r}; one is named BLOCK-SESSION/TASK, such as 0-0/0"
    for name in ("1-64/0", "1-0/4"):
        with pytest.raises(DataError) as caught:
            stream.find(name)
        assert str(caught.value) == f"no unit {name!r}; a block has 64 sessions of 4 tasks"


def test_a_unit_of_the_stream_has_its_block_place_and_language():
    stream = STREAM
    item, unit = stream.find("1-63/3")
    assert (item.id, item.units, unit, item.lang) == ("1-63", ("0", "1", "2", "3"), "3", "zh")
    assert item.split == item.data.domain
    assert [stream.draw(number) for number in (255, 256, 261)] == ["0-63/3", "1-0/0", "1-1/1"]
    assert [ProceduralUnits(seed).draw("text") for seed in "56"] == ["3378-38/1"] * 2
    assert stream.draw("other") != "3378-38/1"
    other_block, _ = stream.find("0-63/3")
    assert [task.text for task in other_block.data.tasks] != [task.text for task in item.data.tasks]


def test_data_of_a_benchmark_are_refused_by_their_place():
    assert WILD_MINI.data.shipped is not None  # pyright: ignore
    own = WILD_MINI.data.shipped  # pyright: ignore
    with pytest.raises(UsageError) as caught:
        benchmark_units("wild-mini")
    assert str(caught.value) == (
        f"{own} holds data of a benchmark: who trains on them can report no score on them. Take a made set, or"
        " procedural units; evaluation=True plays wild-mini for evaluation alone"
    )
    chinese = benchmark_units("wild-mini", lang="zh", evaluation=True)
    assert {item.lang for item in chinese.items} == {"zh"}
    assert benchmark_units(WILD_MINI, evaluation=True).names[:5] == [
        *(f"wild_mini_0/{task}" for task in range(4)),
        "wild_mini_1/0",
    ]
