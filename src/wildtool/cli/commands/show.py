"""`wildtool show`: the numbers of runs, as tables, JSON or CSV."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.engine.score.results import ScoreResult


def show(
    runs: options.RunsArgument = None,
    profile: options.ProfileOption = None,
    group: Annotated[
        str | None,
        typer.Option(*("--group", "-g"), metavar="NAME", help="Show only this group, such as 'task type'."),
    ] = None,
    every: Annotated[
        bool, typer.Option(*("--all", "-a"), help="Show all groups; with --published, all columns.")
    ] = False,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Show published results with your runs among them; RUN may also be a benchmark, paper or table.",
        ),
    ] = False,
    benchmark: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --published: the benchmark whose results to show.",
            autocompletion=completion.benchmarks,
        ),
    ] = None,
    as_json: options.JsonOption = False,
    as_csv: options.CsvOption = False,
) -> int:
    """Show the results of runs side by side, or among published ones.

    \b
    Examples:
      wildtool show runs/wild-mini
      wildtool show runs/wild-mini --all
      wildtool show runs/wild-mini --profile fixed --group "task type"
      wildtool show runs/wild-mini --csv > numbers.csv
      wildtool show --published wildtoolbench

    Rates come with 95 % intervals and counts. Without --profile, each run is shown under the profile it was run
    with. Runs that are not scored yet are scored first.
    """
    if as_json and as_csv:
        raise UsageError("give --json or --csv, not both")
    if published:
        from wildtool.cli.output.published import show_published

        return show_published(
            runs or (),
            benchmark=benchmark,
            profile=profile,
            group=group,
            every=every,
            as_json=as_json,
            as_csv=as_csv,
        )
    if benchmark is not None:
        raise UsageError(
            "--benchmark needs --published, such as `wildtool show --published --benchmark NAME`"
        )
    if not runs:
        raise UsageError("nothing to show: give run folders, such as `wildtool show runs`")
    from wildtool.cli.output import tables
    from wildtool.cli.output.results import find_results, select_group

    results, status = find_results(runs, profile)
    if not results:
        return status
    if group is not None:
        results = select_group(results, group)
    if as_json:
        tables.print_results_json(results)
    elif as_csv:
        tables.print_results_csv(results)
    else:
        _print(results, alone=group is not None, every=every)
    return status


def _print(results: "Sequence[ScoreResult]", *, alone: bool, every: bool) -> None:
    """The summary, one group alone, or everything."""
    from wildtool.cli.output import tables
    from wildtool.cli.output.results import result_groups
    from wildtool.cli.terminal import print_err

    if alone:
        tables.print_groups(results)
        tables.print_caveats(results)
        return
    tables.print_overview(results)
    if every:
        tables.print_groups(results)
    else:
        print_err(f"More tables: --all, or --group with one of: {', '.join(result_groups(results))}")
