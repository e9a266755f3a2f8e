"""Prints results as terminal tables, JSON and CSV."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

from wildtool.alter.kinds import ALTERATION_KINDS
from wildtool.engine.compare.leaderboard import EVIDENCE_COLUMNS, table_titles
from wildtool.engine.compare.ranking import RankedTable
from wildtool.engine.score.formatting import format_target
from wildtool.engine.score.results import ScoreResult
from wildtool.table import Cell, MetricTable, cell_of, heads_of, number_fields, results_table, table_caveats
from wildtool.terminal import (
    BOLD,
    print_rows,
    print_wrapped,
    single_line,
    supports_bold,
    terminal_width,
    wrap_text,
)
from wildtool.terminal.grid import Grid, GridColumn
from wildtool.types import Metric

RESULT_CSV_COLUMNS = (
    "run",
    "model",
    "benchmark",
    "profile",
    "group",
    "name",
    "value",
    "numerator",
    "denominator",
    "low",
    "high",
    "incomplete",
    *EVIDENCE_COLUMNS,
    "least",
    "most",
)

_MOST_ACROSS = 6
"""Models that may each have a column; more have a row."""
RankedTables = Mapping[str, RankedTable]
"""By title of a table, its runs as they are ranked."""
NOT_RANKED: RankedTables = {}


def print_overview(results: Sequence[ScoreResult], ranked: RankedTables = NOT_RANKED) -> None:
    """Prints a table of models for each benchmark and scoring, with the headline numbers.

    Args: ranked: by title of a table what its runs are found to be; they are in its order.
    """
    for title, group in _by_table(results):
        heads = heads_of(metric for result in group for metric in result.metrics if metric.headline)
        finding = ranked[title].finding if title in ranked else ()
        if finding:
            print_wrapped(f"{' '.join(finding)}\n")
        _print_numbers(results_table(title, group, heads, ranks=_ranks(title, ranked)))
        _print_caveats(group)


def _ranks(title: str, ranked: RankedTables) -> Sequence[str]:
    return ranked[title].ranks if title in ranked else ()


def print_caveats(results: Sequence[ScoreResult]) -> None:
    """Caveats about the numbers of these results."""
    for _, group in _by_table(results):
        _print_caveats(group)


def print_groups(results: Sequence[ScoreResult], ranked: RankedTables = NOT_RANKED) -> None:
    """Prints a table for each group of numbers. Args: ranked: as of `print_overview`."""
    for title, group in _by_table(results):
        every = heads_of(metric for result in group for metric in result.metrics)
        ranks = _ranks(title, ranked)
        for name, heads in groupby(every, key=lambda head: head.group):
            named = f"{name} ({title})"
            _print_numbers(results_table(named, group, tuple(heads), whole=False, ranks=ranks))


def print_shown(
    results: Sequence[ScoreResult], groups: Sequence[str], ranked: RankedTables = NOT_RANKED
) -> None:
    """Prints a table for each of these groups, without the headline and without mistakes that nobody made.

    Args: ranked: as of `print_overview`.
    """
    for title, its in _by_table(results):
        made = [
            metric
            for result in its
            for metric in result.metrics
            if not metric.headline and (metric.better == "more" or metric.numerator)
        ]
        for group in groups:
            if heads := heads_of(made, group):
                named = f"{group} ({title})"
                _print_numbers(results_table(named, its, heads, whole=False, ranks=_ranks(title, ranked)))


def print_metrics(metrics: Sequence[Metric]) -> None:
    """Prints numbers that belong to no run, a table for each group."""
    for group, members in groupby(metrics, key=lambda metric: metric.group):
        every = list(members)
        texts = _align_cells([_parts(cell_of(metric)) for metric in every])
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


def print_models(table: MetricTable, *, every: bool, kinds: bool = True) -> None:
    """Prints a table of models with their kinds, in which those that were measured here are highlighted, and the columns
    that did not fit.

    Args:
        every: show the columns that do not fit in further tables instead of leaving them out.
        kinds: whether there is a column of kinds.
    """
    heads = ["model", *(head.text(whole=table.whole, between="\n") for head in table.heads)]
    columns = [GridColumn(_plain(head), "right" if number else "left") for number, head in enumerate(heads)]
    rows = [
        list(map(_plain, [row.label, *_stack_cells([_parts(cell) for _, cell in row.pairs(table.heads)])]))
        for row in table.rows
    ]
    if kinds:
        heads.append("kind")
        columns.append(GridColumn("kind", "left", wraps=True))
        rows = [[*texts, _plain(row.about)] for texts, row in zip(rows, table.rows, strict=True)]
    bold = frozenset(number for number, row in enumerate(table.rows) if row.kind == "measured")
    first, *more = Grid(columns, rows, bold=bold).split_columns(terminal_width())
    left_out = [] if every else [number for part in more for number in part[1:]]
    numbers = first if left_out else range(len(heads))
    cells = [[row[number] for number in numbers] for row in rows]
    _print(table.title, Grid([columns[number] for number in numbers], cells, bold=bold))
    if left_out:
        names = ", ".join(heads[number].replace("\n", " ") for number in left_out)
        print_wrapped(f"Not shown for lack of space: {names}. Show them with --all.")


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
            [fields[name] for name in RESULT_CSV_COLUMNS]
            for result in results
            for metric in result.metrics
            for fields in [{**_origin(result), **number_fields(metric, result)}]
        ),
    )


def _origin(result: ScoreResult) -> dict[str, object]:
    return {name: getattr(result, name) for name in ("run", "model", "benchmark", "profile", "incomplete")}


def _parts(cell: Cell | None, *, counts: bool = True) -> tuple[str, str, str]:
    """A number, its interval and its counts; empty if there is none."""
    if cell is None:
        return "", "", ""
    return cell.value, cell.bracketed, cell.counts if counts else ""


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


def _grid_of(table: MetricTable) -> Grid:
    """A table that fits, with models as rows or as columns. If none fits, the shortest one that is split in parts."""
    width = terminal_width()
    forms = list(_layouts(table))
    undivided = next(
        (form for form in forms if form.fits(width) and len(form.split_columns(width)) == 1), None
    )
    if undivided is not None:
        return undivided
    fitting = [form for form in forms if form.fits(width)] or [_with_captions(table, forms[0])]
    return min(fitting, key=lambda form: sum(map(len, form.tables(width))))


def _with_captions(table: MetricTable, form: Grid) -> Grid:
    """A table whose names are too long to stand beside a number, so that they stand above theirs."""
    if len(table.rows) == 1:
        return form
    numbers = [row[form.keys :] for row in form.rows]
    rows = [["", *cells] for cells in numbers]
    names = [f"{row.place} {_plain(row.label)}".strip() for row in table.rows]
    return Grid([GridColumn("", "left"), *form.columns[form.keys :]], rows, captions=names)


def _layouts(table: MetricTable) -> Iterator[Grid]:
    """The possible layouts of a table, the best first."""
    models = [_plain(row.label) for row in table.rows]
    ranked = any(row.place for row in table.rows)
    heads, numbers = table.heads, table.columns()
    sizes = [shared_sample_size(row) for row in numbers] if len(models) > 1 else [""] * len(heads)
    parts = [
        [_parts(cell, counts=not size) for cell in row] for row, size in zip(numbers, sizes, strict=True)
    ]
    if len(models) > 1:
        tops = [
            GridColumn("\n".join(filter(None, (_plain(head.text(whole=table.whole, between="\n")), size))))
            for head, size in zip(heads, sizes, strict=True)
        ]
        names = [GridColumn("rank"), GridColumn("model", "left")] if ranked else [GridColumn("model", "left")]
        keys = [[row.place, model][-len(names) :] for row, model in zip(table.rows, models, strict=True)]
        for drawn in (_align_cells, _stack_cells):
            cells = zip(*map(drawn, parts), strict=True)
            rows = [[*key, *row] for key, row in zip(keys, cells, strict=True)]
            yield Grid([*names, *tops], rows, keys=len(names))
    if len(models) <= _MOST_ACROSS:
        labels = [f"{row.place} {model}".strip() for row, model in zip(table.rows, models, strict=True)]
        yield from _models_across(labels, table, parts, sizes)


def _models_across(
    labels: Sequence[str],
    table: MetricTable,
    parts: Sequence[Sequence[tuple[str, str, str]]],
    sizes: Sequence[str],
) -> Iterator[Grid]:
    """Layouts with a column for each model.

    Args:
        parts: of each head the cells of all models.
        sizes: of each head the sample size that its cells share; else empty.
    """
    sized = any(sizes)
    keys = [GridColumn("", "left", wraps=True), *([GridColumn("")] if sized else [])]
    names = [
        [_plain(head.text(whole=table.whole)), size][: len(keys)]
        for head, size in zip(table.heads, sizes, strict=True)
    ]
    by_model = [list(column) for column in zip(*parts, strict=True)]
    for drawn in (_align_cells, _stack_cells):
        cells = zip(*map(drawn, by_model), strict=True)
        rows = [[*name, *row] for name, row in zip(names, cells, strict=True)]
        yield Grid([*keys, *map(GridColumn, labels)], rows, keys=len(keys))


def shared_sample_size(cells: Sequence[Cell | None]) -> str:
    """The common sample size of these rates, such as `n = 128`; empty if it differs or does not matter."""
    sizes = {cell.size for cell in cells if cell is not None} - {None}
    return f"n = {sizes.pop():,.10g}" if len(sizes) == 1 else ""


def _print_caveats(results: Sequence[ScoreResult]) -> None:
    for text in table_caveats(results):
        print_wrapped(text)


def _print_numbers(table: MetricTable) -> None:
    _print(table.title, _grid_of(table))


def _plain(text: str) -> str:
    """Each line with control characters escaped."""
    return "\n".join(single_line(line) for line in text.split("\n"))


def _print(title: str, grid: Grid) -> None:
    begin, end = BOLD if supports_bold() else ("", "")
    for line in wrap_text(single_line(title, 500), terminal_width()):
        print(f"{begin}{line}{end}")
    for lines in grid.tables(terminal_width(), (begin, end)):
        print()
        print("\n".join(lines))
    print()
