"""`wildtool show`: the numbers of runs, as tables, JSON or CSV."""

from wildtool.cli.options.show import ShowOptions
from wildtool.errors import UsageError


def show(show_options: ShowOptions) -> int:
    """Show the results of runs side by side, or among published ones.

    \b
    Examples:
      wildtool show runs/wild-mini
      wildtool show runs/wild-mini --all
      wildtool show runs/wild-mini --profile fixed --group "task type"
      wildtool show runs/wild-mini --group "task type x position"
      wildtool show runs/wild-mini --why "task type: Chat"
      wildtool show runs/wild-mini --csv > numbers.csv
      wildtool show --published wildtoolbench

    Rates come with 95 % intervals and counts. Without --profile, each run is shown under the profile it was run
    with. Runs that are not scored yet are scored first.
    """
    if show_options.why is not None:
        return _explain(show_options, show_options.why)
    if show_options.published:
        from wildtool.cli.output.published import show_published

        return show_published(show_options)
    if not show_options.runs:
        raise UsageError("nothing to show: give run folders, such as `wildtool show runs`")
    from wildtool.cli.output.ranked import rank_results
    from wildtool.cli.output.results import find_results, result_groups, select_group
    from wildtool.stats.matrix import named_pair
    from wildtool.terminal import print_err, tables

    results, status = find_results(show_options.runs, show_options.profile)
    if not results:
        return status
    results, ranked = rank_results(results, show_options.sort)
    if show_options.group is not None:
        pair = named_pair(show_options.group, result_groups(results))
        if pair is not None:
            from wildtool.cli.output.matrix import show_matrices

            shown = show_matrices(results, pair, as_json=show_options.as_json, as_csv=show_options.as_csv)
            return max(status, shown)
        results = select_group(results, show_options.group)
    if show_options.as_json:
        tables.print_results_json(results)
    elif show_options.as_csv:
        tables.print_results_csv(results)
    elif show_options.group is not None:
        tables.print_groups(results, ranked)
        tables.print_caveats(results)
    else:
        tables.print_overview(results, ranked)
        if show_options.every:
            tables.print_groups(results, ranked)
        else:
            print_err(f"More tables: --all, or --group with one of: {', '.join(result_groups(results))}")
    return status


def _explain(show_options: ShowOptions, name: str) -> int:
    """Explains one number of each run."""
    from wildtool.cli.output.why import show_why

    if not show_options.runs or show_options.published:
        raise UsageError("--why explains a number of runs, such as `wildtool show runs --why task`")
    return show_why(show_options, name)
