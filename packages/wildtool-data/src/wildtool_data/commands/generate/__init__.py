"""The verb `generate`: a command for each generator, and the first if none is named."""

from collections.abc import Mapping

from wildtool.cli import Commands, FirstByDefault

GENERATORS: Mapping[str, str] = {
    "wildtoolbench": "Generate sessions in WildToolBench's format, with gold answers.",
    "acebench": "Generate single requests in ACEBench's format, with gold answers.",
    "tools": "Generate tool definitions to generate sessions and items over.",
    "pairs": "Generate preference pairs from what a model gets wrong in a training file.",
    "select": "Select the records of training sets that suit a model, with a random arm of the same size.",
    "rationales": "Generate reasoning before the calls of a training file.",
}
"""Names that `wildtool generate` takes, each with the line of help for overviews; the first is the
default."""


GENERATE = FirstByDefault(
    help="Generate sessions, items, tools or training data.",
    commands=Commands(GENERATORS, "generate", extras=dict.fromkeys(GENERATORS, "data")),
)
"""The verb with its commands."""
