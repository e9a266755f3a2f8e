"""Prints a learning curve, and writes it as a table and as charts."""

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from wildtool.cli.output.published import print_published_table
from wildtool.cli.output.results import print_run_notes
from wildtool.engine.compare.curve import (
    CURVE_COLUMNS,
    MIN_SEEDS,
    CurvePoint,
    RunKey,
    csv_rows,
    learning_curve,
    touched_items,
)
from wildtool.engine.compare.leaderboard import INCOMPLETE, notes_of, parts_line, trust_line
from wildtool.engine.compare.runs import ComparedRun, load_compared_run
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.formatting import format_points, format_range, format_share
from wildtool.engine.score.results import open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.engine.series import Series
from wildtool.errors import RecordError
from wildtool.outputs import check_file, write_file
from wildtool.published import tables_beside
from wildtool.sanitize import csv_safe
from wildtool.stats.learning_curve import TrainedScore
from wildtool.stats.tests import LEVEL
from wildtool.terminal import print_err, print_wrapped
from wildtool.terminal.tables import print_grid

_MARK = b"<!-- written by wildtool compare -->\n"
"""First line of a chart, by which a later curve knows that it may replace it."""


def chart_name(benchmark: str) -> str:
    return f"curve-{benchmark}.svg"


def show_curve(series: Series, folders: Mapping[RunKey, Path], out: Path, *, force: bool, quiet: bool) -> int:
    """Prints the curve, writes `curve.csv` and the charts; gives the exit status.

    Args:
        folders: of the runs, by point and benchmark.
        force: whether charts may replace files that wildtool did not make.
    """
    runs, missing = _complete_runs(folders, series.path)
    for reason in missing:
        print_err(reason)
    touched = None if series.overlap is None else touched_items(series.overlap)
    points = learning_curve(series, runs, touched)
    if not points:
        return 3
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(CURVE_COLUMNS)
    table.writerows(map(csv_safe, row) for row in csv_rows(points))
    write_file(out / "curve.csv", text.getvalue().encode())
    for benchmark, members in groupby(points, key=lambda point: point.benchmark):
        _print_benchmark(benchmark, list(members), series.axis)
    metrics = (metric for run in runs.values() for metric in run.result.metrics if metric.headline)
    for note in notes_of(metrics):
        print_wrapped(note)
    if line := parts_line(run.result for run in runs.values()):
        print_wrapped(line)
    for note in _notes(series, points, touched):
        print_wrapped(note)
    for (name, label), run in runs.items():
        if line := trust_line(f"{name}, {label}", run.result):
            print_wrapped(line)
    labels = {label for _, label in runs}
    names = {benchmark.name for benchmark in series.benchmarks if benchmark.label in labels}
    published = (table for name in sorted(names) for table in tables_beside("training", name))
    for table in {table.name: table for table in published}.values():
        print_published_table(table, every=True)
    charts = _write_charts(points, out, series.axis, force=force)
    if not quiet:
        print_err(
            f"Every number: {out / 'curve.csv'}"
            + (f"; charts: {', '.join(map(str, charts))}" if charts else "")
        )
    return 3 if missing else 0


def _complete_runs(
    folders: Mapping[RunKey, Path], series: Path
) -> tuple[dict[RunKey, ComparedRun], list[str]]:
    """The complete runs, and why the others are left out. Args: series: its file."""
    runs: dict[RunKey, ComparedRun] = {}
    missing: list[str] = []
    for (point, benchmark), folder in folders.items():
        try:
            with open_results(folder) as (result, verdicts):
                print_run_notes(folder, result)
                if not result.incomplete:
                    identity = read_run(folder)["identity"]
                    runs[point, benchmark] = load_compared_run(
                        point, result, identity, relation([verdicts]), "unit"
                    )
                    continue
        except RecordError as error:
            missing.append(f"{point} is not in the curve of {benchmark}: {error}")
            continue
        missing.append(
            f"{point} is not in the curve of {benchmark}: its run is incomplete; `wildtool run {series}` continues it"
        )
    return runs, missing


