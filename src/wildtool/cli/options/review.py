"""Arguments and options that several commands of a review have."""

from pathlib import Path
from typing import Annotated

import typer

SetArgument = Annotated[
    str, typer.Argument(metavar="SET", help="Made set (a file or folder), or its review.", show_default=False)
]
NoCheckOption = Annotated[
    bool, typer.Option("--no-check", help="Do not run the rules over items that were not checked yet.")
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|URL", help="Where the review is kept: a file, or postgresql://… (default: beside SET)."
    ),
]
RunsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--runs", metavar="FOLDER", help="Recorded runs of the set, or folders above; can be repeated."
    ),
]
CHECKS_ANNOUNCED = 200
"""Items from which checking them is announced."""
