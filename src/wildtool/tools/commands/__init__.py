"""`wildtool catalogue`: what the size of a catalogue costs, and which of your own tools are taken for each other."""

from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import typer

from wildtool.cli.command import arg, declared, opt, worst_status
from wildtool.cli.help import MODEL, MORE, OUTPUT, SAMPLING
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import explicit_options, read_config
from wildtool.cli.options.run import CallOptions
from wildtool.errors import UsageError
from wildtool.models.headers import Header, parse_headers
from wildtool.outputs import check_file, check_folder, is_remote, is_site, make_folder, write_file
from wildtool.temporary import temporary_folder
from wildtool.tools.sources.mcp import STDIO, is_server


@declared
class CatalogueOptions(CallOptions):
    """The options of `wildtool catalogue`."""

    requests: list[Path] | None = opt(
        "FILE",
        "Requests to put to a model: your own with the tool each needs, or generated sessions; repeatable.",
        panel=MODEL,
    )
    model: list[str] | None = opt(
        "-m NAME",
        "Model to put --requests to, as for `run`; repeatable.",
        complete=completion.models,
        panel=MODEL,
        needs="--requests",
    )
    ab: bool = opt("Compare two versions, OLD NEW, on the same requests.", panel=MODEL)
    mcp_env: list[str] | None = opt(
        "NAME",
        "Variable for a server that `mcp:` starts, beside HOME, PATH and the like; repeatable.",
        panel=MORE,
    )
    mcp_header: list[str] | None = opt(
        "NAME=VALUE",
        "HTTP header for a server at an address; a secret as NAME=env:VARIABLE; repeatable.",
        panel=MORE,
    )
    base_url: str | None = options.BASE_URL_OPTION
    api_key_env: str | None = options.API_KEY_ENV_OPTION
    header: list[str] | None = options.HEADER_OPTION
    format_: str | None = options.TOOL_FORMAT_OPTION
    extra_body: str | None = options.EXTRA_BODY_OPTION
    repeats: int = opt("N", "Samples per request.", default=1, min=1, panel=SAMPLING)
    retries: int = options.RETRIES_OPTION
    dry_run: bool = options.DRY_RUN_OPTION
    out: Path | None = opt(
        "-o FOLDER",
        "Folder for runs and pages (default: runs/catalogue); without --requests, for findings.jsonl; of"
        " sizes, for sizes.csv and the chart.",
        panel=OUTPUT,
    )
    quiet: bool = options.QUIET_OPTION
    force: bool = options.FORCE_OPTION
    profile: str | None = options.PROFILE_OPTION
    as_json: bool = options.JSON_OPTION
    cache: Path | None = options.CACHE_OPTION
    no_check: bool = opt("Do not look for broken tool calls in the first 20 replies.", panel=MORE)
    trust: str | None = options.TRUST_OPTION


def catalogue(
    its: CatalogueOptions,
    context: typer.Context,
    sources: list[str] = arg(
        "SOURCE…", "A file or a server of tools, of versions two; or folders with runs over catalogues."
    ),
) -> int:
    """Check your own tools, test which are confused, or show how accuracy falls with the size of a catalogue.

    \b
    Examples:
      wildtool catalogue tools.json
      wildtool catalogue "mcp:npx -y my-server" --json
      wildtool catalogue tools.json --requests mine.jsonl -m gpt-4o -o out
      wildtool catalogue --ab old.json new.json --requests mine.jsonl -m gpt-4o
      wildtool catalogue runs/sizes -o sizes

    Tools are OpenAI definitions, an OpenAPI document, an MCP list, or an MCP server at an address or started by a
    command. Without --requests, names and descriptions are checked, and an error among the findings gives exit status 1.
    Runs are those of `wildtool run --catalogue N,…`, or of this command.
    """
    its.check_limits()
    tools = any(is_server(each) or (Path(each).is_file() and not each.endswith(".zip")) for each in sources)
    if its.ab and len(sources) != 2:
        raise UsageError(
            "--ab takes two versions: wildtool catalogue --ab OLD NEW --requests FILE --model NAME"
        )
    if its.mcp_env and not any(each.startswith(STDIO) for each in sources):
        raise UsageError(
            f"--mcp-env is for a server that a command starts, such as {STDIO}'npx -y my-server'"
        )
    headers = _server_headers(sources, its)
    if tools and len(sources) > 1 and not its.ab:
        raise UsageError("give runs, or one file or server of tools; two versions of one with --ab")
    if tools and its.requests:
        with temporary_folder() if its.dry_run and its.model else nullcontext() as place:
            settings = its if place is None else replace(its, out=Path(place))
            return _play(sources, settings, explicit_options(context), headers)
    if tools:
        if its.ab:
            raise UsageError("--ab needs --requests FILE, which both versions are put to")
        return _lint(sources[0], its, headers)
    if its.requests:
        raise UsageError(f"{sources[0]}: there is no such file; --requests needs tools")
    paths = list(map(Path, sources))
    for path in paths:
        if not is_remote(path) and not path.exists():
            raise UsageError(f"{path}: there is no such file or folder; give tools, or the folder of a run")
    return _show([options.local_run(path) for path in paths], its)


