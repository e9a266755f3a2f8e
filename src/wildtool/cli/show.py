"""`wildtool show`: the numbers of runs, as tables, JSON or CSV."""

from typing import Annotated

import typer

from wildtool.cli import options
from wildtool.errors import UsageError


def show(
    runs: options.Runs = None,
    profile: options.Profile = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show only the table of this name, such as 'task type'."),
    ] = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> int:
    """Show the numbers of runs side by side.

    \b
    Examples:
      wildtool show runs/wild-mini
      wildtool show runs/wild-mini/baseline--gold --profile fixed --group "task type"
      wildtool show runs/wild-mini --csv > numbers.csv

    Every rate has its 95 % interval and its counts. Without --profile each run is shown under the rules it was
    played by. Verdicts that are missing are made on the spot.
    """
    if not runs:
        raise UsageError("nothing to show: give run folders, such as `wildtool show runs`")
    if as_json and as_csv:
        raise UsageError("give --json or --csv, not both")
    from wildtool.cli import tables
    from wildtool.cli.results import find_results, only_group

    results, status = find_results(runs, profile)
    if not results:
        return status
    if group is not None:
        results = only_group(results, group)
    if as_json:
        tables.print_json(results)
    elif as_csv:
        tables.print_csv(results)
    else:
        if group is None:
            tables.print_overview(results)
        tables.print_groups(results)
        if group is not None:
            tables.print_remarks(results)
    return status
