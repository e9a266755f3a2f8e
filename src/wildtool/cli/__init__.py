"""The command `wildtool`: one small module for each verb; what they do lies in the packages below."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from wildtool import __version__
from wildtool.cli import audit, compare, data, export, list, report, run, score, show, view
from wildtool.cli.status import guarded
from wildtool.cli.whats import generate_app

app = typer.Typer(
    # Plain help: the marked-up kind would import rich, which costs as much as all the rest.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(guarded(run.run))
app.command("score")(guarded(score.score))
app.command("show")(guarded(show.show))
app.command("compare")(guarded(compare.compare))
app.command("report")(guarded(report.report))
app.command("view")(guarded(view.view))
app.command("export")(guarded(export.export))
app.command("list")(guarded(list.list_))
app.command("audit")(guarded(audit.audit))
app.add_typer(generate_app(), name="generate")

_data = typer.Typer(help=data.__doc__, rich_markup_mode=None, no_args_is_help=True)
_data.command("pull")(guarded(data.pull))
_data.command("lint")(guarded(data.lint))
_data.command("stats")(guarded(data.stats))
_data.command("refresh")(guarded(data.refresh))
app.add_typer(_data, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"wildtool {__version__}")
        raise typer.Exit


@app.callback()
def wildtool(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Measure how well language models use tools when the user talks the way real users do.

    \b
    Start here:
      wildtool run wild-mini --model baseline/gold
      wildtool show runs/wild-mini
      wildtool COMMAND --help

    Exit status: 0 all well; 1 a fault of ours, or what you asked to check does not hold; 2 usage or data;
    3 some calls failed or a limit was reached, run the same command again to go on; 130 interrupted.
    """


def main() -> None:
    """Entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal of an old encoding shows a question mark rather than ending a run.
            stream.reconfigure(errors="replace")
    app(prog_name="wildtool")
