"""`wildtool curve`, which still works for `wildtool run SERIES` and `wildtool compare SERIES --curve data`."""

from functools import partial
from pathlib import Path

import typer

from wildtool.cli.command import arg, worst_status
from wildtool.cli.options.run import RunOptions
from wildtool.cli.series import run_series, series_folder
from wildtool.errors import UsageError


def curve(
    run_options: RunOptions,
    context: typer.Context,
    file: Path = arg("SERIES", "TOML file that names benchmarks and models."),
) -> int:
    """Run a series of models, and draw its learning curve (the older name of `run` and `compare --curve data`)."""
    from wildtool.cli.commands.run import execute_runs
    from wildtool.cli.output.curve import show_curve
    from wildtool.engine.series import by_examples

    if file.is_dir():
        raise UsageError(
            f"{file}: is a folder; for the accuracy of its runs by the number of tools: wildtool compare {file} "
            "--curve tools; for a series of models give its TOML file"
        )
    execute = partial(execute_runs, tables=False)
    status, series, folders = run_series(run_options, context, file, execute)
    if run_options.dry_run:
        return status
    out = series_folder(file, run_options.out)
    shown = show_curve(by_examples(series), folders, out, force=run_options.force, quiet=run_options.quiet)
    return worst_status([status, shown])
