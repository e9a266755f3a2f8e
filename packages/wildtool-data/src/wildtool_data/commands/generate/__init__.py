"""The verb `generate`: a command for each generator, and the first if none is named."""

from collections.abc import Mapping

from wildtool.cli import Commands, FirstByDefault

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


GENERATE = FirstByDefault(
    help="Generate sessions, items, tools or training data.",
    commands=Commands(GENERATORS, "generate", package="wildtool_data"),
)
"""The verb with its commands."""
