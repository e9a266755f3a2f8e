"""Arguments and options that several commands of a review have."""

from pathlib import Path
from typing import Annotated

from wildtool.cli.command import arg, opt

SetArgument = Annotated[str, arg("SET", "Made set (a file or folder), or its review.", show_default=False)]
NoCheckOption = Annotated[
    bool, opt("--no-check", "Do not run the rules over items that were not checked yet.")
]
StoreOption = Annotated[
    str | None, opt("FILE|URL", "Where the review is kept: a file, or postgresql://… (default: beside SET).")
]
RunsOption = Annotated[
    list[Path] | None, opt("--runs FOLDER", "Recorded runs of the set, or folders above; can be repeated.")
]
CHECKS_ANNOUNCED = 200
"""Items from which checking them is announced."""
