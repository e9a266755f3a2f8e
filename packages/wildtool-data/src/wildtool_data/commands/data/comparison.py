"""`wildtool data stats` with several data: benchmarks beside each other, as a table, as CSV and as a picture."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.data.commands.files import resolve_data, training_file
from wildtool.engine.score.formatting import counted, format_counts, format_value
from wildtool.errors import UsageError
from wildtool.outputs import check_file, write_file
from wildtool.table.csv_file import rows_csv
from wildtool.terminal import print_err, print_wrapped
from wildtool.terminal.tables import print_grid
from wildtool.types import Metric
from wildtool_data.prepare.traits import COMPARED, FileTraits, traits_of

if TYPE_CHECKING:
    from wildtool.report.charts.data import ChartData

CSV_COLUMNS = ("data", "benchmark", "number", "value", "numerator", "denominator", "unit")
_NOTES = (
    "Calls are those of the gold answers: parallel where all are made at once, sequential where each waits for the one"
    " before, mixed otherwise. Transitions: neighbouring tasks of a session that ask for different things (one call,"
    " several, a question, a text). Contextual: tasks of a session that follow earlier ones. Hidden information:"
    " tasks whose data say that the request leaves something out.",
    "A dash: the data do not say it, as where tools and calls are part of texts, or tasks are in no session.",
)


def compare_data(
    names: Sequence[str], benchmark: str | None, out: Path | None, *, force: bool, as_json: bool
) -> int:
    """Prints the comparison and writes it; gives the exit status. Raises UsageError for a training file or a data set
    that is named twice, and DataError for data that cannot be read."""
    if len(set(names)) < len(names):
        raise UsageError(f"{', '.join(names)}: name each of the data once")
    for name in names:
        if training_file(name, benchmark) is not None:
            raise UsageError(f"{name} is a training file; compare two of these with --compare")
    if out is not None:
        for file in ("comparison.csv", "comparison.svg", "comparison.png"):
            check_file(out / file, force=force)
    short = [Path(name).name for name in names]
    labels = short if len(set(short)) == len(short) else names
    rows = {
        label: traits_of(*resolve_data(name, benchmark)) for label, name in zip(labels, names, strict=True)
    }
    if as_json:
        print(json.dumps({name: list(map(asdict, its.metrics())) for name, its in rows.items()}, indent=1))
    else:
        _print(rows)
    if out is not None:
        _write(rows, out)
    return 0


def _print(rows: dict[str, FileTraits]) -> None:
    texts = [list(map(_text, its.metrics())) for its in rows.values()]
    table = [[name, *(column[place] for column in texts)] for place, name in enumerate(COMPARED)]
    table.append(["other models that some of it takes", *map(_needs, rows.values())])
    print_grid("Benchmarks beside each other", ["", *rows], table)
    for its in rows.values():
        if its.without_gold:
            units = counted(its.without_gold, "unit")
            print_wrapped(f"{its.benchmark}: {units} without a gold answer; their calls are not counted.")
    for text in _NOTES:
        print_wrapped(text)


def _text(metric: Metric) -> str:
    if metric.kind != "count" and not metric.denominator:
        return "–"
    return " ".join(filter(None, (format_value(metric), format_counts(metric))))


def _needs(traits: FileTraits) -> str:
    return ", ".join(traits.needs) or "none"


def _write(rows: dict[str, FileTraits], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    lines = [
        (name, its.benchmark, m.name, m.value, m.numerator, m.denominator, m.unit or m.kind)
        for name, its in rows.items()
        for m in its.metrics()
    ]
    write_file(out / "comparison.csv", rows_csv(CSV_COLUMNS, lines))
    print_err(f"Every number: {out / 'comparison.csv'}")
    from wildtool.report import missing_libraries

    if missing_libraries():
        print_err("No picture: pip install 'wildtool[report]' draws it")
        return
    from wildtool.report.charts.render import render_chart

    chart = render_chart(_drawing(rows))
    write_file(out / "comparison.svg", chart.svg)
    write_file(out / "comparison.png", chart.png)
    print_err(f"Picture: {out / 'comparison.svg'} and .png")


def _drawing(rows: dict[str, FileTraits]) -> "ChartData":
    from wildtool.report.charts.data import ChartData, ChartPoint

    points = [
        ChartPoint(
            name, m.name, m.value, None, None, f"{format_value(m)} {format_counts(m)}", short=format_value(m)
        )
        for name, its in rows.items()
        for m in its.metrics()
        if m.kind == "rate" and m.value is not None
    ]
    said = "; ".join(f"{point.name}, {point.model}: {point.text}" for point in points)
    return ChartData(
        title="Benchmarks beside each other: shares",
        about=f"A panel for each share, a bar for each benchmark whose data say it. {said}.",
        points=tuple(points),
        models=tuple(rows),
        names=tuple(dict.fromkeys(point.name for point in points)),
        kind="panels",
        percent=True,
    )
