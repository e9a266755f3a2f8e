"""Writes the pages of runs over a catalogue: what to change first, the matrix, the tools, two versions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.benchmarks.own_tools import NO_TOOL, UNKNOWN
from wildtool.engine.score.formatting import format_p, format_points, format_range, format_share
from wildtool.report.site.site import Site
from wildtool.tools.commands.choice_output import BLAME_NOTE, FEW_NOTE, missing_note
from wildtool.tools.confusion import ChoiceReport, ShareRange
from wildtool.tools.versions import VersionComparison

MOST_PAIRS, MOST_DRAWN = 30, 30
"""Pairs that are shown with their texts, and tools in the drawing of the matrix."""
MOST_TOOL_ROWS = 300
"""Tools in the table of a page; JSON has all."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A square of the drawing of what was called where."""

    row: int
    column: int
    shade: float
    """Share of the row's requests, or of their samples."""
    title: str
    right: bool
    half: bool
    """Whether some calls in its place are right and others wrong, as where a request needs one of two tools."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The tools that were confused: those needed in rows, those called in columns."""

    names: Sequence[str]
    cells: Sequence[MatrixCell]
    left_out: int
    """Tools that are not drawn."""


def matrix_of(report: ChoiceReport) -> Matrix:
    """The drawing of the tools that were confused most."""
    calls = Counter(
        (each.expected, each.pick, each.outcome == "correct")
        for each in report.choices
        if each.outcome in ("correct", "wrong")
    )
    wrong: Counter[str] = Counter()
    for each in report.confusions:
        wrong[each.expected] += each.count
        wrong[each.pick] += each.count
    ranked = sorted(wrong, key=lambda name: (-wrong[name], name))
    special = [name for name in (NO_TOOL, UNKNOWN) if name in wrong]
    names = [*sorted([name for name in ranked if name not in special][:MOST_DRAWN]), *special]
    rows = Counter({name: sum(n for (needed, *_), n in calls.items() if needed == name) for name in names})
    cells = [
        MatrixCell(
            names.index(needed),
            names.index(pick),
            round(0.1 + 0.9 * count / rows[needed], 3),
            f"{needed} needed, {pick} called: {count} of {rows[needed]}"
            + ("" if right == (needed == pick) else ", right" if right else ", wrong"),
            right,
            (needed, pick, not right) in calls,
        )
        for (needed, pick, right), count in sorted(calls.items())
        if needed in names and pick in names
    ]
    return Matrix(names, cells, max(0, len(wrong) - len(names)))


def write_pages(
    out: Path, reports: Sequence[tuple[str, ChoiceReport]], comparisons: Sequence[VersionComparison]
) -> Path:
    """Writes the pages into a folder; the first one to open.

    Args:
        reports: with the title of each page.
    """
    site = Site(out, title="wildtool catalogue")

    def add(slug: str, title: str, template: str, **values: Any) -> None:
        more = {
            "share": format_share,
            "ends": _ends,
            "points": format_points,
            "span": format_range,
            "format_p": format_p,
        }
        body: Mapping[str, Any] = {**values, **more}
        site.add(slug, title, template, **body)

    for number, comparison in enumerate(comparisons, 1):
        title = f"{comparison.old.result.model}: new against old"
        slug = "index" if number == 1 else f"versions-{number}"
        add(slug, title, "catalogue_versions.html", comparison=comparison, missing_note=missing_note)
    for number, (title, report) in enumerate(reports, 1):
        values: dict[str, Any] = {
            "report": report,
            "pairs": report.confusions[:MOST_PAIRS],
            "matrix": matrix_of(report),
        }
        values["tools"] = report.tools[:MOST_TOOL_ROWS]
        values["described"] = {each.name: each.description for each in report.tools}
        slug = "index" if number == 1 and not comparisons else f"run-{number}"
        add(slug, title, "catalogue.html", **values, notes=[BLAME_NOTE, FEW_NOTE])
    return site.finish(out)


def _ends(rate: ShareRange | None) -> str:
    return "" if rate is None else format_range(rate[1], rate[2])
