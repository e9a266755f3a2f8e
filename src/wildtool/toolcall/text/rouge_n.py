"""ROUGE-N as `rouge_score` computes it: F1 of n-grams of words, each counted as often as it occurs.

Written here since the package brings NLTK, numpy and absl (docs/decisions/0022-own-rouge-n.md). Equality with the package
is a test.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase, digits

from wildtool.toolcall.set_scores import multiset_hits
from wildtool.toolcall.text.porter_stemmer import stem_word

_WORD_OR_SPACE = bytes(byte if chr(byte) in ascii_lowercase + digits else ord(" ") for byte in range(256))
"""By each byte of UTF-8 what it becomes: itself where it is of a word."""
_SHORT = 3
"""Words up to this length are not stemmed."""


def rouge_words(text: str, *, stem: bool) -> list[str]:
    """The words of a text: runs of a-z and 0-9 in lower case; longer ones stemmed, if wanted."""
    # Three times as fast as a pattern.
    letters = text.lower().encode("utf-8", "surrogatepass").translate(_WORD_OR_SPACE)
    words = letters.decode("ascii").split()
    return [*map(_stem, words)] if stem else words


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return word if len(word) <= _SHORT else stem_word(word)


def rouge_1_2(predicted: Sequence[str], gold: Sequence[str]) -> tuple[float, float]:
    """ROUGE-1 and ROUGE-2 of two lists of words; 0 where either has no words, or no pairs."""
    return _f1(predicted, gold), _f1([*pairwise(predicted)], [*pairwise(gold)])


def _f1(predicted: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    hits = multiset_hits(predicted, gold)
    return 2 * hits / (len(predicted) + len(gold)) if hits else 0.0
