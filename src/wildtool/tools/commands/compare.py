"""`wildtool tools compare`: whether new names and descriptions of your tools are better than the old ones."""

import typer

from wildtool.cli.command import arg
from wildtool.tools.commands.options import TryOptions
from wildtool.tools.commands.play import existing_paths, show_runs
from wildtool.tools.commands.try_ import check_options, put_requests


def compare(
    its: TryOptions,
    context: typer.Context,
    old: str = arg("OLD", "The old tools, or runs with them."),
    new: str = arg("NEW", "The new tools, or runs with them."),
) -> int:
    """Compare two versions of your tools on the same requests.

    \b
    Examples:
      wildtool tools compare old.json new.json --requests mine.jsonl -m gpt-4o
      wildtool tools compare out/runs/old out/runs/new
    """
    check_options([old, new], its)
    if its.requests is None:
        return show_runs(existing_paths([old, new]), its, versions=True)
    return put_requests([old, new], its, context)
