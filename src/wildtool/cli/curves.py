"""What `wildtool compare --curve` draws: accuracy by the number of tools, or of a series of models by its training."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import typer

from wildtool.api.words import option_of
from wildtool.cli.options.config_file import explicit_options
from wildtool.errors import UsageError


class CurveAxis(StrEnum):
    """What a curve is drawn by."""

    tools = "tools"
    data = "data"
    step = "step"


_OPTIONS = {"runs", "curve", "out", "force"}
"""The argument and the options that mean something beside every curve."""
_OPTIONS_OF_TOOLS = {"prices", "profile"}
"""Those that mean something beside a curve by tools only: a series names its profiles."""


def draw_curve(
    axis: CurveAxis,
    paths: Sequence[Path],
    profile: str | None,
    prices: Path | None,
    out: Path | None,
    context: typer.Context,
    *,
    force: bool,
) -> int:
    """Prints a curve and writes it; gives the exit status. Raises UsageError for options that mean nothing beside it."""
    known = _OPTIONS | _OPTIONS_OF_TOOLS if axis is CurveAxis.tools else _OPTIONS
    if other := sorted(explicit_options(context) - known):
        raise UsageError(
            f"{option_of(other[0])} means nothing with --curve {axis.value}; leave out one of the two"
        )
    if not paths:
        needed = "folders with runs of --among" if axis is CurveAxis.tools else "the TOML file of a series"
        raise UsageError(f"--curve {axis.value} needs {needed}")
    if axis is CurveAxis.tools:
        from wildtool.cli.output.sizes import show_size_curve

        return show_size_curve(paths, profile, prices, out, force=force)
    if len(paths) > 1:
        raise UsageError(
            f"--curve {axis.value} takes the TOML file of one series, and not {len(paths)} names"
        )
    return _draw_series(axis, paths[0], out, force=force)


def _draw_series(axis: CurveAxis, file: Path, out: Path | None, *, force: bool) -> int:
    from wildtool.cli.output.curve import chart_name, show_curve
    from wildtool.cli.series import series_folder, series_folders
    from wildtool.engine.series import by_steps, read_series
    from wildtool.outputs import check_file

    if file.is_dir():
        raise UsageError(
            f"{file}: is a folder; give the TOML file of a series, or --curve tools for runs of several numbers of tools"
        )
    series = read_series(file)
    if axis is CurveAxis.step:
        series = by_steps(series)
    place = series_folder(file, out)
    folders = series_folders(series, place)
    if not any((folder / "run.json").is_file() for folder in folders.values()):
        raise UsageError(
            f"{place}: has no run of {file}; make them by `wildtool run {file}`, with the same -o where you give one"
        )
    for benchmark in series.benchmarks:
        check_file(place / chart_name(benchmark.label), force=force)
    check_file(place / "curve.csv", force=force)
    return show_curve(series, folders, place, force=force, quiet=False)
