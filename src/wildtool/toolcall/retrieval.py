"""Finds texts that fit a query: BM25 by words, or the nearest vectors.

BM25 is Okapi's, with the logarithm that is never negative (Robertson and Zaragoza 2009; as in Lucene). It is written
here since the libraries for it need numpy, which nothing else in the core does (decision 0023).
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from wildtool.interrupts import uninterrupted

BM25 = "bm25"
"""Name of the search by words."""
SATURATION, LENGTH_WEIGHT = 1.5, 0.75
"""k1 and b of BM25, at their usual values."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]")


def search_words(text: str) -> list[str]:
    """The words of a text in lower case; `getHealthData` and `get_health_data` are three words, a Chinese character
    is one."""
    return [word.lower() for word in _WORD.findall(text)]


class Bm25:
    """An index of named texts."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        """Args: documents: name to text."""
        self._names = list(documents)
        words = [Counter(search_words(text)) for text in documents.values()]
        lengths = [sum(counts.values()) for counts in words]
        mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
        rankings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, (counts, length) in enumerate(zip(words, lengths, strict=True)):
            norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean)
            for word, count in counts.items():
                rankings[word].append((place, count * (SATURATION + 1) / (count + norm)))
        total = len(words)
        self._weights: dict[str, list[tuple[int, float]]] = {}
        """Word to the texts that hold it, each with what the word adds to its score."""
        for word, places in rankings.items():
            rarity = math.log(1 + (total - len(places) + 0.5) / (len(places) + 0.5))
            self._weights[word] = [(place, rarity * weight) for place, weight in places]

    def cost(self, query: str) -> int:
        """Entries of the index that a search looks at: the time it takes."""
        return sum(len(self._weights.get(word, ())) for word in search_words(query))

    def search(self, query: str, top_k: int) -> list[str]:
        """Names of the best texts, best first; of equal ones the first in order. Fewer if fewer share a word."""
        scores: dict[int, float] = defaultdict(float)
        for word in search_words(query):
            for place, weight in self._weights.get(word, ()):
                scores[place] += weight
        best = heapq.nsmallest(top_k, scores.items(), key=lambda scored: (-scored[1], scored[0]))
        return [self._names[place] for place, _ in best]


class Vectors:
    """Named vectors, searched by the cosine of their angle to a query's."""

    def __init__(self, vectors: Iterable[tuple[str, Sequence[float]]]) -> None:
        """Args: vectors: of one length. Raises ValueError if they are not."""
        with uninterrupted():
            import duckdb  # searches a million numbers in milliseconds, and is needed by nothing else here

        rows = list(vectors)
        self.size = len(rows[0][1]) if rows else 0
        if any(len(vector) != self.size for _, vector in rows):
            raise ValueError("the vectors are not of one length")
        self._names = [name for name, _ in rows]
        self._database = duckdb.connect()
        self._database.execute(f"CREATE TABLE texts (place INTEGER, vector FLOAT[{max(1, self.size)}])")
        if rows:
            places = list(range(len(rows)))
            self._database.execute(
                f"INSERT INTO texts SELECT UNNEST($1::INTEGER[]), UNNEST($2::FLOAT[{self.size}][])",
                [places, [list(vector) for _, vector in rows]],
            )

    def search(self, vector: Sequence[float], top_k: int) -> list[str]:
        """Names of the nearest vectors, nearest first. Raises ValueError for a vector of another length."""
        if len(vector) != self.size:
            raise ValueError(f"a vector of {len(vector)} numbers; the others have {self.size}")
        rows = self._database.execute(
            f"SELECT place FROM texts ORDER BY array_cosine_similarity(vector, $1::FLOAT[{self.size}]) DESC, place"
            " LIMIT $2",
            [list(vector), top_k],
        ).fetchall()
        return [self._names[place] for (place,) in rows]
