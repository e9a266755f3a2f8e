"""Where accuracy breaks as a catalogue grows: a level up to some size, then a steady fall in the logarithm of the size.

The size is fitted by least squares; its interval is that of resampled items, each with all of its sizes. It is given
only where 20 items and four sizes or more were run, the largest is worse than the smallest by the paired test, and the
interval leaves out both ends; else a sentence says which of these is missing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from wildtool.draws import seeded_draw

FEWEST_SIZES, FEWEST_ITEMS = 4, 20
BREAK_RESAMPLES = 1_000
_GRID = 48
"""Places between the smallest and the largest size that are tried."""
_Bend = tuple[float, Sequence[float], float]
Sums = Sequence[tuple[float, float]]
"""Right units and units of an item at each size."""


@dataclass(frozen=True, slots=True)
class Break:
    """Where a fall begins."""

    size: float | None
    """Tools up to which accuracy holds; None where none can be placed."""
    low: float | None = None
    """Lower end of its 95 % interval."""
    high: float | None = None
    reason: str = ""
    """Why none can be placed."""


def find_break(items: Mapping[str, Sums], sizes: Sequence[int], p: float, seed: int = 0) -> Break:
    """Where the accuracy of a series breaks.

    Args:
        items: by item its sums at each of the sizes, which rise.
        p: of the paired test of the largest size against the smallest, two-sided.
        seed: of the resamples.
    """
    if len(items) < FEWEST_ITEMS:
        return Break(
            None, reason=f"{len(items)} items were run; it takes {FEWEST_ITEMS} or more to place a break"
        )
    if len(sizes) < FEWEST_SIZES:
        return Break(
            None, reason=f"{len(sizes)} sizes were run; it takes {FEWEST_SIZES} or more to place a break"
        )
    rows = list(items.values())
    rates = _rates(rows)
    if rates[-1] >= rates[0]:
        return Break(None, reason="accuracy does not fall up to the largest size")
    if p >= 0.05:
        return Break(
            None, reason=f"no significant fall up to {sizes[-1]:,} tools (p = {p:.3f} for the largest size)"
        )
    logs = [math.log(size) for size in sizes]
    random, bends = seeded_draw(seed), _bends(logs)
    if (place := _bend(rates, bends)) is None:
        return Break(None, reason="accuracy falls and rises again, so that no steady fall begins anywhere")
    places = sorted(
        math.inf if each is None else each
        for _ in range(BREAK_RESAMPLES)
        for each in [_bend(_rates(random.choices(rows, k=len(rows))), bends)]
    )
    low = min(place, places[int(0.025 * BREAK_RESAMPLES)])
    high = max(place, places[int(0.975 * BREAK_RESAMPLES) - 1])
    if low <= logs[0] and high >= logs[-2]:
        reason = "it falls, and where the fall begins cannot be seen in these items and sizes"
        return Break(None, reason=reason)
    if low <= logs[0]:
        reason = f"a fall from the smallest size on cannot be excluded; it begins at {math.exp(high):,.0f} tools or fewer"
        return Break(None, None, math.exp(high), reason)
    if high >= logs[-2]:
        reason = f"the fall begins at {math.exp(low):,.0f} tools or more; larger sizes would place it"
        return Break(None, math.exp(low), None, reason)
    return Break(math.exp(place), math.exp(low), math.exp(high))


def _rates(rows: Sequence[Sums]) -> list[float]:
    units = sum(row[0][1] for row in rows)
    return [sum(each[0] for each in column) / units for column in zip(*rows, strict=True)]


def _bend(rates: Sequence[float], bends: Sequence[_Bend]) -> float | None:
    """The logarithm of the size from which rates fall, by least squares; None where they never fall."""
    mean = sum(rates) / len(rates)
    total = sum((rate - mean) ** 2 for rate in rates)
    best: tuple[float, float] | None = None
    for place, beyond, spread in bends:
        product = sum(map(mul, beyond, rates))
        if product < 0:
            error = total - product * product / spread
            best = min(best or (math.inf, 0.0), (round(error, 12), place))
    return None if best is None else best[1]


def _bends(logs: Sequence[float]) -> list[_Bend]:
    """Places of a bend, with how far each size lies beyond it, centred, and the sum of squares of that."""
    bends: list[_Bend] = []
    for step in range(_GRID):
        place = logs[0] + (logs[-1] - logs[0]) * step / _GRID
        beyond = [max(0.0, each - place) for each in logs]
        centre = sum(beyond) / len(beyond)
        centred = [each - centre for each in beyond]
        bends.append((place, centred, sum(each * each for each in centred)))
    return bends
