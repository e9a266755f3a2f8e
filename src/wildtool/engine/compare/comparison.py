"""Compares runs on the units they share: differences with intervals, tests, which units flipped.

Runs are paired by (item, unit). Repeats are no pairs, since repeat 2 of one model has nothing to do with repeat 2 of
another: a unit counts with the share of its repeats that are right, in either run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from wildtool.engine.compare.amounts import (
    AmountDifference,
    RunAmounts,
    ToolDifference,
    amount_differences,
    tool_difference,
)
from wildtool.engine.compare.losses import (
    BY_REPEATS,
    BY_RUN,
    LossSplit,
    repeats_apart,
    split_losses,
    with_floor,
)
from wildtool.engine.compare.pairs import PairedUnits, UnitKey, pair_units, share
from wildtool.engine.compare.ranking import RankedTable, ranked_table
from wildtool.engine.compare.runs import ComparedRun, UnitResults, agent_settings, unit_attribute
from wildtool.engine.compare.side_scores import (
    Accuracy,
    ResampledSide,
    SideScores,
    bootstrap_of,
    resampled_sides,
    tries_of,
)
from wildtool.errors import UsageError
from wildtool.stats.intervals import clustered_rate
from wildtool.stats.power import detectable, unpaired
from wildtool.stats.tests import finding, holm
from wildtool.steps import show_step, step_line

MCNEMAR = "McNemar's exact test"
SIGN_FLIP = "exact sign-flip test by item"
SIGN_FLIP_APPROXIMATE = "sign-flip test by item, normal approximation"


@dataclass(frozen=True, slots=True)
class Flip:
    """A unit that one run got right more often than the other."""

    item: str
    unit: str
    kinds: Mapping[str, Any]
    baseline_right: int
    baseline_tries: int
    right: int
    tries: int
    baseline_error: str | None
    """The most frequent error class or outcome of the tries that are not right."""
    error: str | None

    @property
    def gained(self) -> bool:
        return self.right * self.baseline_tries > self.baseline_right * self.tries


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPart:
    """One value of a column, or all units: how a run compares with its baseline there."""

    name: str
    units: int
    items: int
    baseline_accuracy: Accuracy
    accuracy: Accuracy
    difference: float
    """Accuracy less the baseline's."""
    low: float
    """Lower end of the 95 % interval of the difference, robust to clusters."""
    high: float
    gained: int
    """Units right more often than in the baseline, whatever the missing ones would be."""
    lost: int
    missing: int
    """Units without a verdict in either run. They count as wrong; the interval holds whatever they would be."""
    least: float
    """The difference if all missing units went against the run."""
    most: float
    """The difference if all missing units went for the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One run against its baseline."""

    baseline: str
    model: str
    whole: ComparisonPart
    bootstrap: tuple[float, float]
    """95 % interval of the difference by the paired cluster bootstrap, whatever missing units would be."""
    test: str
    p: float
    """The largest that the missing units allow."""
    p_holm: float
    """p adjusted for all comparisons made at once."""
    detectable: float
    """Difference that a comparison like this one finds with a power of 0.8, at 0.05 two-sided."""
    detectable_unpaired: float | None
    """The same if the two models had been played on different sets of this kind and size."""
    left_out: int
    """Units left out since a run has no verdict on them, or does not hold them."""
    group: str | None
    parts: tuple[ComparisonPart, ...]
    """Its units by the column `group`."""
    flips: tuple[Flip, ...]
    cuts: Mapping[str, tuple[ComparisonPart, ...]]
    """By kind of an alteration that one of both runs has, its `cuts`."""
    amounts: tuple[AmountDifference, ...] = ()
    """What units took, where the runs are compared for the effect of an alteration."""
    tools: ToolDifference | None = None
    """Which tools only one of both runs called; None where the runs are not compared for that."""
    losses: LossSplit | None = None
    """The difference by the place that units were lost at; None where no run of the comparison has an exposure."""

    @property
    def finding(self) -> str:
        """It stands whatever the missing units would be."""
        return finding(self.whole.difference, self.p_holm, self.whole.missing)


