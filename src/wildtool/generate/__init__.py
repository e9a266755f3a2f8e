"""Generates sessions, items, tools and training data; see `docs/generate.md`."""

from collections.abc import Mapping

GENERATORS: Mapping[str, tuple[str, str]] = {
    "wildtoolbench": (
        "generate_sessions:sessions",
        "Generate sessions in WildToolBench's format, with gold answers.",
    ),
    "acebench": (
        "generate_items:items",
        "Generate single requests in ACEBench's format, with gold answers.",
    ),
    "tools": ("generate_tools:tools", "Generate tool definitions to generate sessions and items over."),
    "pairs": (
        "generate_pairs:pairs",
        "Generate preference pairs from what a model gets wrong in a training file.",
    ),
    "select": (
        "generate_select:select",
        "Select the records of training sets that suit a model, with a random arm of the same size.",
    ),
    "rationales": (
        "generate_rationales:rationales",
        "Generate reasoning before the calls of a training file.",
    ),
}
"""Names that `wildtool generate` takes, each with its command and the line of help for overviews; the first is the
default."""
