"""Compares two runs on the same units: the difference of their accuracies, its interval, and an exact test.

The data are one `ItemPair` per item, because items are independent of each other and their units are not.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from wildtool.stats.intervals import t_probability, t_quantile


def holm(values: Sequence[float]) -> list[float]:
    """p-values with Holm's correction, in the given order."""
    adjusted = [0.0] * len(values)
    lowest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        lowest = max(lowest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = lowest
    return adjusted


def smallest_p(items: int) -> float:
    """The smallest two-sided p that a test of so many items can have: all of them differ, and in one direction."""
    return min(1.0, 2.0 ** (1 - items))


LEVEL = 0.05
"""Significance level of all tests."""
_MAX_WORK = 20_000_000_000
"""Bit operations of the exact test at most; for more (thousands of items) the normal distribution is used."""


_MOST_PARTS = 100_000
"""The largest common denominator of differences that are tested as they are."""


class ItemPair(NamedTuple):
    """One item under two runs."""

    difference: Fraction | int
    """Sum over its units of the second run's share of correct answers minus the first run's, times the item's weight."""
    units: Fraction | int
    """Their number times its weight."""


class AccuracyDifference(NamedTuple):
    """A difference of two accuracies with its 95 % interval."""

    value: float
    low: float
    high: float
    error: float
    """Standard error behind the interval, robust to clusters and never 0."""


def difference(pairs: Sequence[ItemPair]) -> AccuracyDifference | None:
    """The mean difference per unit with a cluster-robust 95 % interval; None without units.

    The variance is the sandwich estimate for a ratio of item sums, with Student's quantile, after adding two items of
    one unit, one better and one worse. As with the interval of Bonett and Price (2012), whose idea this is, it keeps a
    width if no item differs, and its coverage in small sets.
    """
    count, units = len(pairs), float(sum(pair.units for pair in pairs))
    if not units:
        return None
    sums = [(float(pair.difference), float(pair.units)) for pair in pairs]
    value = sum(d for d, _ in sums) / units
    error = _error([*sums, (1.0, 1.0), (-1.0, 1.0)])
    half = t_quantile(0.975, max(1, count - 1)) * error
    return AccuracyDifference(value, max(-1.0, value - half), min(1.0, value + half), error)


def mean_difference(strata: Sequence[tuple[AccuracyDifference, int]]) -> tuple[AccuracyDifference, float]:
    """The plain mean of independent differences with its 95 % interval, and its p, two-sided.

    Variances of independent differences add up. Student's t has the degrees of freedom of Welch and Satterthwaite
    (1946), rounded down.

    Args:
        strata: for each its difference and its number of items; at least one.
    """
    count = len(strata)
    variances = [(part.error**2, max(1, items - 1)) for part, items in strata]
    total = sum(variance for variance, _ in variances)
    freedom = int(total * total / sum(variance * variance / each for variance, each in variances) + 1e-9)
    value, error = sum(part.value for part, _ in strata) / count, math.sqrt(total) / count
    half = t_quantile(0.975, freedom) * error
    interval = max(-1.0, value - half), min(1.0, value + half)
    return AccuracyDifference(value, *interval, error), t_probability(value / error, freedom)


PairFinding = Literal["better", "worse", "not distinguishable", "no finding"]


def finding(difference: float, p: float, missing: int = 0) -> PairFinding:
    """What a difference and its p-value mean.

    Args:
        p: the largest that the missing units allow.
        missing: units without a verdict, of which it is not known what they would change.
    """
    if p >= LEVEL:
        return "no finding" if missing else "not distinguishable"
    return "better" if difference > 0 else "worse"


def flip_test(pairs: Sequence[ItemPair]) -> tuple[float, bool]:
    """The paired test by item: p, two-sided, and whether it is exact.

    If the runs were equally good, an item's difference could just as well have the other sign. p is the share of all
    2^items sign patterns whose sum is at least as far from zero as the observed one. For items of one unit without
    repeats this is McNemar's exact test. If it would take too long, the normal distribution of the same variance is used.
    """
    steps = _integers([pair.difference for pair in pairs if pair.difference])
    observed = abs(sum(steps))
    if not observed:
        return 1.0, True
    sizes = [abs(step) for step in steps]
    # Bytes that hold the number of any set of sign patterns.
    reach, width = sum(sizes), len(sizes) // 8 + 1
    if 8 * reach * width * len(sizes) > _MAX_WORK:
        # Possible sums lie two steps apart, hence the correction by one.
        spread = math.sqrt(sum(size * size for size in sizes))
        return math.erfc((observed - 1) / spread / math.sqrt(2)), False
    # A polynomial packed into one whole number: its field at place s counts the ways in which the negative differences
    # sum to s. Each difference multiplies it by 1 + x^size.
    ways = 1
    for size in sizes:
        ways += ways << 8 * width * size
    # The sum is reach - 2s, and its distribution a mirror of itself: the far ends are s up to
    # (reach - observed) / 2, twice.
    fields = ways.to_bytes(width * (reach + 1), "little")
    far = range((reach - observed) // 2 + 1)
    tail = sum(int.from_bytes(fields[place * width : (place + 1) * width], "little") for place in far)
    return 2 * tail / (1 << len(sizes)), True


def worst_flip_test(least: Sequence[ItemPair], most: Sequence[ItemPair], sign: float) -> tuple[float, bool]:
    """The largest p that missing units allow, and whether it is exact; 1 if they could turn the difference round.

    One-sided, p is the chance that the sizes of randomly chosen items sum to at most the sizes of all items with the
    other sign. An item that moves against the difference makes the former no larger or the latter as much larger, so the
    worst case is that all missing units go against it. The normal distribution has no such order; its bound takes the
    smallest sum and the widest spread.

    Args:
        least: the items with all missing units set against the second run.
        most: the same items with all of them set for it.
        sign: above 0 for a second run that is better, below for a worse one.
    """
    against = least if sign > 0 else most
    total = sum(pair.difference for pair in against)
    if total * sign <= 0:
        return 1.0, True
    p, exact = flip_test(against)
    if exact:
        return p, True
    ends = zip(least, most, strict=True)
    spread = math.sqrt(sum(max(abs(low.difference), abs(high.difference)) ** 2 for low, high in ends))
    return math.erfc(max(0.0, float(abs(total)) - 1) / spread / math.sqrt(2)), False


def _error(sums: Sequence[tuple[float, float]]) -> float:
    """Standard error of the sum of differences over the sum of units, by the sandwich."""
    count, units = len(sums), sum(n for _, n in sums)
    value = sum(d for d, _ in sums) / units
    spread = sum((d - value * n) ** 2 for d, n in sums)
    return math.sqrt(count / (count - 1) * spread) / units


def _integers(differences: Sequence[Fraction | int]) -> list[int]:
    """The differences as the smallest whole numbers of the same proportions; rounded to hundredths where these are large,
    as with weights of a sample: the test is exact for any size that is given to an item's difference beforehand."""
    common = math.lcm(*(each.denominator for each in differences))
    if common > _MOST_PARTS:
        return _integers([Fraction(round(100 * each), 100) for each in differences])
    scaled = [each.numerator * (common // each.denominator) for each in differences]
    share = math.gcd(*scaled) or 1
    return [each // share for each in scaled]
