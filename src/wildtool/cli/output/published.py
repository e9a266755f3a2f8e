"""The output of `wildtool show --published`: the papers' models, with the user's runs ranked among them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.benchmark import Published
from wildtool.cli.command import worst_status
from wildtool.cli.output.results import find_results
from wildtool.engine.compare.leaderboard import EVIDENCE_COLUMNS, evidence_cells
from wildtool.engine.compare.published import (
    MetricKey,
    PublishedRanking,
    RankingCell,
    RankingRow,
    ranking,
    why_not_comparable,
)
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import benchmark_names, load_benchmark, names_in
from wildtool.engine.score.results import ScoreResult, run_folders
from wildtool.engine.score.verdict_table import verdicts_path
from wildtool.errors import UsageError
from wildtool.outputs import check_file, write_file
from wildtool.published import PublishedTable, paper_names, read_table, table_names
from wildtool.report import check_libraries
from wildtool.table.published import published_table, ranking_table
from wildtool.terminal import ellipsize, print_err, print_rows, print_wrapped, single_line, tables

if TYPE_CHECKING:
    from wildtool.cli.options.show import ShowOptions

RANKING_CSV_COLUMNS = (
    "model",
    "kind",
    "run",
    "profile",
    "group",
    "name",
    "value",
    "low",
    "high",
    "source",
    *EVIDENCE_COLUMNS,
    "least",
    "most",
)
TABLE_CSV_COLUMNS = ("model", "kind", "table", "column", "value", "unit", "source")
TABLE_LIST_COLUMNS = ("table", "models", "source", "about")


@dataclass(frozen=True, slots=True)
class PublishedSelection:
    """What the user asked for."""

    benchmarks: tuple[str, ...]
    tables: tuple[str, ...]
    tables_to_list: tuple[str, ...]
    """Tables to list by name only."""
    folders: tuple[Path, ...]


@dataclass(slots=True)
class PublishedFigures:
    """Published results of one benchmark's models, and the runs to rank among them."""

    rows: Sequence[Published]
    headline: MetricKey | None = None
    """What is ranked by."""
    ranked_runs: dict[Path, ScoreResult] = field(default_factory=dict[Path, ScoreResult])
    left_out: dict[Path, str] = field(default_factory=dict[Path, str])
    """The reasons why a run is not comparable."""


def show_published(show_options: "ShowOptions") -> int:
    """Prints published results for the given names (benchmarks, tables, papers, runs); without names, lists
    all tables."""
    selection = _selection(show_options.runs or (), show_options.benchmark)
    if show_options.chart is not None:
        _check_chart(selection, show_options.chart, force=show_options.force)
    groups, status = _figures(selection, show_options.profile)
    is_text = not (show_options.as_json or show_options.as_csv)
    rankings = [
        ranking(its.rows, its.ranked_runs, headline=its.headline, group=show_options.group, every=not is_text)
        for its in groups
    ]
    papers = [read_table(name) for name in selection.tables]
    entries = [read_table(name) for name in selection.tables_to_list]
    if show_options.as_json:
        left_out = {str(folder): reason for figures in groups for folder, reason in figures.left_out.items()}
        _print_json(rankings, papers, entries, left_out)
    elif show_options.as_csv:
        _print_csv(rankings, papers, entries)
    else:
        _print(rankings, papers, entries, every=show_options.every)
        for figures, placed in zip(groups, rankings, strict=True):
            _print_column_notes(figures.rows, placed)
    if show_options.chart is not None:
        _draw(papers[0], show_options.chart)
    for figures in groups:
        for folder, reason in figures.left_out.items():
            print_err(f"{single_line(folder, 500)} is not in the table: {single_line(reason, 700)}")
    if is_text:
        tables.print_caveats([run for figures in groups for run in figures.ranked_runs.values()])
    return status


def _check_chart(selection: PublishedSelection, chart: Path, *, force: bool) -> None:
    """Raises UsageError where there is not one table to draw, or nowhere to write it."""
    others = selection.benchmarks or selection.folders or selection.tables_to_list
    if len(selection.tables) != 1 or others:
        raise UsageError(
            f"--chart draws one table: `wildtool show --published TABLE --chart {chart.name}`; the tables are listed by "
            "`wildtool show --published`"
        )
    if chart.suffix not in (".svg", ".png"):
        raise UsageError(f"{chart}: a chart is a .svg or a .png")
    check_libraries()
    check_file(chart, force=force)


