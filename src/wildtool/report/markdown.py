"""Runs as Markdown for a pull request: a table of models per leaderboard, and the rest folded away."""

import html
import re
from collections.abc import Iterable, Sequence

from wildtool.engine.compare.pairs import compare_all_pairs, ties
from wildtool.engine.score.formatting import format_counts, format_value
from wildtool.outputs import MARKDOWN
from wildtool.report.metric_table import MetricColumn, metric_columns, missing_notes
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards
from wildtool.report.text import interval_of
from wildtool.sanitize import single_line
from wildtool.types import Metric


def markdown(runs: Sequence[ReportRun]) -> str:
    """The tables of some runs."""
    return "\n".join([MARKDOWN, "", *map(_leaderboard, group_leaderboards(runs))])


def _leaderboard(board: Leaderboard) -> str:
    metrics = [metric for run in board.runs for metric in run.result.metrics]
    every = metric_columns(metrics)
    headline = [head for head in every if head.headline] or every[:1]
    found = compare_all_pairs([run.scores for run in board.runs])
    tied = ties(found, board.ranked)
    models = [
        f"{place} {markdown_code(label)}".strip()
        for place, label in zip(board.places(tied, found), board.labels, strict=True)
    ]
    lines = [f"## {markdown_text(board.title)}", "", *_table(board, models, headline, whole=True), ""]
    notes = list(missing_notes(board))
    if tied:
        notes.append(
            "=: statistically tied with the model above and with the first of its rank (paired tests by item)."
        )
    lines += [f"- {markdown_text(note)}" for note in notes] + [""] * bool(notes)
    for group in board.groups:
        heads = metric_columns(metrics, group)
        names = list(map(markdown_code, board.labels))
        lines += [
            f"<details><summary>{html.escape(single_line(group))}</summary>",
            "",
            *_table(board, names, heads),
            "",
            "</details>",
        ]
    return "\n".join(lines) + "\n"


def _table(
    board: Leaderboard, models: Sequence[str], heads: Sequence[MetricColumn], *, whole: bool = False
) -> list[str]:
    """A table with one model per row.

    Args:
        whole: whether heads include the names of their groups.
    """
    names = [markdown_text(head.text(whole=whole)) for head in heads]
    rows = [
        [model, *(_cell(run.metrics.get(head.key)) for head in heads)]
        for model, run in zip(models, board.runs, strict=True)
    ]
    return [_row(["model", *names]), _row(["---", *["---:"] * len(names)]), *map(_row, rows)]


def _cell(metric: Metric | None) -> str:
    if metric is None:
        return "–"
    interval = interval_of(metric)
    below = [f"[{interval}]" if interval else "", format_counts(metric)]
    return " ".join(filter(None, [format_value(metric), *below]))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def markdown_code(name: str) -> str:
    """A name from outside as code, so that nothing in it links, mentions or formats."""
    name = single_line(name)
    ticks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    pad = " " if name.startswith("`") or name.endswith("`") else ""
    return f"{ticks}{pad}{name}{pad}{ticks}".replace("|", r"\|")


def markdown_text(text: str) -> str:
    """A text without formatting; links and mentions that a host would detect are broken up."""
    shown = re.sub(r"([\\`*_{}\[\]<>|#~$&])", r"\\\1", single_line(text, 10_000))
    return re.sub(r"@|://|(?<=www)\.", lambda found: f"{found[0]}<!-- -->", shown)
