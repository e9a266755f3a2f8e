"""Tables as LaTeX that fit the page: large ones are split."""

import re
from collections.abc import Sequence

from wildtool.sanitize import single_line
from wildtool.table import Cell, MetricTable, Row

PAGE, NAMES, HEAD = 92, 24, 16
"""Widths in letters of small print: an article's text, the names of models, and a line of a column head."""
MAX_TABLE_ROWS = 40
"""Models per page."""
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


def latex_tables(table: MetricTable, label: str) -> str:
    """One table with its title as the caption, or several if its columns or rows do not fit on a page.

    Args:
        label: what references name it by.
    """
    names = [_name(head.text(whole=table.whole)) for head in table.heads]
    rows = [(_ranked(row), [_cell(row.cells.get(head.key)) for head in table.heads]) for row in table.rows]
    columns = _by_width([_width(names[n], [cells[n] for _, cells in rows]) for n in range(len(names))])
    tables = [
        (
            [names[n] for n in its],
            [(name, [cells[n] for n in its]) for name, cells in rows[at : at + MAX_TABLE_ROWS]],
        )
        for at in range(0, len(rows), MAX_TABLE_ROWS)
        for its in columns
    ]
    return "\n".join(
        _table(
            its,
            lines,
            f"{table.title} Part {number} of {len(tables)}." if len(tables) > 1 else table.title,
            label + (f"-{number}" if number > 1 else ""),
        )
        for number, (its, lines) in enumerate(tables, 1)
    )


def _by_width(widths: Sequence[int]) -> list[list[int]]:
    """The columns in parts that fit next to the names of models."""
    parts: list[list[int]] = [[]]
    used = 0
    for number, width in enumerate(widths):
        if parts[-1] and used + width > PAGE - NAMES:
            parts.append([])
            used = 0
        parts[-1].append(number)
        used += width
    return parts


def _width(name: str, cells: Sequence[str]) -> int:
    """Letters that a column needs; its head may break between words."""
    plain = [re.sub(r"\\\w+|[{}\\]", "", cell) for cell in cells]
    return 2 + max(0, *(len(word) for word in re.split(r"\\\\|[{}]", name)), *map(len, plain))


def _table(names: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], caption: str, label: str) -> str:
    lines = [" & ".join([model, *cells]) + r" \\" for model, cells in rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
            rf"  \caption{{{latex_text(caption)}}}",
            rf"  \label{{tab:{label}}}",
            # Shrinks only if the estimated widths were too small.
            r"  \begin{adjustbox}{max width=\textwidth}",
            rf"  \begin{{tabular}}{{>{{\raggedright\arraybackslash}}p{{0.26\textwidth}}{'r' * len(names)}}}",
            r"    \toprule",
            "    " + " & ".join(["model", *names]) + r" \\",
            r"    \midrule",
            *(f"    {line}" for line in lines),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  \end{adjustbox}",
            r"\end{table}",
            "",
        ]
    )


def _name(text: str) -> str:
    """The head of a column, broken between words to stay narrow."""
    lines: list[str] = []
    for word in single_line(text).split():
        if lines and len(lines[-1]) + len(word) < HEAD:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    inner = r" \\ ".join(map(latex_text, lines))
    return rf"\shortstack[r]{{{inner}}}" if len(lines) > 1 else inner


def _ranked(row: Row) -> str:
    """The name of a model after its rank, where it has one: so each part of a wide table has it."""
    return f"{latex_text(row.place)} {_breakable(row.label)}".strip()


def _breakable(name: str) -> str:
    """A long name that may break after its punctuation, or after some letters if it has none."""
    if len(single_line(name)) < NAMES:
        return latex_text(name)
    pieces = re.findall(r"[^-/_.:, ]{1,14}[-/_.:, ]*|[-/_.:, ]+", single_line(name))
    return r"\allowbreak{}".join(map(latex_text, pieces))


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    ends = latex_text(cell.interval if cell.is_open else f"[{cell.interval}]")
    return latex_text(cell.value.removesuffix(" %")) + (rf" {{\scriptsize {ends}}}" if cell.ends else "")


def latex_text(text: str) -> str:
    """A text with all of LaTeX's special characters escaped."""
    return "".join(_SPECIAL.get(char, char) for char in single_line(text, 10_000))
