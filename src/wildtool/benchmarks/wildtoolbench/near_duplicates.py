"""Finds texts that are nearly equal without comparing each with each.

Two texts of which `fuzz.ratio` says much differ by few insertions and deletions, so that each loses few of its pairs
of neighbouring characters towards the other (Ukkonen 1992, the lemma on q-grams). For each pair a number with a bit for
each text says which texts have it; adding the numbers of a text's rarest pairs, bit by bit, leaves the few texts that
can be near, and only these are compared. Nothing that is near is passed over.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log
from operator import add

from rapidfuzz import fuzz

NEAR_DUPLICATE = 92
"""Similarity (0 to 100) above which two user texts of a data file count as the same."""
_BLOCK = 4096
"""Texts whose bits stand in one number."""
_BAND = 1.2
"""Texts of one block differ in length by at most this factor."""
_SHARED = 32
"""Pairs that a near text must share beyond those it may lose; a power of two. More would leave fewer to compare."""


@dataclass(frozen=True, slots=True)
class Near:
    """A text that is nearly an earlier one."""

    place: str
    earlier: str
    """The first of the earlier ones; texts are ordered by length, then as they were given."""
    similarity: float
    """From 0 to 100."""


def near_duplicates(texts: Iterable[tuple[str, str]]) -> Iterator[Near]:
    """Each text that is nearly one of those before it, in order of length; case and blanks do not count.

    Args:
        texts: each with whatever names it.
    """
    rows = sorted(((plain(text), place) for text, place in texts), key=lambda row: len(row[0]))
    known = NearTexts(NEAR_DUPLICATE)
    for text, place in rows:
        found = known.first_near(text)
        if found is not None:
            yield Near(place, rows[found[0]][1], found[1])
        known.add(text)


def plain(text: str) -> str:
    """A text as texts are compared: small letters, single spaces."""
    return " ".join(text.casefold().split())


class NearTexts:
    """Remembers texts, and tells whether one is nearly one of them."""

    def __init__(self, above: float, remembered: int | None = None) -> None:
        """Args:
        above: similarity (0 to 100) from which, itself excluded, texts are near.
        remembered: how many texts are remembered at least; the oldest are forgotten, some thousands at a time.
        """
        self._above = above
        self._remembered = remembered
        self._bands: dict[int, deque[_Block]] = {}
        self._added = 0
        self._last: tuple[str, Sequence[str]] = ("", ())

    def add(self, text: str) -> None:
        """Remembers a text; they are numbered from 0."""
        blocks = self._bands.setdefault(_band(len(text)), deque())
        if not blocks or len(blocks[-1].texts) >= _BLOCK:
            blocks.append(_Block(self._above))
        blocks[-1].add(self._added, text, self._pairs(text))
        self._added += 1
        if self._remembered is not None and self._added % _BLOCK == 0:
            oldest = self._added - self._remembered
            for band in self._bands.values():
                while band and band[0].numbers[-1] < oldest:
                    band.popleft()

    def first_near(self, text: str) -> tuple[int, float] | None:
        """Number and similarity of the first near text of the shortest band of lengths that has one."""
        shortest = _shortest(len(text), self._above)
        pairs = self._pairs(text)
        for band in range(_band(shortest), _band(_longest(len(text), self._above)) + 1):
            for block in self._bands.get(band, ()):
                found = block.first_near(text, pairs)
                if found is not None:
                    return found
        return None

    def _pairs(self, text: str) -> Sequence[str]:
        if self._last[0] != text:
            self._last = (text, _pairs(text))
        return self._last[1]


class _Block:
    """Some texts of like length, and for each pair of characters which of them have it."""

    def __init__(self, above: float) -> None:
        self.texts: list[str] = []
        self.numbers: list[int] = []
        self._above = above
        self._bits: dict[str, int] = {}
        self._count: dict[str, int] = {}

    def add(self, number: int, text: str, pairs: Sequence[str]) -> None:
        bit = 1 << len(self.texts)
        for pair in pairs:
            self._bits[pair] = self._bits.get(pair, 0) | bit
            self._count[pair] = self._count.get(pair, 0) + 1
        self.texts.append(text)
        self.numbers.append(number)

    def first_near(self, text: str, pairs: Sequence[str]) -> tuple[int, float] | None:
        """Number and similarity of the first text that is near."""
        left = self._candidates(text, pairs)
        while left:
            lowest = left & -left
            left ^= lowest
            k = lowest.bit_length() - 1
            similarity = fuzz.ratio(text, self.texts[k], score_cutoff=self._above)
            if similarity > self._above:
                return self.numbers[k], similarity
        return None

    def _candidates(self, text: str, pairs: Sequence[str]) -> int:
        """A bit for each text that can be near."""
        lost = _most_lost(len(text), self._above)
        shared = min(_SHARED, len(pairs) - lost)
        if shared < 1:
            return (1 << len(self.texts)) - 1
        shared = 1 << (shared.bit_length() - 1)
        known = [pair for pair in pairs if pair in self._count]
        # A pair that no text here has is lost; of the others the rarest tell most.
        left = lost + shared - (len(pairs) - len(known))
        rarest = sorted(known, key=self._count.__getitem__)[: max(left, 0)]
        return _at_least(shared, [self._bits[pair] for pair in rarest])


def _pairs(text: str) -> list[str]:
    """All pairs of neighbouring characters; the second of a kind is told apart from the first, and so on."""
    counts = Counter(map(add, text, text[1:]))
    again = [f"{pair}{k}" for pair, count in counts.items() if count > 1 for k in range(1, count)]
    return [*counts, *again]


def _band(length: int) -> int:
    return floor(log(length) / log(_BAND)) if length > 0 else -1


def _shortest(length: int, above: float) -> int:
    """Fewest characters of a text that can be near: all of them shared, twice that is still above the share of both."""
    return ceil(length * above / (200 - above) - 1e-6)


def _longest(length: int, above: float) -> int:
    return floor(length * (200 - above) / above + 1e-6)


def _most_lost(length: int, above: float) -> int:
    """How many of its pairs a text of this length can lose towards a near one.

    A character less takes two pairs away, a character more takes one: with d changes in all between lengths m and n,
    (d + m - n) / 2 of them the former, that is (3 d + m - n) / 2, where d is at most the allowed share of m + n. It is
    most where the other text is as short as it can be.
    """
    shortest = _shortest(length, above)
    return floor((3 * (1 - above / 100) * (length + shortest) + length - shortest) / 2 + 1e-6)


def _at_least(least: int, numbers: list[int]) -> int:
    """The bits that are set in at least `least` of the numbers; `least` is a power of two."""
    place = 1
    while place < least and numbers:
        carried: list[int] = []
        while len(numbers) >= 3:
            a, b, c = numbers.pop(), numbers.pop(), numbers.pop()
            either = a ^ b
            numbers.append(either ^ c)
            carried.append((a & b) | (either & c))
        if len(numbers) == 2:
            carried.append(numbers[0] & numbers[1])
        numbers, place = carried, 2 * place
    reached = 0
    for number in numbers:
        reached |= number
    return reached
