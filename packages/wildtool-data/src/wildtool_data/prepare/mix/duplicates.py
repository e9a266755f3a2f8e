"""Finds records that say nearly the same: candidates by MinHash (rensa), each of which is then compared exactly.

Nothing is removed by estimate. What each record needs lies on disk, so memory grows by a few bytes a record.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import product
from math import ceil
from pathlib import Path
from typing import IO, Any

from wildtool.errors import UsageError
from wildtool.training.tokens import shingles, word_tokens

PERMUTATIONS, BANDS = 128, 32
"""A pair of similarity 0.8 shares no band of 4 values with a probability of 5 in 100 million."""
SIMILAR = 0.8
"""Jaccard index of 5-token sequences from which two records are near duplicates."""
SIMILAR_TOOLS = 0.5
"""Jaccard index of tool names that near duplicates must also have."""
_BATCH = 2048
_BAND_BYTES = 4 * PERMUTATIONS // BANDS
_SEED = 1
_COUNTER_BITS = 20
_MASK = (1 << _COUNTER_BITS) - 1


class Clusters:
    """Records, numbered from 0, in groups that are joined pair by pair."""

    def __init__(self, count: int) -> None:
        self._above = array("Q", range(count))

    def first(self, record: int) -> int:
        """The first record of a record's cluster."""
        above = self._above
        while above[record] != record:
            above[record] = above[above[record]]
            record = above[record]
        return record

    def join(self, first: int, other: int) -> bool:
        """Makes one cluster of two; False if they are one already."""
        a, b = self.first(first), self.first(other)
        if a == b:
            return False
        self._above[max(a, b)] = min(a, b)
        return True


class NearDuplicates:
    """Records by the 5-token sequences of their user texts and by the names of their tools."""

    def __init__(self, folder: Path) -> None:
        """Args: folder: where its files are kept. Raises UsageError if the library is not installed."""
        try:
            rensa: Any = import_module("rensa")
        except ModuleNotFoundError as error:
            raise UsageError(
                "finding near duplicates, and splits that keep them together, need the extra `training`: "
                "pip install 'wildtool[training]'"
            ) from error
        self._minhash: Any = rensa.RMinHash
        self._sets: IO[bytes] = (folder / "sets").open("w+b")
        self._bands: list[IO[bytes]] = [(folder / f"band-{k}").open("w+b") for k in range(BANDS)]
        self._ends = array("Q")
        """Where the numbers of each record end in `_sets`, in numbers of 8 bytes."""
        self._tools = array("H")
        """How many of them are tool names; these come first."""
        self._counts = array("I", bytes(4 << _COUNTER_BITS))
        """How often numbers occur, those with the same last bits together: rare ones tell records apart."""
        self._batch: list[tuple[list[str], list[str]]] = []
        self._written = 0
        self.compared = 0
        """Pairs that were compared exactly."""

    def add(self, user_texts: Iterable[str], tools: Iterable[str]) -> None:
        """Adds a record; records are numbered from 0."""
        texts = [" ".join(part) for part in shingles(word_tokens("\n".join(user_texts)))]
        self._batch.append((sorted(set(tools))[:65_535], texts))
        if len(self._batch) == _BATCH:
            self._write()

    def _write(self) -> None:
        names: list[list[int]] = self._minhash.hash_token_sets([tools for tools, _ in self._batch])
        signatures: list[list[int]] = self._minhash.hash_token_sets([texts for _, texts in self._batch])
        matrix = self._minhash.digest_matrix_from_token_hash_sets(signatures, PERMUTATIONS, _SEED)
        rows = [array("I", row).tobytes() for row in matrix.to_rows()]
        for k, band in enumerate(self._bands):
            band.write(b"".join(row[_BAND_BYTES * k : _BAND_BYTES * (k + 1)] for row in rows))
        for tools, sequences in zip(names, signatures, strict=True):
            # Without tools it is a set like any other: no tools are similar to no tools.
            numbers = array("Q", tools)
            self._tools.append(len(numbers))
            numbers.extend(sorted(set(sequences)))
            for number in numbers:
                self._counts[number & _MASK] += 1
            self._sets.write(numbers.tobytes())
            self._written += len(numbers)
            self._ends.append(self._written)
        self._batch.clear()

    def join(self, clusters: Clusters, similar: float = SIMILAR) -> Iterator[tuple[int, int, float]]:
        """Joins near duplicates; gives each pair that joined two clusters, with its similarity."""
        self._write()
        self._sets.flush()
        compare = _Comparison(self._sets.fileno(), self._ends, self._tools, self._counts, similar)
        for band in self._bands:
            for group in _groups(band):
                yield from compare.join(group, clusters)
        self.compared = compare.compared


