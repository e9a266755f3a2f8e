"""Finds texts of a set that are nearly equal without comparing each with each.

Two texts of which `fuzz.ratio` says more than `NEAR_DUPLICATE` differ by few insertions and deletions, so that the
longer one loses few of its pairs of neighbouring characters (Ukkonen 1992, q-gram lemma). For each pair a number with
a bit for each text says which texts have it; adding the numbers of a text's rarest pairs, bit by bit, leaves the few
texts that can be near, and only these are compared. Nothing that is near is passed over.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from operator import add

from rapidfuzz import fuzz

NEAR_DUPLICATE = 92
"""Similarity (0 to 100) above which two user texts count as the same."""
_SHORTEST = 0.84
"""Share of a text's length below which no other can be near: at 92 it would need 0.852."""
_BLOCK = 4096
"""Texts whose bits stand in one number."""
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
    rows = sorted(((" ".join(text.casefold().split()), place) for text, place in texts), key=_length)
    blocks: list[_Block] = []
    for start in range(0, len(rows), _BLOCK):
        block = _Block([text for text, _ in rows[start : start + _BLOCK]], start)
        shortest = _SHORTEST * len(block.texts[0])
        blocks = [earlier for earlier in blocks if len(earlier.texts[-1]) >= shortest]
        blocks.append(block)
        for i, text in enumerate(block.texts, start):
            pairs = _pairs(text)
            for earlier in blocks:
                found = earlier.first_near(text, pairs, i - earlier.start)
                if found is not None:
                    k, similarity = found
                    yield Near(rows[i][1], rows[k][1], similarity)
                    break


def _length(row: tuple[str, object]) -> int:
    return len(row[0])


def _pairs(text: str) -> list[str]:
    """All pairs of neighbouring characters; the second of a kind is told apart from the first, and so on."""
    counts = Counter(map(add, text, text[1:]))
    again = [f"{pair}{k}" for pair, count in counts.items() if count > 1 for k in range(1, count)]
    return [*counts, *again]


class _Block:
    """Some texts in order of length, and for each pair of characters which of them have it."""

    def __init__(self, texts: Sequence[str], start: int) -> None:
        self.texts = texts
        self.start = start
        """Number of the first text in the whole set."""
        holders: dict[str, list[int]] = {}
        for k, text in enumerate(texts):
            for pair in _pairs(text):
                holders.setdefault(pair, []).append(k)
        self._count = {pair: len(members) for pair, members in holders.items()}
        self._bits = {pair: _number(members) for pair, members in holders.items()}

    def first_near(self, text: str, pairs: Sequence[str], before: int) -> tuple[int, float] | None:
        """Number and similarity of the first text that is near, of those at positions below `before`."""
        left = self._candidates(text, pairs) & ((1 << max(before, 0)) - 1)
        shortest = _SHORTEST * len(text)
        while left:
            lowest = left & -left
            k = lowest.bit_length() - 1
            left ^= lowest
            if len(self.texts[k]) >= shortest:
                similarity = fuzz.ratio(text, self.texts[k], score_cutoff=NEAR_DUPLICATE)
                if similarity > NEAR_DUPLICATE:
                    return self.start + k, similarity
        return None

    def _candidates(self, text: str, pairs: Sequence[str]) -> int:
        """A bit for each text that can be near to one at least as long."""
        lost = _most_lost(len(text))
        shared = min(_SHARED, len(pairs) - lost)
        if shared < 1:
            return (1 << len(self.texts)) - 1
        shared = 1 << (shared.bit_length() - 1)
        known = [pair for pair in pairs if pair in self._count]
        # A pair that no text here has is lost; of the others the rarest tell most.
        left = lost + shared - (len(pairs) - len(known))
        rarest = sorted(known, key=self._count.__getitem__)[: max(left, 0)]
        return _at_least(shared, [self._bits[pair] for pair in rarest])


def _most_lost(length: int) -> int:
    """How many of its pairs a text of this length can lose towards a near one that is no longer.

    A character less takes two pairs away, a character more takes one: with d changes in all between lengths m and n,
    (d + m - n) / 2 of them the former, that is (3 d + m - n) / 2, where d is at most 8 % of m + n.
    """
    share = (100 - NEAR_DUPLICATE) / 100
    shortest = ceil(_SHORTEST * length)
    return floor((3 * share * (length + shortest) + length - shortest) / 2 + 1e-6)


def _number(positions: Iterable[int]) -> int:
    """The number whose bits at these ascending positions are set."""
    *_, last = positions
    bits = bytearray(last // 8 + 1)
    for k in positions:
        bits[k >> 3] |= 1 << (k & 7)
    return int.from_bytes(bits, "little")


def _at_least(least: int, numbers: list[int]) -> int:
    """The bits that are set in at least `least` of the numbers; `least` is a power of two."""
    place, reached = 1, 0
    while numbers:
        if place >= least:
            for number in numbers:
                reached |= number
            return reached
        carried: list[int] = []
        while len(numbers) >= 3:
            a, b, c = numbers.pop(), numbers.pop(), numbers.pop()
            either = a ^ b
            numbers.append(either ^ c)
            carried.append((a & b) | (either & c))
        if len(numbers) == 2:
            carried.append(numbers[0] & numbers[1])
        numbers, place = carried, 2 * place
    return reached
