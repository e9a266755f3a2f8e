"""The verb `review`: people correct and approve made sets. A set's own name opens its review in the browser."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from wildtool.cli.command import SETTINGS, PanelCommand, with_exit_status
from wildtool.cli.commands.review.drafts import import_drafts
from wildtool.cli.commands.review.logs import log, merge
from wildtool.cli.commands.review.people import people_add, people_list, people_revoke, round_
from wildtool.cli.commands.review.regenerate import regenerate
from wildtool.cli.commands.review.replies import agree
from wildtool.cli.commands.review.results import export, stats
from wildtool.cli.commands.review.serve import serve_pages
from wildtool.cli.commands.review.start import start

_COMMANDS: Mapping[str, Callable[..., int | None]] = {
    "serve": serve_pages,
    "start": start,
    "export": export,
    "stats": stats,
    "log": log,
    "merge": merge,
    "round": round_,
    "agree": agree,
    "regenerate": regenerate,
    "import": import_drafts,
}
_PEOPLE: Mapping[str, Callable[..., int | None]] = {
    "add": people_add,
    "revoke": people_revoke,
    "list": people_list,
}


class _SetByDefault(TyperGroup):
    """A group whose first command is meant where the line names none."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in self.commands or _is_misspelt(args))
        # The shell completes names while nothing is typed.
        return super().parse_args(
            ctx, args if named or ctx.resilient_parsing else [next(iter(self.commands)), *args]
        )


def _is_misspelt(args: list[str]) -> bool:
    """Whether the line seems to have a command's name before the set: two words, of which the first is no file."""
    return len(args) > 1 and not any(word.startswith("-") for word in args[:2]) and not Path(args[0]).exists()


def _group(about: str, cls: type[TyperGroup] | None = None) -> typer.Typer:
    shown: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "context_settings": SETTINGS}
    return (
        typer.Typer(cls=cls, help=about, **shown)
        if cls
        else typer.Typer(help=about, no_args_is_help=True, **shown)
    )


def _review() -> typer.Typer:
    app = _group("Review and correct made sets, and release them.", _SetByDefault)
    first, *others = (*_COMMANDS, "people")
    more = f"See also: {', '.join(f'wildtool review {name}' for name in others)}."
    for name, command in _COMMANDS.items():
        app.command(name, cls=PanelCommand, epilog=more if name == first else None)(with_exit_status(command))
    people = _group("Add and remove people, with personal tokens.")
    for name, command in _PEOPLE.items():
        people.command(name, cls=PanelCommand)(with_exit_status(command))
    app.add_typer(people, name="people")
    return app


REVIEW = _review()
"""The verb with its commands."""
