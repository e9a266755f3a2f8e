"""`wildtool compare --curve size`: scores by the size of models, with the papers' models beside one's own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wildtool.benchmark import Published
from wildtool.cli.output.results import find_results
from wildtool.engine.compare.leaderboard import headline, marked_labels, table_titles
from wildtool.engine.compare.model_size import family, read_sizes, size_in_name
from wildtool.engine.compare.published import MetricKey, published_rows, why_not_comparable
from wildtool.engine.registry import benchmark_names, load_benchmark
from wildtool.engine.score.formatting import (
    ENDS_HEAD,
    format_counts,
    format_open,
    format_rate_ends,
    format_share,
)
from wildtool.engine.score.results import ScoreResult
from wildtool.errors import UsageError
from wildtool.outputs import check_file, write_file
from wildtool.table import ends_of
from wildtool.table.csv_file import rows_csv
from wildtool.terminal import print_err, print_wrapped, tables
from wildtool.types import Metric

CSV_NAME = "model_sizes.csv"
_COLUMNS = (
    "table", "number", "model", "kind", "billions", "size_from", "value", "low", "high", "numerator", "denominator",
    "units", "failed", "source", "least", "most",
)  # fmt: skip
_MARK = b"<!-- written by wildtool compare -->\n"
"""First line of a chart, by which a later one knows that it may replace it."""
MEASURED, PUBLISHED = "measured here", "published"


@dataclass(frozen=True, slots=True)
class SizedScore:
    """One model at its size."""

    model: str
    label: str
    """The model, with its run where several are of it, and a mark where anything is missing."""
    kind: str
    """`MEASURED` or `PUBLISHED`."""
    billions: float
    size_from: str
    """Where the size is from: the name, or the file."""
    value: float
    metric: Metric | None
    """The number of a run; None of a paper's, which gives neither interval nor counts."""
    result: ScoreResult | None
    source: str


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """Comparable models by size, the smallest first."""

    title: str
    number: str
    points: tuple[SizedScore, ...]
    unsized: tuple[str, ...]
    """Models whose size is not known."""
    notes: tuple[str, ...]


def show_model_sizes(
    paths: Sequence[Path], profile: str | None, sizes: Path | None, out: Path | None, *, force: bool
) -> int:
    """Prints scores by size for each table of comparable runs, and of each benchmark that is named what its papers say;
    gives the exit status. Raises UsageError where no size is known.

    Args:
        sizes: CSV file with the sizes of models whose names state none.
        out: folder for the table and the charts; None for neither.
    """
    known: Mapping[str, float] = {} if sizes is None else read_sizes(sizes)
    named = [str(path) for path in paths if not path.exists() and str(path) in benchmark_names()]
    folders = [path for path in paths if str(path) not in named]
    results, status = find_results(folders, profile) if folders else ([], 0)
    curves = [*_measured(results, known), *_papers(named, known)]
    if not any(curve.points for curve in curves):
        unsized = [name for curve in curves for name in curve.unsized]
        raise UsageError(
            f"no size is known of {_remedy(unsized)}"
            if unsized
            else "no run has a number to draw; `wildtool show` says what became of each"
        )
    if out is not None:
        check_file(out / CSV_NAME, force=force)
        for number in range(len(curves)):
            check_file(out / _chart_name(curves[number], number), force=force)
    for curve in curves:
        _print(curve)
    tables.print_caveats([replace(result, metrics=_drawn(result)) for result in results])
    if out is not None:
        _write(curves, out)
    return status


def _drawn(result: ScoreResult) -> tuple[Metric, ...]:
    """The number that a run is drawn by; empty where it has none."""
    metric = headline(result)
    return () if metric is None or metric.value is None else (metric,)


def _measured(results: Sequence[ScoreResult], known: Mapping[str, float]) -> Iterator[SizeCurve]:
    """A curve for each table of comparable runs, with the papers' models where these were measured alike."""
    groups: dict[str, list[ScoreResult]] = {}
    for title, result in zip(table_titles(results), results, strict=True):
        groups.setdefault(title, []).append(result)
    for title, its in groups.items():
        numbers = [
            (label, result, _drawn(result)) for label, result in zip(marked_labels(its), its, strict=True)
        ]
        key = next(((metric.group, metric.name) for _, _, drawn in numbers for metric in drawn), None)
        points: list[tuple[str, SizedScore | None]] = []
        without: list[str] = []
        for label, result, drawn in numbers:
            metric = next((each for each in drawn if (each.group, each.name) == key), None)
            if metric is None:
                without.append(label)
            else:
                points.append((result.model, _of_run(label, result, metric, known)))
        notes = [f"Left out, since they have no such number: {', '.join(without)}."] if without else []
        figures = (
            load_benchmark(its[0].benchmark).published() if its[0].benchmark in benchmark_names() else ()
        )
        if key is None or not figures:
            yield _curve(title, key, points, notes)
            continue
        reasons = [why_not_comparable(result.folder, result, figures) for result in its]
        why = next(filter(None, reasons), "")
        if why:
            notes.append(f"The papers' models are not drawn beside these runs: {why}.")
        else:
            points += _of_papers(figures, key, known)
        yield _curve(title, key, points, notes)


def _papers(named: Sequence[str], known: Mapping[str, float]) -> Iterator[SizeCurve]:
    """A curve of what papers say of each benchmark that was named."""
    for name in named:
        owner = load_benchmark(name)
        figures = owner.published()
        if not figures:
            raise UsageError(f"no figures are published for {name}; see `wildtool show --published`")
        key = owner.headline.get(figures[0].profile)
        if key is None or not any(key in row.values for row in figures):
            key = next(iter(figures[0].values))
        yield _curve(figures[0].source, key, _of_papers(figures, key, known), [])