def _draw(table: PublishedTable, path: Path) -> None:
    """Draws a table of a paper: a panel for each column, a bar for each model."""
    from wildtool.report.charts.data import ChartData, ChartPoint
    from wildtool.report.charts.render import render_chart

    whole = 100 if table.unit == "percent" else 1
    points = [
        ChartPoint(
            row.model, table.columns[column], value / whole, None, None, f"{value:g}", short=f"{value:g}"
        )
        for column in table.columns
        for row in table.rows
        for value in [row.values[column]]
        if value is not None
    ]
    said = "; ".join(f"{point.model}, {point.name}: {point.text}" for point in points)
    drawing = ChartData(
        title=f"{table.source}: {table.about}",
        about=f"A panel for each column, a bar for each model, in {table.unit}. {said}.",
        points=tuple(points),
        models=tuple(row.model for row in table.rows),
        names=tuple(table.columns.values()),
        kind="panels",
        percent=whole == 100,
    )
    chart = render_chart(drawing)
    write_file(path, chart.png if path.suffix == ".png" else chart.svg)
    print_err(f"Chart: {path}" + (f". {chart.left_out}." if chart.left_out else ""))


def _print_column_notes(figures: Sequence[Published], placed: PublishedRanking) -> None:
    """Caveats about the numbers in a table, including those of the runs in it."""
    notes = {key: text for row in figures for key, text in row.notes.items() if key in placed.keys}
    if not any(entry.run for entry in placed.entries):
        for (group, name), text in notes.items():
            print_wrapped(f"{group}, {name}: {text}")


def _selection(names: Sequence[Path], benchmark: str | None) -> PublishedSelection:
    """Sorts names by what they are; an existing folder takes precedence over a benchmark, paper or table of
    that name."""
    known_names = [*benchmark_names(), *paper_names(), *table_names()]
    folders = [name for name in names if name.is_dir() or str(name) not in known_names]
    name_list = [*filter(None, [benchmark]), *(str(name) for name in names if name not in folders)]
    papers = [name for name in name_list if name not in benchmark_names() and name in paper_names()]
    return PublishedSelection(
        benchmarks=tuple(name for name in name_list if name not in (*papers, *table_names())),
        tables=tuple(name for name in name_list if name in table_names()),
        tables_to_list=tuple(
            table for paper in (papers if name_list or folders else [None]) for table in table_names(paper)
        ),
        folders=tuple(folder for path in folders for folder in run_folders(path)),
    )


def _figures(selection: PublishedSelection, profile: str | None) -> tuple[list[PublishedFigures], int]:
    """The published results of all benchmarks that are named or were run, with the runs; and the exit
    status."""
    by_source: dict[str, PublishedFigures] = {}
    statuses: list[int] = []
    for name in selection.benchmarks:
        _figures_of(name, by_source)
    for folder in selection.folders:
        results, status = find_results([folder], profile)
        statuses.append(status)
        for result in results:
            try:
                figures = _figures_of(result.benchmark, by_source)
            except UsageError as error:
                print_err(f"{folder}: {error}")
                continue
            _place_run(folder, result, figures, profile)
    return list(by_source.values()), worst_status(statuses)


def _figures_of(benchmark: str, by_source: dict[str, PublishedFigures]) -> PublishedFigures:
    """The published results of a benchmark; benchmarks that share theirs count as one."""
    owner = load_benchmark(benchmark)
    rows = owner.published()
    if not rows:
        raise UsageError(f"no figures are published for {benchmark}; see `wildtool show --published`")
    return by_source.setdefault(rows[0].source, PublishedFigures(rows, owner.headline.get(rows[0].profile)))


