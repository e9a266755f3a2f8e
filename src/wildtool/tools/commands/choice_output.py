"""Prints what runs over a catalogue show, as tables or as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wildtool.engine.score.formatting import counted, format_points, format_range, format_share
from wildtool.json_codec import dumps
from wildtool.terminal import print_out, print_wrapped
from wildtool.terminal.tables import print_grid
from wildtool.tools.confusion import ChoiceReport, ShareRange
from wildtool.tools.versions import VersionComparison, VersionPart

MOST_ROWS = 20
"""Rows of a table in the terminal; the page and JSON have all."""
VERSION_HEADS = ("old", "new", "difference", "95 %", "p", "gained", "lost")
"""Of the numbers of a part."""
BLAME_NOTE = (
    "To blame: after a wrong call the same request is put once more without that tool. If the right tool is called then, "
    "the text of the wrong one draws; if not, the text of the right one is not recognised."
)
FEW_NOTE = "A finding's effect compares tools that have it with others, which may differ in more; --ab compares texts."


def print_choices(report: ChoiceReport) -> None:
    """Confusions, tools and findings of one run."""
    numbers = f"{counted(len(report.definitions), 'tool')}, {counted(report.requests, 'request')}"
    title = f"{report.result.model}: {numbers}"
    if report.counted == "samples":
        title += f" with {len(report.choices)} samples"
    print_wrapped(f"{title}, {format_share(report.right[0])} right {format_range(*report.right[1:])}.")
    if report.trust:
        print_wrapped(report.trust)
    rows: list[list[str]] = []
    for each in report.confusions[:MOST_ROWS]:
        counts = [f"{each.count}/{each.of}", f"{each.drawn}/{each.count}"]
        rows.append([each.expected, each.pick, *counts, each.blamed or "–"])
    if rows:
        print_grid("Confusions", ["needed", "called", "times", "right without it", "to blame"], rows)
        for each in report.confusions[:3]:
            print_wrapped(f"{each.expected} / {each.pick}: {each.advice}")
    tools: list[list[str]] = []
    for each in report.tools[:MOST_ROWS]:
        counts = map(str, (each.samples, each.drew, each.blamed))
        tools.append([each.name, *_rate(each.right), *counts, _rules(each.findings)])
    heads = ["tool", "right", "95 %", report.counted, "drew others'", "blamed", "findings"]
    print_grid("Tools, those to improve first", heads, tools, sentences=(6,))
    if report.effects:
        effects: list[list[str]] = []
        for each in report.effects:
            shares = [_rate(each.with_it)[0], _rate(each.without)[0]]
            effects.append([each.rule, str(each.tools), *shares, *_points(each.difference)])
        print_grid("Findings", ["rule", "tools", "right with it", "without", "difference", "95 %"], effects)
        print_wrapped(FEW_NOTE)
    if report.confusions:
        print_wrapped(BLAME_NOTE)
    if report.without_verdict:
        print_wrapped(
            f"{report.without_verdict} {report.counted} have no verdict, since calls failed, and count as not right."
        )


def print_versions(comparison: VersionComparison) -> None:
    """The paired difference of two versions."""
    edited = counted(len(comparison.edited), "tool differs", "tools differ")
    print_wrapped(f"{comparison.old.result.model}: {edited} between the two versions.")
    rows = [version_row(part) for part in comparison.parts]
    print_grid("New against old", ["", "requests", *VERSION_HEADS], rows)
    print_wrapped(
        "The same requests to both versions; intervals are clustered by item, p is of the exact paired test."
    )
    if missing := comparison.parts[0].missing:
        print_wrapped(missing_note(missing))
    for name, side in (("old", comparison.old), ("new", comparison.new)):
        if side.trust:
            print_wrapped(f"{name}: {side.trust}")
    for caveat in comparison.caveats:
        print_wrapped(f"{caveat}.")
    for before, after in comparison.flips[:MOST_ROWS]:
        verb = "lost" if before.outcome == "correct" else "gained"
        print_wrapped(f"{verb}: {before.text!r} called {before.pick}, now {after.pick}")


def missing_note(requests: int) -> str:
    """What must be known where calls failed."""
    lack = counted(requests, "request lacks", "requests lack")
    return (
        f"{lack} a verdict in a version, since calls failed: shares count that as not right, intervals and p hold "
        "whatever the verdict would be."
    )


def version_row(part: VersionPart) -> list[str]:
    """The cells of a part, the last under `VERSION_HEADS`."""
    shares = [format_share(part.old), format_share(part.new), format_points(part.difference)]
    p = "<0.001" if part.p < 0.001 else f"{part.p:.3f}"
    ends = format_range(part.low, part.high, signed=True)
    return [part.name, str(part.requests), *shares, ends, p, str(part.gained), str(part.lost)]


def _rate(rate: ShareRange | None) -> tuple[str, str]:
    return ("–", "") if rate is None else (format_share(rate[0]), format_range(*rate[1:]))


def _points(rate: ShareRange | None) -> tuple[str, str]:
    if rate is None:
        return "too few tools", ""
    return format_points(rate[0]), format_range(*rate[1:], signed=True)


def _rules(findings: Sequence[Any]) -> str:
    return ", ".join(dict.fromkeys(each.rule for each in findings))


def print_json(reports: Sequence[ChoiceReport], comparisons: Sequence[VersionComparison]) -> None:
    """Every number."""
    rows = {"runs": [*map(_report_json, reports)], "versions": [*map(_comparison_json, comparisons)]}
    print_out(dumps(rows).decode())


def _report_json(report: ChoiceReport) -> Mapping[str, Any]:
    pairs = [{**asdict(each), "blamed": each.blamed, "advice": each.advice} for each in report.confusions]
    its = {"model": report.result.model, "run": str(report.result.folder), "right": report.right}
    counts = {
        "requests": report.requests,
        "samples": len(report.choices),
        "without_verdict": report.without_verdict,
        "trust": [asdict(remark) for remark in report.result.trust],
    }
    tools, effects = ([asdict(each) for each in rows] for rows in (report.tools, report.effects))
    return {**its, **counts, "tools": tools, "confusions": pairs, "findings": effects}


def _comparison_json(comparison: VersionComparison) -> Mapping[str, Any]:
    parts = [asdict(each) for each in comparison.parts]
    its = {"model": comparison.old.result.model, "changed": sorted(comparison.edited), "parts": parts}
    return {**its, "caveats": comparison.caveats}
