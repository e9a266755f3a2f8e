"""What can be made, by the name that `wildtool generate` takes."""

from collections.abc import Mapping
from typing import Literal

Kind = Literal["sessions", "items", "tools"]

WHATS: Mapping[str, Kind] = {"wildtoolbench": "sessions", "acebench": "items", "tools": "tools"}
"""Each name with the kind of thing that it makes; the first is made where none is named."""
