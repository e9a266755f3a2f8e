"""Data formats that can be reviewed. A benchmark without its own module here is reviewed record by record."""

from pathlib import Path

from wildtool.engine.detect import detect_benchmark
from wildtool.engine.registry import load_benchmark
from wildtool.errors import DataError
from wildtool.generate.core.files import DOUBTFUL_FILE, ITEMS_FOLDER, SESSIONS_FILE
from wildtool.review.formats.base import ReviewFormat
from wildtool.review.formats.items import ITEMS
from wildtool.review.formats.plain import PlainFormat
from wildtool.review.formats.sessions import SESSIONS

_FORMATS: dict[str, ReviewFormat] = {known.name: known for known in (SESSIONS, ITEMS)}


def format_of(benchmark: str) -> ReviewFormat:
    """The format of a benchmark. Raises UsageError if there is no benchmark of that name."""
    return _FORMATS.get(benchmark) or PlainFormat(load_benchmark(benchmark))


def find_set(what: str, benchmark: str | None = None) -> tuple[ReviewFormat, Path]:
    """The format of a made set, and where its items are.

    Args:
        what: a folder that `generate` made, its file of sessions or of doubtful items, or what `data lint` reads.
        benchmark: its benchmark; None to tell it by the data.

    Raises UsageError or DataError where there is no such data, or their benchmark is not clear.
    """
    path = Path(what)
    if path.is_dir() and (path / SESSIONS_FILE).exists():
        return SESSIONS, path / SESSIONS_FILE
    if path.name == DOUBTFUL_FILE or (path / ITEMS_FOLDER).is_dir() or (path / DOUBTFUL_FILE).exists():
        return ITEMS, path
    owner = detect_benchmark(benchmark, what)
    found = next(
        (known for known in _FORMATS.values() if type(load_benchmark(known.name)) is type(owner)), None
    )
    try:
        place = owner.locate(None if what == owner.name else what).path
    except DataError:
        place = path
    return found or PlainFormat(owner), place
