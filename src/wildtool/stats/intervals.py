"""95 % intervals for rates whose observations come in clusters (the units of one item answer alike).

The variance is the sandwich (linearization) estimate for a ratio of cluster sums; the interval is Wilson's with
the effective sample size that this variance implies, so it never leaves [0, 1] and does not collapse at 0 or 1.
Weighted sums of independent rates take their interval from those of the rates (MOVER), so the same holds for them.
"""

import math
from collections.abc import Sequence

Z95 = 1.959963984540054
"""The 0.975 quantile of the normal distribution: half-width of the 95 % interval in standard errors."""


def clustered_rate(clusters: Sequence[tuple[float, float]]) -> tuple[float, float, float] | None:
    """Rate and 95 % interval of a share observed in clusters.

    Args:
        clusters: for each item (numerator, denominator); numerators between 0 and their denominators.

    Returns:
        (rate, low, high), all in [0, 1]; None where the denominators sum to 0.

    At a rate of 0 or 1 the clusters show no spread: there the effective sample size is the number of clusters,
    the most careful choice (all units of an item count as one).
    """
    used = [(x, n) for x, n in clusters if n > 0]
    total = sum(n for _, n in used)
    if total <= 0:
        return None
    rate = sum(x for x, _ in used) / total
    effective = _effective_size(used, rate, total)
    return (rate, *wilson(rate, effective))


def wilson(rate: float, size: float) -> tuple[float, float]:
    """Wilson's 95 % score interval for a rate from `size` (possibly effective, not whole) observations."""
    square = Z95 * Z95
    centre = (rate + square / (2 * size)) / (1 + square / size)
    half = Z95 / (1 + square / size) * math.sqrt(rate * (1 - rate) / size + square / (4 * size * size))
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def weighted_sum(parts: Sequence[tuple[float, tuple[float, float, float]]]) -> tuple[float, float, float]:
    """A weighted sum of independent rates with its 95 % interval, recovered from theirs.

    Method of variance estimates recovery (Zou and Donner 2008): either end is as far from the sum as the root of the
    summed squares of the parts' weighted distances to their ends on that side, which keeps their skewness.

    Args:
        parts: for each rate its weight, not negative, and (rate, low, high).
    """
    value = sum(weight * rate for weight, (rate, _, _) in parts)
    below = math.hypot(*(weight * (rate - low) for weight, (rate, low, _) in parts))
    above = math.hypot(*(weight * (high - rate) for weight, (rate, _, high) in parts))
    return value, value - below, value + above


def _effective_size(clusters: Sequence[tuple[float, float]], rate: float, total: float) -> float:
    """Independent observations that would give the sandwich variance; at least 1, at most what was observed.

    It is capped at the number observed since negative correlation inside items is more often chance than fact.
    """
    count = len(clusters)
    if count < 2:
        return 1.0
    if rate in (0.0, 1.0):
        return float(count)
    spread = sum((x - rate * n) ** 2 for x, n in clusters)
    variance = count / (count - 1) * spread / (total * total)
    return max(1.0, min(total, rate * (1 - rate) / variance)) if variance else total
