"""The first thing on a report's first page: the finding in words, and the runs by rank with one chart of intervals."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wildtool.engine.compare.leaderboard import run_labels
from wildtool.engine.compare.pairs import PairwiseResult
from wildtool.engine.compare.ranking import Ranking, Standing
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.theme import colour_in_page
from wildtool.report.model import Leaderboard
from wildtool.sanitize import single_line
from wildtool.table import EMPTY_CELL, Cell, Head, cell_of


class NamedText(NamedTuple):
    """A piece of a sentence."""

    text: str
    is_name: bool
    """Whether it is the name of a model, which may be in any script."""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One run of the ranking."""

    run: int
    """Its number in the report."""
    label: str
    colour: str
    """As pages name it."""
    standing: Standing
    cell: Cell
    """The number that decides."""
    is_first: bool
    """Whether it is the first of its rank, or of those that have none."""


@dataclass(frozen=True, slots=True)
class RankingTable:
    """The ranking of a leaderboard."""

    title: str
    slug: str
    finding: tuple[tuple[NamedText, ...], ...]
    """What the ranking says, a sentence each."""
    rank: Head
    """The number that decides."""
    rows: tuple[RankedRow, ...]
    """The runs by rank, then those that have none."""

    @property
    def drawn(self) -> bool:
        """Whether there is a chart, whose scale goes from 0 to 100 %."""
        return any(row.cell.range for row in self.rows)

    @property
    def runs(self) -> dict[str, int]:
        """By label of a run, its number in the report."""
        return {row.label: row.run for row in self.rows}


def deciding(heads: Sequence[Head]) -> Head:
    """Of the columns of a table of models, the one that they are ranked by."""
    return next((head for head in heads if head.headline), heads[0])


def finding_and_ranking(
    board: Leaderboard,
    pairs: Mapping[tuple[int, int], PairwiseResult],
    colours: Mapping[str, str],
    runs: Sequence[int],
) -> RankingTable:
    """The ranking of a leaderboard.

    Args:
        pairs: every model against every other.
        colours: of each model in charts.
        runs: for each run of the leaderboard, its number in the report.
    """
    ranking, rank = board.ranking(pairs), deciding(board.table().heads)
    names = run_labels(board.results)
    return RankingTable(
        title=board.title,
        slug=board.slug,
        finding=tuple(_with_names(sentence, names) for sentence in ranking.finding),
        rank=rank,
        rows=tuple(_rows(board, ranking, rank, colours, runs)),
    )


def ranking_drawing(shown: RankingTable, colours: Mapping[str, str]) -> ChartData:
    """The chart of a ranking as a drawing of its own, for files. Args: colours: of each model in charts."""
    points = tuple(_drawn(shown.rank.text(whole=True), row) for row in shown.rows if row.cell.scale)
    return ChartData(
        title=f"Ranking of {shown.title}",
        about="Models by rank, with 95 % intervals or, dashed, the range that units without a verdict leave open.",
        points=points,
        models=tuple(point.model for point in points),
        names=tuple(dict.fromkeys(point.name for point in points)),
        kind="panels",
        percent=True,
        colours=colours,
    )


def _drawn(name: str, row: RankedRow) -> ChartPoint:
    assert row.cell.scale is not None
    low, high, value = row.cell.scale
    text = f"{row.cell.value} {row.cell.interval}"
    return ChartPoint(row.label, name, value, low, high, text, short=row.cell.value, is_open=row.cell.is_open)


def _rows(
    board: Leaderboard, ranking: Ranking, rank: Head, colours: Mapping[str, str], runs: Sequence[int]
) -> Iterable[RankedRow]:
    before = None
    for place in ranking.order:
        label, standing = board.labels[place], ranking.standings[place]
        metric = board.runs[place].metrics.get(rank.key)
        yield RankedRow(
            run=runs[place],
            label=label,
            colour=colour_in_page(colours[label]),
            standing=standing,
            cell=EMPTY_CELL if metric is None else cell_of(metric),
            is_first=standing.rank != before,
        )
        before = standing.rank


def _with_names(sentence: str, labels: Iterable[str]) -> tuple[NamedText, ...]:
    """A sentence in pieces, with the names of models apart from the rest."""
    longest_first = sorted(map(single_line, labels), key=len, reverse=True)
    names = "|".join(map(re.escape, longest_first))
    pieces = re.split(rf"(?<!\w)({names})(?!\w)", sentence)
    return tuple(NamedText(piece, bool(place % 2)) for place, piece in enumerate(pieces) if piece)
