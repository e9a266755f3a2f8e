"""Generates sessions, items, tools and training data; see `docs/generate.md`."""

from collections.abc import Mapping
from typing import Literal

GeneratorKind = Literal["sessions", "items", "tools", "pairs", "selection", "rationales"]

GENERATORS: Mapping[str, GeneratorKind] = {
    "wildtoolbench": "sessions",
    "acebench": "items",
    "tools": "tools",
    "pairs": "pairs",
    "select": "selection",
    "rationales": "rationales",
}
"""Names that `wildtool generate` takes, each with what it generates; the first is the default."""
