"""Shows where the units of two runs were lost: as a table under a comparison, and as a table and a waterfall in files."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from wildtool.engine.compare.comparison import Comparison, compare_all
from wildtool.engine.compare.load import check_comparable, load_compared_runs
from wildtool.engine.compare.losses import LossSplit
from wildtool.engine.score.formatting import counted, format_points, format_range, format_share
from wildtool.engine.score.results import run_folders
from wildtool.errors import UsageError
from wildtool.outputs import check_file, write_file
from wildtool.sanitize import csv_safe
from wildtool.terminal import print_err, print_wrapped, single_line
from wildtool.terminal.tables import print_grid

LOSS_COLUMNS = (
    "baseline", "model", "place", "units", "left_out", "baseline_lost", "lost", "difference", "low", "high", "floor",
    "floor_from",
)  # fmt: skip
_MARK = b"<!-- written by wildtool compare -->\n"
"""First line of a chart, by which a later one knows that it may replace it."""
_NET = "all"
_RISES, _FALLS, _WHOLE = "fewer lost", "more lost", "accuracy"


def print_losses(pair: Comparison) -> None:
    """The table of one comparison; nothing where none of its runs has an exposure."""
    split = pair.losses
    if split is None:
        return
    floors = ["chance"] if split.floor else []
    rows = [
        [
            each.place,
            _count(each.baseline),
            _count(each.run),
            format_points(-each.difference),
            format_range(-each.high, -each.low, signed=True),
            *([format_points(-(each.floor or 0.0))] if floors else []),
        ]
        for each in split.places
    ]
    whole = [format_points(split.net), format_range(split.low, split.high, signed=True)]
    rows.append([_NET, *map(_count, _lost(split)), *whole, *([""] if floors else [])])
    print_grid(
        f"where units were lost: {single_line(pair.model)} against {single_line(pair.baseline)}",
        ["", "baseline", "now", "effect", "95 %", *floors],
        rows,
    )
    print_wrapped(_about(split) + "\n")


def _about(split: LossSplit) -> str:
    """How to read the table."""
    words = (
        f"Each wrong unit of the {counted(split.units, 'unit')} with a verdict in both runs has one place, the first "
        "that fits (docs/exposure.md). Effects are in points of accuracy and sum to the difference on these units."
    )
    if split.left_out:
        words += f" Left out: {counted(split.left_out, 'unit')} without a verdict in one run or both."
    if split.floor:
        return words + f" chance: the same of the baseline and {split.floor}, which differ in nothing else."
    return words + " A second run of the baseline, or --repeats 2 of it, says how much of it is chance."


def _lost(split: LossSplit) -> tuple[float, float]:
    """Units that the baseline and the run lost, at all places."""
    return sum(each.baseline for each in split.places), sum(each.run for each in split.places)


def _count(units: float) -> str:
    return f"{units:.0f}" if units == int(units) else f"{units:.1f}"


def show_losses(paths: Sequence[Path], profile: str | None, out: Path | None, *, force: bool) -> int:
    """Shows where each run lost its units, beside the first; gives the exit status.

    Args:
        out: folder for `losses.csv` and a waterfall of each comparison; None for neither.
        force: whether they may replace files that wildtool did not make.

    Raises UsageError where no run has an exposure, or where they do not compare.
    """
    sides = load_compared_runs([folder for path in paths for folder in run_folders(path)], profile)
    check_comparable(sides)
    named = ", ".join(map(str, paths))
    if all(side.losses is None for side in sides):
        raise UsageError(
            f"{named}: no run with tools that are searched for or written as code; "
            "`wildtool run … --expose search` makes one"
        )
    pairs = [pair for pair in compare_all(sides) if pair.losses is not None]
    if not pairs:
        raise UsageError(f"{named}: no unit has a verdict in two of them; run again what failed")
    names = ["losses.csv", *_chart_names(pairs)]
    for name in names if out is not None else ():
        assert out is not None
        check_file(out / name, force=force)
    for pair in pairs:
        print_losses(pair)
    if out is not None:
        _write(pairs, out)
    return 0


def _chart_names(pairs: Sequence[Comparison]) -> list[str]:
    return (
        ["losses.svg"] if len(pairs) == 1 else [f"losses-{number}.svg" for number in range(1, len(pairs) + 1)]
    )


def _write(pairs: Sequence[Comparison], out: Path) -> None:
    """Writes the table and, with the extra [report], the pictures."""
    from importlib.util import find_spec

    out.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(LOSS_COLUMNS)
    table.writerows(map(csv_safe, (row for pair in pairs for row in _rows(pair))))
    write_file(out / "losses.csv", text.getvalue().encode())
    print_err(f"Every number: {out / 'losses.csv'}")
    if all(find_spec(library) for library in ("altair", "vl_convert")):
        for name, pair in zip(_chart_names(pairs), pairs, strict=True):
            write_file(out / name, _MARK + waterfall_svg(pair))
            print_err(f"Chart: {out / name}")


def _rows(pair: Comparison) -> Iterator[list[object]]:
    assert pair.losses is not None
    split = pair.losses

    def row(place: str, *numbers: float | None) -> list[object]:
        return [pair.baseline, pair.model, place, split.units, split.left_out, *numbers, split.floor]

    for each in split.places:
        yield row(each.place, each.baseline, each.run, each.difference, each.low, each.high, each.floor)
    yield row(_NET, *_lost(split), -split.net, -split.high, -split.low, None)


def waterfall_svg(pair: Comparison) -> bytes:
    """A comparison as a waterfall: from the accuracy of the baseline, place by place, to that of the run."""
    from wildtool.report.charts.data import ChartData, ChartPoint
    from wildtool.report.charts.render import render_chart
    from wildtool.report.charts.theme import BAR, CLASS_COLOURS, MODEL_COLOURS

    split = pair.losses
    assert split is not None
    first, last = pair.baseline, pair.model if pair.model != pair.baseline else f"{pair.model} (now)"
    level = split.baseline
    text = format_share(level)
    points = [ChartPoint(_WHOLE, first, level, None, None, text, short=text)]
    for each in split.places:
        end = level - each.difference
        text = format_points(-each.difference)
        ends = (max(0.0, level - each.high), min(1.0, level - each.low))
        kind = _FALLS if each.difference > 0 else _RISES
        points.append(ChartPoint(kind, each.place, end, *ends, text, short=text, at=level))
        level = end
    text = format_share(level)
    points.append(ChartPoint(_WHOLE, last, level, None, None, text, short=text))
    drawing = ChartData(
        f"Where units were lost: {last} against {first}",
        "; ".join(f"{point.name}: {point.text}" for point in points),
        tuple(points),
        (_WHOLE, _FALLS, _RISES),
        tuple(point.name for point in points),
        "waterfall",
        percent=True,
        values="accuracy",
        colours={_WHOLE: BAR, _FALLS: CLASS_COLOURS[0], _RISES: MODEL_COLOURS[2]},
    )
    return render_chart(drawing).svg
