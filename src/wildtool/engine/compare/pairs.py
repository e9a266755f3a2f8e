"""Two runs on the units they share, unit by unit: what tests and intervals are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from wildtool.stats.tests import ItemPair

Share = Fraction | int
"""The share of a unit's repeats that are right; whole numbers where it is none or all, which compare ten times faster."""


@dataclass(frozen=True, slots=True)
class PairedUnits:
    """A run beside another on the same units."""

    pairs: list[ItemPair]
    """One for each item."""
    units: int
    gained: int
    """Units right more often than in the first run."""
    lost: int


def share(right: int, tries: int) -> Share:
    """The share of a unit's tries that are right."""
    return right // tries if right in (0, tries) else Fraction(right, tries)


def pair_units(
    first: Mapping[tuple[str, str], Share], second: Mapping[tuple[str, str], Share]
) -> PairedUnits:
    """The second run beside the first on the units that both have.

    Args:
        first: by item and unit, the share of its repeats that are right.
        second: likewise.
    """
    units: dict[str, int] = {}
    more: dict[str, Share] = {}
    gained = lost = 0
    for key, mine in second.items():
        theirs = first.get(key)
        if theirs is None:
            continue
        item = key[0]
        units[item] = units.get(item, 0) + 1
        if mine != theirs:
            more[item] = more.get(item, 0) + mine - theirs
            if mine > theirs:
                gained += 1
            else:
                lost += 1
    pairs = [ItemPair(more.get(item, 0), count) for item, count in units.items()]
    return PairedUnits(pairs, sum(units.values()), gained, lost)
