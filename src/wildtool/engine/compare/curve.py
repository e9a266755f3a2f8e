"""The learning curve of a series: each point's score, and its difference from the model before training."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from wildtool.data.files import read_json
from wildtool.engine.compare.leaderboard import EVIDENCE_COLUMNS, evidence_cells, played_and_judged
from wildtool.engine.compare.pairs import UnitScores, pair_units, share
from wildtool.engine.compare.runs import ComparedRun, headline_column
from wildtool.engine.series import Series, SeriesPoint
from wildtool.errors import DataError
from wildtool.evidence import Evidence, joined_evidence
from wildtool.stats.intervals import t_probability, t_quantile
from wildtool.stats.learning_curve import TrainedScore, trained_score
from wildtool.stats.tests import holm

MIN_SEEDS = 3
"""Trainings of one size below which their spread is unknown."""
RunKey = tuple[str, str]
"""Name of a point and label of a benchmark."""


@dataclass(frozen=True, slots=True)
class BaseDifference:
    """A point less the base, paired by unit, with the training's part of the uncertainty."""

    value: float
    low: float
    high: float
    p: float
    """Two-sided, the largest that missing units allow; of one training the exact test by item, of several Student's."""
    p_adjusted: float
    """By Holm's method, for all points and benchmarks of the series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The trainings of one arm and size on one benchmark."""

    benchmark: str
    profile: str
    conditions: str
    """How the numbers came about, as tables name it: mode, other roles, rules."""
    arm: str
    size: int
    size_share: float
    """Part of the arm's largest size."""
    steps: int | None
    tokens: int | None
    names: tuple[str, ...]
    """Points of the series, one for each seed."""
    items: int
    units: int
    score: TrainedScore
    difference: BaseDifference | None
    """None for the base."""
    touched_items: int | None
    """Items whose texts are in the training data; None where nobody looked."""
    untouched: TrainedScore | None
    """The score without them; None where there are none, or none are left."""
    evidence: Evidence
    """Of all its runs."""


def learning_curve(
    series: Series, runs: Mapping[RunKey, ComparedRun], touched: Mapping[str, Collection[str]] | None = None
) -> list[CurvePoint]:
    """The points of all benchmarks, in the order of the series; a benchmark with a main number for each kind of unit has
    points of each.

    Args:
        runs: those that are complete, by point and benchmark; a size counts with the seeds that have one.
        touched: by benchmark the items whose texts are in the training data.
    """
    points: list[CurvePoint] = []
    for benchmark in series.benchmarks:
        marked = None if touched is None else touched.get(benchmark.name)
        runs_of_points = {point: run for (point, label), run in runs.items() if label == benchmark.label}
        for label, own in _main_parts(benchmark.label, runs_of_points):
            base = own.get(series.base.name)
            for key, group in groupby(series.points, lambda point: (point.arm, point.size)):
                repeats = [point for point in group if point.name in own]
                if not repeats:
                    continue
                sides = [own[point.name] for point in repeats]
                largest = max(point.size for point in series.points if point.arm == key[0])
                point = _point(label, repeats, sides, largest, marked)
                if point is not None:
                    points.append(
                        replace(point, difference=_difference(base, sides, point.score) if key[1] else None)
                    )
    compared = [point.difference for point in points if point.difference is not None]
    adjusted = iter(holm([difference.p for difference in compared]))
    return [
        point
        if point.difference is None
        else replace(point, difference=replace(point.difference, p_adjusted=next(adjusted)))
        for point in points
    ]


def _main_parts(
    label: str, runs: Mapping[str, ComparedRun]
) -> Iterator[tuple[str, Mapping[str, ComparedRun]]]:
    """A benchmark's runs by point; for one with a main number for each kind of unit those of each kind, by its name."""
    column = next((headline_column(run) for run in runs.values()), None)
    if column is None:
        yield label, runs
        return
    for value in dict.fromkeys(cell.kinds[column] for run in runs.values() for cell in run.cells.values()):
        yield (
            f"{label}-{value}",
            {
                point: replace(
                    run, cells={key: cell for key, cell in run.cells.items() if cell.kinds[column] == value}
                )
                for point, run in runs.items()
            },
        )


def _point(
    benchmark: str,
    repeats: Sequence[SeriesPoint],
    sides: Sequence[ComparedRun],
    largest: int,
    touched: Collection[str] | None,
) -> CurvePoint | None:
    score = _score(sides, ())
    evidence = joined_evidence(side.result.evidence for side in sides)
    if score is None or evidence is None:
        return None
    items = {item for item, _ in sides[0].cells}
    hit = None if touched is None else len(items.intersection(touched))
    first = repeats[0]
    return CurvePoint(
        benchmark=benchmark,
        profile=sides[0].result.profile,
        conditions=played_and_judged(sides[0].result),
        arm=first.arm,
        size=first.size,
        size_share=first.size / largest if largest else 0.0,
        steps=first.steps,
        tokens=first.tokens,
        names=tuple(point.name for point in repeats),
        items=len(items),
        units=len(sides[0].cells),
        score=score,
        difference=None,
        touched_items=hit,
        untouched=_score(sides, touched or ()) if hit else None,
        evidence=evidence,
    )


