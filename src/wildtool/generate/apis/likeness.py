"""How alike texts are, by words and pairs of Chinese characters, rare ones counting more; not all pairs are compared."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt

_LATIN = re.compile(r"[a-z]{2,}|\d+")
_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_HOLLOW = frozenset(
    re.findall(
        r"\w+",
        "the of to for and or in on at by is are be an as it its this that with from which whether will can if when "
        "optional required default value values string number list boolean object parameter parameters specified given",
    )
)
"""Words that say nothing about what is meant."""
_ENDINGS = re.compile(r"(?<=[a-z]{3})(?:ies|ing|es|ed|s|e)$")
_MOST_LOOKED_AT = 1_000
"""Texts that are looked at for one at most: those that share its rarest features, of common ones every so many."""
_MOST_COMPARED = 30
"""Texts that one is compared with exactly, those that share the most rare features."""
_LONGEST = 2_000
Vector = dict[str, float]


@lru_cache(maxsize=16_384)
def features(text: str) -> tuple[str, ...]:
    """What a text is about: stems of its words, and pairs of Chinese characters; names in camel case are taken apart."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text[:_LONGEST]).casefold()
    words = [_ENDINGS.sub("", word) for word in _LATIN.findall(apart) if word not in _HOLLOW]
    pairs = [run[k : k + 2] for run in _CHINESE.findall(apart) for k in range(max(1, len(run) - 1))]
    return (*words, *pairs)


def shared(one: str, other: str) -> float:
    """Share of features that two texts have in common, from 0 to 1 (Jaccard's index); 1 for the same text."""
    a, b = Counter(features(one)), Counter(features(other))
    whole = (a | b).total()
    return (a & b).total() / whole if whole else float(one == other)


class Likeness:
    """Texts by what they are about: for each the texts that are most like it, by the cosine of weighted features."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(features(text)) for text in texts]
        spread = Counter(feature for count in counts for feature in count)
        self._vectors = [_vector(count, spread, len(texts)) for count in counts]
        self._places: dict[str, list[tuple[int, float]]] = {}
        """For each feature the texts that have it, with its weight there."""
        for k, vector in enumerate(self._vectors):
            for feature, weight in vector.items():
                self._places.setdefault(feature, []).append((k, weight))

    def of(self, one: int, other: int) -> float:
        """How alike two of the texts are, from 0 to 1."""
        a, b = self._vectors[one], self._vectors[other]
        if len(a) > len(b):
            a, b = b, a
        return min(1.0, sum(weight * b[feature] for feature, weight in a.items() if feature in b))

    def nearest(self, one: int, count: int, least: float = 0.0) -> list[tuple[int, float]]:
        """The texts most like one of them, the nearest first, that are at least so much like it."""
        sums: dict[int, float] = {}
        own, left = self._vectors[one], _MOST_LOOKED_AT
        for feature in sorted(own, key=lambda f: (len(self._places[f]), f)):
            places = self._places[feature][:: len(self._places[feature]) // left + 1]
            weight = own[feature]
            for k, other in places:
                sums[k] = sums.get(k, 0.0) + weight * other
            left -= len(places)
            if left <= 0:
                break
        sums.pop(one, None)
        most = max(count, _MOST_COMPARED)
        bar = sorted(sums.values())[-most] if len(sums) > most else 0.0
        likely = sorted(k for k, total in sums.items() if total >= bar)[: 2 * most]
        exact = sorted(((self.of(one, k), k) for k in likely), key=lambda pair: (-pair[0], pair[1]))
        return [(k, value) for value, k in exact[:count] if value >= least and value > 0]


def _vector(count: Counter[str], spread: Counter[str], texts: int) -> Vector:
    weighted = {feature: (1 + log(n)) * log(1 + texts / spread[feature]) for feature, n in count.items()}
    length = sqrt(sum(weight * weight for weight in weighted.values()))
    return {feature: weight / length for feature, weight in weighted.items()} if length else {}
