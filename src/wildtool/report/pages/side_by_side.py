"""The page of models side by side: differences on the same units, against any of the models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wildtool.engine.compare.leaderboard import run_labels, trust_line
from wildtool.engine.compare.pairs import MAX_COMPARED_MODELS, PairwiseResult, holm_corrected
from wildtool.engine.score.formatting import format_p
from wildtool.report.charts.data import ChartData, ChartPoint
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


def add_side_by_side(
    site: Site, board: Leaderboard, found: Mapping[tuple[int, int], PairwiseResult], page: str
) -> None:
    """Adds the page, unless no two models share a unit."""
    rows = _rows(board, found)
    if not rows:
        return
    labels = board.labels[:MAX_COMPARED_MODELS]
    results = [run.result for run in board.runs]
    name = f"pairs-{page}"
    site.shard(name, _pairs_for_script(board, found))
    site.add(
        page,
        "Models side by side",
        "compare.html",
        group=board.title,
        scripts=("compare.js",),
        shard=name,
        labels=labels,
        rows=rows,
        picture=add_picture(site, _drawing(board, found), page),
        units=f"{next(iter(found.values())).units:,}",
        missing=[line for line in map(trust_line, run_labels(results), results) if line],
        left_out=f"Only the first {MAX_COMPARED_MODELS} models are compared."
        if len(board.runs) > MAX_COMPARED_MODELS
        else "",
    )


def _rows(board: Leaderboard, found: Mapping[tuple[int, int], PairwiseResult]) -> list[PairwiseRow]:
    return [
        PairwiseRow(
            *(board.labels[model], _points(one.difference), f"{_points(one.low)} … {_points(one.high)}"),
            *(one.difference, p, format_p(p), one.gained, one.lost, _finding(one, p)),
        )
        for model, p in holm_corrected(found, 0).items()
        for one in [found[0, model]]
    ]


def _finding(one: PairwiseResult, p: float) -> str:
    said = finding(one.difference, p, one.missing)
    return f"{said}: {one.missing} of {one.units} units without a verdict" if said == "no finding" else said


def _drawing(board: Leaderboard, found: Mapping[tuple[int, int], PairwiseResult]) -> ChartData:
    labels = board.labels
    points = tuple(
        ChartPoint(labels[model], "difference", one.difference, one.low, one.high, _points(one.difference))
        for (baseline, model), one in found.items()
        if baseline == 0
    )
    said = "; ".join(f"{point.model}: {point.text} points" for point in points[:12])
    return ChartData(
        title=f"Difference of accuracy from {labels[0]}",
        about=f"Points with 95 % intervals and a line at zero. {said}.",
        points=points,
        models=tuple(point.model for point in points),
        names=("difference",),
        kind="differences",
        percent=True,
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def _pairs_for_script(
    board: Leaderboard, found: Mapping[tuple[int, int], PairwiseResult]
) -> dict[str, object]:
    """All pairs as the page's script reads them."""
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
    return [*rounded, round(p, 6), one.gained, one.lost, one.missing, one.units]