def _score(sides: Sequence[ComparedRun], touched: Collection[str]) -> TrainedScore | None:
    """The score of some trainings without the touched items; its interval holds whatever missing units would be."""
    worst, best = (trained_score([_by_item(side, touched, missing) for side in sides]) for missing in (0, 1))
    return worst and best and worst._replace(high=best.high)


def _by_item(side: ComparedRun, touched: Collection[str], missing: int) -> dict[str, tuple[float, float]]:
    """By item the right units, with the share of their repeats, and the units; without the touched items.

    Args:
        missing: 1 to count repeats without a verdict as right, 0 as wrong.
    """
    intervals: dict[str, tuple[float, float]] = {}
    for (item, _), cell in side.cells.items():
        if item not in touched:
            right, units = intervals.get(item, (0.0, 0.0))
            weight = side.weights.get(item, 1)
            correct = weight * (cell.right + missing * cell.open) / cell.tries
            intervals[item] = right + correct, units + weight
    return intervals


def _difference(
    base: ComparedRun | None, sides: Sequence[ComparedRun], score: TrainedScore
) -> BaseDifference | None:
    """The mean of the trainings less the base; None where they share no unit."""
    if base is None:
        return None
    both = pair_units(_unit_scores([base]), _unit_scores(sides))
    if both is None:
        return None
    if score.seed_error is None:
        p, _ = both.test()
        return BaseDifference(both.difference.value, both.difference.low, both.difference.high, p, p)
    value, trainings = both.difference.value, score.seed_error
    error = math.hypot(both.difference.error, trainings)
    freedom = max(1, len(both.pairs) - 1)
    if trainings > both.difference.error:
        freedom = min(freedom, len(sides) - 1)
    half = t_quantile(0.975, freedom) * error
    lowest, most = both.ends
    nearest = min(abs(lowest), abs(most)) if lowest * most > 0 else 0.0
    p = t_probability(nearest / error, freedom)
    return BaseDifference(value, max(-1.0, lowest - half), min(1.0, most + half), p, p)


def _unit_scores(sides: Sequence[ComparedRun]) -> UnitScores:
    """By unit the mean over the trainings of the share of right repeats, and of the missing ones."""
    common = [key for key in sides[0].cells if all(key in side.cells for side in sides)]
    cells = {key: [side.cells[key] for side in sides] for key in common}
    right = {key: [share(cell.right, cell.tries) for cell in its] for key, its in cells.items()}
    missing = {key: [share(cell.open, cell.tries) for cell in its] for key, its in cells.items()}
    return UnitScores(
        {key: Fraction(sum(shares), len(sides)) for key, shares in right.items()},
        {key: Fraction(sum(shares), len(sides)) for key, shares in missing.items() if any(shares)},
        sides[0].weights,
    )


CURVE_COLUMNS = (
    "arm",
    "benchmark",
    "profile",
    "size",
    "size_share",
    "steps",
    "tokens",
    "seeds",
    "items",
    "units",
    "score",
    "low",
    "high",
    "item_se",
    "seed_se",
    "diff_base",
    "diff_low",
    "diff_high",
    "p",
    "p_adjusted",
    "touched_items",
    "score_untouched",
    "untouched_low",
    "untouched_high",
    *EVIDENCE_COLUMNS[1:],
)


def csv_rows(points: Sequence[CurvePoint]) -> Iterator[list[Any]]:
    """A row of `CURVE_COLUMNS` for each point, empty where there is no value."""
    for point in points:
        score, difference, untouched = point.score, point.difference, point.untouched
        yield [
            point.arm,
            point.benchmark,
            point.profile,
            point.size,
            round(point.size_share, 6),
            point.steps,
            point.tokens,
            len(point.names),
            point.items,
            point.units,
            *(_rounded(value) for value in score),
            *(
                [None] * 5
                if difference is None
                else (_rounded(getattr(difference, name)) for name in _DIFFERENCE)
            ),
            point.touched_items,
            *([None] * 3 if untouched is None else map(_rounded, untouched[:3])),
            *evidence_cells(point.evidence)[1:],
        ]


_DIFFERENCE = ("value", "low", "high", "p", "p_adjusted")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def touched_items(path: Path) -> dict[str, frozenset[str]]:
    """By benchmark the items whose texts `wildtool data overlap --json` found in training data. Raises DataError."""
    try:
        document = read_json(path)
        return {
            entry["benchmark"]: frozenset(item for items in entry["items_touched"].values() for item in items)
            for entry in cast(list[dict[str, Any]], document["benchmarks"])
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}: not what `wildtool data overlap FILE --json` prints ({type(error).__name__}: {error})"
        ) from error
