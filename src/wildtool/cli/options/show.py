"""The options of `wildtool show`, which its two kinds of output read."""

from pathlib import Path

from wildtool.cli.command import declared, opt
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options


@declared
class ShowOptions:
    """What to show, and how."""

    runs: list[Path] | None = options.RUNS_ARGUMENT
    profile: str | None = options.PROFILE_OPTION
    group: str | None = opt(
        "-g NAME",
        "Show only this group, such as 'task type', or two groups as a matrix: 'task type x position'.",
    )
    every: bool = opt("--all -a", "Show all groups; with --published, all columns; with --why, all units.")
    why: str | None = opt(
        "NAME",
        "Explain this number, such as 'task' or 'task type: Chat': its formula, and how each unit was judged.",
        not_with="--group",
    )
    published: bool = opt(
        "Show published results with your runs among them; RUN may also be a benchmark, paper or table."
    )
    benchmark: str | None = opt(
        "NAME",
        "With --published: the benchmark whose results to show.",
        complete=completion.benchmarks,
        needs="--published, such as `wildtool show --published --benchmark NAME`",
    )
    chart: Path | None = opt(
        "FILE.svg",
        "With --published and one table: draw it, a panel for each column, as .svg or .png.",
        needs="--published, such as `wildtool show --published TABLE --chart table.svg`",
    )
    sort: str = options.SORT_OPTION
    force: bool = opt("With --chart: overwrite a file that wildtool did not make.", needs="--chart")
    as_json: bool = options.JSON_OPTION
    as_csv: bool = options.CSV_OPTION
