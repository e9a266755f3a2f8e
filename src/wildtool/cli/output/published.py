"""The output of `wildtool show --published`: the papers' models, with the user's runs ranked among them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wildtool.benchmark import Published
from wildtool.cli.command import worst_status
from wildtool.cli.output import tables
from wildtool.cli.output.results import find_results
from wildtool.cli.terminal import ellipsize, print_err, print_rows, print_wrapped, single_line
from wildtool.engine.compare.leaderboard import EVIDENCE_COLUMNS, INCOMPLETE, evidence_cells
from wildtool.engine.compare.published import (
    MEASURED_HERE,
    MetricKey,
    Ranking,
    RankingCell,
    RankingRow,
    ranking,
    why_not_comparable,
)
from wildtool.engine.registry import benchmark_names, load_benchmark
from wildtool.engine.score.formatting import format_direction
from wildtool.engine.score.results import ScoreResult, run_folders
from wildtool.engine.score.verdict_table import verdicts_path
from wildtool.errors import UsageError
from wildtool.published import PublishedTable, paper_names, read_table, table_names

RANKING_CSV_COLUMNS = (
    *("model", "kind", "run", "profile", "group", "name"),
    *("value", "low", "high", "source"),
    *EVIDENCE_COLUMNS,
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


def show_published(
    names: Sequence[Path],
    *,
    benchmark: str | None,
    profile: str | None,
    group: str | None,
    every: bool,
    as_json: bool,
    as_csv: bool,
) -> int:
    """Prints published results for the given names (benchmarks, tables, papers, runs); without names, lists
    all tables."""
    wanted = _selection(names, benchmark)
    found, status = _figures(wanted, profile)
    rankings = [
        ranking(
            figures.rows,
            figures.ranked_runs,
            headline=figures.headline,
            group=group,
            every=as_json or as_csv,
        )
        for figures in found
    ]
    whole = [read_table(name) for name in wanted.tables]
    listed = [read_table(name) for name in wanted.tables_to_list]
    if as_json:
        left_out = {str(folder): why for figures in found for folder, why in figures.left_out.items()}
        _print_json(rankings, whole, listed, left_out)
    elif as_csv:
        _print_csv(rankings, whole, listed)
    else:
        _print(rankings, whole, listed, every=every)
        for figures, shown in zip(found, rankings, strict=True):
            _print_column_notes(figures.rows, shown)
    for figures in found:
        for folder, why in figures.left_out.items():
            print_err(f"{single_line(folder, 500)} is not in the table: {single_line(why, 700)}")
    if not as_json and not as_csv:
        tables.print_caveats([run for figures in found for run in figures.ranked_runs.values()])
    return status


def _print_column_notes(figures: Sequence[Published], shown: Ranking) -> None:
    """Caveats about the numbers in a table, including those of the runs in it."""
    notes = {key: text for row in figures for key, text in row.notes.items() if key in shown.keys}
    if not any(entry.run for entry in shown.entries):
        for (group, name), text in notes.items():
            print_wrapped(f"{group}, {name}: {text}")


def _selection(names: Sequence[Path], benchmark: str | None) -> PublishedSelection:
    """Sorts names by what they are; an existing folder takes precedence over a benchmark, paper or table of
    that name."""
    known = [*benchmark_names(), *paper_names(), *table_names()]
    folders = [name for name in names if name.is_dir() or str(name) not in known]
    given = [*filter(None, [benchmark]), *(str(name) for name in names if name not in folders)]
    papers = [name for name in given if name not in benchmark_names() and name in paper_names()]
    return PublishedSelection(
        benchmarks=tuple(name for name in given if name not in (*papers, *table_names())),
        tables=tuple(name for name in given if name in table_names()),
        tables_to_list=tuple(
            table for paper in (papers if given or folders else [None]) for table in table_names(paper)
        ),
        folders=tuple(folder for path in folders for folder in run_folders(path)),
    )


def _figures(wanted: PublishedSelection, profile: str | None) -> tuple[list[PublishedFigures], int]:
    """The published results of all benchmarks that are named or were run, with the runs; and the exit
    status."""
    found: dict[str, PublishedFigures] = {}
    statuses: list[int] = []
    for name in wanted.benchmarks:
        _figures_of(name, found)
    for folder in wanted.folders:
        results, status = find_results([folder], profile)
        statuses.append(status)
        for result in results:
            try:
                figures = _figures_of(result.benchmark, found)
            except UsageError as error:
                print_err(f"{folder}: {error}")
                continue
            _place_run(folder, result, figures, profile)
    return list(found.values()), worst_status(statuses)


def _figures_of(benchmark: str, found: dict[str, PublishedFigures]) -> PublishedFigures:
    """The published results of a benchmark; benchmarks that share theirs count as one."""
    owner = load_benchmark(benchmark)
    rows = owner.published()
    if not rows:
        raise UsageError(f"no figures are published for {benchmark}; see `wildtool show --published`")
    return found.setdefault(rows[0].source, PublishedFigures(rows, owner.headline.get(rows[0].profile)))


def _place_run(folder: Path, result: ScoreResult, figures: PublishedFigures, profile: str | None) -> None:
    rules = figures.rows[0].profile
    if profile is None and result.profile != rules and verdicts_path(folder, rules).exists():
        # It was scored by the published rules, too, which is what they are for.
        result = next(iter(find_results([folder], rules)[0]), result)
    why = why_not_comparable(folder, result, figures.rows)
    if why is None:
        figures.ranked_runs[folder] = result
    else:
        figures.left_out[folder] = why


def _print(
    rankings: Iterable[Ranking],
    whole: Iterable[PublishedTable],
    listed: Sequence[PublishedTable],
    *,
    every: bool,
) -> None:
    for shown in rankings:
        groups = list(dict.fromkeys(group for group, _ in shown.keys))
        alone = len(groups) == 1
        what = f", {groups[0]}" if alone and groups[0] not in " ".join(shown.sources) else ""
        by = shown.order[1] if alone and shown.order[0] in groups else " ".join(shown.order)
        ranked = f", by {by}" if shown.is_ranked else ", not ranked: neither more nor less of it is better"
        title = f"{'; '.join(shown.sources)}{what} (%, profile {shown.profile}){ranked}"
        names = [_head(key, shown, alone=alone) for key in shown.keys]
        _print_dropped_columns(
            tables.print_ranking(title, ["model", *names, "kind"], _rows(shown), every=every)
        )
        for entry in shown.entries:
            if entry.run is not None:
                print_wrapped(
                    f"{ellipsize(entry.model, 60)}: {single_line(entry.kind)}, from {single_line(entry.run, 500)}"
                )
    for table in whole:
        print_published_table(table, every=every)
    if listed:
        tables.print_grid(
            "Published tables; print one with `wildtool show --published TABLE`",
            TABLE_LIST_COLUMNS,
            [list(map(str, _listed(table))) for table in listed],
            sentences=(2, 3),
        )


def print_published_table(table: PublishedTable, *, every: bool) -> None:
    """One table of a paper with the meaning of its columns; `every` shows columns that do not fit in more tables."""
    heads = ["model", *table.columns, *(["kind"] if any(row.kind for row in table.rows) else [])]
    places = _places(v for row in table.rows for v in row.values.values() if v is not None)
    rows = [
        (False, [row.model, *(_number(v, places) for v in row.values.values()), row.kind][: len(heads)])
        for row in table.rows
    ]
    title = f"{table.source}: {table.about} ({table.unit})"
    _print_dropped_columns(tables.print_ranking(title, heads, rows, every=every))
    print_wrapped("\n".join(f"{column}: {meaning}" for column, meaning in table.columns.items()))


def _head(key: MetricKey, shown: Ranking, *, alone: bool) -> str:
    """The head of a column, a line for each of its parts."""
    group, name = key
    note = format_direction(shown.better.get(key, "more"))
    return "\n".join([*([] if alone else [group]), name, *([f"({note})"] if note else [])])


def _print_dropped_columns(heads: Sequence[str]) -> None:
    if heads:
        print_wrapped(f"Not shown for lack of space: {', '.join(heads)}. Show them with --all.")


def _rows(shown: Ranking) -> list[tuple[bool, list[str]]]:
    values = [
        100 * cell.value
        for entry in shown.entries
        if entry.run is None
        for cell in entry.cells.values()
        if cell.value is not None
    ]
    places = _places(values)
    return [
        (
            entry.run is not None,
            [
                _name(entry),
                *(_percent(entry.cells.get(key), places) for key in shown.keys),
                "" if entry.run else entry.kind,
            ],
        )
        for entry in shown.entries
    ]


def _name(entry: RankingRow) -> str:
    if entry.run is None:
        return ellipsize(entry.model, 60)
    return f"{ellipsize(entry.model, 40)} ({MEASURED_HERE}){INCOMPLETE * entry.incomplete}"


def _percent(cell: RankingCell | None, places: int) -> str:
    if cell is None or cell.value is None:
        return "–"
    ends = "" if cell.low is None or cell.high is None else f"\n[{100 * cell.low:.1f}, {100 * cell.high:.1f}]"
    return f"{100 * cell.value:.{places}f}{ends}"


def _places(values: Iterable[float]) -> int:
    """The number of decimals that the papers print for these numbers."""
    known = list(values)
    return next((k for k in (0, 1) if all(abs(v - round(v, k)) < 1e-6 for v in known)), 2)


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:.{places}f}"


def _listed(table: PublishedTable) -> tuple[str, int, str, str]:
    return table.name, len(table.rows), table.source, table.about


def _print_json(
    rankings: Iterable[Ranking],
    whole: Iterable[PublishedTable],
    listed: Iterable[PublishedTable],
    left_out: Mapping[str, str],
) -> None:
    found = {
        "boards": [_ranking_as_json(shown) for shown in rankings],
        "tables": [asdict(table) for table in whole],
        "listed": [dict(zip(TABLE_LIST_COLUMNS, _listed(table), strict=True)) for table in listed],
        "left_out": left_out,
    }
    # Escaped to ASCII, so that no text in it can control a terminal.
    print(json.dumps({name: part for name, part in found.items() if part}, indent=1))


def _ranking_as_json(shown: Ranking) -> Mapping[str, object]:
    return {
        "profile": shown.profile,
        "sources": shown.sources,
        "order": shown.order,
        "models": [
            {
                "model": entry.model,
                "kind": entry.kind,
                "run": entry.run,
                "incomplete": entry.incomplete,
                "trust": [asdict(remark) for remark in entry.trust],
                "values": [
                    {"group": group, "name": name, **asdict(cell)}
                    for (group, name), cell in _cells(shown, entry)
                ],
            }
            for entry in shown.entries
        ],
    }


def _cells(shown: Ranking, entry: RankingRow) -> Iterable[tuple[MetricKey, RankingCell]]:
    return ((key, entry.cells[key]) for key in shown.keys if key in entry.cells)


def _print_csv(
    rankings: Sequence[Ranking], whole: Sequence[PublishedTable], listed: Sequence[PublishedTable]
) -> None:
    if sum(map(bool, (rankings, whole, listed))) > 1:
        raise UsageError("CSV holds one kind of row: give benchmarks and runs, or tables, or papers")
    if listed:
        print_rows(TABLE_LIST_COLUMNS, map(_listed, listed))
    elif whole:
        print_rows(
            TABLE_CSV_COLUMNS,
            (
                (row.model, row.kind, table.name, column, value, table.unit, table.source)
                for table in whole
                for row in table.rows
                for column, value in row.values.items()
            ),
        )
    else:
        print_rows(
            RANKING_CSV_COLUMNS,
            (
                (
                    *(entry.model, entry.kind, entry.run or "", shown.profile),
                    *(*key, cell.value, cell.low, cell.high, cell.source),
                    *evidence_cells(cell.evidence),
                )
                for shown in rankings
                for entry in shown.entries
                for key, cell in _cells(shown, entry)
            ),
        )
