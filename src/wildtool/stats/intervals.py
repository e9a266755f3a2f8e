"""95 % intervals for rates of clustered observations (units of one item are alike).

The variance is the sandwich (linearization) estimate for a ratio of cluster sums; the interval is Wilson's with
the effective sample size that this variance implies, so it never leaves [0, 1] and does not collapse at 0 or 1.
Weighted sums of independent rates take their interval from those of the rates (MOVER), so the same holds for them.
"""

import math
from collections.abc import Sequence
from functools import cache

from wildtool.draws import seeded_draw

Z95 = 1.959963984540054
"""The 0.975 quantile of the normal distribution: half-width of the 95 % interval in standard errors."""


def clustered_rate(clusters: Sequence[tuple[float, float]]) -> tuple[float, float, float] | None:
    """Rate and 95 % interval of a share observed in clusters.

    Args:
        clusters: for each item (numerator, denominator); numerators between 0 and their denominators.

    Returns:
        (rate, low, high), all in [0, 1]; None if the denominators sum to 0.

    At a rate of 0 or 1 the clusters show no spread: there the effective sample size is the number of clusters,
    the most conservative choice (all units of an item count as one).
    """
    return rate_of_columns([x for x, _ in clusters], [n for _, n in clusters])


def rate_of_columns(
    numerators: Sequence[float], denominators: Sequence[float]
) -> tuple[float, float, float] | None:
    """What `clustered_rate` gives, from the numerators and denominators of all clusters: faster where there are many."""
    if 0 in denominators:
        used = [(x, n) for x, n in zip(numerators, denominators, strict=True) if n]
        numerators, denominators = [x for x, _ in used], [n for _, n in used]
    total = sum(denominators)
    if not total:
        return None
    rate = sum(numerators) / total
    effective = _effective_size(numerators, denominators, rate, total)
    return (rate, *wilson(rate, effective))


def wilson(rate: float, size: float) -> tuple[float, float]:
    """Wilson's 95 % score interval for a rate from `size` (possibly effective, not whole) observations."""
    square = Z95 * Z95
    centre = (rate + square / (2 * size)) / (1 + square / size)
    half = Z95 / (1 + square / size) * math.sqrt(rate * (1 - rate) / size + square / (4 * size * size))
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def weighted_sum(parts: Sequence[tuple[float, tuple[float, float, float]]]) -> tuple[float, float, float]:
    """A weighted sum of independent rates with its 95 % interval, recovered from the intervals of the rates.

    Method of variance estimates recovery (Zou and Donner 2008): either end is as far from the sum as the root of the
    summed squares of the parts' weighted distances to their ends on that side, which keeps their skewness.

    Args:
        parts: for each rate its weight, not negative, and (rate, low, high).
    """
    value = sum(weight * rate for weight, (rate, _, _) in parts)
    below = math.hypot(*(weight * (rate - low) for weight, (rate, low, _) in parts))
    above = math.hypot(*(weight * (high - rate) for weight, (rate, _, high) in parts))
    return value, value - below, value + above


def _effective_size(
    numerators: Sequence[float], denominators: Sequence[float], rate: float, total: float
) -> float:
    """Independent observations that would give the sandwich variance; at least 1, at most what was observed.

    It is capped at the number observed since negative correlation inside items is more often chance than fact.
    """
    count = len(numerators)
    if count < 2:
        return 1.0
    if rate in (0.0, 1.0):
        return float(count)
    spread = sum([(x - rate * n) ** 2 for x, n in zip(numerators, denominators, strict=True)])
    variance = count / (count - 1) * spread / (total * total)
    return max(1.0, min(total, rate * (1 - rate) / variance)) if variance else total


RESAMPLES = 2_000


def bootstrap_interval(
    clusters: Sequence[tuple[float, float]], *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """95 % interval of the ratio of two sums over clusters; None if the denominators sum to 0.

    Args:
        clusters: for each item (numerator, denominator): correct units and units, or a difference and units.
        seed: the same seed gives the same interval.
    """
    used = [(x, n) for x, n in clusters if n > 0]
    if not used:
        return None
    sums = resampled_sums(list(zip(*used, strict=True)), seed=seed, resamples=resamples)
    return middle_of([x / n for x, n in zip(*sums, strict=True)], len(used))


def middle_of(drawn: Sequence[float], count: int) -> tuple[float, float]:
    """The ends of the middle 95 % of what resamples give. Args: count: of the clusters that they were drawn from."""
    ordered = sorted(drawn)
    # The lower end is as many resamples from the least as the upper one from the largest.
    outside = int(tail_share(count) * len(ordered))
    return ordered[outside], ordered[-1 - outside]


def resampled_sums(
    columns: Sequence[Sequence[float]], *, seed: int = 0, resamples: int = RESAMPLES
) -> list[list[float]]:
    """For each column of numbers by cluster its sums over resamples of the clusters, which are the same for all columns.
    Draws once for all of them, since drawing takes far longer than adding.

    Args:
        columns: at least one, each with a number for each cluster.
        seed: the same seed gives the same resamples of as many clusters.
    """
    draw, places = seeded_draw(seed), range(len(columns[0]))
    sums: list[list[float]] = [[] for _ in columns]
    for _ in range(resamples):
        drawn = draw.choices(places, k=len(places))
        for its, column in zip(sums, columns, strict=True):
            its.append(sum(map(column.__getitem__, drawn)))
    return sums


def tail_share(count: int) -> float:
    """The share of resamples of `count` clusters to leave out at either end."""
    if count < 2:
        return 0.0
    from statistics import NormalDist  # slow to load, and most numbers need none

    return NormalDist().cdf(-math.sqrt(count / (count - 1)) * t_quantile(0.975, count - 1))


_NORMAL_FROM = 5_000
"""Degrees of freedom from which the normal quantile differs by less than 0.0005."""


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t for a probability above 1/2; `freedom` at least 1."""
    if freedom >= _NORMAL_FROM:
        from statistics import NormalDist  # slow to load, and most numbers need none

        return NormalDist().inv_cdf(probability)
    target = 2 * probability - 1
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < target else (low, middle)
    return math.tan(high) * math.sqrt(freedom)


def t_probability(value: float, freedom: int) -> float:
    """The probability that Student's t is at least as far from 0 as a value; `freedom` at least 1."""
    if freedom >= _NORMAL_FROM:
        return math.erfc(abs(value) / math.sqrt(2))
    return max(0.0, 1.0 - _within(math.atan(abs(value) / math.sqrt(freedom)), freedom))


def _within(angle: float, freedom: int) -> float:
    """Probability that |t| stays below tan(angle) times the root of the degrees of freedom: the finite sums for whole
    degrees (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