def _server_headers(sources: list[str], its: CatalogueOptions) -> tuple[Header, ...]:
    """The headers of `--mcp-header`. Raises UsageError where there is no server to get them, or several hosts would."""
    if its.header and not its.model:
        raise UsageError(
            "--header is for the endpoint of --model; for an MCP server at an address give --mcp-header NAME=VALUE"
        )
    addresses = (each for each in sources if is_server(each) and not each.startswith(STDIO))
    hosts = {tuple(each.split("/")[:3]) for each in addresses}
    if its.mcp_header and not hosts:
        raise UsageError("--mcp-header is for an MCP server at an address, such as https://example.org/mcp")
    if its.mcp_header and len(hosts) > 1:
        raise UsageError(
            "--mcp-header goes to one host, and these servers have two; give the tools of one as a file"
        )
    return parse_headers(its.mcp_header, "--mcp-header")


def _play(sources: list[str], its: CatalogueOptions, explicit: set[str], headers: tuple[Header, ...]) -> int:
    """Puts requests to models, with one catalogue or with two versions of it, and shows what comes out."""
    from wildtool.cli.commands.run import execute_runs
    from wildtool.cli.options.run import RunOptions
    from wildtool.cli.plans import plan_runs
    from wildtool.cli.terminal import print_err
    from wildtool.tools.lint import read_catalogue
    from wildtool.tools.requests import choice_text

    out = its.out or Path("runs", "catalogue")
    names = ("old", "new") if its.ab else ("tools",)
    data = [out / f"{name}.json" for name in names]
    for path in data:
        check_file(path, force=its.force)
    check_folder(out / "pages", is_site, force=its.force)
    texts = [
        choice_text(
            read_catalogue(each, print_err, its.mcp_env or (), headers), its.requests or (), print_err
        )
        for each in sources
    ]
    for name, path, text in zip(names, data, texts, strict=True):
        if not path.exists() or path.read_bytes() in (b"", text):
            continue
        if (out / "runs" / name).exists():
            raise UsageError(
                f"{path}: earlier runs had other tools or requests; name another folder with --out"
            )
        if not its.force:
            raise UsageError(
                f"{path}: has other tools or requests, which runs elsewhere may need; name another folder with --out, "
                "or add --force to replace it"
            )
    writes = bool(its.model) or not its.dry_run
    if writes:
        make_folder(out)
        for path, text in zip(data, texts, strict=True):
            write_file(path, text)
    if not its.model:
        state = "written." if writes else "would be written, for"
        for name, path in zip(names, data, strict=True):
            print_err(
                f"{path}: {state} wildtool run own-tools --data {path} -o {out / 'runs' / name} -m NAME"
            )
        return 0
    shared = {each.name for each in fields(RunOptions)} & {each.name for each in fields(CatalogueOptions)}
    settings: dict[str, Any] = {name: getattr(its, name) for name in shared - {"out"}}
    statuses: list[int] = []
    folders: list[list[Path]] = []
    for name, path in zip(names, data, strict=True):
        its_options = RunOptions(**settings, data=str(path))
        runs = plan_runs("own-tools", its_options, explicit, read_config(None).models, out / "runs" / name)
        statuses.append(execute_runs(runs, its_options, tables=False))
        folders.append([run.folder for run in runs])
    status = worst_status(statuses)
    if its.dry_run or status not in (0, 3):
        return status
    return worst_status([status, _report(folders, its, out / "pages")])