def _place_run(folder: Path, result: ScoreResult, figures: PublishedFigures, profile: str | None) -> None:
    rules = figures.rows[0].profile
    in_run = names_in(read_run(folder)).then(rules)
    if profile is None and result.profile != rules and verdicts_path(folder, in_run).exists():
        # It was scored by the published rules, too, which is what they are for.
        result = next(iter(find_results([folder], rules)[0]), result)
    reason = why_not_comparable(folder, result, figures.rows)
    if reason is None:
        figures.ranked_runs[folder] = result
    else:
        figures.left_out[folder] = reason


def _print(
    rankings: Iterable[PublishedRanking],
    papers: Iterable[PublishedTable],
    entries: Sequence[PublishedTable],
    *,
    every: bool,
) -> None:
    for board in rankings:
        tables.print_models(ranking_table(board), every=every)
        for entry in board.entries:
            if entry.run is not None:
                print_wrapped(
                    f"{ellipsize(entry.model, 60)}: {single_line(entry.kind)}, from {single_line(entry.run, 500)}"
                )
    for table in papers:
        print_published_table(table, every=every)
    if entries:
        tables.print_grid(
            "Published tables; print one with `wildtool show --published TABLE`",
            TABLE_LIST_COLUMNS,
            [list(map(str, _entry(table))) for table in entries],
            sentences=(2, 3),
        )


def print_published_table(table: PublishedTable, *, every: bool) -> None:
    """One table of a paper with the meaning of its columns; `every` shows columns that do not fit in more tables."""
    kinds = any(row.kind for row in table.rows)
    tables.print_models(published_table(table), every=every, kinds=kinds)
    print_wrapped("\n".join(f"{column}: {meaning}" for column, meaning in table.columns.items()))


def _entry(table: PublishedTable) -> tuple[str, int, str, str]:
    return table.name, len(table.rows), table.source, table.about


def _print_json(
    rankings: Iterable[PublishedRanking],
    papers: Iterable[PublishedTable],
    entries: Iterable[PublishedTable],
    left_out: Mapping[str, str],
) -> None:
    document = {
        "boards": [_ranking_as_json(board) for board in rankings],
        "tables": [asdict(table) for table in papers],
        "listed": [dict(zip(TABLE_LIST_COLUMNS, _entry(table), strict=True)) for table in entries],
        "left_out": left_out,
    }
    # Escaped to ASCII, so that no text in it can control a terminal.
    print(json.dumps({name: part for name, part in document.items() if part}, indent=1))


def _ranking_as_json(board: PublishedRanking) -> Mapping[str, object]:
    return {
        "profile": board.profile,
        "sources": board.sources,
        "order": board.order,
        "models": [
            {
                "model": entry.model,
                "kind": entry.kind,
                "run": entry.run,
                "incomplete": entry.incomplete,
                "trust": [asdict(remark) for remark in entry.trust],
                "values": [
                    {"group": group, "name": name, **asdict(cell)}
                    for (group, name), cell in _cells(board, entry)
                ],
            }
            for entry in board.entries
        ],
    }


def _cells(board: PublishedRanking, entry: RankingRow) -> Iterable[tuple[MetricKey, RankingCell]]:
    return ((key, entry.cells[key]) for key in board.keys if key in entry.cells)


def _print_csv(
    rankings: Sequence[PublishedRanking], papers: Sequence[PublishedTable], entries: Sequence[PublishedTable]
) -> None:
    if sum(map(bool, (rankings, papers, entries))) > 1:
        raise UsageError("CSV holds one kind of row: give benchmarks and runs, or tables, or papers")
    if entries:
        print_rows(TABLE_LIST_COLUMNS, map(_entry, entries))
    elif papers:
        print_rows(
            TABLE_CSV_COLUMNS,
            (
                (row.model, row.kind, table.name, column, value, table.unit, table.source)
                for table in papers
                for row in table.rows
                for column, value in row.values.items()
            ),
        )
    else:
        print_rows(
            RANKING_CSV_COLUMNS,
            (
                (
                    entry.model,
                    entry.kind,
                    entry.run or "",
                    board.profile,
                    *key,
                    cell.value,
                    cell.low,
                    cell.high,
                    cell.source,
                    *evidence_cells(cell.evidence),
                    cell.least,
                    cell.most,
                )
                for board in rankings
                for entry in board.entries
                for key, cell in _cells(board, entry)
            ),
        )
