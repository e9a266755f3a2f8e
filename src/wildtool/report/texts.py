"""Runs as one text: LaTeX tables with the headline numbers, then each group; or Markdown for a pull request, with a table
of models per leaderboard and the rest folded away."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wildtool.engine.compare.pairs import compare_all_pairs
from wildtool.engine.compare.ranking import TIES_NOTE
from wildtool.outputs import LATEX, MARKDOWN
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards
from wildtool.sanitize import single_line
from wildtool.table import MetricTable, table_caveats
from wildtool.table.latex import latex_tables, latex_text
from wildtool.table.markdown import markdown_table, markdown_text


def latex(runs: Sequence[ReportRun], sort: str = "rank") -> str:
    """The tables of the runs, as one LaTeX text. Args: sort: as of `group_leaderboards`."""
    needs = (
        "% Needs \\usepackage{booktabs,adjustbox,array}; names in other scripts need XeLaTeX or LuaLaTeX\n"
    )
    return f"{LATEX}\n{needs}" + "\n".join(
        table for board in group_leaderboards(runs, sort) for table in _latex_of(board)
    )


def _latex_of(board: Leaderboard) -> Iterator[str]:
    overview, notes = _overview(board)
    is_open = any(cell.is_open for row in overview.rows for _, cell in row.pairs(overview.heads))
    possible = " As 10.0 to 20.0: the range that units without a verdict leave open." if is_open else ""
    caption = f"{board.title}. Rates in percent with 95 % intervals, clustered by item.{possible}"
    text = latex_tables(replace(overview, title=caption), f"{board.slug}-overview")
    yield "\n".join([*(f"% {latex_text(note)}" for note in notes), text])
    for group in board.groups:
        key = "-".join("".join(char if char.isalnum() and char.isascii() else " " for char in group).split())
        yield latex_tables(
            replace(board.table(group), title=f"{group}, {board.title}."), f"{board.slug}-{key}"
        )


def markdown(runs: Sequence[ReportRun], sort: str = "rank") -> str:
    """The tables of some runs. Args: sort: as of `group_leaderboards`."""
    return "\n".join([MARKDOWN, "", *map(_markdown_of, group_leaderboards(runs, sort))])


def _overview(board: Leaderboard) -> tuple[MetricTable, list[str]]:
    """The table of headline numbers with ranks, and what must be known of it."""
    table = board.placed(board.overview, compare_all_pairs([run.scores for run in board.runs]))
    ties = [TIES_NOTE] if any(row.tied for row in table.rows) else []
    return table, [*table_caveats(board.results), *ties]


def _markdown_of(board: Leaderboard) -> str:
    overview, notes = _overview(board)
    lines = [f"## {markdown_text(board.title)}", "", *markdown_table(overview), ""]
    lines += [f"- {markdown_text(note)}" for note in notes] + [""] * bool(notes)
    for group in board.groups:
        summary = f"<details><summary>{html.escape(single_line(group))}</summary>"
        lines += [summary, "", *markdown_table(board.table(group)), "", "</details>"]
    return "\n".join(lines) + "\n"
