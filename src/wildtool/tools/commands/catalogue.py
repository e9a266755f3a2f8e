"""`wildtool catalogue`, which still works for `wildtool tools lint`, `try` and `compare`, and for curves of sizes."""

import typer

from wildtool.cli.command import arg, declared, opt
from wildtool.cli.help import MODEL
from wildtool.errors import UsageError
from wildtool.tools.commands.lint import check_tools
from wildtool.tools.commands.options import TryOptions
from wildtool.tools.commands.play import existing_paths, show_runs
from wildtool.tools.commands.try_ import check_options, is_tools, put_requests
from wildtool.tools.sources.named import tool_sources


@declared
class CatalogueOptions(TryOptions):
    """The options of `wildtool catalogue`."""

    ab: bool = opt("Compare two versions, OLD NEW, on the same requests.", panel=MODEL)


def catalogue(
    its: CatalogueOptions,
    context: typer.Context,
    sources: list[str] = arg(
        "SOURCE…", "A file or a server of tools, of versions two; or folders with runs over catalogues."
    ),
) -> int:
    """Check or try your own tools (the older name of `wildtool tools`), or show accuracy by the number of tools."""
    check_options(sources, its)
    if its.ab and len(sources) != 2:
        raise UsageError(
            "--ab takes two versions: wildtool tools compare OLD NEW --requests FILE --model NAME"
        )
    has_tools = any(map(is_tools, sources))
    if has_tools and len(sources) > 1 and not its.ab:
        raise UsageError(
            "give runs, or one file or server of tools; two versions: wildtool tools compare OLD NEW"
        )
    if its.requests:
        return put_requests(sources, its, context)
    if not has_tools:
        return show_runs(existing_paths(sources), its, versions=its.ab)
    if its.ab:
        raise UsageError("--ab needs --requests FILE, which both versions are put to")
    (source,) = tool_sources(sources, its.mcp_env, its.mcp_header)
    return check_tools(source, its.out, as_json=its.as_json, force=its.force)
