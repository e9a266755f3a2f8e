"""Runs against each other on the units they share: differences and tests."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from wildtool.engine.score.formatting import format_points
from wildtool.stats.tests import (
    AccuracyDifference,
    ItemPair,
    difference,
    flip_test,
    holm,
    worst_flip_test,
)

Share = Fraction | int
"""The share of a unit's repeats that are correct; an integer where it is 0 or 1, which compares ten times faster."""
UnitKey = tuple[str, str]
"""Item and unit; the unit is empty where whole items are compared."""
UnitShares = Mapping[UnitKey, Share]
"""The share of each unit of a run, by item and unit."""
MAX_COMPARED_MODELS = 80
"""Models that are all compared with each other; of more, only the best ones are."""


@dataclass(frozen=True, slots=True)
class UnitScores:
    """How often each unit of a run is correct."""

    shares: UnitShares
    """Attempts without a verdict count as wrong."""
    missing: UnitShares = field(default_factory=dict[UnitKey, Share])
    """The share of a unit's attempts that have no verdict and could be correct; without the units that have none."""
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """By item how much its units count, where the items are a sample out of proportion; empty where all count alike."""


@dataclass(frozen=True, slots=True)
class PairedUnits:
    """A run beside its baseline on the units both hold."""

    pairs: list[ItemPair]
    """One for each item."""
    units: int
    gained: int
    """Units correct more often than in the baseline, whatever the missing ones would be."""
    lost: int
    difference: AccuracyDifference
    """Of accuracy by unit; its interval holds whatever the missing units would be."""
    missing: int
    """Units that lack a verdict in either run."""
    least: list[ItemPair]
    """The items with all missing units set against the run."""
    most: list[ItemPair]
    """The items with all missing units set for the run."""

    def test(self) -> tuple[float, bool]:
        """The largest p that the missing units allow, and whether it is exact."""
        if not self.missing:
            return flip_test(self.pairs)
        return worst_flip_test(self.least, self.most, self.difference.value)

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest difference that the missing units leave open."""
        units = float(sum(pair.units for pair in self.pairs))
        lowest, most = (float(sum(pair.difference for pair in pairs)) for pairs in (self.least, self.most))
        return lowest / units, most / units


def format_difference(difference: float, ends: tuple[float, float]) -> str:
    """A difference of shares in points or, as `-50.8 to +4.7`, the range that units without a verdict leave open.

    Args:
        ends: the smallest and the largest one that they leave open; both the difference where they leave nothing open.
    """
    if ends[0] == ends[1]:
        return format_points(difference)
    return " to ".join(map(format_points, ends))


@dataclass(frozen=True, slots=True)
class PairwiseResult:
    """One run against a baseline, in accuracy by unit."""

    difference: float
    low: float
    high: float
    p: float
    """Two-sided, exact unless there are very many items, the largest that missing units allow; not corrected by Holm's
    method."""
    gained: int
    lost: int
    units: int
    missing: int = 0
    """Units that lack a verdict in either run."""
    open_ends: tuple[float, float] | None = None
    """Smallest and largest difference that these units leave open; None where they leave nothing open."""

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest difference that is possible."""
        return self.open_ends or (self.difference, self.difference)

    def inverted(self) -> "PairwiseResult":
        """The baseline against the run."""
        return PairwiseResult(
            -self.difference,
            -self.high,
            -self.low,
            self.p,
            self.lost,
            self.gained,
            self.units,
            self.missing,
            None if self.open_ends is None else (-self.open_ends[1], -self.open_ends[0]),
        )


def share(right: int, tries: int) -> Share:
    """The share of a unit's attempts that are correct."""
    return right // tries if right in (0, tries) else Fraction(right, tries)


def pair_units(baseline: UnitScores, run: UnitScores) -> PairedUnits | None:
    """A run beside its baseline on the units both hold; None where there is none."""
    units: dict[str, int] = {}
    more: dict[str, Share] = {}
    gained = fallen = 0
    for key, mine in run.shares.items():
        theirs = baseline.shares.get(key)
        if theirs is None:
            continue
        item = key[0]
        units[item] = units.get(item, 0) + 1
        if mine != theirs:
            more[item] = more.get(item, 0) + mine - theirs
            gained += mine > theirs + baseline.missing.get(key, 0)
            fallen += mine + run.missing.get(key, 0) < theirs
    weights = {item: Fraction(weight) for item, weight in baseline.weights.items()}
    pairs = _item_pairs(units, more, weights)
    estimate = difference(pairs)
    if estimate is None:
        return None
    missing = {
        key for key in (*baseline.missing, *run.missing) if key in run.shares and key in baseline.shares
    }
    lower, most = pairs, pairs
    if missing:
        lower = _item_pairs(units, _moved(more, missing, baseline.missing, -1), weights)
        most = _item_pairs(units, _moved(more, missing, run.missing, 1), weights)
        low, high = difference(lower), difference(most)
        assert low is not None and high is not None, "they have as many units"
        estimate = estimate._replace(low=low.low, high=high.high)
    return PairedUnits(pairs, sum(units.values()), gained, fallen, estimate, len(missing), lower, most)


def _item_pairs(
    units: Mapping[str, int], more: Mapping[str, Share], weights: Mapping[str, Fraction]
) -> list[ItemPair]:
    """Args: units, more, weights: of each item; without a difference it is 0, without a weight 1."""
    if not weights:
        return [ItemPair(more.get(item, 0), count) for item, count in units.items()]
    return [
        ItemPair(more.get(item, 0) * weight, count * weight)
        for item, count in units.items()
        for weight in (weights.get(item, 1),)
    ]


def _moved(
    more: Mapping[str, Share], missing: Collection[UnitKey], open_: UnitShares, sign: int
) -> dict[str, Share]:
    """The differences of items with what one of the runs lacks set right.

    Args:
        more: difference of each item that has one.
        missing: units that lack a verdict.
        open_: by unit how much that run lacks.
        sign: -1 for the baseline, 1 for the run.
    """
    moved = dict(more)
    for key in missing:
        moved[key[0]] = moved.get(key[0], 0) + sign * open_.get(key, 0)
    return moved


def compare_all_pairs(runs: Sequence[UnitScores]) -> dict[tuple[int, int], PairwiseResult]:
    """(baseline, run), by their places among the runs, to how the run compares. Pairs that share no unit are left
    out, and so are runs after the first `MAX_COMPARED_MODELS`."""
    results: dict[tuple[int, int], PairwiseResult] = {}
    compared = runs[:MAX_COMPARED_MODELS]
    for first, baseline in enumerate(compared):
        for second in range(first + 1, len(compared)):
            both = pair_units(baseline, compared[second])
            if both is not None:
                p, _ = both.test()
                value, low, high, _ = both.difference
                counts = both.gained, both.lost, both.units, both.missing
                result = PairwiseResult(value, low, high, p, *counts, both.ends if both.missing else None)
                results[first, second], results[second, first] = result, result.inverted()
    return results


def holm_corrected(results: Mapping[tuple[int, int], PairwiseResult], baseline: int) -> dict[int, float]:
    """p of each run against one baseline, corrected by Holm's method for all runs compared with it."""
    rivals = [model for first, model in results if first == baseline]
    return dict(zip(rivals, holm([results[baseline, model].p for model in rivals]), strict=True))