def _curve(
    title: str, key: MetricKey | None, models: Sequence[tuple[str, SizedScore | None]], notes: Sequence[str]
) -> SizeCurve:
    points = sorted((point for _, point in models if point is not None), key=lambda each: each.billions)
    unsized = tuple(dict.fromkeys(name for name, point in models if point is None))
    return SizeCurve(title, ": ".join(key or ()), tuple(points), unsized, tuple(notes))


def _size_of(model: str, known: Mapping[str, float]) -> tuple[float, str] | None:
    """The size of a model, and where it is from; a file goes before a name."""
    if model in known:
        return known[model], "file"
    size = size_in_name(model)
    return None if size is None else (size, "name")


def _of_run(label: str, result: ScoreResult, metric: Metric, known: Mapping[str, float]) -> SizedScore | None:
    size = _size_of(result.model, known)
    if size is None or metric.value is None:
        return None
    where = str(result.folder)
    return SizedScore(result.model, label, MEASURED, *size, metric.value, metric, result, where)


def _of_papers(
    figures: Sequence[Published], key: MetricKey, known: Mapping[str, float]
) -> list[tuple[str, SizedScore | None]]:
    points: list[tuple[str, SizedScore | None]] = []
    for row in published_rows(figures):
        cell = row.cells.get(key)
        if cell is None or cell.value is None:
            continue
        size = _size_of(row.model, known)
        point = (
            None
            if size is None
            else SizedScore(row.model, row.model, PUBLISHED, *size, cell.value, None, None, cell.source)
        )
        points.append((row.model, point))
    return points


def _print(curve: SizeCurve) -> None:
    rows = [
        [
            point.label,
            point.kind,
            f"{point.billions:,.4g}",
            format_share(point.value),
            "" if point.metric is None else format_rate_ends(point.metric),
            "" if point.metric is None else format_counts(point.metric),
        ]
        for point in curve.points
    ]
    heads = ["", "", "billions", curve.number, ENDS_HEAD, ""]
    if rows:
        title = f"{curve.title}: {curve.number} by model size"
        tables.print_grid(title, heads, rows, sentences=(1,), keys=1)
    else:
        print_wrapped(f"{curve.title}: nothing to show by model size")
    if curve.unsized:
        print_wrapped(f"Left out, since no size is known of {_remedy(curve.unsized)}")
    for note in curve.notes:
        print_wrapped(note)


def _remedy(models: Sequence[str]) -> str:
    return (
        f"{', '.join(models)}; --sizes FILE gives sizes: CSV with the first line model,size and billions of parameters, "
        "such as NAME,7"
    )


def _chart_name(curve: SizeCurve, number: int) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", curve.title.lower()).strip("-")[:60]
    return f"model_sizes-{number + 1}-{words}.svg"


def _write(curves: Sequence[SizeCurve], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    lines = [_csv_row(curve, point) for curve in curves for point in curve.points]
    write_file(out / CSV_NAME, rows_csv(_COLUMNS, lines))
    print_err(f"Every number: {out / CSV_NAME}")
    from wildtool.report import missing_libraries

    if missing_libraries():
        print_err("No charts: pip install 'wildtool[report]' draws them")
        return
    for number, curve in enumerate(curves):
        if curve.points:
            path = out / _chart_name(curve, number)
            write_file(path, _MARK + _draw(curve))
            print_err(f"Chart: {path}")


def _csv_row(curve: SizeCurve, point: SizedScore) -> list[object]:
    metric, evidence = point.metric, None if point.result is None else point.result.evidence
    counts = [None] * 4 if metric is None else [metric.low, metric.high, metric.numerator, metric.denominator]
    possible = [None] * 2 if metric is None else [metric.least, metric.most]
    failed = [None] * 2 if evidence is None else [evidence.units, evidence.failed]
    return [
        curve.title,
        curve.number,
        point.model,
        point.kind,
        point.billions,
        point.size_from,
        point.value,
        *counts,
        *failed,
        point.source,
        *possible,
    ]


def _draw(curve: SizeCurve) -> bytes:
    from wildtool.report.charts.data import ChartData, ChartPoint
    from wildtool.report.charts.render import render_chart

    families = [(family(point.model), point.kind) for point in curve.points]
    several = {each for each in families if families.count(each) > 1}
    points = [
        ChartPoint(
            f"{name} ({kind})" if (name, kind) in several else f"others ({kind})",
            point.label,
            point.value,
            *((None, None) if point.metric is None else ends_of(point.metric)),
            f"{point.billions:g} billion, {format_share(point.value)}",
            at=point.billions,
            is_open=point.metric is not None and format_open(point.metric) is not None,
        )
        for point, (name, kind) in zip(curve.points, families, strict=True)
    ]
    said = "; ".join(f"{point.name}: {point.text}" for point in points)
    chart = ChartData(
        title=f"{curve.title}: {curve.number} by model size",
        about=f"Points, those of one family joined, with 95 % intervals where measured here. {said}.",
        points=tuple(points),
        models=tuple(dict.fromkeys(point.model for point in points)),
        names=tuple(dict.fromkeys(point.name for point in points)),
        kind="sizes",
        percent=True,
        axis="billions of parameters (log scale)",
        values=curve.number,
    )
    return render_chart(chart).svg
