"""The page of models side by side: differences on the same units, against any of the models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wildtool.engine.compare.leaderboard import run_labels, trust_line
from wildtool.engine.compare.pairs import (
    MAX_COMPARED_MODELS,
    PairwiseResult,
    format_difference,
    holm_corrected,
)
from wildtool.engine.score.formatting import format_p, format_points
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.links import TRAJECTORIES, Differ, units_that_differ
from wildtool.report.model import Leaderboard
from wildtool.report.pages.metrics import add_picture
from wildtool.report.site.site import Site
from wildtool.stats.tests import finding


@dataclass(frozen=True, slots=True)
class PairwiseRow:
    """One model against the baseline."""

    label: str
    points: str
    interval: str
    difference: float
    p: float
    p_text: str
    gained: int
    lost: int
    finding: str
    differing_units: str
    """Address of the list of these units, of which each was gained or lost."""
    gained_units: str
    lost_units: str


def add_side_by_side(
    site: Site,
    board: Leaderboard,
    pairs: Mapping[tuple[int, int], PairwiseResult],
    page: str,
    runs: Sequence[int],
) -> None:
    """Adds the page, unless no two models share a unit.

    Args:
        page: its slug.
        runs: for each run of the leaderboard, its number in the report.
    """
    rows = _rows(site, board, pairs, runs)
    if not rows:
        return
    labels = board.labels[:MAX_COMPARED_MODELS]
    results = [run.result for run in board.runs]
    name = f"pairs-{page}"
    site.shard(name, _pairs_for_script(board, pairs, runs))
    site.add(
        page,
        "Models side by side",
        "compare.html",
        group=board.title,
        scripts=("compare.js",),
        shard=name,
        labels=labels,
        rows=rows,
        picture=add_picture(site, replace(_drawing(board, pairs), colours=site.colours), page),
        units=f"{next(iter(pairs.values())).units:,}",
        missing=[line for line in map(trust_line, run_labels(results), results) if line],
        left_out=f"Only the first {MAX_COMPARED_MODELS} models are compared."
        if len(board.runs) > MAX_COMPARED_MODELS
        else "",
    )


def _rows(
    site: Site,
    board: Leaderboard,
    pairs: Mapping[tuple[int, int], PairwiseResult],
    runs: Sequence[int],
) -> list[PairwiseRow]:
    return [
        PairwiseRow(
            board.labels[model],
            format_difference(result.difference, result.ends),
            f"{format_points(result.low)} … {format_points(result.high)}",
            result.difference,
            p,
            format_p(p),
            result.gained,
            result.lost,
            _finding(result, p),
            *(site.link(TRAJECTORIES, units_that_differ(runs[model], runs[0], how)) for how in _DIFFER),
        )
        for model, p in holm_corrected(pairs, 0).items()
        for result in [pairs[0, model]]
    ]


_DIFFER: Sequence[Differ] = ("any", "gained", "lost")
_DIFFERENCE = 1
"""The column of the table that has what the chart draws."""


def _finding(result: PairwiseResult, p: float) -> str:
    label = finding(result.difference, p, result.missing)
    return (
        f"{label}: {result.missing} of {result.units} units without a verdict"
        if label == "no finding"
        else label
    )


def _drawing(board: Leaderboard, pairs: Mapping[tuple[int, int], PairwiseResult]) -> ChartData:
    labels = board.labels
    points = tuple(
        ChartPoint(
            labels[model],
            "difference",
            result.difference,
            result.low,
            result.high,
            format_difference(result.difference, result.ends),
            cell=(row, _DIFFERENCE),
        )
        for row, model in enumerate(holm_corrected(pairs, 0))
        for result in [pairs[0, model]]
    )
    summary = "; ".join(f"{point.model}: {point.text} points" for point in points[:12])
    return ChartData(
        title=f"Difference of accuracy from {labels[0]}",
        about=f"Points with 95 % intervals and a line at zero. {summary}.",
        points=points,
        models=tuple(point.model for point in points),
        names=("difference",),
        kind="differences",
        percent=True,
        values="points, with 95 % interval",
    )


def _pairs_for_script(
    board: Leaderboard, pairs: Mapping[tuple[int, int], PairwiseResult], runs: Sequence[int]
) -> dict[str, object]:
    """All pairs as the page's script reads them."""
    models = min(len(board.runs), MAX_COMPARED_MODELS)
    return {
        "models": board.labels[:models],
        "runs": runs[:models],
        "pairs": [
            [
                None if (first, second) not in pairs else _pair(pairs[first, second], adjusted[second])
                for second in range(models)
            ]
            for first in range(models)
            for adjusted in [holm_corrected(pairs, first)]
        ],
    }


def _pair(result: PairwiseResult, p: float) -> Sequence[float | str]:
    rounded = [round(number, 5) for number in (result.difference, result.low, result.high)]
    written = format_difference(result.difference, result.ends)
    return [*rounded, round(p, 6), format_p(p), result.gained, result.lost, _finding(result, p), written]
