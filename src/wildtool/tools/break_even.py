"""From how many tools on an exposure pays: where its difference from the run with shown tools rises above nothing.

Between two sizes the difference goes in a straight line over the logarithm of the size. The interval is that of resampled
items, each with all of its sizes in both runs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wildtool.draws import seeded_draw
from wildtool.engine.score.formatting import counted

FEWEST_ITEMS = 20
RESAMPLES_OF_ITEMS = 1_000
Gains = Sequence[tuple[float, float]]
"""By size the gain of an item, summed over its units, and the number of units."""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The size from which on an exposure is better than shown tools, at all larger sizes that were run."""

    size: float = math.inf
    """Tools: 0 where it pays at all sizes, infinite where it does not pay at the largest one."""
    low: float = 0.0
    """Lower end of the 95 % interval, 0 for the smallest size or fewer."""
    high: float = math.inf
    """Upper end, infinite for more than the largest size."""
    reason: str = ""
    """Why nothing is known; empty where something is."""


def break_even(items: Mapping[str, Gains], sizes: Sequence[int], seed: int = 0) -> BreakEven:
    """Where an exposure starts to pay.

    Args:
        items: by item its gains at each of the sizes, which rise; a gain above 0 speaks for the exposure.
        seed: of the resamples.
    """
    if len(sizes) < 2:
        return BreakEven(reason="both were run at one size; it takes two or more")
    if len(items) < FEWEST_ITEMS:
        return BreakEven(
            reason=f"{counted(len(items), 'item')} can be compared; it takes {FEWEST_ITEMS} or more"
        )
    logs, rows = [math.log(size) for size in sizes], list(items.values())
    draw = seeded_draw(seed)
    places = sorted(
        _crossing(_means(draw.choices(rows, k=len(rows))), logs) for _ in range(RESAMPLES_OF_ITEMS)
    )
    place = _crossing(_means(rows), logs)
    low = min(place, places[int(0.025 * RESAMPLES_OF_ITEMS)])
    high = max(place, places[int(0.975 * RESAMPLES_OF_ITEMS) - 1])
    return BreakEven(math.exp(place), math.exp(low), math.exp(high))


def _means(rows: Sequence[Gains]) -> list[float]:
    """The mean gain of a unit at each size; 0 where no unit has any."""
    sums = [
        (sum(gain for gain, _ in column), sum(units for _, units in column))
        for column in zip(*rows, strict=True)
    ]
    return [gain / units if units else 0.0 for gain, units in sums]


def _crossing(gains: Sequence[float], logs: Sequence[float]) -> float:
    """The logarithm of the size from which on gains are above 0: infinite where the last one is not, minus infinite where
    all are."""
    if gains[-1] <= 0:
        return math.inf
    below = [place for place, gain in enumerate(gains) if gain <= 0]
    if not below:
        return -math.inf
    at = below[-1]
    share = -gains[at] / (gains[at + 1] - gains[at])
    return logs[at] + share * (logs[at + 1] - logs[at])
