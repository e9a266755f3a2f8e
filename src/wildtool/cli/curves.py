"""What `wildtool compare --curve` draws: accuracy by the number of tools, by the place that units were lost at, scores by
the size of models, or of a series of models by its training."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import typer

from wildtool.cli.options.config_file import refuse_others
from wildtool.errors import UsageError


class CurveAxis(StrEnum):
    """What a curve is drawn by."""

    tools = "tools"
    data = "data"
    step = "step"
    size = "size"
    losses = "losses"


_OPTIONS = {"runs", "curve", "out", "force"}
"""The argument and the options that mean something beside every curve."""
_OPTIONS_OF = {
    CurveAxis.tools: {"prices", "profile"},
    CurveAxis.size: {"sizes", "profile"},
    CurveAxis.losses: {"profile"},
}
"""Those that mean something beside one kind of curve: a series names its profiles."""
_NEEDED = {
    CurveAxis.tools: "folders with runs of --among",
    CurveAxis.size: "folders of runs, or names of benchmarks",
    CurveAxis.losses: "folders of a run with --expose and of one without",
}


def draw_curve(
    axis: CurveAxis,
    paths: Sequence[Path],
    profile: str | None,
    prices: Path | None,
    sizes: Path | None,
    out: Path | None,
    context: typer.Context,
    *,
    force: bool,
) -> int:
    """Prints a curve and writes it; gives the exit status. Raises UsageError for options that mean nothing beside it."""
    refuse_others(context, f"--curve {axis.value}", _OPTIONS | _OPTIONS_OF.get(axis, set()))
    if not paths:
        raise UsageError(f"--curve {axis.value} needs {_NEEDED.get(axis, 'the TOML file of a series')}")
    if axis is CurveAxis.tools:
        from wildtool.cli.output.sizes import show_size_curve

        return show_size_curve(paths, profile, prices, out, force=force)
    if axis is CurveAxis.losses:
        from wildtool.cli.output.losses import show_losses

        return show_losses(paths, profile, out, force=force)
    if axis is CurveAxis.size:
        from wildtool.cli.output.model_sizes import show_model_sizes

        return show_model_sizes(paths, profile, sizes, out, force=force)
    if len(paths) > 1:
        raise UsageError(
            f"--curve {axis.value} takes the TOML file of one series, and not {len(paths)} names"
        )
    return _draw_series(axis, paths[0], out, force=force)


def _draw_series(axis: CurveAxis, file: Path, out: Path | None, *, force: bool) -> int:
    from wildtool.cli.output.curve import chart_name, show_curve
    from wildtool.cli.series import series_folder, series_folders
    from wildtool.engine.series import by_examples, by_steps, read_series
    from wildtool.outputs import check_file

    if file.is_dir():
        raise UsageError(
            f"{file}: is a folder; give the TOML file of a series, such as `wildtool run series.toml` takes "
            "(docs/compare.md, learning curves), or --curve size or tools for runs"
        )
    series = read_series(file)
    series = by_steps(series) if axis is CurveAxis.step else by_examples(series)
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
