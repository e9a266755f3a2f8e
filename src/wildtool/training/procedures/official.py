"""Refuses a benchmark's own data as training data: a score on them would mean nothing afterwards."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from wildtool.data.data_set import data_of
from wildtool.data.files import file_sha256
from wildtool.data.pinned import official_folder
from wildtool.engine.registry import usable_benchmarks
from wildtool.errors import UsageError

ALLOW_OPTION = "--allow-benchmark-data"


def official_owner(path: Path) -> str | None:
    """The benchmark whose official or shipped data a file is, by its place or its bytes; None for any other file."""
    try:
        place, size = path.resolve(), path.stat().st_size
    except OSError:
        return None
    # Some official files are empty, and so is a pipe, which to open is to wait for its writer: both are nobody's data.
    if not size:
        return None
    for name, other in _official_files():
        if place == other.resolve():
            return name
        if other.stat().st_size == size and file_sha256(other) == file_sha256(path):
            return name
    return None


def check_not_official(paths: Iterable[Path], *, allow: bool) -> tuple[str, ...]:
    """Names of the benchmarks whose data the files are, where that is allowed.

    Raises:
        UsageError: a file is a benchmark's data, and `allow` is off.
    """
    owners = tuple(dict.fromkeys(name for path in paths if (name := official_owner(path)) is not None))
    if owners and not allow:
        raise refusal(owners[0])
    return owners


def refusal(name: str) -> UsageError:
    """Why data of a benchmark are not made into training data."""
    return UsageError(
        f"{name} is a benchmark: scores on it would mean nothing afterwards; {ALLOW_OPTION} uses it and writes "
        "that into every output"
    )


def _official_files() -> Iterator[tuple[str, Path]]:
    for benchmark in usable_benchmarks():
        shipped = data_of(benchmark).shipped
        for file in (*official_folder(benchmark.name).rglob("*"), *([shipped] if shipped else [])):
            if file.is_file():
                yield benchmark.name, file