def _print_benchmark(benchmark: str, points: Sequence[CurvePoint], axis: str) -> None:
    arms = len({point.arm for point in points if point.size}) > 1
    has_untouched = any(point.untouched for point in points)
    heads = ["", "seeds", "n", "correct", "95 %", "difference", "95 %", "p (Holm)"]
    rows: list[list[str]] = []
    for point in points:
        size = f"{point.size:,}" if point.size else "before"
        name = f"{point.arm}, {size}" if arms and point.size else size
        mark = "" if point.evidence.complete else INCOMPLETE
        row = [name + mark, str(len(point.names)), f"{point.units:,}", *_score(point.score)]
        difference = point.difference
        if difference is None:
            row += ["", "", ""]
        else:
            row += [
                format_points(difference.value),
                format_range(difference.low, difference.high, signed=True),
                "no finding"
                if not point.evidence.complete and difference.p_adjusted >= LEVEL
                else _p(difference.p_adjusted),
            ]
        if has_untouched:
            row += _score(point.untouched) if point.untouched else ["", ""]
        rows.append(row)
    if has_untouched:
        heads += ["untouched", "95 %"]
    print_grid(f"{benchmark}, {points[0].conditions}: score by {axis}", heads, rows)


def _p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _score(score: TrainedScore) -> list[str]:
    return [format_share(score.value), format_range(score.low, score.high)]


def _notes(
    series: Series, points: Sequence[CurvePoint], touched: Mapping[str, Collection[str]] | None
) -> list[str]:
    """What a reader must know before he believes the curve."""
    notes: list[str] = []
    if any(len(point.names) < MIN_SEEDS for point in points if point.size):
        notes.append(
            f"With fewer than {MIN_SEEDS} trainings of a size (train_seed), how much trainings differ is unknown: the "
            "intervals hold for these models, not for the recipe."
        )
    if touched is None:
        notes.append(
            "Nobody looked whether the training data hold items of these benchmarks: `wildtool data overlap FILE --json` "
            "does, and `overlap` in the series takes its output."
        )
    else:
        hit = {point.benchmark: (point.touched_items, point.items) for point in points if point.touched_items}
        notes += [
            f"{count} of {items} items of {name} are in the training data; `untouched` is the score without them."
            for name, (count, items) in hit.items()
        ]
        missing = {benchmark.name for benchmark in series.benchmarks} - touched.keys()
        notes += [f"{series.overlap} says nothing of {name}." for name in sorted(missing)]
    arms = {point.arm for point in points if point.size}
    if len(arms) == 1:
        notes.append(
            'There is no control arm: points trained on as many random records (`arm = "random"`) would show what the '
            "choice of the data brought."
        )
    return notes


def _write_charts(points: Sequence[CurvePoint], out: Path, axis: str, *, force: bool) -> list[Path]:
    """A chart of each benchmark; none without the extra [report]."""
    from importlib.util import find_spec

    if not all(find_spec(library) for library in ("altair", "vl_convert")):
        return []
    from wildtool.report.charts.data import ChartData, ChartPoint
    from wildtool.report.charts.render import render_chart

    charts: list[Path] = []
    for benchmark, group in groupby(points, key=lambda point: point.benchmark):
        members = list(group)
        sizes = sorted({point.size for point in members})
        arms = list(dict.fromkeys(point.arm for point in members if point.size))
        names = {size: f"{size:,}" if size else "before" for size in sizes}
        drawn = tuple(
            ChartPoint(arm, names[size], score.value, score.low, score.high, " ".join(_score(score)))
            for arm in arms
            for size, score in (
                (point.size, point.score) for point in members if point.arm == arm or not point.size
            )
        )
        title = f"{benchmark}: correct by {axis}"
        text = "; ".join(f"{point.model}, {point.name}: {point.text}" for point in drawn)
        chart = ChartData(
            title,
            text,
            drawn,
            tuple(arms),
            tuple(names.values()),
            "lines",
            True,
            axis,
            "correct (%)",
        )
        path = out / chart_name(benchmark)
        check_file(path, force=force)
        write_file(path, _MARK + render_chart(chart).svg)
        charts.append(path)
    return charts
