"""Names, texts and paths as they may stand in a query."""

import os
import re
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from wildtool.errors import RecordError

_PATTERN = re.compile("[*?[\\\\\ud800-\udfff]")
"""What makes the database take a path for a pattern of several, or that it cannot take at all."""
_PLACES = ("/tmp", "/var/tmp", "/dev/shm")
_NUMBERS = count()


def sql_name(name: str) -> str:
    """The name of a column."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A text."""
    return "'" + text.replace("'", "''") + "'"


def sql_path(path: Path) -> str:
    """A file by a name that the database takes for this one file and nothing else.

    The database takes `*`, `?` and `[` for patterns that match other files too, and has no sound way to escape them;
    nor does it take names that are no UTF-8. Such a file is named by a link to its folder, which goes when the process
    ends.
    """
    place = path.absolute()
    if not _PATTERN.search(str(place)):
        return str(place)
    if _PATTERN.search(place.name):
        return str(_linked(place, os.getpid()))
    return str(_linked(place.parent, os.getpid()) / place.name)


@cache
def _linked(place: Path, process: int) -> Path:
    """A link to a file or folder, by a plain name."""
    link = Path(_links(process).name, str(next(_NUMBERS)))
    link.symlink_to(place)
    return link


@cache
def _links(process: int) -> "TemporaryDirectory[str]":
    for place in (tempfile.gettempdir(), *_PLACES):
        if not _PATTERN.search(place) and os.access(place, os.W_OK):
            return TemporaryDirectory(prefix="wildtool-links-", dir=place)
    raise RecordError(
        f"{tempfile.gettempdir()}: files of names with * ? [ or \\ are read through links in a folder of temporary files,"
        " whose own name may have none of these; name another by TMPDIR"
    )
