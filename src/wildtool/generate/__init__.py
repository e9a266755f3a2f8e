"""Generates sessions, items and tools; see `docs/generate.md`."""

from collections.abc import Mapping
from typing import Literal

GeneratorKind = Literal["sessions", "items", "tools"]

GENERATORS: Mapping[str, GeneratorKind] = {"wildtoolbench": "sessions", "acebench": "items", "tools": "tools"}
"""Names that `wildtool generate` takes, each with what it generates; the first is the default."""
