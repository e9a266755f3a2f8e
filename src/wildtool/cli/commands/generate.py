"""The verb `generate`: a command for each generator, and the first if none is named."""

from typing import Any

from wildtool.cli.command import CommandGroup, Commands
from wildtool.generate import GENERATORS


class _FirstByDefault(CommandGroup):
    """A group that runs its first command if the line starts with an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # The shell completes names while nothing is typed.
        named = not args[0].startswith("-") if args else ctx.resilient_parsing
        return super().parse_args(ctx, args if named else [next(iter(self.commands)), *args])


GENERATE = _FirstByDefault(
    help="Generate sessions, items, tools or training data.", commands=Commands(GENERATORS, "generate")
)
"""The verb with its commands."""
