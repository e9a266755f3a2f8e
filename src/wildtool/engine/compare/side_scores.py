"""One run of a comparison on some of its units: how often each is right, its accuracy, and what resamples of its items
give. What concerns one run is worked out once for all the runs that it is compared with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wildtool.engine.compare.pairs import PairedUnits, Share, UnitKey, UnitScores, share
from wildtool.engine.compare.runs import ComparedRun, UnitResults
from wildtool.stats.intervals import bootstrap_interval, clustered_rate, middle_of, resampled_sums
from wildtool.stats.power import rate_error


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Share of right answers with its 95 % interval, clustered by item."""

    value: float
    low: float | None
    """None where tries have no verdict: it would be an interval of what was counted."""
    high: float | None
    least: float | None = None
    """The smallest that tries without a verdict could make it; None where there are none."""
    most: float | None = None


@dataclass(frozen=True, slots=True)
class ScoredUnits:
    """A run on some of its units."""

    scores: UnitScores
    accuracy: Accuracy | None
    """Mean over units of the share of right repeats; None where there is no unit."""
    error: float | None
    """Standard error of the accuracy of a set like this one."""
    once: bool
    """Whether each unit counts with one try."""


class SideScores:
    """A run on the units that its comparisons choose."""

    def __init__(self, run: ComparedRun, only_played: bool) -> None:
        """Args: only_played: leave out tries without a verdict, and units without any."""
        self.run = run
        self.only_played = only_played
        self.tried = [key for key, cell in run.cells.items() if tries_of(cell, only_played)]
        """The units that may be compared."""
        self._whole: ScoredUnits | None = None

    def shared_with(self, other: "SideScores") -> list[UnitKey]:
        """The units of both runs that may be compared."""
        if self.tried == other.tried:
            return self.tried
        theirs = set(other.tried)
        return [key for key in self.tried if key in theirs]

    def on(self, keys: Sequence[UnitKey]) -> ScoredUnits:
        """The run on some units. Args: keys: of `tried`; all of them are worked out once."""
        if len(keys) < len(self.tried):
            return self._scored(keys)
        if self._whole is None:
            self._whole = self._scored(self.tried)
        return self._whole

    def _scored(self, keys: Sequence[UnitKey]) -> ScoredUnits:
        cells = {key: self.run.cells[key] for key in keys}
        tries = {key: tries_of(cell, self.only_played) for key, cell in cells.items()}
        shares = {key: share(cell.right, tries[key]) for key, cell in cells.items()}
        open_ = {} if self.only_played else {key: cell.open for key, cell in cells.items() if cell.open}
        missing = {key: share(count, tries[key]) for key, count in open_.items()}
        counts = self._by_item((key[0], cell.right, tries[key]) for key, cell in cells.items())
        return ScoredUnits(
            UnitScores(shares, missing, self.run.weights),
            self._accuracy(shares, missing, tries),
            rate_error(counts),
            all(count == 1 for count in tries.values()),
        )

    def _accuracy(
        self,
        shares: Mapping[UnitKey, Share],
        missing: Mapping[UnitKey, Share],
        tries: Mapping[UnitKey, int],
    ) -> Accuracy | None:
        """As in `show`, where a run has as many repeats of each unit."""
        if not tries:
            return None
        weight = sum(tries.values()) / len(tries)

        def rate(shares: Iterable[tuple[UnitKey, Share]]) -> tuple[float, float, float] | None:
            return clustered_rate(
                self._by_item((key[0], weight * float(each), weight) for key, each in shares)
            )

        counted = rate(shares.items())
        best = rate((key, each + missing.get(key, 0)) for key, each in shares.items()) if missing else None
        if counted is None or best is None:
            return None if counted is None else Accuracy(*counted)
        return Accuracy(counted[0], None, None, counted[0], best[0])

    def _by_item(self, units: Iterable[tuple[str, float, float]]) -> list[tuple[float, float]]:
        """The sums of numerators and denominators for each item, times its weight."""
        sums: dict[str, tuple[float, float]] = {}
        weights = self.run.weights
        for item, right, total in units:
            before, weight = sums.get(item, (0.0, 0.0)), weights.get(item, 1)
            sums[item] = before[0] + weight * right, before[1] + weight * total
        return list(sums.values())

    def item_sums(self) -> tuple[list[float], list[float], list[float]]:
        """For each item the weighted sums over its units: of their shares, of these with missing tries as right ones, and
        their number."""
        scores = self.on(self.tried).scores
        counted = self._by_item((key[0], float(each), 1.0) for key, each in scores.shares.items())
        best = self._by_item(
            (key[0], float(each + scores.missing.get(key, 0)), 1.0) for key, each in scores.shares.items()
        )
        return [right for right, _ in counted], [right for right, _ in best], [units for _, units in counted]


@dataclass(frozen=True, slots=True)
class ResampledSide:
    """A run on resamples of its items."""

    counted: Sequence[float]
    """Sum of its shares in each resample."""
    best: Sequence[float]
    """The same with missing tries as right ones."""
    units: Sequence[float]


def resampled_sides(sides: Sequence[SideScores], seed: int) -> list[ResampledSide] | None:
    """Each run on the same resamples; None where the runs do not hold the same units."""
    first = sides[0]
    if (
        any((side.tried, side.run.weights) != (first.tried, first.run.weights) for side in sides)
        or not first.tried
    ):
        return None
    items = [side.item_sums() for side in sides]
    columns = [column for counted, best, _ in items for column in (counted, best)]
    *sums, units = resampled_sums([*columns, items[0][2]], seed=seed)
    return [ResampledSide(sums[place], sums[place + 1], units) for place in range(0, len(sums), 2)]


def bootstrap_of(
    both: PairedUnits, resampled: tuple[ResampledSide, ResampledSide] | None, seed: int
) -> tuple[float, float]:
    """95 % interval of the difference of two runs by the paired cluster bootstrap, whatever missing units would be.

    Args: resampled: the baseline and the run, where all runs hold the same units; else it draws for these two.
    """
    if resampled is None:
        ends = [
            bootstrap_interval([(float(pair.difference), float(pair.units)) for pair in extreme], seed=seed)
            for extreme in (both.least, both.most)
        ]
        assert ends[0] is not None and ends[1] is not None, "they share units"
        return ends[0][0], ends[1][1]
    baseline, run = resampled
    least = _differences(run.counted, baseline.best, run.units)
    most = _differences(run.best, baseline.counted, run.units)
    items = len(both.pairs)
    return middle_of(least, items)[0], middle_of(most, items)[1]


def _differences(run: Sequence[float], baseline: Sequence[float], units: Sequence[float]) -> list[float]:
    return [(mine - theirs) / count for mine, theirs, count in zip(run, baseline, units, strict=True)]


def tries_of(cell: UnitResults, only_played: bool) -> int:
    """The tries of a unit that count."""
    return cell.played if only_played else cell.tries
