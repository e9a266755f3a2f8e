"""The page of models side by side: differences on the same units, against any of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from wildtool.engine.score.formatting import p_of
from wildtool.report.charts.data import Drawing, Point
from wildtool.report.model import Board
from wildtool.report.pages.metrics import picture
from wildtool.report.pairwise import MOST_MODELS, Against, corrected, shard
from wildtool.report.site.site import Site
from wildtool.stats.tests import finding


@dataclass(frozen=True, slots=True)
class Row:
    """One model against the baseline."""

    label: str
    points: str
    interval: str
    difference: float
    p: float
    gained: int
    lost: int

    @property
    def p_text(self) -> str:
        return p_of(self.p)

    @property
    def finding(self) -> str:
        return finding(self.difference, self.p)


def add_sides(site: Site, board: Board, found: Mapping[tuple[int, int], Against], page: str) -> None:
    """Adds the page, unless no two models share a unit."""
    rows = _rows(board, found)
    if not rows:
        return
    labels = board.labels[:MOST_MODELS]
    name = f"pairs-{page}"
    site.shard(name, shard(board, found))
    site.add(
        page,
        "Models side by side",
        "compare.html",
        group=board.title,
        scripts=("compare.js",),
        shard=name,
        labels=labels,
        rows=rows,
        picture=picture(site, _drawing(board, found), page),
        units=f"{next(iter(found.values())).units:,}",
        left_out=f"Only the first {MOST_MODELS} models are compared."
        if len(board.runs) > MOST_MODELS
        else "",
    )


def _rows(board: Board, found: Mapping[tuple[int, int], Against]) -> list[Row]:
    adjusted = corrected(found, 0)
    return [
        Row(
            board.labels[model],
            _points(found[0, model].difference),
            f"{_points(found[0, model].low)} … {_points(found[0, model].high)}",
            found[0, model].difference,
            p,
            found[0, model].gained,
            found[0, model].lost,
        )
        for model, p in adjusted.items()
    ]


def _drawing(board: Board, found: Mapping[tuple[int, int], Against]) -> Drawing:
    labels = board.labels
    points = tuple(
        Point(labels[model], "difference", one.difference, one.low, one.high, _points(one.difference))
        for (baseline, model), one in found.items()
        if baseline == 0
    )
    said = "; ".join(f"{point.model}: {point.text} points" for point in points[:12])
    return Drawing(
        title=f"Difference of accuracy from {labels[0]}",
        about=f"Points with 95 % intervals beside a line at zero. {said}.",
        points=points,
        models=tuple(point.model for point in points),
        names=("difference",),
        kind="differences",
        percent=True,
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")
