"""Runs as LaTeX tables (package booktabs): one of the headline numbers, one for each group."""

from collections.abc import Sequence

from wildtool.engine.shown import value_of
from wildtool.outputs import LATEX
from wildtool.report.model import Board, Run, boards_of
from wildtool.report.numbers import Head, heads_of, missing
from wildtool.report.text import interval_of
from wildtool.types import Metric

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{char: f"\\{char}" for char in "{}$&#_%"},
    "–": "--",
    "…": r"\ldots{}",
    "\n": " ",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
}


def latex(runs: Sequence[Run]) -> str:
    """The tables of some runs."""
    return f"{LATEX}\n% Needs \\usepackage{{booktabs}}\n" + "\n".join(
        table for board in boards_of(runs) for table in _tables(board)
    )


def _tables(board: Board) -> list[str]:
    metrics = [metric for run in board.runs for metric in run.result.metrics]
    every = heads_of(metrics)
    headline = [head for head in every if head.headline] or list(every[:1])
    about = f"{board.title}. Rates in percent with 95 % intervals, clustered by item."
    comments = [f"% {latex_text(note)}" for note in missing(board)]
    first = "\n".join([*comments, _table(board, headline, about, "overview", whole=True)])
    groups = [(group, [head for head in every if head.group == group]) for group in board.groups]
    return [first, *(_table(board, heads, f"{group}, {board.title}.", group) for group, heads in groups)]


def _table(board: Board, heads: Sequence[Head], caption: str, label: str, *, whole: bool = False) -> str:
    names = [latex_text(f"{head.group}: {head.name}" if whole else head.name) for head in heads]
    rows = [
        " & ".join([latex_text(model), *(_cell(run.metrics.get(head.key)) for head in heads)]) + r" \\"
        for model, run in zip(board.labels, board.runs, strict=True)
    ]
    key = "-".join("".join(char if char.isalnum() and char.isascii() else " " for char in label).split())
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{latex_text(caption)}}}",
            rf"  \label{{tab:{board.slug}-{key}}}",
            rf"  \begin{{tabular}}{{l{'r' * len(heads)}}}",
            r"    \toprule",
            "    " + " & ".join(["model", *names]) + r" \\",
            r"    \midrule",
            *(f"    {row}" for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _cell(metric: Metric | None) -> str:
    if metric is None:
        return "--"
    value = value_of(metric).removesuffix(" %")
    interval = interval_of(metric)
    return latex_text(value) + (rf" {{\scriptsize [{latex_text(interval)}]}}" if interval else "")


def latex_text(text: str) -> str:
    """A text in which no character means anything to LaTeX."""
    return "".join(_SPECIAL.get(char, char) for char in text)
