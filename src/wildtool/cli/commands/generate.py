"""The verb `generate`: a command for each generator, and the first if none is named.

To add one, name it in `wildtool.generate.GENERATORS` and put its command into `COMMANDS`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from wildtool.cli.command import SETTINGS, PanelCommand, with_exit_status
from wildtool.cli.commands import (
    generate_items,
    generate_pairs,
    generate_rationales,
    generate_select,
    generate_sessions,
    generate_tools,
)
from wildtool.generate import GENERATORS, GeneratorKind

COMMANDS: Mapping[GeneratorKind, Callable[..., int | None]] = {
    "sessions": generate_sessions.sessions,
    "items": generate_items.items,
    "tools": generate_tools.tools,
    "pairs": generate_pairs.pairs,
    "selection": generate_select.select,
    "rationales": generate_rationales.rationales,
}
"""The command of each kind."""


class _FirstByDefault(TyperGroup):
    """A group that runs its first command if the line starts with an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # The shell completes names while nothing is typed.
        named = not args[0].startswith("-") if args else ctx.resilient_parsing
        return super().parse_args(ctx, args if named else [next(iter(self.commands)), *args])


def _generate() -> typer.Typer:
    app = typer.Typer(
        cls=_FirstByDefault,
        help="Generate sessions, items, tools or training data.",
        rich_markup_mode=None,
        add_completion=False,
        context_settings=SETTINGS,
    )
    first, *others = GENERATORS
    more = f"See also: {', '.join(f'wildtool generate {name}' for name in others)}." if others else None
    for name, kind in GENERATORS.items():
        app.command(name, cls=PanelCommand, epilog=more if name == first else None)(
            with_exit_status(COMMANDS[kind])
        )
    return app


GENERATE = _generate()
"""The verb with its commands."""
