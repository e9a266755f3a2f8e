"""Lists the duplicates in one training file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wildtool.training.check.rows import checked_rows
from wildtool.training.mix.duplicates import SIMILAR, Clusters
from wildtool.training.mix.store import Dedupe, MixStore
from wildtool.training.record import RejectedRow


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record that repeats another one."""

    row: int
    like: int
    """Row of the record of its cluster that stays."""
    rule: Dedupe
    similarity: float


def duplicates_in(path: Path, level: Dedupe, similar: float = SIMILAR) -> Iterator[Duplicate]:
    """The records that `data mix --dedupe LEVEL` would leave out.

    Raises:
        DataError: the file cannot be read.
        UsageError: the library for near duplicates is not installed.
    """
    with TemporaryDirectory() as folder:
        store = MixStore(Path(folder), prompts=level == "prompt", near=level == "near", tools=False)
        for row in checked_rows(path)[1]:
            if not isinstance(row.record, RejectedRow):
                store.add(b"", row.record, 0, row.number)
        for record, stays, pair in store.duplicates(Clusters(len(store)), level, similar):
            yield Duplicate(store.rows[record], store.rows[stays], pair.rule, pair.similarity)
