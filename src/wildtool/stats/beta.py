"""The beta distribution, by which exact intervals of rates are given, in pure Python (decision 0018)."""

import math
from functools import lru_cache

_TERMS = 10_000
"""Terms of the continued fraction at most; it takes about the root of the larger parameter."""
_STEPS = 60
"""Halvings of a quantile's bracket: more than a double can hold."""
_TINY = 1e-300


def beta_probability(value: float, a: float, b: float) -> float:
    """The probability that a beta variable stays at or below a value: the regularized incomplete beta function.

    Args:
        value: from 0 to 1.
        a, b: the parameters, above 0.
    """
    if value <= 0.0 or value >= 1.0:
        return float(value >= 1.0)
    # The continued fraction (Abramowitz and Stegun 26.5.8) converges fast below the mean; above it lies the mirror.
    if value > (a + 1) / (a + b + 2):
        return 1.0 - beta_probability(1.0 - value, b, a)
    front = (
        a * math.log(value) + b * math.log1p(-value) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    )
    return math.exp(front) / (a * _fraction(value, a, b))


def _fraction(value: float, a: float, b: float) -> float:
    """The continued fraction 1 + d1/(1 + d2/(1 + …)) by Lentz's method."""
    result, numerator, denominator = 1.0, 1.0, 0.0
    for term in range(1, _TERMS):
        half, is_odd = divmod(term, 2)
        if is_odd:
            top = -(a + half) * (a + b + half) * value / ((a + term - 1) * (a + term))
        else:
            top = half * (b - half) * value / ((a + term - 1) * (a + term))
        denominator = 1.0 / ((1.0 + top * denominator) or _TINY)
        numerator = (1.0 + top / numerator) or _TINY
        change = numerator * denominator
        result *= change
        if abs(change - 1.0) < 1e-15:
            break
    return result


@lru_cache(maxsize=4096)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """The value below which a beta variable stays with a probability. Args: a, b: as of `beta_probability`."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_probability(middle, a, b) < probability else (low, middle)
    return (low + high) / 2


def exact_rate(right: float, size: float) -> tuple[float, float]:
    """The exact 95 % interval of Clopper and Pearson (1934) for a rate of independent observations; (0, 1) for none.

    Args: right, size: not whole where they are effective numbers.
    """
    low = beta_quantile(0.025, right, size - right + 1) if right > 0 else 0.0
    high = beta_quantile(0.975, right + 1, size - right) if right < size else 1.0
    return low, high