@step_line()
def compare_all(
    sides: Sequence[ComparedRun],
    *,
    all_pairs: bool = False,
    only_played: bool = False,
    group: str | None = None,
    columns: Sequence[str] = (),
    seed: int = 0,
) -> list[Comparison]:
    """Every run against the first, or against every one before it.

    Args:
        only_played: leave out repeats without a verdict, and units without any in either run; else they count as
            wrong, as in every table, and a finding must stand whatever they would be.
        group: column to tell parts of the units by.
        columns: columns to name with each flip.
        seed: of the bootstrap.

    Raises UsageError where two runs share no unit.
    """
    scored = [SideScores(side, only_played) for side in sides]
    resampled = resampled_sides(scored, seed)
    places = range(len(sides))
    pairs = list(combinations(places, 2)) if all_pairs else [(0, place) for place in places[1:]]
    comparisons: list[Comparison] = []
    for first, second in pairs:
        show_step(f"comparing pair {len(comparisons) + 1:,} of {len(pairs):,}")
        both = None if resampled is None else (resampled[first], resampled[second])
        outcome = _compare(scored[first], scored[second], both, group, columns, seed)
        losses = _losses(sides[first], sides[second], sides)
        comparisons.append(replace(outcome, losses=losses))
    adjusted = holm([comparison.p for comparison in comparisons])
    return [replace(outcome, p_holm=p) for outcome, p in zip(comparisons, adjusted, strict=True)]


def rank_sides(sides: Sequence[ComparedRun], sort: str, *, only_played: bool = False) -> RankedTable:
    """Runs that may be compared, with their ranks. Args: sort: as of `places_by`."""
    scored = (SideScores(side, only_played) for side in sides)
    scores = [side.on(side.tried).scores for side in scored]
    return ranked_table([side.result for side in sides], [side.label for side in sides], scores, sort)


def accuracy_of(side: ComparedRun, *, only_played: bool = False) -> Accuracy | None:
    """A run's own accuracy, over all its units."""
    scored = SideScores(side, only_played)
    return scored.on(scored.tried).accuracy


def _compare(
    a: SideScores,
    b: SideScores,
    resampled: tuple[ResampledSide, ResampledSide] | None,
    group: str | None,
    columns: Sequence[str],
    seed: int,
) -> Comparison:
    """Args: resampled: both runs on resamples of their items; None where they do not hold the same ones."""
    before, after, only_played = a.run, b.run, a.only_played
    keys = a.shared_with(b)
    theirs, mine = a.on(keys), b.on(keys)
    both = pair_units(theirs.scores, mine.scores)
    if both is None or theirs.accuracy is None or mine.accuracy is None:
        raise UsageError(
            f"{before.label} and {after.label} share no unit{' that both have played' if only_played else ''}; "
            "give runs of the same items"
        )
    p, exact = both.test()
    once = theirs.once and mine.once and all(pair.units == 1 for pair in both.pairs)
    asked = _asked_amounts(before, after)
    return Comparison(
        baseline=before.label,
        model=after.label,
        whole=_as_part("all", both, theirs.accuracy, mine.accuracy),
        bootstrap=bootstrap_of(both, resampled, seed),
        test=SIGN_FLIP_APPROXIMATE if not exact else MCNEMAR if once else SIGN_FLIP,
        p=p,
        p_holm=p,
        detectable=detectable(both.difference.error, len(both.pairs)),
        detectable_unpaired=unpaired(theirs.error or 0.0, mine.error or 0.0),
        left_out=len({**before.cells, **after.cells}) - len(keys),
        group=group,
        parts=tuple(_parts(before, after, keys, only_played, group)) if group else (),
        flips=tuple(_flips(before, after, keys, only_played, columns)),
        cuts=dict(_cuts(before, after, only_played)),
        amounts=() if asked is None else tuple(amount_differences(*asked, seed)),
        tools=None if asked is None else tool_difference(*asked),
    )


def _asked_amounts(a: ComparedRun, b: ComparedRun) -> tuple[RunAmounts, RunAmounts] | None:
    """What units of two runs took, where exactly their effect is the question."""
    is_asked = [each.label for each in a.questions] != [each.label for each in b.questions]
    return (a.amounts, b.amounts) if is_asked and a.amounts and b.amounts else None


