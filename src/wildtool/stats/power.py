"""The smallest difference that a set of items can detect, from one run or from a pair of runs."""

import math
from collections.abc import Sequence
from statistics import NormalDist

_LEVEL, _POWER = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.8)
FACTOR = _LEVEL + _POWER
"""2.80…: standard errors of a difference that a two-sided test at 0.05 detects with a power of 0.8 in a large set."""
_FEWEST = 6
"""With fewer items no exact test by item can give p below 0.05."""


def detectable(error: float, items: int) -> float:
    """The paired difference that the exact two-sided test by item detects at 0.05 with a power of 0.8; at most 1.

    Args:
        error: standard error of the difference.
        items: number of items. Few items need more than `FACTOR` errors, since the test uses the spread around zero,
            which a true difference widens.
    """
    if items < _FEWEST:
        return 1.0
    # In errors x: x = level * sqrt(1 + x^2 / items) + power, solved for x.
    shrink = 1 - _LEVEL * _LEVEL / items
    root = math.sqrt(_POWER * _POWER - shrink * (_POWER * _POWER - _LEVEL * _LEVEL))
    return min(1.0, (_POWER + root) / shrink * error)


def items_to_decide(error: float, items: int, margin: float) -> int:
    """Items with which a set of this kind would show that nothing larger than a margin was lost, nine times out of ten
    where nothing was: then the lower end of the 95 % interval lies above the margin.

    Args:
        error: standard error of the difference, now, never 0.
        items: number of items, now.
        margin: the loss that is allowed, as a share above 0.
    """
    return math.ceil(items * ((_LEVEL + NormalDist().inv_cdf(0.9)) * error / margin) ** 2)


def rate_error(clusters: Sequence[tuple[float, float]], *, units: float | None = None) -> float | None:
    """Standard error of the rate of a set like this one, from its rate, design effect and size.

    Args:
        clusters: for each item (correct units, units).
        units: size of the planned set; None for the size of this one.
    """
    total = sum(n for _, n in clusters)
    if not total:
        return None
    rate = sum(x for x, _ in clusters) / total
    return math.sqrt(rate * (1 - rate) * design_effect(clusters) / (units or total))


def unpaired(error_a: float, error_b: float) -> float:
    """The detectable difference of two models that are run on different sets of this kind."""
    return min(1.0, FACTOR * math.hypot(error_a, error_b))


def design_effect(clusters: Sequence[tuple[float, float]]) -> float:
    """The factor by which clustering increases the variance of a rate: 1 + (m - 1) rho with m the size of the item of an
    average unit; at least 1."""
    units = sum(n for _, n in clusters)
    if not units:
        return 1.0
    size = sum(n * n for _, n in clusters) / units
    return max(1.0, 1 + (size - 1) * intra_cluster_correlation(clusters))


def intra_cluster_correlation(clusters: Sequence[tuple[float, float]]) -> float:
    """Correlation of two units of one item, by the analysis of variance; 0 if it cannot be estimated.

    Args:
        clusters: for each item (correct units, units).
    """
    used = [(x, n) for x, n in clusters if n > 0]
    count, units, right = len(used), sum(n for _, n in used), sum(x for x, _ in used)
    if count < 2 or units <= count:
        return 0.0
    between = (sum(x * x / n for x, n in used) - right * right / units) / (count - 1)
    within = (right - sum(x * x / n for x, n in used)) / (units - count)
    size = (units - sum(n * n for _, n in used) / units) / (count - 1)
    spread = between + (size - 1) * within
    return (between - within) / spread if spread > 0 else 0.0
