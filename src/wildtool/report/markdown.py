"""Runs as Markdown, for a pull request: a table of models for each board, everything else folded away."""

import html
import re
from collections.abc import Iterable, Sequence

from wildtool.engine.score.formatting import counts_of, value_of
from wildtool.outputs import MARKDOWN
from wildtool.report.metric_table import Head, heads_of, missing
from wildtool.report.model import Board, Run, boards_of
from wildtool.report.pairwise import all_pairs, places, ties
from wildtool.report.text import interval_of
from wildtool.sanitize import one_line
from wildtool.types import Metric


def markdown(runs: Sequence[Run]) -> str:
    """The tables of some runs."""
    return "\n".join([MARKDOWN, "", *map(_board, boards_of(runs))])


def _board(board: Board) -> str:
    metrics = [metric for run in board.runs for metric in run.result.metrics]
    every = heads_of(metrics)
    headline = [head for head in every if head.headline] or every[:1]
    found = all_pairs(board)
    tied = ties(found, len(board.runs))
    models = [
        f"{place} {code(label)}"
        for place, label in zip(places(len(board.runs), tied, found), board.labels, strict=True)
    ]
    lines = [f"## {text(board.title)}", "", *_table(board, models, headline, whole=True), ""]
    notes = list(missing(board))
    if tied:
        notes.append(
            "=: statistically tied with the model above and with the first of its rank (paired tests by item)."
        )
    lines += [f"- {text(note)}" for note in notes] + [""] * bool(notes)
    for group in board.groups:
        heads = heads_of(metrics, group)
        names = list(map(code, board.labels))
        lines += [
            f"<details><summary>{html.escape(one_line(group))}</summary>",
            "",
            *_table(board, names, heads),
            "",
            "</details>",
        ]
    return "\n".join(lines) + "\n"


def _table(board: Board, models: Sequence[str], heads: Sequence[Head], *, whole: bool = False) -> list[str]:
    """A model a row.

    Args:
        whole: whether heads name their groups.
    """
    names = [text(f"{head.group}: {head.name}" if whole else head.name) for head in heads]
    rows = [
        [model, *(_cell(run.metrics.get(head.key)) for head in heads)]
        for model, run in zip(models, board.runs, strict=True)
    ]
    return [_row(["model", *names]), _row(["---", *["---:"] * len(names)]), *map(_row, rows)]


def _cell(metric: Metric | None) -> str:
    if metric is None:
        return "–"
    interval = interval_of(metric)
    below = [f"[{interval}]" if interval else "", counts_of(metric)]
    return " ".join(filter(None, [value_of(metric), *below]))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def code(name: str) -> str:
    """A name of others as code, where nothing in it links, mentions or formats."""
    name = one_line(name)
    ticks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    pad = " " if name.startswith("`") or name.endswith("`") else ""
    return f"{ticks}{pad}{name}{pad}{ticks}".replace("|", r"\|")


def text(text: str) -> str:
    """A text in which nothing formats; links and mentions that a host makes of plain text are broken."""
    shown = re.sub(r"([\\`*_{}\[\]<>|#~$&])", r"\\\1", one_line(text, 10_000))
    return re.sub(r"@|://|(?<=www)\.", lambda found: f"{found[0]}<!-- -->", shown)
