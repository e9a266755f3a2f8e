"""Every model of a leaderboard against every other on the units they share: differences, tests, ties."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from wildtool.engine.compare.pairs import pair_units
from wildtool.report.model import Leaderboard, ReportRun
from wildtool.stats.tests import LEVEL, difference, flip_test, holm

MAX_COMPARED_MODELS = 80
"""Up to this number, all models are compared with each other; above it, only the best ones."""


@dataclass(frozen=True, slots=True)
class PairwiseResult:
    """One model against a baseline, in accuracy by unit."""

    difference: float
    low: float
    high: float
    p: float
    """Two-sided, exact unless there are very many items; without Holm's correction."""
    gained: int
    lost: int
    units: int

    def inverted(self) -> "PairwiseResult":
        """The comparison in the other direction."""
        return PairwiseResult(
            -self.difference, -self.high, -self.low, self.p, self.lost, self.gained, self.units
        )


def all_pairs(board: Leaderboard) -> dict[tuple[int, int], PairwiseResult]:
    """(baseline, model), by their positions on the leaderboard, to their comparison. Pairs without shared units are
    left out.
    """
    runs = board.runs[:MAX_COMPARED_MODELS]
    found: dict[tuple[int, int], PairwiseResult] = {}
    for first, a in enumerate(runs):
        for second in range(first + 1, len(runs)):
            one = compare_pair(a, runs[second])
            if one is not None:
                found[first, second], found[second, first] = one, one.inverted()
    return found


def compare_pair(baseline: ReportRun, model: ReportRun) -> PairwiseResult | None:
    """One model against a baseline on the units that both have; None if there are none."""
    both = pair_units(baseline.shares, model.shares)
    found = difference(both.pairs)
    if found is None:
        return None
    p, _ = flip_test(both.pairs)
    return PairwiseResult(found.value, found.low, found.high, p, both.gained, both.lost, both.units)


def holm_corrected(found: Mapping[tuple[int, int], PairwiseResult], baseline: int) -> dict[int, float]:
    """p of each model against one baseline, with Holm's correction for all models compared with it."""
    others = [model for first, model in found if first == baseline]
    return dict(zip(others, holm([found[baseline, model].p for model in others]), strict=True))


def ties(found: Mapping[tuple[int, int], PairwiseResult], models: int) -> dict[int, str]:
    """Positions (from 0) of models that are not distinguishable from the one above, with the reason."""
    above = [place for place in range(1, models) if (place - 1, place) in found]
    adjusted = holm([found[place - 1, place].p for place in above])
    return {
        place: f"paired difference from the one above: {_points(found[place - 1, place])}, p = {p:.2f}"
        for place, p in zip(above, adjusted, strict=True)
        if p >= LEVEL
    }


def places(models: int, tied: Container[int], found: Mapping[tuple[int, int], PairwiseResult]) -> list[str]:
    """The rank of each model, best first. A model tied with the one above shares its rank, with `=` before it, unless it
    is distinguishable from the first of that rank; otherwise a chain of neighbours would tie the best with the worst.

    Args:
        tied: positions (from 0) of models that are not distinguishable from the one above.
        found: every model against every other.
    """
    firsts: list[int] = []
    for place in range(models):
        first = firsts[-1] if firsts and place in tied else place
        far = first < place - 1 and holm_corrected(found, first).get(place, 1.0) < LEVEL
        firsts.append(place if far else first)
    return [f"={first + 1}" if firsts.count(first) > 1 else str(first + 1) for first in firsts]


def shard(board: Leaderboard, found: Mapping[tuple[int, int], PairwiseResult]) -> dict[str, object]:
    """All pairs in the form that the page's script reads."""
    models = min(len(board.runs), MAX_COMPARED_MODELS)
    return {
        "models": board.labels[:models],
        "pairs": [
            [
                None if (first, second) not in found else _numbers(found[first, second], adjusted[second])
                for second in range(models)
            ]
            for first in range(models)
            for adjusted in [holm_corrected(found, first)]
        ],
    }


def _numbers(one: PairwiseResult, p: float) -> Sequence[float]:
    rounded = [round(number, 5) for number in (one.difference, one.low, one.high)]
    return [*rounded, round(p, 6), one.gained, one.lost]


def _points(one: PairwiseResult) -> str:
    return f"{100 * one.difference:+.1f} points [{100 * one.low:+.1f}, {100 * one.high:+.1f}]"
