"""Two runs on the same units: the difference of their accuracies, its interval, and the exact test that it is zero.

What is compared comes as one `Pair` for each item, since items are independent of each other and their units are not.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from wildtool.stats.intervals import t_quantile


def holm(values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order of the given ones."""
    adjusted = [0.0] * len(values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = least
    return adjusted


LEVEL = 0.05
"""Of all tests: the chance, at most, of telling equal models apart."""
_MAX_WORK = 20_000_000_000
"""Bits that the exact distribution may move; beyond it (thousands of items) the normal one is as good."""


class ItemPair(NamedTuple):
    """One item under two runs."""

    difference: Fraction | int
    """Sum over its units of the second run's share of right answers less the first run's."""
    units: int


class AccuracyDifference(NamedTuple):
    """A difference of two accuracies with its 95 % interval."""

    value: float
    low: float
    high: float
    error: float
    """Standard error that the interval is made of, robust to clusters and never 0."""


def difference(pairs: Sequence[ItemPair]) -> AccuracyDifference | None:
    """The mean difference per unit with a cluster-robust 95 % interval; None without units.

    The variance is the sandwich estimate for a ratio of item sums, with Student's quantile, after adding two items of
    one unit, one better and one worse. As with the interval of Bonett and Price (2012), whose idea this is, it keeps a
    width where no item differs, and holds what it promises also for small sets.
    """
    count, units = len(pairs), sum(pair.units for pair in pairs)
    if not units:
        return None
    sums = [(float(pair.difference), float(pair.units)) for pair in pairs]
    value = sum(d for d, _ in sums) / units
    error = _error([*sums, (1.0, 1.0), (-1.0, 1.0)])
    half = t_quantile(0.975, max(1, count - 1)) * error
    return AccuracyDifference(value, max(-1.0, value - half), min(1.0, value + half), error)


def finding(difference: float, p: float) -> Literal["better", "worse", "not distinguishable"]:
    """What a difference and the p of its test come to."""
    return "not distinguishable" if p >= LEVEL else "better" if difference > 0 else "worse"


def flip_test(pairs: Sequence[ItemPair]) -> tuple[float, bool]:
    """The paired test by item: p, two-sided, and whether it is exact.

    Were the runs equally good, an item's difference could as well have had the other sign. p is the share of all
    2^items ways to set the signs whose sum is at least as far from zero as what was found. For items of one unit, played
    once, this is McNemar's exact test. It is computed in full; where that would take too long the normal distribution
    of the same variance stands in.
    """
    steps = _whole([pair.difference for pair in pairs if pair.difference])
    found = abs(sum(steps))
    if not found:
        return 1.0, True
    sizes = [abs(step) for step in steps]
    # Bytes that hold the number of any set of sign patterns.
    reach, width = sum(sizes), len(sizes) // 8 + 1
    if 8 * reach * width * len(sizes) > _MAX_WORK:
        # Possible sums lie two steps apart, hence the correction by one.
        spread = math.sqrt(sum(size * size for size in sizes))
        return math.erfc((found - 1) / spread / math.sqrt(2)), False
    # A polynomial packed into one whole number: its field at place s counts the ways in which the negative differences
    # sum to s. Each difference multiplies it by 1 + x^size.
    ways = 1
    for size in sizes:
        ways += ways << 8 * width * size
    # The sum is reach - 2s, and its distribution a mirror of itself: the far ends are s up to (reach - found) / 2, twice.
    fields = ways.to_bytes(width * (reach + 1), "little")
    far = range((reach - found) // 2 + 1)
    tail = sum(int.from_bytes(fields[place * width : (place + 1) * width], "little") for place in far)
    return 2 * tail / (1 << len(sizes)), True


def _error(sums: Sequence[tuple[float, float]]) -> float:
    """Standard error of the sum of differences over the sum of units, by the sandwich."""
    count, units = len(sums), sum(n for _, n in sums)
    value = sum(d for d, _ in sums) / units
    spread = sum((d - value * n) ** 2 for d, n in sums)
    return math.sqrt(count / (count - 1) * spread) / units


def _whole(differences: Sequence[Fraction | int]) -> list[int]:
    """The differences as the smallest whole numbers of the same proportions."""
    common = math.lcm(*(each.denominator for each in differences))
    whole = [each.numerator * (common // each.denominator) for each in differences]
    share = math.gcd(*whole) or 1
    return [each // share for each in whole]
