"""`wildtool report`: runs as pages that open from disk, as Markdown, or as LaTeX tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wildtool.cli import options
from wildtool.cli.status import worst
from wildtool.cli.terminal import note, say
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.report.model import Run


def report(
    runs: options.Runs = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PATH", help="Folder of the site; with --single-file or --format, a file."
        ),
    ] = None,
    profile: options.Profile = None,
    single_file: Annotated[
        bool, typer.Option("--single-file", help="One HTML file with everything in it, to hand around.")
    ] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="Judge the gold answers too, and show what they reach.")
    ] = False,
    format: Annotated[
        Literal["html", "md", "latex"],
        typer.Option("--format", help="html: a site; md: for a pull request; latex: tables for a paper."),
    ] = "html",
    force: options.Force = False,
) -> int:
    """Make pages of runs that can be read and handed around without a server.

    \b
    Examples:
      wildtool report runs/wild-mini -o report
      wildtool report runs/wild-mini --single-file -o report.html
      wildtool report runs/wild-mini --format md

    Runs on different data or under different rules get tables of their own. Nothing is loaded from elsewhere.
    """
    if not runs:
        raise UsageError("nothing to report: give run folders, such as `wildtool report runs -o report`")
    if format != "html" and (single_file or audit):
        raise UsageError("--single-file and --audit are for pages; leave them out with --format")
    if format == "html":
        from wildtool.report import check_libraries

        check_libraries()
    from wildtool import outputs
    from wildtool.cli.results import remark
    from wildtool.engine.results import run_folders
    from wildtool.report.model import read_runs

    to = out or (Path("report.html" if single_file else "report") if format == "html" else None)
    if to is not None and format == "html" and not single_file:
        outputs.check_folder(to, outputs.is_site, force=force)
    elif to is not None:
        outputs.check_file(to, force=force)
    found = read_runs([folder for path in runs for folder in run_folders(path)], profile)
    for run in found:
        remark(run.folder, run.result)
    if format == "html" and to is not None:
        from wildtool.report.build import build

        say(f"Report: {build(found, to, single=single_file, audited=audit)}")
    else:
        _print(_tables(found, format), to)
    return worst([run.result.exit_status for run in found])


def _tables(runs: "Sequence[Run]", format: str) -> str:
    if format == "md":
        from wildtool.report.markdown import markdown

        return markdown(runs)
    from wildtool.report.latex import latex

    return latex(runs)


def _print(text: str, out: Path | None) -> None:
    if out is None:
        say(text)
        return
    from wildtool.outputs import replacing

    with replacing(out) as new:
        new.write_text(text, encoding="utf-8")
    note(f"Written: {out}")