def _show(paths: list[Path], its: CatalogueOptions) -> int:
    from wildtool.benchmarks.own_tools import OWN_TOOLS
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.score.results import run_folders

    groups = [run_folders(path) for path in paths]
    kinds = {read_run(folder)["identity"]["benchmark"] for group in groups for folder in group}
    if kinds == {OWN_TOOLS.name}:
        return _report(groups if its.ab else [[each for group in groups for each in group]], its, its.out)
    if its.ab or OWN_TOOLS.name in kinds:
        raise UsageError(
            "give runs of own-tools alone, as `wildtool catalogue TOOLS --requests FILE` makes them"
        )
    from wildtool.tools.commands.size_output import show_sizes
    from wildtool.tools.size_curve import size_series

    if its.out is not None:
        for name in ("sizes.csv", "sizes.svg"):
            check_file(its.out / name, force=its.force)
    show_sizes(size_series(paths, its.profile, its.prices), its.out)
    return 0


def _report(folders: list[list[Path]], its: CatalogueOptions, pages: Path | None) -> int:
    """Shows runs over catalogues, in pages too if a folder is given for them; with --ab the old ones and the new ones."""
    from wildtool.tools.commands import choice_output as output
    from wildtool.tools.confusion import choice_report
    from wildtool.tools.versions import compare_versions, pair_versions

    groups = [list(map(choice_report, group)) for group in folders]
    comparisons = [compare_versions(*pair) for pair in pair_versions(*groups)] if its.ab else []
    reports = [report for group in groups for report in group]
    if its.as_json:
        output.print_json(reports, comparisons)
    else:
        for comparison in comparisons:
            output.print_versions(comparison)
        for report in [] if comparisons else reports:
            output.print_choices(report)
    if pages is not None:
        from wildtool.cli.terminal import print_err
        from wildtool.tools.commands.choice_page import write_pages

        check_folder(pages, is_site, force=its.force)
        versions = [f" ({name})" for name in ("old", "new")] if its.ab else [""]
        titled = [
            (f"{report.result.model}{version}", report)
            for version, group in zip(versions, groups, strict=True)
            for report in group
        ]
        print_err(f"What to change first: {write_pages(pages, titled, comparisons)}")
    return worst_status([report.result.exit_status for report in reports])


def _lint(source: str, its: CatalogueOptions, headers: tuple[Header, ...]) -> int:
    from wildtool.cli.terminal import print_err, print_wrapped
    from wildtool.shapes import tool_name
    from wildtool.tools.commands import lint_output as output
    from wildtool.tools.lint import found_in, read_catalogue

    full_list = None if its.out is None else its.out / output.FINDINGS_FILE
    if full_list is not None:
        check_file(full_list, force=its.force)
    tools = read_catalogue(source, print_err, its.mcp_env or (), headers)
    findings = found_in(tools)
    if full_list is not None:
        make_folder(full_list.parent)
        write_file(full_list, output.findings_lines(findings))
    if its.as_json:
        output.print_findings_json(len(tools), findings, full_list)
    else:
        output.print_findings(source, len(tools), findings, full_list)
        places = {each.finding.where for each in findings}
        faulty = sum(tool_name(tool) in places for tool in tools)
        print_wrapped(
            f"{faulty:,} of {len(tools):,} tools have a finding. These are read from names and texts alone; "
            "--requests FILE --model NAME measures what they go with."
        )
    return int(any(each.finding.level == "error" for each in findings))
