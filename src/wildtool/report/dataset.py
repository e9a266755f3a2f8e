"""The page that describes the data of a board, from its benchmark's numbers about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from wildtool.engine.shown import value_of
from wildtool.plain import last_part
from wildtool.report.drawing import Drawing, Point
from wildtool.report.model import Board
from wildtool.report.site import Site
from wildtool.report.text import slug
from wildtool.report.views import Picture, picture
from wildtool.types import Metric

MOST_BARS = 40
"""Names of a group that are drawn; a longer list is read, not seen."""


@dataclass(frozen=True, slots=True)
class Section:
    """One group of numbers about the data."""

    group: str
    picture: Picture | None
    rows: tuple[tuple[str, str], ...]


def add_dataset(site: Site, board: Board, page: str) -> None:
    """Adds the page, unless the data are not at hand any more."""
    source = board.source
    if source is None:
        return
    metrics = board.benchmark.stats(source)
    groups = [(group, list(members)) for group, members in groupby(metrics, key=lambda metric: metric.group)]
    site.add(
        page,
        "Dataset",
        "dataset.html",
        group=board.title,
        name=last_part(source.name),
        sha256=source.sha256,
        sections=[_section(site, group, members, page) for group, members in groups],
    )


def _section(site: Site, group: str, metrics: Sequence[Metric], page: str) -> Section:
    drawing = _drawing(group, metrics)
    return Section(
        group,
        picture(site, drawing, f"{page}-{slug(group)}") if drawing else None,
        tuple((metric.name, value_of(metric)) for metric in metrics),
    )


def _drawing(group: str, metrics: Sequence[Metric]) -> Drawing | None:
    """Bars, where the numbers of the group are of one kind and there is something to compare."""
    kinds = {(metric.kind, metric.unit) for metric in metrics}
    known = [(metric, _number(metric)) for metric in metrics]
    if len(kinds) > 1 or not 2 <= len(metrics) <= MOST_BARS or any(number is None for _, number in known):
        return None
    points = tuple(
        Point("", metric.name, number, None, None, value_of(metric))
        for metric, number in known
        if number is not None
    )
    said = "; ".join(f"{point.name}: {point.text}" for point in points[:12])
    return Drawing(
        title=group,
        about=f"Bars. {said}.",
        points=points,
        models=("",),
        names=tuple(dict.fromkeys(point.name for point in points)),
        kind="bars",
        percent=metrics[0].kind == "rate",
    )


def _number(metric: Metric) -> float | None:
    return metric.numerator if metric.kind == "count" else metric.value
