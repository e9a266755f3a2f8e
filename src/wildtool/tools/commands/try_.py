"""`wildtool tools try`: which of your tools a model takes for each other."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import typer

from wildtool.cli.command import arg
from wildtool.cli.options.config_file import explicit_options
from wildtool.errors import UsageError
from wildtool.temporary import temporary_folder
from wildtool.tools.commands.options import TryOptions
from wildtool.tools.commands.play import existing_paths, play, show_runs
from wildtool.tools.sources.mcp import is_server
from wildtool.tools.sources.named import tool_sources


def try_(
    its: TryOptions,
    context: typer.Context,
    sources: list[str] = arg(
        "TOOLS", "A file or an MCP server of tools; or folders with runs, to show them again."
    ),
) -> int:
    """Put requests to models, and see which tools they take for each other.

    \b
    Examples:
      wildtool tools try tools.json --requests mine.jsonl -m gpt-4o -o out
      wildtool tools try out/runs

    The model sees all tools with each request. Without --model, the data are written for `wildtool run own-tools`.
    """
    check_options(sources, its)
    if its.requests is None and not is_tools(sources[0]):
        return show_runs(existing_paths(sources), its)
    if len(sources) > 1:
        raise UsageError(
            "give one file or server of tools; two versions of one: wildtool tools compare OLD NEW"
        )
    if its.requests is None:
        raise UsageError(
            f"{sources[0]}: give --requests FILE; names and descriptions alone are checked by wildtool tools lint"
        )
    return put_requests(sources, its, context)


def check_options(names: list[str], its: TryOptions) -> None:
    """Raises UsageError for options that mean nothing for these tools or runs."""
    its.check_limits()
    if its.header and not its.model:
        raise UsageError(
            "--header is for the endpoint of --model; for an MCP server at an address give --mcp-header NAME=VALUE"
        )
    tool_sources(names, its.mcp_env, its.mcp_header)


def put_requests(names: list[str], its: TryOptions, context: typer.Context) -> int:
    """Puts requests to models with the tools of each source. Raises UsageError for a source that is no tools."""
    for name in names:
        if not is_tools(name):
            raise UsageError(f"{name}: there is no such file; --requests needs tools")
    sources = tool_sources(names, its.mcp_env, its.mcp_header)
    with temporary_folder() if its.dry_run and its.model else nullcontext() as place:
        settings = its if place is None else replace(its, out=Path(place))
        return play(sources, settings, explicit_options(context))


def is_tools(name: str) -> bool:
    """Whether a name is that of tools rather than of runs: a server, or a file that is no bundle."""
    return is_server(name) or (Path(name).is_file() and not name.endswith(".zip"))