def _losses(a: ComparedRun, b: ComparedRun, sides: Sequence[ComparedRun]) -> LossSplit | None:
    """The difference of two runs by place, with the floor of another run like the baseline, else of its repeats."""
    if a.losses is None or b.losses is None:
        return None
    split = split_losses(a.losses, b.losses, a.weights)
    like = (
        side.losses
        for side in sides
        if side is not a and side is not b and side.losses is not None and _are_alike(a, side)
    )
    pairs = [(BY_RUN, (a.losses, other)) for other in like] + [(BY_REPEATS, repeats_apart(a.losses))]
    for source, pair in pairs:
        floor = split_losses(*pair, a.weights)
        if split is not None and floor is not None:
            return with_floor(split, floor, source)
    return split


def _are_alike(a: ComparedRun, b: ComparedRun) -> bool:
    """Whether two runs differ in nothing but chance."""
    is_asked_alike = agent_settings(a.identity) == agent_settings(b.identity)
    return is_asked_alike and a.result.model == b.result.model and a.result.altered == b.result.altered


def _cuts(
    a: ComparedRun, b: ComparedRun, only_played: bool
) -> Iterator[tuple[str, tuple[ComparisonPart, ...]]]:
    """The cuts of each alteration that one of two runs has, over the units of the other."""
    for kind in dict.fromkeys((*a.cuts, *b.cuts)):
        if kind in a.cuts and kind in b.cuts:
            continue
        parts: list[ComparisonPart] = []
        for name, cells in (a if kind in a.cuts else b).cuts[kind].items():
            sides = (replace(a, cells=cells), b) if kind in a.cuts else (a, replace(b, cells=cells))
            part = _part(
                name,
                *sides,
                SideScores(sides[0], only_played).shared_with(SideScores(sides[1], only_played)),
                only_played,
            )
            parts += [] if part is None else [part]
        if parts:
            yield kind, tuple(parts)


def _parts(
    a: ComparedRun, b: ComparedRun, keys: Sequence[UnitKey], only_played: bool, column: str
) -> Iterable[ComparisonPart]:
    by_value: dict[Any, list[UnitKey]] = {}
    for key in keys:
        by_value.setdefault(unit_attribute((a, b), key, column), []).append(key)
    for value in sorted(by_value, key=lambda value: (value is None, not isinstance(value, int), value)):
        name = "none" if value is None else str(value)
        part = _part(name, a, b, by_value[value], only_played)
        if part is not None:
            yield part


def _part(
    name: str, a: ComparedRun, b: ComparedRun, keys: Sequence[UnitKey], only_played: bool
) -> ComparisonPart | None:
    theirs, mine = (SideScores(side, only_played).on(keys) for side in (a, b))
    both = pair_units(theirs.scores, mine.scores)
    if both is None or theirs.accuracy is None or mine.accuracy is None:
        return None
    return _as_part(name, both, theirs.accuracy, mine.accuracy)


def _as_part(name: str, both: PairedUnits, theirs: Accuracy, mine: Accuracy) -> ComparisonPart:
    return ComparisonPart(
        name=name,
        units=both.units,
        items=len(both.pairs),
        baseline_accuracy=theirs,
        accuracy=mine,
        difference=both.difference.value,
        low=both.difference.low,
        high=both.difference.high,
        gained=both.gained,
        lost=both.lost,
        missing=both.missing,
        least=both.ends[0],
        most=both.ends[1],
    )


def _flips(
    a: ComparedRun, b: ComparedRun, keys: Sequence[UnitKey], only_played: bool, columns: Sequence[str]
) -> Iterable[Flip]:
    for key in keys:
        before, after = a.cells[key], b.cells[key]
        if before.right == after.right and before.tries == after.tries and not (before.open or after.open):
            continue  # as most are; what follows takes longer
        if _is_flip(before, after, only_played):
            yield Flip(
                *key,
                kinds={column: unit_attribute((a, b), key, column) for column in columns},
                baseline_right=before.right,
                baseline_tries=tries_of(before, only_played),
                right=after.right,
                tries=tries_of(after, only_played),
                baseline_error=before.error,
                error=after.error,
            )


