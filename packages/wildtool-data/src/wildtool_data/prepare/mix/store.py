"""The records of a mixture while it is made: their lines on disk, and a few bytes of each in memory."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from wildtool.temporary import temporary_folder
from wildtool.training.record import RejectedRow, TrainingRecord
from wildtool_data.prepare.check.rows import checked_rows
from wildtool_data.prepare.keys import drawn_number, prompt_key, record_digest, tools_key
from wildtool_data.prepare.mix.duplicates import SIMILAR, Clusters, NearDuplicates

Dedupe = Literal["exact", "prompt", "near"]
"""What counts as a duplicate."""
DEDUPE_LEVELS: Mapping[Dedupe, tuple[Dedupe, ...]] = {
    "exact": ("exact",),
    "prompt": ("exact", "prompt"),
    "near": ("exact", "near"),
}
"""Each level with those that it includes, in order."""
GroupBy = Literal["near", "tools"]
"""Which records must be in one split: near duplicates, or those with the same tools."""
_DIGEST, _KEY = 32, 16


@dataclass(frozen=True, slots=True)
class Removed:
    """A record that was left out as a duplicate."""

    kept: int
    removed: int
    rule: Dedupe
    similarity: float


class MixStore:
    """Records in the order in which they were added, numbered from 0."""

    def __init__(self, folder: Path, *, prompts: bool, near: bool, tools: bool) -> None:
        """Args: folder: for temporary files. prompts, near, tools: which comparisons will be asked for."""
        self._lines: IO[bytes] = (folder / "lines").open("w+b")
        self._ends = array("Q")
        self._digests, self._prompts, self._tools = bytearray(), bytearray(), bytearray()
        self._wants_prompts, self._wants_tools = prompts, tools
        self._near = NearDuplicates(folder) if near else None
        self._again = array("I")
        self.learned = array("I")
        """How many turns of each record a model learns: of duplicates the longest stays."""
        self.sets = array("H")
        """Number of each record's set."""
        self.rows = array("Q")
        """Its row in the set's file."""

    def __len__(self) -> int:
        return len(self.sets)

    def add(self, line: bytes, record: TrainingRecord, number: int, row: int) -> None:
        """Adds a record of a set: its line without line end, and what it says."""
        self._lines.write(line)
        self._ends.append((self._ends[-1] if self._ends else 0) + len(line))
        self._digests += record_digest(record)
        if self._wants_prompts:
            self._prompts += prompt_key(record)
        if self._wants_tools:
            self._tools += tools_key(record)
        if self._near is not None:
            self._near.add(record.user_texts, record.tool_names)
        self.learned.append(sum(reply.learned for reply in record.replies))
        self.sets.append(number)
        self.rows.append(row)

    def line(self, record: int) -> bytes:
        """A record's line."""
        start = self._ends[record - 1] if record else 0
        self._lines.seek(start)
        return self._lines.read(self._ends[record] - start)

    def join(self, clusters: Clusters, level: Dedupe, similar: float = SIMILAR) -> Iterator[Removed]:
        """Joins the duplicates of one level; gives each pair that joined two clusters."""
        if level == "near":
            assert self._near is not None
            for earlier, other, similarity in self._near.join(clusters, similar):
                yield Removed(earlier, other, level, similarity)
            return
        keys, size = (self._digests, _DIGEST) if level == "exact" else (self._prompts, _KEY)
        first: dict[bytes, int] = {}
        for record in range(len(self)):
            earlier = first.setdefault(bytes(keys[size * record : size * (record + 1)]), record)
            if earlier != record and clusters.join(earlier, record):
                yield Removed(earlier, record, level, 1.0)

    def duplicates(
        self, clusters: Clusters, level: Dedupe, similar: float = SIMILAR
    ) -> Iterator[tuple[int, int, Removed]]:
        """Joins the duplicates of a level; gives each record that goes, the one of its cluster that stays, and a pair
        that it was joined by. The record with most learned turns stays, of equal ones the first."""
        joined: dict[int, Removed] = {}
        for each in DEDUPE_LEVELS[level]:
            for pair in self.join(clusters, each, similar):
                for record in (pair.removed, pair.kept):
                    joined.setdefault(record, pair)
        longest: dict[int, int] = {}
        for record in sorted(joined):
            first = clusters.first(record)
            if self.learned[record] > self.learned[longest.setdefault(first, first)]:
                longest[first] = record
        for record in sorted(joined):
            if (stays := longest[clusters.first(record)]) != record:
                yield record, stays, joined[record]

    def groups(self, clusters: Clusters, by: GroupBy) -> Callable[[int], str]:
        """Gives the name of a record's group: the smallest digest of its cluster, or the digest of its tools."""
        if by == "tools":
            return lambda record: self._tools[_KEY * record : _KEY * (record + 1)].hex()
        smallest: dict[int, bytes] = {}
        """Of clusters of several records."""
        for record in range(len(self)):
            first = clusters.first(record)
            if first != record:
                digest = smallest.get(first) or self._digest(first)
                smallest[first] = min(digest, self._digest(record))

        def group(record: int) -> str:
            first = clusters.first(record)
            return (smallest.get(first) or self._digest(first)).hex()

        return group

    def number_equals(self) -> None:
        """Numbers the records of a set with equal digests, so that each has its own key. After the last `add`."""
        counter: Counter[tuple[int, int]] = Counter()
        for record in range(len(self)):
            key = self.sets[record], int.from_bytes(self._digest(record)[:8], "big")
            counter[key] += 1
            self._again.append(counter[key])

    def key(self, record: int) -> str:
        """What identifies a record in its set whatever the order of the file: its digest, with a number behind it for the
        second of equal ones, and so on."""
        again = self._again[record]
        return self._digest(record).hex() + (f"-{again}" if again > 1 else "")

    def _digest(self, record: int) -> bytes:
        return bytes(self._digests[_DIGEST * record : _DIGEST * (record + 1)])


def drawing_order(store: MixStore, seed: str, records: Sequence[int]) -> dict[int, list[int]]:
    """The records of each set in the order in which they are drawn."""
    numbers = array("Q", (drawn_number(seed, store.key(record)) for record in records))
    drawn: dict[int, list[int]] = {}
    for place in sorted(range(len(records)), key=numbers.__getitem__):
        drawn.setdefault(store.sets[records[place]], []).append(records[place])
    return drawn


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
    with temporary_folder() as folder:
        store = MixStore(Path(folder), prompts=level == "prompt", near=level == "near", tools=False)
        for row in checked_rows(path)[1]:
            if not isinstance(row.record, RejectedRow):
                store.add(b"", row.record, 0, row.number)
        for record, stays, pair in store.duplicates(Clusters(len(store)), level, similar):
            yield Duplicate(store.rows[record], store.rows[stays], pair.rule, pair.similarity)
