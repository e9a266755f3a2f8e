"""The records of training files by names that stay the same, for runs and audit files."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from wildtool.data.files import file_sha256
from wildtool.errors import DataError
from wildtool.training.reading import training_records
from wildtool.training.record import RejectedRow, TrainingRecord
from wildtool.types import Source

_reported: set[Path] = set()
"""Files of which it was said what was left out."""


def named_records(path: Path) -> Iterator[tuple[str, TrainingRecord]]:
    """The records of a file, each with a name: its id, or `row N`; a second one of an id has its row behind it.

    Rows that are no records are left out; the first time a file is read completely, their number and the first reason
    are reported by `logging`.

    Raises:
        DataError: the file cannot be read, or holds no record.
    """
    names: set[str] = set()
    rejected: list[RejectedRow] = []
    count = 0
    for record in training_records(path):
        if isinstance(record, RejectedRow):
            rejected.append(record)
            continue
        count += 1
        name = record.id or f"row {record.row}"
        name = f"{name} (row {record.row})" if name in names else name
        names.add(name)
        yield name, record
    _report(path, rejected)
    if not count:
        raise DataError(f"{path}: no row is a training record ({_first(rejected)})")


def _report(path: Path, rejected: Sequence[RejectedRow]) -> None:
    if rejected and path not in _reported:
        _reported.add(path)
        logging.getLogger("wildtool").warning(
            "%s: rows left out since they are no records: %d; the first: %s",
            path,
            len(rejected),
            _first(rejected),
        )


def _first(rejected: Sequence[RejectedRow]) -> str:
    return f"row {rejected[0].row}: {rejected[0].reason}: {rejected[0].detail}"


def training_source(path: Path) -> Source:
    """A training file by its path and SHA-256. Raises DataError if it cannot be read."""
    try:
        digest = file_sha256(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; name a training file") from error
    return Source(str(path), path, digest)
