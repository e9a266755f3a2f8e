"""The verb `generate`: a command for each generator, and the first if none is named."""

from collections.abc import Mapping
from typing import Any

from wildtool.cli import CommandGroup, Commands

GENERATORS: Mapping[str, tuple[str, str]] = {
    "wildtoolbench": (
        "commands.generate.sessions:sessions",
        "Generate sessions in WildToolBench's format, with gold answers.",
    ),
    "acebench": (
        "commands.generate.items:items",
        "Generate single requests in ACEBench's format, with gold answers.",
    ),
    "tools": (
        "commands.generate.tools:tools",
        "Generate tool definitions to generate sessions and items over.",
    ),
    "pairs": (
        "commands.generate.pairs:pairs",
        "Generate preference pairs from what a model gets wrong in a training file.",
    ),
    "select": (
        "commands.generate.select:select",
        "Select the records of training sets that suit a model, with a random arm of the same size.",
    ),
    "rationales": (
        "commands.generate.rationales:rationales",
        "Generate reasoning before the calls of a training file.",
    ),
}
"""Names that `wildtool generate` takes, each with its command and the line of help for overviews; the first is the
default."""


class _FirstByDefault(CommandGroup):
    """A group that runs its first command if the line starts with an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # The shell completes names while nothing is typed.
        has_name = not args[0].startswith("-") if args else ctx.resilient_parsing
        return super().parse_args(ctx, args if has_name else [next(iter(self.commands)), *args])


GENERATE = _FirstByDefault(
    help="Generate sessions, items, tools or training data.",
    commands=Commands(GENERATORS, "generate", package="wildtool_data"),
)
"""The verb with its commands."""
