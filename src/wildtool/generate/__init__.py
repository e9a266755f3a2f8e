"""What can be made, by the name that `wildtool generate` takes."""

from collections.abc import Mapping
from typing import Literal

GeneratorKind = Literal["sessions", "items", "tools"]

GENERATORS: Mapping[str, GeneratorKind] = {"wildtoolbench": "sessions", "acebench": "items", "tools": "tools"}
"""Each name with the kind of thing that it makes; the first is made where none is named."""
