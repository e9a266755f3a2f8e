"""The page of a suite: one number of each benchmark for each model, side by side with intervals."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from wildtool.benchmarks import TOLEAP
from wildtool.engine.compare.leaderboard import mode_name, parts_line, run_labels, table_titles, trust_line
from wildtool.engine.compare.published import MetricKey
from wildtool.engine.compare.runs import agent_settings
from wildtool.engine.score.formatting import format_direction, format_value
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.suite import OVERALL_CAVEAT, suite_headline
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.theme import model_colours
from wildtool.report.links import TRAJECTORIES, units_of_number
from wildtool.report.model import ReportRun
from wildtool.report.pages.metrics import add_pictures
from wildtool.report.site.site import Site
from wildtool.stats.metrics import best_first
from wildtool.table import Cell, Head, MetricTable, Row, cell_of, ends_of
from wildtool.table.csv_file import rows_csv
from wildtool.types import Metric

PAGE = "across"
OF_TOLEAP = "ToLeaP's"
"""Mark of a number that ToLeaP's paper takes for a benchmark where our headline is another one."""
OF_OURS = "our headline"
_CSV_COLUMNS = (
    "benchmark",
    "number",
    "model",
    "run",
    "mode",
    "value",
    "low",
    "high",
    "numerator",
    "denominator",
    "failed",
    "least",
    "most",
)


@dataclass(frozen=True, slots=True)
class SuiteNumber:
    """One number of a model in one benchmark."""

    panel: str
    """Benchmark and number."""
    label: str
    """The model, with its mode or run where several runs of it are shown."""
    result: ScoreResult
    metric: Metric

    @property
    def head(self) -> Head:
        return Head("", self.panel, better=self.metric.better)


def add_across(site: Site, runs: Sequence[ReportRun], *, better_mode: bool) -> None:
    """Adds the page, unless all runs are of one benchmark.

    Args:
        better_mode: whether to show of runs that differ in their mode alone only the better one of each model.
    """
    if len({run.result.benchmark for run in runs}) < 2:
        return
    shown, choices = choose_modes(runs) if better_mode else (list(runs), [])
    results = [run.result for run in shown]
    numbers = list(_numbers(results))
    table = _table(numbers)
    drawing = _drawing(numbers, table)
    lacking = [
        f"{result.benchmark}, {result.model}: no headline, since these items leave out {', '.join(result.lacks)}."
        for result in results
        if result.lacks
    ]
    site.add(
        PAGE,
        "Across benchmarks",
        "across.html",
        pictures=add_pictures(
            site, [replace(drawing, colours=_colours(site, numbers))] if numbers else [], PAGE
        ),
        table=table,
        units=_units(site, numbers, [each.result for each in runs]),
        csv=site.file(f"files/{PAGE}.csv", rows_csv(_CSV_COLUMNS, map(_csv_row, numbers))),
        choices=choices,
        choosing=CHOOSING if choices else "",
        notes=[
            *lacking,
            *filter(None, [parts_line(results)]),
            *filter(None, map(trust_line, (f"{r.benchmark}, {r.model}" for r in results), results)),
            OVERALL_CAVEAT,
        ],
    )


CHOOSING = (
    "The better of the modes of each model, as ToLeaP takes the better of chat and streaming. It is chosen by the same"
    " items that it is then scored on, so it is a little too high, the more so the fewer they are."
)


def choose_modes(runs: Sequence[ReportRun]) -> tuple[list[ReportRun], list[str]]:
    """Of runs that differ in their mode alone the one with the better number, and a sentence on each choice.

    Where modes of a model cannot be compared all of its runs stay, and a sentence says why.
    """
    groups: dict[tuple[str, ...], list[ReportRun]] = {}
    modes_of: dict[tuple[str, str], set[str]] = {}
    titles = table_titles([_without_mode(run.result) for run in runs])
    for title, run in zip(titles, runs, strict=True):
        settings = json.dumps(agent_settings(run.about["identity"]), sort_keys=True, default=str)
        groups.setdefault((title, run.result.model, run.result.items_md5, settings), []).append(run)
        modes_of.setdefault(_model_in_benchmark(run), set()).add(mode_name(run.result))
    kept: list[ReportRun] = []
    sentences: list[str] = []
    for group in groups.values():
        modes = {mode_name(run.result) for run in group}
        if len(group) == len(modes) > 1:
            best, sentence = _better(group)
            kept += best
            sentences.append(sentence)
            continue
        kept += group
        its = _model_in_benchmark(group[0])
        if len(modes_of[its]) > 1:
            sentences.append(
                f"{', '.join(its)}: nothing was chosen of {', '.join(run.result.run for run in group)}, since no other"
                " run differs in its mode alone, or several runs are in one mode."
            )
    every = "No model has runs in several modes, so nothing was chosen."
    return [run for run in runs if any(run is each for each in kept)], sentences or [every]


def _model_in_benchmark(run: ReportRun) -> tuple[str, str]:
    return run.result.benchmark, run.result.model


def _better(group: Sequence[ReportRun]) -> tuple[list[ReportRun], str]:
    """The better of runs in several modes, and why; all of them where they cannot be compared."""
    first = group[0].result
    name = f"{first.benchmark}, {first.model}"
    numbers = [(run, suite_headline(run.result, "toleap")) for run in group]
    values = [
        (run, metric)
        for run, metric in numbers
        if metric is not None and metric.value is not None and metric.better
    ]
    missing = [mode_name(run.result) for run in group if not run.result.evidence.complete]
    if missing or len(values) < len(group):
        why = (
            f"units without a verdict in mode {', '.join(missing)}"
            if missing
            else "a mode without its headline"
        )
        return list(group), f"{name}: nothing was chosen, because of {why}; every mode is shown."
    values.sort(key=lambda pair: best_first(pair[1].value, pair[1].better))
    (best, top), *others = values
    rest = ", ".join(f"{mode_name(run.result)} has {format_value(metric)}" for run, metric in others)
    chosen = f"{mode_name(best.result)}, {format_value(top)} of {first.counts.units:,} units"
    return [best], f"{name}: {chosen}; {rest}."


