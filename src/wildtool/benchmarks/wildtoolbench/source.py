"""Where the data lie: the embedded set, the official file once it is downloaded, or a file of the user's."""

from collections.abc import Callable
from pathlib import Path

from wildtool.benchmark import source_of
from wildtool.data.pinned import PinnedFile, cache_folder, fetch
from wildtool.errors import DataError
from wildtool.types import Source

OFFICIAL_FILE = PinnedFile(
    repository="yupeijei1997/WildToolBench",
    commit="80a5f427fb26c9a14eb419ccb565675671650065",
    path="wild-tool-bench/data/Wild-Tool-Bench.jsonl",
    git_blob="e91dd1c50a2a9ee8661a8564e11cbd6cd61f795a",
)
WILD_MINI_FILE = Path(__file__).parents[2] / "data" / "wild_mini.jsonl"
"""The embedded set."""


def official_file() -> Path:
    """Where the official data lie once pulled."""
    return cache_folder() / "wildtoolbench" / "Wild-Tool-Bench.jsonl"


def locate(data: str) -> Source:
    """The data a user named: `official`, `wild-mini`, or a file. Raises DataError saying how to get them."""
    if data == "wild-mini":
        return source_of(data, WILD_MINI_FILE)
    if data == "official":
        if not official_file().is_file():
            raise DataError(
                f"the official data are not at {official_file()}; get them with `wildtool data pull wildtoolbench`"
                " (or `--from FILE` if you have them), or use the embedded set: `--data wild-mini`"
            )
        return source_of(data, official_file())
    if not Path(data).is_file():
        raise DataError(f"no data file {data!r}; --data takes official, wild-mini or a JSON-lines file")
    return source_of(data, Path(data))


def pull(file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
    """Brings the official file into the cache, verified against its git blob id."""
    path = fetch(OFFICIAL_FILE, official_file(), file=file, mirror=mirror, report=report)
    report(
        f"source: {OFFICIAL_FILE.repository} at commit {OFFICIAL_FILE.commit}; that repository has no licence file"
    )
    return path
