"""Prints results as terminal tables, JSON and CSV."""

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from wildtool.alter.kinds import ALTERATION_KINDS
from wildtool.cli.output.grid import Grid, GridColumn
from wildtool.cli.terminal import (
    BOLD,
    print_rows,
    print_wrapped,
    single_line,
    supports_bold,
    terminal_width,
    wrap_text,
)
from wildtool.engine.compare.leaderboard import (
    EVIDENCE_COLUMNS,
    evidence_cells,
    items_caveat,
    marked_labels,
    notes_of,
    prompts_caveat,
    run_labels,
    table_titles,
    trust_line,
)
from wildtool.engine.score.formatting import (
    format_counts,
    format_direction,
    format_interval,
    format_target,
    format_value,
)
from wildtool.engine.score.results import ScoreResult
from wildtool.types import Direction, Metric

Value = TypeVar("Value", bound=Hashable)

RESULT_CSV_COLUMNS = (
    *("run", "model", "benchmark", "profile"),
    *("group", "name", "value", "numerator", "denominator", "low", "high", "incomplete"),
    *EVIDENCE_COLUMNS,
)


@dataclass(frozen=True, slots=True)
class TableHeading:
    """The label of a row or column of numbers."""

    group: str
    name: str
    better: Direction
    alone: bool = False
    """Whether the table's title names the group."""

    def text(self, between: str) -> str:
        label = self.name if self.alone else f"{self.group}{between}{self.name}"
        note = format_direction(self.better)
        below = "\n" if "\n" in between else " "
        return f"{label}{below}({note})" if note else label


def print_overview(results: Sequence[ScoreResult]) -> None:
    """Prints a table of models for each benchmark and scoring, with the headline numbers."""
    for title, group in _by_table(results):
        heads = _unique(
            TableHeading(m.group, m.name, m.better) for result in group for m in result.metrics if m.headline
        )
        _print(title, _table_of(group, heads))
        _print_caveats(group)


def print_caveats(results: Sequence[ScoreResult]) -> None:
    """Caveats about the numbers of these results."""
    for _, group in _by_table(results):
        _print_caveats(group)


def print_groups(results: Sequence[ScoreResult]) -> None:
    """Prints a table for each group of numbers."""
    for title, group in _by_table(results):
        every = _unique(TableHeading(m.group, m.name, m.better) for result in group for m in result.metrics)
        for name, members in groupby(every, key=lambda head: head.group):
            heads = [replace(member, alone=True) for member in members]
            _print(f"{name} ({title})", _table_of(group, heads))


def print_metrics(metrics: Sequence[Metric]) -> None:
    """Prints numbers that belong to no run, a table for each group."""
    for group, members in groupby(metrics, key=lambda metric: metric.group):
        every = list(members)
        texts = _align_cells([_parts(metric) for metric in every])
        targets = [format_target(metric) for metric in every]
        aimed = any(target for target, _ in targets)
        heads = ["", "", "target", "deviation"] if aimed else ["", ""]
        rows = [
            (metric.name, text, *target)[: len(heads)]
            for metric, text, target in zip(every, texts, targets, strict=True)
        ]
        print_grid(group, heads, rows)


def print_grid(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    sentences: Sequence[int] = (),
    keys: int = 1,
) -> None:
    """Prints a table of texts; the first column is left-aligned, the others right-aligned.

    Args:
        sentences: columns of words, which are left-aligned and wrap.
        keys: number of columns that identify a row, and are repeated if a table is split.
    """
    drawn = [
        GridColumn(_plain(head), "left" if i in (0, *sentences) else "right", i in sentences)
        for i, head in enumerate(heads)
    ]
    _print(title, Grid(drawn, [list(map(_plain, row)) for row in rows], keys))


def print_ranking(
    title: str, heads: Sequence[str], rows: Sequence[tuple[bool, Sequence[str]]], *, every: bool
) -> list[str]:
    """Prints a table of models, with some rows highlighted; returns the heads of the columns that did not fit.

    Args:
        heads: of the model, of the numbers, and of the kind of model.
        rows: whether a row is highlighted, and its texts.
        every: show the columns that do not fit in further tables instead of leaving them out.
    """
    drawn = [
        GridColumn(_plain(head), "left" if head in (heads[0], "kind") else "right", wraps=head == "kind")
        for head in heads
    ]
    bold = frozenset(i for i, (set_off, _) in enumerate(rows) if set_off)
    grid = Grid(drawn, [list(map(_plain, texts)) for _, texts in rows], bold=bold)
    first, *more = grid.split_columns(terminal_width())
    left_out = [] if every else [i for table in more for i in table[grid.keys :]]
    kept = first if left_out else range(len(heads))
    shown = Grid([drawn[i] for i in kept], [[row[i] for i in kept] for row in grid.rows], bold=bold)
    _print(title, shown)
    return [heads[i].replace("\n", " ") for i in left_out]


def print_results_json(results: Sequence[ScoreResult]) -> None:
    """Prints every number of the results as JSON."""
    # Escaped to ASCII, so that no text in it can control a terminal.
    print(json.dumps({"runs": [dict(_named_values(result)) for result in results]}, indent=1, default=str))


def _named_values(result: ScoreResult) -> Iterator[tuple[str, Any]]:
    for name, value in asdict(replace(result, alterations=())).items():
        if name == "alterations":
            yield from ((kind, result.altered.get(kind, "")) for kind in ALTERATION_KINDS)
        else:
            yield name, value


