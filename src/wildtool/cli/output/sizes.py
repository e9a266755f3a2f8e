"""Prints curves of accuracy by the number of tools, and writes them as a table and as a chart."""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.engine.score.formatting import (
    ENDS_HEAD,
    counted,
    format_open,
    format_points,
    format_range,
    format_rate_ends,
    format_share,
)
from wildtool.outputs import check_file, write_file
from wildtool.sanitize import csv_safe
from wildtool.table import ends_of
from wildtool.terminal import print_err, print_wrapped, single_line
from wildtool.terminal.tables import print_grid
from wildtool.tools.break_even import BreakEven
from wildtool.tools.breaks import Break
from wildtool.tools.size_curve import SizePoint, SizeSeries, exposure_gains, size_series

if TYPE_CHECKING:
    from wildtool.report.charts.data import ChartPoint

SIZE_COLUMNS = (
    "series", "size", "accuracy", "low", "high", "units", "without_verdict", "difference", "diff_low", "diff_high",
    "p_holm", "called_a_distractor", "retriever_recall", "tokens_per_unit", "usd_per_unit", "folder", "least", "most",
)  # fmt: skip
_MARK = b"<!-- written by wildtool compare -->\n"
"""First line of a chart, by which a later one knows that it may replace it."""


def show_size_curve(
    runs: Sequence[Path], profile: str | None, prices: Path | None, out: Path | None, *, force: bool
) -> int:
    """Shows how accuracy falls with the number of tools; gives the exit status.

    Args:
        out: folder for `sizes.csv` and the chart; None for neither.
        force: whether they may replace files that wildtool did not make.
    """
    if out is not None:
        for name in ("sizes.csv", "sizes.svg"):
            check_file(out / name, force=force)
    show_sizes(size_series(runs, profile, prices), out)
    return 0


def show_sizes(series: Sequence[SizeSeries], out: Path | None) -> None:
    """Prints each series with the sentence on its break; writes `sizes.csv` and, with the extra [report], `sizes.svg`."""
    for each in series:
        _print_series(each)
        print_wrapped(break_sentence(each.place))
        if failed := sum(point.without_verdict for point in each.points):
            tried = counted(sum(point.tries for point in each.points), "unit")
            print_wrapped(
                f"Without a verdict, since calls failed or were not made, and counted as wrong: {failed:,} of {tried} at "
                "all sizes together, each repeat counted."
            )
        for line in filter(None, (point.trust for point in each.points)):
            print_wrapped(line)
        used = [
            f"{point.used.units} of {point.tries} at {point.size:,} tools"
            for point in each.points
            if 0 < point.used.units < point.tries
        ]
        if used:
            print_wrapped(f"Tokens and USD a unit are of the units that have tokens: {', '.join(used)}.")
    for gain in exposure_gains(series):
        print_wrapped(
            f"{single_line(gain.exposure)} against shown tools, {single_line(gain.title)}: "
            f"{gain_words('accuracy', gain.accuracy)}; {gain_words('tokens', gain.tokens)}."
        )
    print_wrapped(
        "Differences are in points against the smallest size, paired on the same units; intervals are clustered by item."
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(SIZE_COLUMNS)
        table.writerows(map(csv_safe, _row(each, point)) for each in series for point in each.points)
        write_file(out / "sizes.csv", text.getvalue().encode())
        print_err(f"Every number: {out / 'sizes.csv'}")
        if (path := _draw(series, out)) is not None:
            print_err(f"Chart: {path}")


def break_sentence(place: Break) -> str:
    """What is known of where accuracy breaks."""
    if place.size is None:
        return f"Break: none placed. {place.reason[:1].upper()}{place.reason[1:]}."
    interval = f"[{place.low:,.0f}, {place.high:,.0f}]"
    return f"Break: at {place.size:,.0f} tools {interval}; up to there accuracy holds, then it falls."


def gain_words(what: str, place: BreakEven) -> str:
    """From how many tools on an exposure pays in one amount."""
    if place.reason:
        return f"{what}: not known where it pays, since {place.reason}"
    if place.size == math.inf:
        words = "does not pay at the largest size"
    else:
        words = f"pays from {place.size:,.0f} tools on" if place.size else "pays at all sizes"
    if place.low == place.high:
        return f"{what}: {words}, as at both ends of the 95 % interval"
    low = f"{place.low:,.0f}" if place.low else "fewer"
    high = "more" if place.high == math.inf else f"{place.high:,.0f}"
    return f"{what}: {words} [{low}, {high}]"


def _print_series(series: SizeSeries) -> None:
    recalls = any(point.recall for point in series.points)
    heads = ["tools", "correct", ENDS_HEAD, "difference", "95 %", "p (Holm)", "called a distractor"]
    heads += [*(["recall of retriever"] if recalls else []), "tokens a unit", "USD a unit"]
    rows: list[list[str]] = []
    for point in series.points:
        accuracy, pairs = point.accuracy, point.pairs
        row = [f"{point.size:,}", format_share(accuracy.value), format_rate_ends(accuracy)]
        if pairs is None:
            row += ["", "", ""]
        else:
            assert point.p is not None
            drop = pairs.difference
            row += [format_points(drop.value), format_range(drop.low, drop.high, signed=True), _p(point.p)]
        shares = [point.distractors, *([point.recall] if recalls else [])]
        row += ["" if each is None or each.value is None else format_share(each.value) for each in shares]
        row += [
            "–" if point.used.tokens is None else f"{point.used.tokens:,.0f}",
            "–" if point.used.cost is None else f"{point.used.cost:.5f}",
        ]
        rows.append(row)
    print_grid(series.title, heads, rows)


def _p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _row(series: SizeSeries, point: SizePoint) -> list[object]:
    drop = None if point.pairs is None else point.pairs.difference
    differences = [None] * 3 if drop is None else [drop.value, drop.low, drop.high]
    shares = [None if each is None else each.value for each in (point.distractors, point.recall)]
    accuracy = point.accuracy
    size = [series.title, point.size, accuracy.value, accuracy.low, accuracy.high, point.units]
    rest = [
        point.p,
        *shares,
        point.used.tokens,
        point.used.cost,
        str(point.folder),
        accuracy.least,
        accuracy.most,
    ]
    return [*size, point.without_verdict, *differences, *rest]


def _draw(series: Sequence[SizeSeries], out: Path) -> Path | None:
    from importlib.util import find_spec

    if not all(find_spec(library) for library in ("altair", "vl_convert")):
        return None
    from wildtool.report.charts.data import ChartData
    from wildtool.report.charts.render import render_chart

    points = tuple(_chart_point(each.label, point) for each in series for point in each.points)
    sizes = sorted({point.size for each in series for point in each.points})
    about = "; ".join(f"{point.model}, {point.name} tools: {point.text}" for point in points)
    chart = ChartData(
        "Correct by number of tools",
        about,
        points,
        tuple(each.label for each in series),
        tuple(f"{size:,}" for size in sizes),
        "lines",
        True,
        "tools",
        "correct (%)",
    )
    write_file(out / "sizes.svg", _MARK + render_chart(chart).svg)
    return out / "sizes.svg"


def _chart_point(label: str, point: SizePoint) -> "ChartPoint":
    from wildtool.report.charts.data import ChartPoint

    accuracy = point.accuracy
    low, high = ends_of(accuracy)
    text, is_open = format_share(accuracy.value), format_open(accuracy) is not None
    return ChartPoint(label, f"{point.size:,}", accuracy.value, low, high, text, is_open=is_open)
