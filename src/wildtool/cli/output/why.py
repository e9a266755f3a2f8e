"""`wildtool show --why`: what a number is, and the units behind it."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from wildtool.cli.command import report_error, worst_status
from wildtool.cli.options.show import ShowOptions
from wildtool.engine.score.explain import CountedUnit, Explanation, explain
from wildtool.engine.score.formatting import (
    counted,
    format_counts,
    format_interval,
    format_open,
    format_value,
)
from wildtool.engine.score.results import run_folders
from wildtool.errors import WildtoolError
from wildtool.terminal import print_out, print_rows, print_wrapped
from wildtool.terminal.tables import print_grid
from wildtool.types import Metric

UNITS_SHOWN = 20
"""Units that are printed unless all are asked for."""
_COLUMNS = ("item", "repeat", "unit", "outcome", "error", "reason", "numerator", "denominator")


def show_why(show_options: ShowOptions, name: str) -> int:
    """Explains a number of each run. Gives the exit status for runs that cannot be read or lack it."""
    explanations: list[Explanation] = []
    statuses: list[int] = []
    for folder in (folder for path in show_options.runs or () for folder in run_folders(path)):
        try:
            explanations.append(explain(folder, name, show_options.profile))
        except WildtoolError as error:
            statuses.append(report_error(error))
    if show_options.as_json:
        print(json.dumps({"numbers": [_as_json(each) for each in explanations]}, indent=1))
    elif show_options.as_csv:
        rows = [
            (each.result.model, f"{each.metric.group}: {each.metric.name}", *asdict(unit).values())
            for each in explanations
            for unit in each.units
        ]
        print_rows(("model", "number", *_COLUMNS), rows)
    else:
        for number, each in enumerate(explanations):
            if number:
                print_out("")
            _print(each, None if show_options.every else UNITS_SHOWN)
    return worst_status(statuses)


def _as_json(explanation: Explanation) -> dict[str, object]:
    result = explanation.result
    return {
        "run": result.run,
        "model": result.model,
        "benchmark": result.benchmark,
        "profile": result.profile,
        **asdict(explanation.metric),
        "formula": explanation.formula,
        "about": explanation.about,
        "units": [asdict(unit) for unit in explanation.units],
    }


def _print(explanation: Explanation, most: int | None) -> None:
    metric, result = explanation.metric, explanation.result
    print_wrapped(
        f"{metric.group}: {metric.name} of {result.model} ({result.benchmark}, {result.profile_label})"
    )
    for label, text in _facts(explanation):
        print_wrapped(f"{label}: {text}")
    units = explanation.units[:most]
    if not units:
        return
    print_out("")
    repeated = any(unit.repeat for unit in explanation.units)
    heads = ["item", *(["repeat"] if repeated else []), "unit", "counts", "outcome", "error", "reason"]
    title = f"{len(units):,} of {counted(len(explanation.units), 'unit')}"
    print_grid(title, heads, [_cells(unit, repeated) for unit in units], sentences=[len(heads) - 1])
    words = ["wildtool", "show", str(result.folder), "--why", f"{metric.group}: {metric.name}"]
    if result.profile != result.played:
        words += ["--profile", result.profile]
    if len(units) < len(explanation.units):
        print_wrapped(f"All of them: {shlex.join([*words, '--all'])}")
    print_wrapped(f"What the model did, step by step: {shlex.join(['wildtool', 'view', str(result.folder)])}")


def _cells(unit: CountedUnit, repeated: bool) -> Sequence[str]:
    counts = f"{unit.numerator:.3g}/{unit.denominator:.3g}"
    repeat = [str(unit.repeat)] if repeated else []
    return [unit.item, *repeat, unit.unit, counts, unit.outcome, unit.error or "", unit.reason]


def _spread(metric: Metric) -> Iterator[str]:
    """The interval of a number, or what units without a verdict leave open of it; nothing where neither is given."""
    if open_ends := format_open(metric):
        yield f"possible {' to '.join(open_ends)}, by what units without a verdict would be"
    elif ends := format_interval(metric):
        yield f"95 % interval {' to '.join(ends)}, clustered by item"


def _facts(explanation: Explanation) -> Iterator[tuple[str, str]]:
    metric = explanation.metric
    yield "value", ", ".join([format_value(metric), *_spread(metric)])
    if counts := format_counts(metric):
        yield "counts", counts
    yield "formula", explanation.formula
    if not explanation.by_unit:
        yield "units", "the number is no sum over single units; all of the run are listed"
    if explanation.about:
        yield "about", explanation.about
    if metric.note:
        yield "note", metric.note
    evidence = metric.evidence or explanation.result.evidence
    yield (
        "evidence",
        ", ".join(
            _evidence(evidence.played, evidence.failed, evidence.unplayed, evidence.cut_off, evidence.unread)
        ),
    )


def _evidence(
    judged: int, failed: int, unplayed: int, cut_off: int | None, unread: int | None
) -> Iterator[str]:
    yield f"{counted(judged, 'unit')} with a verdict"
    for number, text in (
        (failed, "ended by a failed call, which count as not right"),
        (unplayed, "not run completely, which count as not right"),
        (cut_off, "with a reply that was cut off"),
        (unread, "with a call that no format read"),
    ):
        if number:
            yield f"{number:,} {text}"
