"""Which units there are, and what a name and a seed stand for."""

import random

import pytest

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.errors import UsageError
from wildtool.types import Item
from wildtool_train.sources import ItemUnits, benchmark_units

ITEMS = [Item("a", ("0", "1"), None), Item("b/c", ("x",), None)]
UNITS = ItemUnits(WILD_MINI, ITEMS)


def test_each_round_of_seeds_is_shuffled_by_its_number():
    for round_ in (0, 1):
        order = random.Random(round_).sample(UNITS.names, 3)
        assert [UNITS.draw(3 * round_ + place) for place in range(3)] == order
    with pytest.raises(UsageError):
        benchmark_units("wild-mini")