def print_results_csv(results: Sequence[ScoreResult]) -> None:
    """Prints every number of the results as CSV, one per row."""
    print_rows(
        RESULT_CSV_COLUMNS,
        (
            [
                *(result.run, result.model, result.benchmark, result.profile),
                *(m.group, m.name, m.value, m.numerator, m.denominator, m.low, m.high, result.incomplete),
                *evidence_cells(m.evidence or result.evidence),
            ]
            for result in results
            for m in result.metrics
        ),
    )


def _parts(metric: Metric | None, *, counts: bool = True) -> tuple[str, str, str]:
    """A number, its interval and its counts; empty if there is none."""
    if metric is None:
        return "", "", ""
    ends = format_interval(metric)
    interval = f"[{', '.join(ends)}]" if ends else ""
    return format_value(metric), interval, format_counts(metric) if counts else ""


def _align_cells(cells: Sequence[tuple[str, str, str]]) -> list[str]:
    """Cells of one column on one line each, with their parts aligned."""
    widths = [max(map(len, parts)) for parts in zip(*cells, strict=True)]
    return [
        "  ".join(part.rjust(width) for part, width in zip(parts, widths, strict=True) if width)
        for parts in cells
    ]


def _stack_cells(cells: Sequence[tuple[str, str, str]]) -> list[str]:
    """Cells of one column with each part on a separate line."""
    return ["\n".join(filter(None, parts)) for parts in cells]


def _by_table(results: Sequence[ScoreResult]) -> list[tuple[str, list[ScoreResult]]]:
    """Results that belong in one table, with its title."""
    groups: dict[str, list[ScoreResult]] = {}
    for title, result in zip(table_titles(results), results, strict=True):
        groups.setdefault(title, []).append(result)
    return list(groups.items())


def _table_of(results: Sequence[ScoreResult], heads: Sequence[TableHeading]) -> Grid:
    """The numbers of some results as one table that fits, with models as rows or as columns. If none fits, the shortest
    one that is split in parts, if necessary with numbers in place of names.
    """
    width = terminal_width()
    found = [{(metric.group, metric.name): metric for metric in result.metrics} for result in results]
    numbers = [[its.get((head.group, head.name)) for its in found] for head in heads]
    labels = list(map(_plain, marked_labels(results)))
    forms = list(_layouts(labels, heads, numbers))
    whole = next((form for form in forms if form.fits(width) and len(form.split_columns(width)) == 1), None)
    if whole is not None:
        return whole
    marks = [f"[{k}]" for k in range(1, len(labels) + 1)]
    legend = tuple(f"{mark} {label}" for mark, label in zip(marks, labels, strict=True))
    forms += (replace(form, legend=legend) for form in _layouts(marks, heads, numbers))
    fitting = [form for form in forms if form.fits(width)] or forms
    return min(fitting, key=lambda form: sum(map(len, form.tables(width)), len(form.legend)))


def _layouts(
    labels: Sequence[str], heads: Sequence[TableHeading], numbers: Sequence[Sequence[Metric | None]]
) -> Iterator[Grid]:
    """The possible layouts of a table, the best first.

    Args:
        labels: of the models.
        numbers: for each head the number of each model.
    """
    sizes = [shared_sample_size(row) for row in numbers] if len(labels) > 1 else [""] * len(heads)
    parts = [
        [_parts(metric, counts=not size) for metric in row] for row, size in zip(numbers, sizes, strict=True)
    ]
    if len(labels) > 1:
        tops = [
            GridColumn("\n".join(filter(None, (_plain(head.text("\n")), size))))
            for head, size in zip(heads, sizes, strict=True)
        ]
        for drawn in (_align_cells, _stack_cells):
            cells = zip(*map(drawn, parts), strict=True)
            rows = [[label, *row] for label, row in zip(labels, cells, strict=True)]
            yield Grid([GridColumn("model", "left"), *tops], rows)
    sized = any(sizes)
    keys = [GridColumn("", "left", wraps=True), *([GridColumn("")] if sized else [])]
    names = [[_plain(head.text(": ")), size][: len(keys)] for head, size in zip(heads, sizes, strict=True)]
    by_model = [list(column) for column in zip(*parts, strict=True)]
    for drawn in (_align_cells, _stack_cells):
        cells = zip(*map(drawn, by_model), strict=True)
        rows = [[*name, *row] for name, row in zip(names, cells, strict=True)]
        yield Grid([*keys, *map(GridColumn, labels)], rows, keys=len(keys))


def shared_sample_size(metrics: Sequence[Metric | None]) -> str:
    """The common sample size of these rates, such as `n = 128`; empty if it differs or does not matter."""
    sizes = {metric.denominator for metric in metrics if metric is not None and metric.kind == "rate"}
    return f"n = {sizes.pop():,.10g}" if len(sizes) == 1 else ""


def _print_caveats(results: Sequence[ScoreResult]) -> None:
    if said := items_caveat(results):
        print_wrapped(said)
    for said in _unique(prompts_caveat(result) for result in results):
        if said:
            print_wrapped(said)
    for said in notes_of(metric for result in results for metric in result.metrics):
        print_wrapped(said)
    for label, result in zip(run_labels(results), results, strict=True):
        if said := trust_line(label, result):
            print_wrapped(said)


def _unique(values: Iterable[Value]) -> list[Value]:
    return list(dict.fromkeys(values))


def _plain(text: str) -> str:
    """Each line with control characters escaped."""
    return "\n".join(single_line(line) for line in text.split("\n"))


def _print(title: str, grid: Grid) -> None:
    begin, end = BOLD if supports_bold() else ("", "")
    for line in wrap_text(single_line(title, 500), terminal_width()):
        print(f"{begin}{line}{end}")
    for line in grid.legend:
        print(line)
    for lines in grid.tables(terminal_width(), (begin, end)):
        print()
        print("\n".join(lines))
    print()
