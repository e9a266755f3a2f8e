"""`wildtool catalogue`: what the size of a catalogue costs, and what in your own makes tools hard to choose."""

from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.outputs import check_file


def catalogue(
    sources: list[str] = arg(
        "SOURCE…", "Folders with runs of several sizes; or a file or a server of tools."
    ),
    out: Path | None = opt(
        "-o FOLDER", "Folder for sizes.csv and the chart (the chart needs the extra [report])."
    ),
    profile: str | None = options.PROFILE_OPTION,
    prices: Path | None = opt("FILE", "Price file, TOML or JSON; overrides built-in prices."),
    as_json: bool = opt("--json", "Print what is found in tools as JSON."),
    force: bool = options.FORCE_OPTION,
) -> int:
    """Show how accuracy falls with the size of a catalogue, or check your own tools.

    \b
    Examples:
      wildtool catalogue runs/sizes -o sizes
      wildtool catalogue tools.json
      wildtool catalogue openapi.yaml --json
      wildtool catalogue https://example.org/mcp
      wildtool catalogue "mcp:npx -y my-server"

    Runs are those of `wildtool run --catalogue N,…`, which differ in nothing but the size; each model and setting is a
    separate series, paired on the same units. Tools are OpenAI definitions, an OpenAPI document, an MCP list or an MCP
    server at an address or started by a command. Exit status for tools: 1 with an error among the findings.
    """
    from wildtool.catalogue.mcp import is_server

    if not any(
        is_server(source) or (Path(source).is_file() and not source.endswith(".zip")) for source in sources
    ):
        from wildtool.catalogue.size_curve import size_series
        from wildtool.catalogue.size_output import show_sizes

        if out is not None:
            check_file(out / "sizes.csv", force=force)
        show_sizes(size_series(list(map(Path, sources)), profile, prices), out)
        return 0
    if len(sources) > 1:
        raise UsageError("give runs, or one file or server of tools")
    return _lint(sources[0], as_json)


def _lint(source: str, as_json: bool) -> int:
    from dataclasses import asdict

    from wildtool.catalogue.lint import lint_tools, read_catalogue
    from wildtool.cli.output.tables import print_grid
    from wildtool.cli.terminal import print_err, print_out, print_wrapped
    from wildtool.json_codec import dumps

    tools = read_catalogue(source, print_err)
    findings = lint_tools(tools)
    if as_json:
        rows = [
            {key: asdict(each)[key] for key in ("where", "rule", "message", "level")} for each in findings
        ]
        print_out(dumps({"tools": len(tools), "findings": rows}).decode())
    else:
        if findings:
            table = [[each.where, each.level, each.rule, each.message] for each in findings]
            print_grid(f"{len(tools)} tools of {source}", ["tool", "", "", ""], table, sentences=(1, 2, 3))
        faulty = len({each.where for each in findings})
        print_wrapped(
            f"{faulty} of {len(tools)} tools have a finding. These are read from names and texts alone; what they cost a "
            "model is not measured here."
        )
    return int(any(each.level == "error" for each in findings))
