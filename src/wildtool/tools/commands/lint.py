"""`wildtool tools lint`: what in names and descriptions of your tools makes them hard to choose."""

from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.help import MORE, OUTPUT
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.outputs import check_file, make_folder, write_file
from wildtool.tools.sources.mcp import is_server
from wildtool.tools.sources.named import ToolSource, tool_sources


def lint(
    source: str = arg(
        "TOOLS", "A file of tools, an address of an MCP server, or mcp: and the command of one."
    ),
    mcp_env: list[str] | None = opt(*options.MCP_ENV, panel=MORE),
    mcp_header: list[str] | None = opt(*options.MCP_HEADER, panel=MORE),
    out: Path | None = opt("-o FOLDER", "Folder for findings.jsonl, which has all findings.", panel=OUTPUT),
    as_json: bool = options.JSON_OPTION,
    force: bool = options.FORCE_OPTION,
) -> int:
    """Check names and descriptions of your tools.

    \b
    Examples:
      wildtool tools lint tools.json
      wildtool tools lint "mcp:npx -y my-server" --json

    Nothing is sent to a model. An error among the findings gives exit status 1.
    """
    if not is_server(source) and not Path(source).exists():
        raise UsageError(
            f"{source}: there is no such file; give tools: a file, an address, or mcp: and a command"
        )
    (tools,) = tool_sources([source], mcp_env, mcp_header)
    return check_tools(tools, out, as_json=as_json, force=force)


def check_tools(source: ToolSource, out: Path | None, *, as_json: bool, force: bool) -> int:
    """Shows what is found in the tools of a source.

    Args:
        out: folder for the whole list; None for none.
    """
    from wildtool.engine.score.formatting import counted
    from wildtool.shapes import tool_name
    from wildtool.terminal import print_err, print_wrapped
    from wildtool.tools.commands import lint_output as output
    from wildtool.tools.lint import found_in

    full_list = None if out is None else out / output.FINDINGS_FILE
    if full_list is not None:
        check_file(full_list, force=force)
    tools = source.tools(print_err)
    findings = found_in(tools)
    if full_list is not None:
        make_folder(full_list.parent)
        write_file(full_list, output.findings_lines(findings))
    if as_json:
        output.print_findings_json(len(tools), findings, full_list)
    else:
        output.print_findings(source.name, len(tools), findings, full_list)
        places = {each.finding.where for each in findings}
        faulty = sum(tool_name(tool) in places for tool in tools)
        print_wrapped(
            f"{faulty:,} of {counted(len(tools), 'tool')} have a finding. These are read from names and texts alone; "
            "wildtool tools try measures what they go with."
        )
    return int(any(each.finding.level == "error" for each in findings))