def _groups(band: IO[bytes]) -> Iterable[list[int]]:
    """Records with the same values in a band."""
    first: dict[bytes, int] = {}
    groups: dict[int, list[int]] = {}
    band.seek(0)
    values = band.read()
    for record in range(len(values) // _BAND_BYTES):
        place = record * _BAND_BYTES
        earlier = first.setdefault(values[place : place + _BAND_BYTES], record)
        if earlier != record:
            groups.setdefault(earlier, [earlier]).append(record)
    return groups.values()


@dataclass(frozen=True, slots=True)
class _Sets:
    """The numbers of one record."""

    tools: frozenset[int]
    shingles: frozenset[int]
    rare_tools: tuple[int, ...]
    """The rarest of them, as many as it takes for any record with similar tools to have one of them too."""
    rare: tuple[int, ...]
    """The same of the sequences, for a record that is not larger."""
    rarest: int
    """How many of these suffice for a record that is not smaller."""


class _Comparison:
    """Compares records exactly.

    Of two sets that are similar enough, those few members that are first in any common order share one (Chaudhuri et al.
    2006; Xiao et al. 2008). With rare members first, records that share a template are not compared one with each other.
    """

    def __init__(
        self, sets: int, ends: Sequence[int], tools: Sequence[int], counts: Sequence[int], similar: float
    ) -> None:
        """Args: sets: descriptor of the file that holds the numbers of all records."""
        self._sets, self._ends, self._tools = sets, ends, tools
        self._counts, self._similar = counts, similar
        self._of = lru_cache(maxsize=4096)(self._read)
        self.compared = 0
        """Pairs that were compared."""

    def join(self, group: list[int], clusters: Clusters) -> Iterator[tuple[int, int, float]]:
        """Joins the similar ones of a group of candidates."""
        if len({clusters.first(record) for record in group}) == 1:
            return
        index: dict[tuple[int, int], dict[int, list[int]]] = {}
        """A rare sequence and a rare tool to the records that have both, by cluster."""
        for record in sorted(group, key=lambda record: (self._size(record), record)):
            sets = self._of(record)
            for key in product(sets.rare, sets.rare_tools or (0,)):
                for members in list(index.get(key, {}).values()):
                    for other in members:
                        if clusters.first(other) == clusters.first(record):
                            break
                        similarity = self._similarity(other, record)
                        if similarity >= self._similar:
                            clusters.join(other, record)
                            yield min(other, record), max(other, record), similarity
                            break
            for key in product(sets.rare[: sets.rarest], sets.rare_tools or (0,)):
                index.setdefault(key, {}).setdefault(clusters.first(record), []).append(record)

    def _size(self, record: int) -> int:
        """How many sequences a record has."""
        return self._ends[record] - (self._ends[record - 1] if record else 0) - self._tools[record]

    def _similarity(self, first: int, other: int) -> float:
        """Jaccard index of the 5-token sequences; 0 where the tools differ too much."""
        self.compared += 1
        a, b = self._of(first), self._of(other)
        if (a.tools or b.tools) and _index(a.tools, b.tools) < SIMILAR_TOOLS:
            return 0.0
        return _index(a.shingles, b.shingles)

    def _read(self, record: int) -> _Sets:
        start, end = (self._ends[record - 1] if record else 0), self._ends[record]
        numbers = array("Q", os.pread(self._sets, 8 * (end - start), 8 * start))
        tools, shingles = numbers[: self._tools[record]], numbers[self._tools[record] :]
        share = 2 * self._similar / (1 + self._similar)
        return _Sets(
            tools=frozenset(tools),
            shingles=frozenset(shingles),
            rare_tools=tuple(self._rarest(tools, SIMILAR_TOOLS)),
            rare=tuple(self._rarest(shingles, self._similar)),
            rarest=_left_out(len(shingles), share),
        )

    def _rarest(self, numbers: Sequence[int], share: float) -> list[int]:
        """The rarest members of a set, one more than another set with this share of them may lack."""
        ordered = sorted(numbers, key=lambda number: (self._counts[number & _MASK], number))
        return ordered[: _left_out(len(numbers), share)]


def _left_out(size: int, share: float) -> int:
    return size - ceil(size * share - 1e-9) + 1 if size else 0


def _index(first: frozenset[int], other: frozenset[int]) -> float:
    both = len(first & other)
    return both / (len(first) + len(other) - both)
