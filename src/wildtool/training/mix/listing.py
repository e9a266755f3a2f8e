"""Lists the duplicates in one training file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wildtool.training.check.rows import checked_rows
from wildtool.training.mix.duplicates import SIMILAR, Clusters
from wildtool.training.mix.store import DEDUPE_LEVELS, Dedupe, MixStore
from wildtool.training.record import RejectedRow


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record that repeats an earlier one."""

    row: int
    like: int
    """Row of the other record, earlier in the file or of the same cluster."""
    rule: Dedupe
    similarity: float


def duplicates_in(path: Path, level: Dedupe, similar: float = SIMILAR) -> Iterator[Duplicate]:
    """The records that `data mix --dedupe LEVEL` would leave out, one for each pair that joins two clusters.

    Raises:
        DataError: the file cannot be read.
        UsageError: the library for near duplicates is not installed.
    """
    levels = DEDUPE_LEVELS[: DEDUPE_LEVELS.index(level) + 1]
    with TemporaryDirectory() as folder:
        store = MixStore(Path(folder), prompts="prompt" in levels, near="near" in levels, tools=False)
        for row in checked_rows(path)[1]:
            if not isinstance(row.record, RejectedRow):
                store.add(b"", row.record, 0, row.number)
        clusters = Clusters(len(store))
        for one in levels:
            for pair in store.join(clusters, one, similar):
                first, second = sorted((store.rows[pair.kept], store.rows[pair.removed]))
                yield Duplicate(second, first, one, pair.similarity)
