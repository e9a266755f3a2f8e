"""Data formats that can be reviewed. A benchmark without its own module here is reviewed record by record."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wildtool.data.data_set import data_of
from wildtool.engine.registry import detect_benchmark, holds_tools, load_benchmark
from wildtool.errors import DataError, UsageError
from wildtool.findings import Finding, custom_findings, custom_rules
from wildtool.own_cases.case_files import is_case_file
from wildtool.traces.forms import refuse_log
from wildtool.training.reading import looks_like_training
from wildtool_data.formats.base import ReviewFormat
from wildtool_data.formats.cases import CASE_FILES
from wildtool_data.formats.items import ITEMS
from wildtool_data.formats.plain import PlainFormat
from wildtool_data.formats.sessions import SESSIONS
from wildtool_data.formats.toolbox import TOOLBOX
from wildtool_data.make.core.files import DOUBTFUL_FILE, ITEMS_FOLDER, SESSIONS_FILE

_FORMATS: dict[str, ReviewFormat] = {each.name: each for each in (SESSIONS, ITEMS)}


def format_of(benchmark: str) -> ReviewFormat:
    """The format of a benchmark. Raises UsageError if there is no benchmark of that name."""
    for named in (CASE_FILES, TOOLBOX):
        if benchmark == named.name:
            return named
    return _FORMATS.get(benchmark) or PlainFormat(load_benchmark(benchmark))


def find_set(target: str, benchmark: str | None = None) -> tuple[ReviewFormat, Path]:
    """The format of a made set, and where its items are.

    Args:
        target: a folder that `generate` made, its file of sessions or of doubtful items, or what `data lint` reads.
        benchmark: its benchmark; None to tell it by the data. Training records are those of no benchmark then.

    Raises UsageError or DataError where there is no such data, or their benchmark is not clear.
    """
    path = Path(target)
    if path.is_dir() and (path / SESSIONS_FILE).exists():
        return SESSIONS, path / SESSIONS_FILE
    if path.name == DOUBTFUL_FILE or (path / ITEMS_FOLDER).is_dir() or (path / DOUBTFUL_FILE).exists():
        return ITEMS, path
    if benchmark in (None, CASE_FILES.name) and is_case_file(path):
        return CASE_FILES, path
    if benchmark is None and path.is_file() and looks_like_training(path):
        # Several benchmarks have records of that form; whose they are is the user's to say.
        benchmark = "training"
    try:
        owner = detect_benchmark(benchmark, target)
    except UsageError:
        refuse_log(path)
        raise
    own_format = next(
        (format_ for format_ in _FORMATS.values() if isinstance(owner, type(load_benchmark(format_.name)))),
        None,
    )
    try:
        place = data_of(owner).locate(None if target == owner.name else target).path
    except DataError:
        place = path
    return own_format or PlainFormat(owner), place


def find_reviewed(target: str, benchmark: str | None = None) -> tuple[ReviewFormat, Path]:
    """As `find_set`, and also a file of tools, which holds no data of a benchmark but can be reviewed."""
    path = Path(target)
    if benchmark == TOOLBOX.name:
        return TOOLBOX, path
    try:
        return find_set(target, benchmark)
    except UsageError:
        if benchmark is None and path.is_file() and holds_tools(path):
            return TOOLBOX, path
        raise


def custom_findings_in(target: str, benchmark: str | None = None) -> Iterator[Finding]:
    """What the rules of installed packages find in a set, with file, item and part as their place.

    Args: as of `find_set`.

    Raises UsageError for a rule that cannot be used; DataError where data have a form that such rules cannot look at.
    """
    format_, path = find_set(target, benchmark)
    if custom_rules(format_.name):
        for item in format_.read(path):
            for finding in custom_findings(format_.name, item.content):
                place = " ".join(filter(None, (f"{path}:", item.id, finding.field)))
                yield replace(finding, where=place)
