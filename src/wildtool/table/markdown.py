"""Tables as Markdown, and texts from outside in it."""

import re
from collections.abc import Iterable, Iterator

from wildtool.sanitize import single_line
from wildtool.table import Cell, MetricTable


def markdown_table(table: MetricTable) -> Iterator[str]:
    """The lines of a table with one model per row."""
    names = [markdown_text(head.text(whole=table.whole)) for head in table.heads]
    yield markdown_row(["model", *names])
    yield markdown_row(["---", *["---:"] * len(names)])
    for row in table.rows:
        model = f"{row.place} {markdown_code(row.label)}".strip()
        yield markdown_row([model, *(_cell(cell) for _, cell in row.pairs(table.heads))])


def _cell(cell: Cell) -> str:
    ends = f"[{cell.interval}]" if cell.ends and not cell.is_open else cell.interval
    return " ".join(filter(None, [cell.value, ends, cell.counts]))


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a table. Args: cells: as Markdown."""
    return f"| {' | '.join(cells)} |"


def markdown_code(name: str) -> str:
    """A name from outside as code, so that nothing in it links, mentions or formats."""
    name = single_line(name)
    ticks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    pad = " " if name.startswith("`") or name.endswith("`") else ""
    return f"{ticks}{pad}{name}{pad}{ticks}".replace("|", r"\|")


def markdown_text(text: str) -> str:
    """A text without formatting; links and mentions that a host would detect are broken up."""
    escaped = re.sub(r"([\\`*_{}\[\]<>|#~$&])", r"\\\1", single_line(text, 10_000))
    return re.sub(r"@|://|(?<=www)\.", lambda match: f"{match[0]}<!-- -->", escaped)
