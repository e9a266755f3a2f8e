"""Tables of published numbers: of papers as they are printed, and of models with runs among them."""

from collections.abc import Iterable

from wildtool.engine.compare.leaderboard import INCOMPLETE
from wildtool.engine.compare.published import MEASURED_HERE, PublishedRanking, RankingCell, RankingRow
from wildtool.engine.score.formatting import format_open
from wildtool.published import PublishedTable
from wildtool.sanitize import ellipsize
from wildtool.table import Cell, Head, MetricTable, Row, ends_of


def published_table(table: PublishedTable) -> MetricTable:
    """One table of a paper, with as many decimals as it prints."""
    places = _places(value for row in table.rows for value in row.values.values() if value is not None)
    rows = (
        Row(
            label=row.model,
            kind="published",
            about=row.kind,
            cells={("", name): _number(value, places) for name, value in row.values.items()},
        )
        for row in table.rows
    )
    heads = tuple(Head("", name) for name in table.columns)
    return MetricTable(f"{table.source}: {table.about} ({table.unit})", heads, tuple(rows), whole=False)


def ranking_table(ranking: PublishedRanking) -> MetricTable:
    """Published models with runs among them, in percent."""
    groups = list(dict.fromkeys(group for group, _ in ranking.keys))
    alone = len(groups) == 1
    sources = "; ".join(ranking.sources)
    group = f", {groups[0]}" if alone and groups[0] not in " ".join(ranking.sources) else ""
    order = ranking.order[1] if alone and ranking.order[0] in groups else " ".join(ranking.order)
    ranked = f", by {order}" if ranking.is_ranked else ", not ranked: neither more nor less of it is better"
    places = _places(
        100 * cell.value
        for entry in ranking.entries
        if entry.run is None
        for cell in entry.cells.values()
        if cell.value is not None
    )
    return MetricTable(
        f"{sources}{group} (%, profile {ranking.profile}){ranked}",
        tuple(Head(*key, better=ranking.better.get(key, "more")) for key in ranking.keys),
        tuple(_row(entry, places) for entry in ranking.entries),
        whole=not alone,
    )


def _row(entry: RankingRow, places: int) -> Row:
    cells = {key: _percent(cell, places) for key, cell in entry.cells.items()}
    if entry.run is None:
        return Row(label=ellipsize(entry.model, 60), cells=cells, kind="published", about=entry.kind)
    return Row(
        label=f"{ellipsize(entry.model, 40)} ({MEASURED_HERE}){INCOMPLETE * entry.incomplete}", cells=cells
    )


def _percent(cell: RankingCell, places: int) -> Cell:
    if cell.value is None:
        return Cell()
    low, high = ends_of(cell)
    ends = None if low is None or high is None else (f"{100 * low:.1f}", f"{100 * high:.1f}")
    return Cell(f"{100 * cell.value:.{places}f}", ends, is_open=format_open(cell) is not None)


def _number(value: float | None, places: int) -> Cell:
    return Cell() if value is None else Cell(f"{value:.{places}f}")


def _places(values: Iterable[float]) -> int:
    """The number of decimals that the papers print for these numbers."""
    numbers = list(values)
    return next((k for k in (0, 1) if all(abs(v - round(v, k)) < 1e-6 for v in numbers)), 2)
