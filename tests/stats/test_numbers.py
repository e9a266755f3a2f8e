"""Statistics on inputs small enough to compute by hand: every branch, boundary and default."""

import math

import pytest

from wildtool.stats import tests
from wildtool.stats.tests import ItemPair, flip_test, worst_flip_test


def test_too_many_items_are_tested_by_the_normal_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    def normal(distance: int, *sizes: int) -> object:
        spread = math.sqrt(sum(size**2 for size in sizes))
        return pytest.approx(math.erfc(distance / spread / math.sqrt(2)))

    def of(*differences: int) -> list[ItemPair]:
        return [ItemPair(each, 1) for each in differences]

    three = of(3, 1, 2)
    # Three items whose differences sum to six at most, of two bits for each pattern in a byte.
    monkeypatch.setattr(tests, "_MAX_WORK", 8 * 6 * 1 * 3)
    assert flip_test(three) == (2 / 8, True)
    monkeypatch.setattr(tests, "_MAX_WORK", 8 * 6 * 1 * 3 - 1)
    assert flip_test(three) == (normal(6 - 1, 3, 1, 2), False)
    monkeypatch.setattr(tests, "_MAX_WORK", 0)
    assert flip_test(of(0, 3, 1, -2)) == (normal(2 - 1, 3, 1, 2), False)
    assert worst_flip_test(of(3, 1, -2), of(4, 1, 1), 0.5) == (normal(2 - 1, 4, 1, 2), False)
    assert worst_flip_test(of(-4, -1, 1), of(-1, -1, 2), -0.5) == (1.0, True)
    assert worst_flip_test(of(-4, -1, 1), of(-3, -1, 2), -0.5) == (normal(2 - 1, 4, 1, 2), False)
