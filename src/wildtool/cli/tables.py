"""Draws results as terminal tables, and writes them as JSON and CSV."""

import json
import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wildtool.cli.terminal import one_line, print_rows, say
from wildtool.engine.boards import different_items, example_of, labels_of, titles_of, without_verdict
from wildtool.engine.results import Result
from wildtool.engine.shown import counts_of, ends_of, target_of, value_of
from wildtool.types import Metric

Value = TypeVar("Value", bound=Hashable)

CSV_COLUMNS = (
    *("run", "model", "benchmark", "profile"),
    *("group", "name", "value", "numerator", "denominator", "low", "high"),
)
MOST_COLUMNS = 6
"""Runs that stand side by side in a table of one group; more of them stand one below the other."""
UNLIMITED = 10_000
"""Columns of an output that is no terminal: nothing is cut or folded there."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a row or column of numbers is called."""

    group: str
    name: str
    alone: bool = False
    """True where the table's title names the group."""

    def text(self, between: str) -> str:
        return self.name if self.alone else f"{self.group}{between}{self.name}"


def print_overview(results: Sequence[Result]) -> None:
    """A table of models for each benchmark and way of judging, with the headline numbers."""
    for title, group in _apart(results):
        heads = _unique(Head(m.group, m.name) for result in group for m in result.metrics if m.headline)
        by_model = _runs_as_rows(group, heads)
        _print(title, by_model if _fits(by_model) else _runs_as_columns(group, heads))
        _print_remarks(group)


def print_remarks(results: Sequence[Result]) -> None:
    """What a reader must know about the numbers of these results besides them."""
    for _, group in _apart(results):
        _print_remarks(group)


def print_groups(results: Sequence[Result]) -> None:
    """A table for each group of numbers."""
    for title, group in _apart(results):
        every = _unique(Head(m.group, m.name) for result in group for m in result.metrics)
        for name, members in groupby(every, key=lambda head: head.group):
            heads, shown = [Head(name, m.name, alone=True) for m in members], f"{name} ({title})"
            by_name = _runs_as_columns(group, heads)
            few = len(group) <= MOST_COLUMNS and _fits(by_name)
            _print(shown, by_name if few or len(group) == 1 else _runs_as_rows(group, heads))


def print_metrics(metrics: Sequence[Metric]) -> None:
    """Numbers that belong to no run, a table for each group."""
    for group, members in groupby(metrics, key=lambda metric: metric.group):
        rows = [(metric.name, _whole(metric), *target_of(metric)) for metric in members]
        aimed = any(target for *_, target, _ in rows)
        table = _table(show_header=aimed)
        for index, head in enumerate(("", "", "target", "deviation") if aimed else ("", "")):
            table.add_column(head, justify="right" if index else "left")
        for row in rows:
            table.add_row(*map(_text, row if aimed else row[:2]))
        _print(group, table)


