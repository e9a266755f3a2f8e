"""Tables of verdicts that are up to date, for the forms that are made of them."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.export import ExportRequest

_BEGIN, _END = "verdicts-", ".parquet"


@contextmanager
def verdict_tables(wanted: ExportRequest) -> Generator[dict[Path, ScoreResult]]:
    """Tables of verdicts with their numbers: of the wanted profile, else of all profiles the run was judged by.

    Verdicts that are missing, damaged or older than the record are made; in passing, where the run may only be read.
    """
    with ExitStack() as open_tables:
        found = [
            open_tables.enter_context(open_results(wanted.folder, profile, data=wanted.data))
            for profile in _profiles(wanted)
        ]
        yield {table: result for result, table in found}


def _profiles(wanted: ExportRequest) -> list[str | None]:
    if wanted.profile is not None:
        return [wanted.profile]
    names = sorted(path.name for path in wanted.folder.glob(f"{_BEGIN}*{_END}"))
    return [name.removeprefix(_BEGIN).removesuffix(_END) for name in names] or [None]
