"""The pages of a leaderboard's numbers: those its benchmark defines, and one for the rest."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from wildtool.declared import pages_of
from wildtool.engine.compare.leaderboard import notes_of
from wildtool.engine.score.formatting import counted, format_direction
from wildtool.report.charts.data import CellPlace, ChartData, ChartPoint
from wildtool.report.charts.render import render_chart
from wildtool.report.links import TRAJECTORIES, units_of_cell
from wildtool.report.model import Leaderboard, slug
from wildtool.report.site.site import Site
from wildtool.stats.matrix import SIGN, Matrix
from wildtool.stats.tables import Table
from wildtool.table import MetricTable, cell_of, ends_of, matrix_cells
from wildtool.table.csv_file import numbers_csv
from wildtool.types import Metric

OTHER_NUMBERS = Table(
    slug="other-numbers",
    title="Other numbers",
    about="What no other page shows. Failed and unplayed units count as wrong in every rate.",
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart on its page."""

    wide: str
    narrow: str
    caption: str
    svg: str
    """Address of the file."""
    png: str
    left_out: str
    """What the chart leaves out; empty if it shows everything."""
    is_long: bool = False
    """Whether it cannot be read on one sheet of paper."""


@dataclass(frozen=True, slots=True)
class MetricSection:
    """One group of numbers on a page."""

    group: str
    pictures: tuple[Picture, ...]
    table: MetricTable


class LinkedText(NamedTuple):
    """A cell with the address of the units behind it."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A matrix of one model, as a picture and as numbers."""

    label: str
    matrix: Matrix
    picture: Picture
    rows: tuple[tuple[str, tuple[LinkedText, ...]], ...]
    """The name of each row and its cells; the text of a cell without units is empty."""


@dataclass(frozen=True, slots=True)
class MatrixSection:
    """The matrices of some models by two groups."""

    title: str
    maps: tuple[HeatMap, ...]
    left_out: str
    """What is not drawn; empty where everything is."""


MAX_HEAT_MAPS = 8
"""Models whose heat maps a page shows at most, the best first."""


def views_of(board: Leaderboard) -> list[Table]:
    """The pages of a leaderboard, without the empty ones."""
    group_names = set(board.groups)
    views = [view for view in pages_of(board.benchmark, board.profile) if group_names & set(view.groups)]
    ungrouped = group_names - {group for view in views for group in view.groups}
    groups = tuple(group for group in board.groups if group in ungrouped and not _all_headline(board, group))
    return [*views, *([replace(OTHER_NUMBERS, groups=groups)] if groups else [])]


def add_view(
    site: Site, board: Leaderboard, view: Table, page: str, runs: Sequence[int], ranks: Sequence[str]
) -> None:
    """Adds the page of one view.

    Args:
        page: its slug.
        runs: for each run of the leaderboard, its number in the report.
        ranks: of each run; empty where it has none.
    """
    sections = [_section(site, board, view, group, page) for group in view.groups if group in board.groups]
    metrics = (m for run in board.runs for m in run.result.metrics if m.group in view.groups)
    site.add(
        page,
        view.title,
        "view.html",
        group=board.title,
        about=view.about,
        notes=[text for text in (view.note, *notes_of(metrics)) if text],
        board=board,
        runs=runs,
        sections=sections,
        matrices=[_matrix_section(site, board, pair, page, runs) for pair in view.matrices],
        csv=site.file(f"files/{page}.csv", numbers_csv(board.results, view.groups, ranks)),
    )


def _all_headline(board: Leaderboard, group: str) -> bool:
    """Whether the overview's table already shows the whole group."""
    return all(m.headline for run in board.runs for m in run.result.metrics if m.group == group)


def _section(site: Site, board: Leaderboard, view: Table, group: str, page: str) -> MetricSection:
    table = board.table(group)
    drawings = _drawings(board, view, table, site)
    return MetricSection(
        group=group, pictures=add_pictures(site, drawings, f"{page}-{slug(group)}"), table=table
    )


def _matrix_section(
    site: Site, board: Leaderboard, pair: tuple[str, str], page: str, runs: Sequence[int]
) -> MatrixSection:
    title, stem = f"{pair[0]} {SIGN} {pair[1]}", f"{page}-{slug(' '.join(pair))}"
    shown = list(zip(board.labels, runs, board.runs, strict=True))[:MAX_HEAT_MAPS]
    drawn = [(label, number, run.matrices[pair]) for label, number, run in shown if run.matrices[pair].cells]
    drawings = (_heat_map(label, matrix, board.title) for label, _, matrix in drawn)
    pictures = add_pictures(site, drawings, stem)
    more = len(board.runs) - MAX_HEAT_MAPS
    maps = tuple(
        HeatMap(label, matrix, picture, tuple(_heat_rows(site, number, matrix)))
        for (label, number, matrix), picture in zip(drawn, pictures, strict=True)
    )
    left_out = (
        f'Left out: {counted(more, "more model")}; wildtool show RUN --group "{title}" prints any of them.'
    )
    return MatrixSection(title, maps, left_out if more > 0 else "")


