"""The command `wildtool`: one small module per verb; the packages below do the work."""

import gc
import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from wildtool import __version__
from wildtool.cli.groups import PLAIN, CommandGroup, Commands

_VERBS = Commands(
    {
        "run": ("cli.commands.run:run", "Run a benchmark on models and score it."),
        "score": ("cli.commands.score:score", "Score recorded replies again, without calling a model."),
        "show": ("cli.commands.show:show", "Show the results of runs side by side, or among published ones."),
        "compare": (
            "cli.commands.compare:compare",
            "Test whether runs are better or worse than the first one.",
        ),
        "gate": ("cli.commands.gate:gate", "Fail if a model got significantly worse."),
        "curve": ("cli.commands.curve:curve", "Draw learning curves of models trained on growing data."),
        "catalogue": (
            "catalogue.command:catalogue",
            "Show how accuracy falls with the size of a catalogue, or check your own tools.",
        ),
        "report": ("cli.commands.report:report", "Make a web report of runs, or Markdown or LaTeX tables."),
        "view": ("cli.commands.view:view", "Browse runs and their reports, and track running ones."),
        "export": ("cli.commands.export:export", "Convert runs to logs, tables, training data or bundles."),
        "list": ("cli.commands.list:list_", "List benchmarks, models, profiles, modes, formats or cards."),
        "check": ("check.command:check", "Check an endpoint for broken tool calls."),
        "submit": ("board.commands.submit:SUBMIT", "Make submissions to a board, and verify them."),
        "board": ("board.commands.board:board", "Build a leaderboard page of verified submissions."),
        "audit": (
            "cli.commands.audit:audit",
            "Check the scorer: score gold answers, with and without mistakes.",
        ),
        "new": ("cli.commands.new:NEW", "Write the files of a new benchmark."),
        "generate": ("sets.commands.generate:GENERATE", "Generate sessions, items, tools or training data."),
        "launch": ("scale.commands:LAUNCH", "Start workers of a run on a cluster."),
        "worker": ("scale.commands:worker", "Help a run that several workers share."),
        "review": ("sets.commands.review:REVIEW", "Review and correct made sets, and release them."),
        "data": ("sets.commands.data:DATA", "Download, check, describe, refresh, convert and mix data."),
    }
)
GC_THRESHOLD = 10_000
"""New objects after which the garbage collector looks for reference cycles."""


class _Verbs(CommandGroup):
    """All verbs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": _VERBS})


app = typer.Typer(cls=_Verbs, pretty_exceptions_enable=False, no_args_is_help=True, **PLAIN)


def _version(requested: bool) -> None:
    if requested:
        print(f"wildtool {__version__}")
        raise typer.Exit


@app.callback()
def wildtool(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure how well language models use tools in realistic conversations.

    \b
    Start here:
      wildtool run wild-mini --model baseline/gold
      wildtool show runs/wild-mini
      wildtool run --help

    Exit status: 0 success; 1 internal error, or a check failed; 2 wrong usage or data; 3 calls failed or a limit was
    reached (the same command continues); 130 interrupted.
    """


def main() -> None:
    """Entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal with an old encoding shows question marks instead of ending a run.
            stream.reconfigure(errors="replace")
    # Running and judging make many objects and hardly any reference cycles.
    gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])
    if sys.stderr.isatty():
        from wildtool.cli.terminal import print_step
        from wildtool.steps import show_steps

        show_steps(print_step)
    app(prog_name="wildtool")
