"""How alike texts are: by spelling, for near duplicates, and by topic, from the words they share."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, log, sqrt
from typing import cast

from rapidfuzz import fuzz, process

NEAR_DUPLICATE = 92
"""Similarity (0 to 100) above which two user texts of a data file count as the same."""
_FORGET_EVERY = 4096
"""Texts added between two times that the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A text that is nearly the same as an earlier one."""

    place: str
    earlier: str
    """The first of the earlier ones; texts are ordered by length, then as they were given."""
    similarity: float
    """From 0 to 100."""


def near_duplicates(texts: Iterable[tuple[str, str]]) -> Iterator[NearDuplicate]:
    """Each text that is nearly the same as a shorter or earlier one; case and blanks do not count.

    Args:
        texts: pairs of a text and its place.
    """
    rows = sorted(((fold_text(text), place) for text, place in texts), key=lambda row: len(row[0]))
    known = NearDuplicateIndex(NEAR_DUPLICATE)
    for text, place in rows:
        found = known.first_near(text)
        if found is not None:
            yield NearDuplicate(place, rows[found[0]][1], found[1])
        known.add(text)


def fold_text(text: str) -> str:
    """A text as it is compared: lower case, single spaces."""
    return " ".join(text.casefold().split())


class NearDuplicateIndex:
    """Texts, by length, among which near duplicates of another text are found.

    Texts whose lengths differ too much cannot be near duplicates and are not compared.
    """

    def __init__(self, above: float, remembered: int | None = None) -> None:
        """Args:
        above: similarity (0 to 100) that near duplicates exceed.
        remembered: the number of newest texts to keep at least; None keeps all.
        """
        self._above = above
        self._remembered = remembered
        self._by_length: dict[int, tuple[list[str], list[int]]] = {}
        """For each length the texts and their numbers, in order."""
        self._added = 0

    def add(self, text: str) -> None:
        """Adds a text; texts are numbered from 0."""
        texts, numbers = self._by_length.setdefault(len(text), ([], []))
        texts.append(text)
        numbers.append(self._added)
        self._added += 1
        if self._remembered is not None and self._added % _FORGET_EVERY == 0:
            self._forget(self._added - self._remembered)

    def first_near(self, text: str) -> tuple[int, float] | None:
        """Number and similarity of the first near duplicate among the shortest; None if there is none."""
        # Even if all of the shorter text recurs in the longer one, twice its share of both must exceed `above`.
        shortest = ceil(len(text) * self._above / (200 - self._above) - 1e-6)
        longest = floor(len(text) * (200 - self._above) / self._above + 1e-6)
        for length in range(shortest, longest + 1):
            texts, numbers = self._by_length.get(length, ((), ()))
            matches = process.extract_iter(text, texts, scorer=fuzz.ratio, score_cutoff=self._above)
            for _, similarity, k in cast("Iterator[tuple[str, float, int]]", matches):
                if similarity > self._above:
                    return numbers[k], similarity
        return None

    def _forget(self, oldest: int) -> None:
        for texts, numbers in self._by_length.values():
            kept = bisect_left(numbers, oldest)
            del texts[:kept], numbers[:kept]


_LATIN = re.compile(r"[a-z]{2,}|\d+")
_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "the of to for and or in on at by is are be an as it its this that with from which whether will can if when "
        "optional required default value values string number list boolean object parameter parameters specified given",
    )
)
"""Words that say nothing about the topic."""
_ENDINGS = re.compile(r"(?<=[a-z]{3})(?:ies|ing|es|ed|s|e)$")
_MAX_CANDIDATES = 1_000
"""Texts at most that are considered for one: those that share its rarest features; of common features, a sample."""
_MAX_EXACT = 30
"""Texts that one is compared with exactly: those that share the most rare features."""
_LONGEST = 2_000
"""Characters of a text that are read."""
FeatureVector = dict[str, float]


@lru_cache(maxsize=16_384)
def features(text: str) -> tuple[str, ...]:
    """Stems of the words of a text, and pairs of Chinese characters; names in camel case are split."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text[:_LONGEST]).casefold()
    words = [_ENDINGS.sub("", word) for word in _LATIN.findall(apart) if word not in _STOP_WORDS]
    pairs = [run[k : k + 2] for run in _CHINESE.findall(apart) for k in range(max(1, len(run) - 1))]
    return (*words, *pairs)


def jaccard(one: str, other: str) -> float:
    """Jaccard's index of the features of two texts, from 0 to 1; 1 for equal texts."""
    a, b = Counter(features(one)), Counter(features(other))
    whole = (a | b).total()
    return (a & b).total() / whole if whole else float(one == other)


class TfidfIndex:
    """The texts of a collection that are most alike, by the cosine of their TF-IDF vectors."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(features(text)) for text in texts]
        spread = Counter(feature for count in counts for feature in count)
        self._vectors = [_vector(count, spread, len(texts)) for count in counts]
        self._places: dict[str, list[tuple[int, float]]] = {}
        """Feature to the texts that have it, with its weight there."""
        for k, vector in enumerate(self._vectors):
            for feature, weight in vector.items():
                self._places.setdefault(feature, []).append((k, weight))

    def similarity(self, one: int, other: int) -> float:
        """Similarity of two of the texts, from 0 to 1."""
        a, b = self._vectors[one], self._vectors[other]
        if len(a) > len(b):
            a, b = b, a
        return min(1.0, sum(weight * b[feature] for feature, weight in a.items() if feature in b))

    def nearest(self, one: int, count: int, least: float = 0.0) -> list[tuple[int, float]]:
        """Up to `count` texts most like one of them with a similarity of at least `least`, the nearest first."""
        sums: dict[int, float] = {}
        own, left = self._vectors[one], _MAX_CANDIDATES
        for feature in sorted(own, key=lambda f: (len(self._places[f]), f)):
            places = self._places[feature][:: len(self._places[feature]) // left + 1]
            weight = own[feature]
            for k, other in places:
                sums[k] = sums.get(k, 0.0) + weight * other
            left -= len(places)
            if left <= 0:
                break
        sums.pop(one, None)
        most = max(count, _MAX_EXACT)
        bar = sorted(sums.values())[-most] if len(sums) > most else 0.0
        likely = sorted(k for k, total in sums.items() if total >= bar)[: 2 * most]
        exact = sorted(((self.similarity(one, k), k) for k in likely), key=lambda pair: (-pair[0], pair[1]))
        return [(k, value) for value, k in exact[:count] if value >= least and value > 0]


def _vector(count: Counter[str], spread: Counter[str], texts: int) -> FeatureVector:
    weighted = {feature: (1 + log(n)) * log(1 + texts / spread[feature]) for feature, n in count.items()}
    length = sqrt(sum(weight * weight for weight in weighted.values()))
    return {feature: weight / length for feature, weight in weighted.items()} if length else {}
