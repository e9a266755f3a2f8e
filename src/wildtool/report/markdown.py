"""Runs as Markdown for a pull request: a table of models per leaderboard, and the rest folded away."""

import html
from collections.abc import Sequence

from wildtool.engine.compare.pairs import compare_all_pairs
from wildtool.outputs import MARKDOWN
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards
from wildtool.sanitize import single_line
from wildtool.table import table_caveats
from wildtool.table.markdown import markdown_table, markdown_text


def markdown(runs: Sequence[ReportRun]) -> str:
    """The tables of some runs."""
    return "\n".join([MARKDOWN, "", *map(_leaderboard, group_leaderboards(runs))])


def _leaderboard(board: Leaderboard) -> str:
    overview = board.placed(board.overview, compare_all_pairs([run.scores for run in board.runs]))
    lines = [f"## {markdown_text(board.title)}", "", *markdown_table(overview), ""]
    notes = list(table_caveats(board.results))
    if any(row.tied for row in overview.rows):
        notes.append(
            "=: statistically tied with the model above and with the first of its rank (paired tests by item)."
        )
    lines += [f"- {markdown_text(note)}" for note in notes] + [""] * bool(notes)
    for group in board.groups:
        summary = f"<details><summary>{html.escape(single_line(group))}</summary>"
        lines += [summary, "", *markdown_table(board.table(group)), "", "</details>"]
    return "\n".join(lines) + "\n"
