"""`wildtool tools compare`: whether new names and descriptions of your tools are better than the old ones."""

import typer

from wildtool.cli.command import arg
from wildtool.cli.options.config_file import explicit_options
from wildtool.errors import UsageError
from wildtool.tools.commands.options import TryOptions
from wildtool.tools.commands.play import existing_paths, show_runs
from wildtool.tools.commands.try_ import check_options, put_requests
from wildtool.tools.sources.named import tool_sources


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
      wildtool tools compare old.json new.json --requests cases.yaml -m gpt-4o

    Of own cases, whole calls are compared, with their arguments; of requests, which tool is chosen.
    """
    from wildtool.engine.registry import cases_in
    from wildtool.tools.commands.case_versions import compare_tools

    check_options([old, new], its)
    if its.requests is not None and any(map(cases_in, its.requests)):
        if len(its.requests) > 1:
            raise UsageError("--requests takes one file of own cases")
        sources = tool_sources([old, new], its.mcp_env, its.mcp_header)
        return compare_tools(sources, its.requests[0], its, explicit_options(context))
    if its.requests is None:
        return show_runs(existing_paths([old, new]), its, versions=True)
    return put_requests([old, new], its, context)
