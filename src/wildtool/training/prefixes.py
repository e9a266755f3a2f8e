"""Finds records whose turns are the beginning of another's: step records of one and the same solution."""

import hashlib
from collections.abc import Iterable, Iterator

from wildtool.training.record import TrainingRecord


def beginnings(records: Iterable[TrainingRecord]) -> set[bytes]:
    """A digest of every proper beginning of each record's turns."""
    found: set[bytes] = set()
    for record in records:
        *shorter, _ = _digests(record)
        found.update(shorter)
    return found


def whole_digest(record: TrainingRecord) -> bytes:
    """The digest of all turns of a record."""
    *_, whole = _digests(record)
    return whole


def _digests(record: TrainingRecord) -> Iterator[bytes]:
    digest = hashlib.blake2b(digest_size=8)
    for turn in record.turns:
        digest.update(repr(turn).encode("utf-8", "surrogatepass"))
        yield digest.digest()