def print_grid(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of texts; the first column is to the left, the others to the right. Without any head it has none."""
    table = _table(show_header=any(heads))
    for index, head in enumerate(heads):
        table.add_column(_text(head), justify="right" if index else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_text, row))
    _print(title, table)


def print_ranking(title: str, heads: Sequence[str], rows: Sequence[tuple[bool, Sequence[str]]]) -> list[str]:
    """A table of models, with some rows set off; returns the heads of the columns on the right that were left out since
    the terminal is narrow.

    Args:
        heads: of the model, of the numbers, and of the kind of model.
        rows: whether a row is set off, and its texts.
    """
    count = len(heads)
    while count > 2 and not _fits(_ranking(heads[:count], rows)):
        count -= 1
    _print(title, _ranking(heads[:count], rows))
    return [head.replace("\n", " ") for head in heads[count:]]


def _ranking(heads: Sequence[str], rows: Sequence[tuple[bool, Sequence[str]]]) -> Table:
    table = _table()
    for head in heads:
        left = head in (heads[0], "kind")
        table.add_column(_text(head), justify="left" if left else "right", overflow="fold")
    for set_off, texts in rows:
        table.add_row(*map(_text, texts[: len(heads)]), style="bold" if set_off else None)
    return table


def print_json(results: Sequence[Result]) -> None:
    """Every number of the results as JSON."""
    # Escaped to ASCII, so that no text in it can act on a terminal.
    print(json.dumps({"runs": [asdict(result) for result in results]}, indent=1, default=str))


def print_csv(results: Sequence[Result]) -> None:
    """Every number of the results as CSV, one a row."""
    print_rows(
        CSV_COLUMNS,
        (
            [
                *(result.run, result.model, result.benchmark, result.profile),
                *(m.group, m.name, m.value, m.numerator, m.denominator, m.low, m.high),
            ]
            for result in results
            for m in result.metrics
        ),
    )


def _interval(metric: Metric) -> str:
    ends = ends_of(metric)
    return f"[{', '.join(ends)}]" if ends else ""


def _whole(metric: Metric) -> str:
    return "  ".join(filter(None, (value_of(metric), _interval(metric), counts_of(metric))))


def _apart(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """Results that may stand in one table, with its title."""
    groups: dict[str, list[Result]] = {}
    for title, result in zip(titles_of(results), results, strict=True):
        groups.setdefault(title, []).append(result)
    return list(groups.items())


def _runs_as_rows(results: Sequence[Result], heads: Sequence[Head]) -> Table:
    table = _table(show_lines=len(results) > 1)
    table.add_column("model", vertical="middle", overflow="fold")
    for head in heads:
        table.add_column(_text(head.text("\n")), justify="right")
    for label, metrics in zip(_labels(results), map(_by_head, results), strict=True):
        table.add_row(label, *(_stacked(metrics.get((head.group, head.name))) for head in heads))
    return table


def _runs_as_columns(results: Sequence[Result], heads: Sequence[Head]) -> Table:
    table = _table()
    table.add_column("")
    for label in _labels(results):
        table.add_column(label, justify="right", overflow="fold")
    found = [_by_head(result) for result in results]
    for head in heads:
        cells = (metrics.get((head.group, head.name)) for metrics in found)
        table.add_row(_text(head.text(": ")), *(_text(_whole(metric) if metric else "") for metric in cells))
    return table


def _by_head(result: Result) -> dict[tuple[str, str], Metric]:
    return {(metric.group, metric.name): metric for metric in result.metrics}


def _fits(table: Table) -> bool:
    console = _console()
    return console.measure(table, options=console.options.update(width=UNLIMITED)).maximum <= console.width


def _stacked(metric: Metric | None) -> Text:
    return _text("\n".join((value_of(metric), _interval(metric), counts_of(metric))) if metric else "")


def _labels(results: Sequence[Result]) -> list[Text]:
    return [_text(label) for label in labels_of(results)]


def _print_remarks(results: Sequence[Result]) -> None:
    if remark := different_items(results):
        say(remark)
    for label, result in zip(labels_of(results), results, strict=True):
        if remark := without_verdict(label, result):
            say(remark + (f"; such as: {example_of(result.failed)}" if result.failed else ""))


def _unique(values: Iterable[Value]) -> list[Value]:
    return list(dict.fromkeys(values))


def _text(text: str) -> Text:
    """Never parsed as markup; each line made harmless."""
    return Text("\n".join(one_line(line) for line in text.split("\n")))


def _table(*, show_lines: bool = False, show_header: bool = True) -> Table:
    return Table(
        box=SIMPLE_HEAD,
        show_lines=show_lines,
        show_header=show_header,
        pad_edge=False,
    )


def _console() -> Console:
    return Console(
        width=None if sys.stdout.isatty() else UNLIMITED, highlight=False, markup=False, emoji=False
    )


def _print(title: str, table: Table) -> None:
    console = _console()
    with console.capture() as drawn:
        console.print(_text(title), style="bold")
        console.print(table)
    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))