def _heat_rows(site: Site, run: int, matrix: Matrix) -> Iterable[tuple[str, tuple[LinkedText, ...]]]:
    """The rows of a matrix with the units behind each cell. Args: run: its number in the report."""
    for name, *texts in matrix_cells(matrix):
        yield (
            name,
            tuple(
                LinkedText(
                    text,
                    site.link(
                        TRAJECTORIES, units_of_cell(run, (matrix.rows, name), (matrix.columns, column))
                    ),
                )
                for text, column in zip(texts, matrix.column_names, strict=True)
            ),
        )


def _heat_map(label: str, matrix: Matrix, title: str) -> ChartData:
    points = [_heat_point(matrix, row, column, metric) for (row, column), metric in matrix.cells.items()]
    description = "; ".join(f"{point.model}, {point.name}: {point.text} {point.behind}" for point in points)
    return ChartData(
        title=f"{matrix.title} of {label}, {title}",
        about=f"Heat map, stronger in colour where the rate is higher, with 95 % intervals and counts. {description}.",
        points=tuple(points),
        models=matrix.row_names,
        names=matrix.column_names,
        kind="heat",
        percent=True,
        axis=matrix.columns,
    )


def _heat_point(matrix: Matrix, row: str, column: str, metric: Metric) -> ChartPoint:
    cell = cell_of(metric)
    behind = " ".join(filter(None, (cell.interval, cell.counts)))
    # The first column of a table has the names of its rows.
    place = matrix.row_names.index(row), 1 + matrix.column_names.index(column)
    return replace(_point(row, metric, place), name=column, behind=behind)


def _drawings(board: Leaderboard, view: Table, table: MetricTable, site: Site) -> Iterable[ChartData]:
    """A chart for the rates of a group, and one per unit of measurement of its means. Args: table: of the group."""
    kinds: dict[tuple[str, str], list[ChartPoint]] = {}
    columns = {head.key: place for place, head in enumerate(table.heads, 1)}
    group = table.heads[0].group
    for place, (label, run) in enumerate(zip(board.labels, board.runs, strict=True)):
        for metric in run.result.metrics:
            if metric.group == group and metric.kind != "count" and metric.value is not None:
                point = _point(label, metric, (place, columns[group, metric.name]))
                kinds.setdefault((metric.kind, metric.unit), []).append(point)
    for (kind, unit), points in kinds.items():
        names = tuple(dict.fromkeys(point.name for point in points))
        drawn = view.chart if kind == "rate" else "bars"
        yield ChartData(
            title=f"{group}{f' ({unit})' if unit else ''}, {board.title}",
            about=_in_words(points, drawn),
            points=tuple(points),
            models=tuple(label for label in board.labels if any(point.model == label for point in points)),
            names=names,
            kind="bars" if drawn == "lines" and len(names) < 2 else drawn,
            percent=kind == "rate",
            axis=view.axis,
            values=_values(drawn, unit, points, percent=kind == "rate") + _direction(board, group, names),
            colours=site.colours,
        )


def _point(label: str, metric: Metric, place: CellPlace) -> ChartPoint:
    assert metric.value is not None
    cell = cell_of(metric)
    text = " ".join(filter(None, (cell.value, cell.interval)))
    low, high = ends_of(metric)
    return ChartPoint(
        label, metric.name, metric.value, low, high, text, place, cell.value, is_open=cell.is_open
    )


def _values(drawn: str, unit: str, points: Sequence[ChartPoint], *, percent: bool) -> str:
    """Axis title of the numbers."""
    if not percent:
        return unit or "mean"
    if drawn == "stacked":
        return "share of the whole"
    open_too = " or, dashed, open range" if any(point.is_open for point in points) else ""
    return f"rate, with 95 % interval{open_too}"


def _direction(board: Leaderboard, group: str, names: Collection[str]) -> str:
    """What the axis says where lower is better in all numbers of a chart."""
    metrics = (m for run in board.runs for m in run.result.metrics if m.group == group and m.name in names)
    ways = {format_direction(metric.better) for metric in metrics}
    note = ways.pop() if len(ways) == 1 else ""
    return f" ({note})" if note else ""


def _in_words(points: Sequence[ChartPoint], kind: str) -> str:
    """The chart in words: the first dozen numbers; the table below it has all."""
    form = {"lines": "Lines with bands", "stacked": "Stacked shares"}.get(kind, "Bars")
    summary = "; ".join(f"{point.model}, {point.name}: {point.text}" for point in points[:12])
    more = f"; and {len(points) - 12} more" if len(points) > 12 else ""
    open_too = ""
    if any(point.is_open for point in points):
        open_too = " or, where units have no verdict, the range that they leave open"
    return (
        f"{form}, 95 % intervals where drawn{open_too}. {summary}{more}. All numbers are in the table below."
    )


def add_pictures(site: Site, drawings: Iterable[ChartData], stem: str) -> tuple[Picture, ...]:
    """Draws charts and writes their files, named after `stem` and numbered from the second."""
    return tuple(
        add_picture(site, drawing, f"{stem}{f'-{number}' if number else ''}")
        for number, drawing in enumerate(drawings)
    )


def add_picture(site: Site, drawing: ChartData, stem: str) -> Picture:
    """Draws a chart and writes its files, named after `stem`."""
    chart = render_chart(drawing)
    return Picture(
        wide=chart.wide,
        narrow=chart.narrow,
        caption=drawing.title,
        svg=site.file(f"files/{stem}.svg", chart.svg),
        png=site.file(f"files/{stem}.png", chart.png),
        left_out=chart.left_out,
        is_long=chart.is_long,
    )
