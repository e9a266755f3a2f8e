"""Draws comparisons over several benchmarks as terminal tables, and writes them as JSON and CSV."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from wildtool.cli.output import comparison as output
from wildtool.cli.output.comparison import COMPARISON_CSV_COLUMNS, ComparisonReport
from wildtool.engine.compare.leaderboard import INCOMPLETE, parts_line, trust_line
from wildtool.engine.compare.runs import ComparedRun, caveats, incompatibilities
from wildtool.engine.compare.suites import OVERALL, SuitePair, omission_lines
from wildtool.engine.score.formatting import format_p, format_possible, format_range
from wildtool.terminal import print_rows, print_wrapped, single_line
from wildtool.terminal.tables import print_grid

LINE_HEADS = ("units", "baseline", "accuracy", "difference", "95 %", "p (Holm)", "finding")
"""Heads of the columns of `line_cells` after the benchmark's."""


def suite_report(pairs: Sequence[SuitePair], metric: str, *, only_played: bool) -> ComparisonReport:
    """The comparisons inside benchmarks, in the order of the pairs, with their runs and what must be said of them."""
    runs: dict[int, ComparedRun] = {}
    differing: list[str] = []
    remarks: dict[str, None] = {}
    for pair in pairs:
        for name in pair.benchmarks:
            both = pair.old.runs[name], pair.new.runs[name]
            runs |= {id(run): run for run in both}
            remarks |= dict.fromkeys(caveats(both))
            between = f"{name}: {pair.old.label} and {pair.new.label} differ in"
            differing += [f"{between} {difference}" for difference in incompatibilities(*both)]
    comparisons = [comparison for pair in pairs for comparison in pair.benchmarks.values()]
    return ComparisonReport(
        (*runs.values(),), (*comparisons,), metric, only_played, (*differing,), (*remarks,), ()
    )


def print_suites(pairs: Sequence[SuitePair], report: ComparisonReport) -> None:
    """A table for each pair with a line for each benchmark, and what must be said with it."""
    output.print_comparison_head(report)
    title = "accuracy by unit" if report.metric == "unit" else "items with all units right"
    for pair in pairs:
        against = f"{single_line(pair.new.label)} against {single_line(pair.old.label)}"
        print_grid(f"{against}: {title}", ["", *LINE_HEADS], line_cells(pair), sentences=[len(LINE_HEADS)])
        if len(pair.benchmarks) + len(pair.left_out) > 1:
            print_wrapped(f"{overall_sentence(pair)}\n")
    if line := parts_line(run.result for run in report.runs):
        print_wrapped(line)
    for line in omission_lines(pairs):
        print_wrapped(single_line(line, 2_000))
    print_wrapped(
        "Differences are in points, paired on the same units inside each benchmark; p is corrected by Holm's method for "
        "every line of all tables. Accuracy is the share of correct units, which is not every benchmark's first number "
        "(`wildtool show`)."
    )
    output.print_missing_note(report)
    for run in report.runs:
        if line := trust_line(f"{run.label}, {run.result.benchmark}", run.result):
            print_wrapped(line)


def line_cells(pair: SuitePair) -> list[list[str]]:
    """The cells of each benchmark, and of the overall."""
    return [
        [
            _line_name(name, pair),
            str(part.units),
            *(format_possible(each) for each in (part.baseline_accuracy, part.accuracy)),
            output.part_difference(part),
            format_range(part.low, part.high, signed=True),
            format_p(line.p_holm),
            line.finding,
        ]
        for name, line in pair.lines.items()
        for part in (line.whole,)
    ]


def overall_sentence(pair: SuitePair) -> str:
    """What the benchmarks come to, and over which of them."""
    overall = pair.overall
    if overall is None:
        return "No overall: fewer than two benchmarks have every verdict in all of these runs."
    number = f"{len(overall.benchmarks)} of {len(pair.benchmarks)} benchmarks"
    covered = f"Over {number} ({', '.join(overall.benchmarks)}), each counted once,"
    new, old = single_line(pair.new.label), single_line(pair.old.label)
    if overall.finding == "not distinguishable":
        size = f"a difference of {100 * overall.detectable:.1f} points would be found four times out of five"
        return f"{covered} {new} and {old} are not distinguishable; {size}."
    size = f"{abs(100 * overall.whole.difference):.1f} points"
    return f"{covered} {new} is {overall.finding} than {old} by {size} on average."


def print_suites_json(pairs: Sequence[SuitePair], report: ComparisonReport) -> None:
    """Everything, flips included."""
    document = output.comparison_document(report)
    rows = zip((name for pair in pairs for name in pair.benchmarks), document["comparisons"], strict=True)
    document["comparisons"] = [{"benchmark": name, **row} for name, row in rows]
    overalls = [pair.overall for pair in pairs if pair.overall]
    document["overall"] = [asdict(each) | {"finding": each.finding} for each in overalls]
    document["left_out"] = [
        {"baseline": pair.old.label, "model": pair.new.label, "benchmark": name, "reason": reason}
        for pair in pairs
        for name, reason in pair.left_out.items()
    ]
    print(json.dumps(document, indent=1))


def print_suites_csv(pairs: Sequence[SuitePair], report: ComparisonReport) -> None:
    """One benchmark of a pair a row, then the overalls."""
    names = (name for pair in pairs for name in pair.benchmarks)
    rows = [[name, *row] for name, row in zip(names, output.comparison_rows(report), strict=True)]
    for overall in (pair.overall for pair in pairs if pair.overall):
        cells: dict[str, Any] = asdict(overall.whole) | asdict(overall) | {"metric": report.metric}
        cells |= {side: cells[side]["value"] for side in ("baseline_accuracy", "accuracy")}
        cells["finding"] = overall.finding
        rows.append([OVERALL, *(cells.get(column, "") for column in COMPARISON_CSV_COLUMNS)])
    print_rows(("benchmark", *COMPARISON_CSV_COLUMNS), rows)


def _line_name(name: str, pair: SuitePair) -> str:
    excluded = pair.overall is not None and name not in (*pair.overall.benchmarks, OVERALL)
    missing = pair.lines[name].whole.missing
    return name + INCOMPLETE * bool(missing) + ", not in the overall" * excluded
