"""The command `wildtool`: one small module per verb; the packages below do the work."""

import gc
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from wildtool import __version__
from wildtool.cli.command import SETTINGS, PanelCommand, with_exit_status

VERBS: Mapping[str, tuple[str, str]] = {
    "run": ("run", "run"),
    "score": ("score", "score"),
    "show": ("show", "show"),
    "compare": ("compare", "compare"),
    "curve": ("curve", "curve"),
    "report": ("report", "report"),
    "view": ("view", "view"),
    "export": ("export", "export"),
    "list": ("list", "list_"),
    "audit": ("audit", "audit"),
    "generate": ("generate", "GENERATE"),
    "review": ("review", "REVIEW"),
    "data": ("data", "DATA"),
}
"""Each verb with its module and the name there: a function, or a group of verbs."""
GC_THRESHOLD = 10_000
"""New objects after which the garbage collector looks for reference cycles."""
# Markup mode would import rich, which costs as much as everything else together.
_PLAIN: Mapping[str, Any] = {"rich_markup_mode": None, "context_settings": SETTINGS}


class _Commands(Mapping[str, Any]):
    """The commands by verb, each created on first use, so that a verb does not load the modules of the
    others."""

    def __getitem__(self, verb: str) -> Any:
        place, name = VERBS[verb]
        found = getattr(import_module(f"wildtool.cli.commands.{place}"), name)
        if not isinstance(found, typer.Typer):
            alone = typer.Typer(**_PLAIN, add_completion=False)
            alone.command(verb, cls=PanelCommand)(with_exit_status(found))
            found = alone
        made = typer.main.get_command(found)
        made.name = verb
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class _Verbs(TyperGroup):
    """All verbs."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = cast(Any, _Commands())


app = typer.Typer(cls=_Verbs, pretty_exceptions_enable=False, no_args_is_help=True, **_PLAIN)


def _version(wanted: bool) -> None:
    if wanted:
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