def _without_mode(result: ScoreResult) -> ScoreResult:
    return replace(result, mode=None)


def _numbers(results: Sequence[ScoreResult]) -> Iterator[SuiteNumber]:
    """The numbers of all benchmarks, each benchmark's together."""
    titles = table_titles(list(map(_without_mode, results)))
    labels = _labels(results, titles)
    for benchmark in dict.fromkeys(result.benchmark for result in results):
        its = [
            (title, label, r)
            for title, label, r in zip(titles, labels, results, strict=True)
            if r.benchmark == benchmark
        ]
        alone = len({title for title, _, _ in its}) == 1
        for title, label, result in its:
            where = benchmark if alone else title
            for mark, metric in _metrics(result):
                noted = ", ".join(filter(None, (mark, format_direction(metric.better))))
                panel = f"{where}: {metric.group}, {metric.name}" + (f" ({noted})" if noted else "")
                yield SuiteNumber(panel, label, result, metric)


def _metrics(result: ScoreResult) -> Iterator[tuple[str, Metric]]:
    """What a benchmark is shown by: the number that ToLeaP takes for it, and our headline where that is another."""
    ours = suite_headline(result)
    toleaps = suite_headline(result, "toleap") if result.benchmark in TOLEAP else None
    differ = (
        toleaps is not None and ours is not None and (toleaps.group, toleaps.name) != (ours.group, ours.name)
    )
    if toleaps is not None and differ:
        yield OF_TOLEAP, toleaps
    if ours is not None:
        yield OF_OURS if differ else "", ours


def _labels(results: Sequence[ScoreResult], titles: Sequence[str]) -> list[str]:
    """Models, with their mode where that tells their runs apart, and otherwise with what `run_labels` adds."""
    labels = [""] * len(results)
    for title in dict.fromkeys(titles):
        places = [place for place, each in enumerate(titles) if each == title]
        its = [results[place] for place in places]
        for place, result, label in zip(places, its, run_labels(its), strict=True):
            same = [each for each in its if each.model == result.model]
            by_mode = len(same) > 1 and len({mode_name(each) for each in same}) == len(same)
            labels[place] = f"{result.model} ({mode_name(result)})" if by_mode else label
    return labels


def _units(
    site: Site, numbers: Sequence[SuiteNumber], results: Sequence[ScoreResult]
) -> dict[tuple[str, MetricKey], str]:
    """By the name of a row and the key of a column: the address of the units behind the number.

    Args:
        results: of all runs of the report.
    """
    runs = {id(result): run for run, result in enumerate(results)}
    return {
        (each.label, each.head.key): site.link(
            TRAJECTORIES, units_of_number(runs[id(each.result)], (each.metric.group, each.metric.name))
        )
        for each in numbers
    }


def _drawing(numbers: Sequence[SuiteNumber], table: MetricTable) -> ChartData:
    points = tuple(_point(each, table) for each in numbers if each.metric.value is not None)
    description = "; ".join(f"{point.name}, {point.model}: {point.text}" for point in points)
    return ChartData(
        title="Each benchmark's number by model, with 95 % intervals",
        about=f"A panel for each benchmark, a bar for each model. {description}. All numbers are in the table below.",
        points=points,
        models=tuple(dict.fromkeys(point.model for point in points)),
        names=tuple(dict.fromkeys(point.name for point in points)),
        kind="panels",
        percent=all(each.metric.kind == "rate" for each in numbers),
    )


def _colours(site: Site, numbers: Sequence[SuiteNumber]) -> dict[str, str]:
    """The colour of each label: that of its model on the other pages, where it has one there."""
    known = [site.colours.get(number.label, site.colours.get(number.result.model)) for number in numbers]
    its = model_colours([*site.colours, *(number.label for number in numbers)])
    return {number.label: colour or its[number.label] for number, colour in zip(numbers, known, strict=True)}


def _point(number: SuiteNumber, table: MetricTable) -> ChartPoint:
    metric = number.metric
    assert metric.value is not None
    cell = cell_of(metric)
    text = " ".join(filter(None, (cell.value, cell.interval, cell.counts)))
    low, high = ends_of(metric)
    return ChartPoint(
        number.label,
        number.panel,
        metric.value,
        low,
        high,
        text,
        cell=([row.label for row in table.rows].index(number.label), 1 + table.heads.index(number.head)),
        short=cell.value,
        is_open=cell.is_open,
    )


def _table(numbers: Sequence[SuiteNumber]) -> MetricTable:
    rows: dict[str, dict[tuple[str, str], Cell]] = {}
    heads = dict.fromkeys(number.head for number in numbers)
    for number in numbers:
        rows.setdefault(number.label, {})[number.head.key] = cell_of(number.metric)
    return MetricTable(
        "Across benchmarks",
        tuple(heads),
        tuple(Row(label=label, cells=cells) for label, cells in rows.items()),
    )


def _csv_row(number: SuiteNumber) -> Sequence[object]:
    metric, result = number.metric, number.result
    return [
        result.benchmark,
        f"{metric.group}: {metric.name}",
        result.model,
        result.run,
        mode_name(result),
        metric.value,
        metric.low,
        metric.high,
        metric.numerator,
        metric.denominator,
        (metric.evidence or result.evidence).failed,
        metric.least,
        metric.most,
    ]