def _is_flip(before: UnitResults, after: UnitResults, only_played: bool) -> bool:
    """Whether a unit is right more often in one of two runs, whatever missing attempts would be."""
    ends = [
        (share(cell.right, tries), share(cell.right + (0 if only_played else cell.open), tries))
        for cell in (before, after)
        for tries in [tries_of(cell, only_played)]
    ]
    return ends[0][1] < ends[1][0] or ends[1][1] < ends[0][0]


def paired_runs(a: ComparedRun, b: ComparedRun, *, only_played: bool = False) -> PairedUnits | None:
    """A run beside its baseline, the first, on all units that `compare_all` compares; None where there are none."""
    before, after = SideScores(a, only_played), SideScores(b, only_played)
    keys = before.shared_with(after)
    return pair_units(before.on(keys).scores, after.on(keys).scores)


def _shared_units(a: ComparedRun, b: ComparedRun, only_played: bool) -> list[UnitKey]:
    return SideScores(a, only_played).shared_with(SideScores(b, only_played))


_COLUMNS = ("hint", "rationale")
"""Columns that say which hints a unit was given."""
ALL_UNITS = "all"
WITHOUT_HINTS = "no hints"


@dataclass(frozen=True, slots=True)
class HintEffect:
    """Units of one kind in a run beside a baseline. A unit is right if at least half of its repeats are, and left out
    without a verdict."""

    baseline: str
    model: str
    name: str
    """The kind of hints; `all` for all units."""
    wrong: int
    """Units that are wrong in the baseline."""
    corrected: int
    corrected_share: Accuracy | None
    """Of the wrong ones, with its 95 % interval clustered by item."""
    right: int
    broken: int
    broken_share: Accuracy | None
    """Of the right ones."""
    left_out: int
    """Units without a verdict in either run, which are neither right nor wrong."""


def hint_effects(
    sides: Sequence[ComparedRun], *, all_pairs: bool = False, only_played: bool = False
) -> Iterator[HintEffect]:
    """For each comparison in which the hints differ, the units by kind of hints; all of them first."""
    pairs = combinations(sides, 2) if all_pairs else ((sides[0], side) for side in sides[1:])
    for a, b in pairs:
        if a.result.altered.get("aid") == b.result.altered.get("aid"):
            continue
        keys = _shared_units(a, b, only_played)
        yield _effect(ALL_UNITS, a, b, keys, only_played)
        kinds: dict[str, list[UnitKey]] = {}
        for key in keys:
            kinds.setdefault(_kind(a, b, key), []).append(key)
        if len(kinds) > 1:
            for name in sorted(kinds, key=lambda name: (name == WITHOUT_HINTS, name)):
                yield _effect(name, a, b, kinds[name], only_played)


def _kind(a: ComparedRun, b: ComparedRun, key: UnitKey) -> str:
    hints = [str(value) for column in _COLUMNS if (value := unit_attribute((b, a), key, column)) is not None]
    return ", ".join(hints) or WITHOUT_HINTS


def _effect(
    name: str, a: ComparedRun, b: ComparedRun, every: Sequence[UnitKey], only_played: bool
) -> HintEffect:
    keys = [key for key in every if only_played or not (a.cells[key].open or b.cells[key].open)]
    before = {key: _is_right(a.cells[key], only_played) for key in keys}
    after = {key: _is_right(b.cells[key], only_played) for key in keys}
    wrong = [key for key in keys if not before[key]]
    right = [key for key in keys if before[key]]
    corrected = {key for key in wrong if after[key]}
    broken = {key for key in right if not after[key]}
    return HintEffect(
        baseline=a.label,
        model=b.label,
        name=name,
        wrong=len(wrong),
        corrected=len(corrected),
        corrected_share=_share_of(wrong, corrected),
        right=len(right),
        broken=len(broken),
        broken_share=_share_of(right, broken),
        left_out=len(every) - len(keys),
    )


def _share_of(keys: Sequence[UnitKey], selection: set[UnitKey]) -> Accuracy | None:
    items: dict[str, tuple[float, float]] = {}
    for key in keys:
        hits, count = items.get(key[0], (0.0, 0.0))
        items[key[0]] = hits + (key in selection), count + 1
    rate = clustered_rate(list(items.values()))
    return None if rate is None else Accuracy(*rate)


def _is_right(cell: UnitResults, only_played: bool) -> bool:
    return 2 * cell.right >= tries_of(cell, only_played)
