"""Texts as tokens, and how much two texts have in common (specification of training data, 3.7)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wildtool.toolcall.text.normal_form import normal_form
from wildtool.toolcall.text.unseen import INVISIBLE

OverlapFlag = Literal["exact", "near", "long", "contained", "clean"]
"""How a training text relates to a text of a benchmark; the first that holds."""
CONTAINED_TOKENS = 8
"""Length of the token sequences of `share8`; texts that are shorter are looked for as a whole."""
SHORTEST_CONTAINED = 3
"""Tokens that a text must have at least for its occurrence in another to count."""
SHINGLE = 5
"""Length of the token sequences of `jaccard5`."""
_COMMON = 13
_NEAR_INDEX, _CONTAINED_SHARE = 0.8, 0.5
# A letter of a script without blanks is one token; `_` is neither a letter nor a digit.
_ALONE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(f"[{_ALONE}]|[^\\W_{_ALONE}]+")


def word_tokens(text: str) -> list[str]:
    """The tokens of a text: NFKC, case folded, split at everything that is no letter or digit; each kana, Han character
    and Hangul syllable is its own. Characters that are not seen neither split words nor count."""
    if text.isascii():
        return _ASCII.findall(text.lower())
    return _TOKEN.findall(INVISIBLE.sub("", normal_form("NFKC", text)).casefold())


_ASCII = re.compile("[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class TextOverlap:
    """What a benchmark's text and a training text have in common."""

    share8: float
    """Share of the distinct 8-token sequences of the benchmark's text in the training text. A shorter text of
    at least 3 tokens counts as one sequence."""
    jaccard5: float
    """Jaccard index of the sets of 5-token sequences; a shorter text is one sequence."""
    common13: bool
    """Whether a sequence of 13 tokens is in both."""
    flag: OverlapFlag


def compare_tokens(benchmark: Sequence[str], training: Sequence[str]) -> TextOverlap:
    """Compares the tokens of a benchmark's text with those of a training text."""
    eights = set(sequences(benchmark, CONTAINED_TOKENS))
    if eights:
        share = len(eights & set(sequences(training, CONTAINED_TOKENS))) / len(eights)
    else:
        share = float(len(benchmark) >= SHORTEST_CONTAINED and _contains(training, benchmark))
    near = jaccard_index(set(shingles(benchmark)), set(shingles(training)))
    common = not set(sequences(benchmark, _COMMON)).isdisjoint(sequences(training, _COMMON))
    flag: OverlapFlag = "clean"
    if benchmark and list(benchmark) == list(training):
        flag = "exact"
    elif near >= _NEAR_INDEX:
        flag = "near"
    elif common:
        flag = "long"
    elif share >= _CONTAINED_SHARE:
        flag = "contained"
    return TextOverlap(share, near, common, flag)


def sequences(tokens: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """All sequences of `length` neighbouring tokens; none in a shorter text."""
    return zip(*(tokens[start:] for start in range(length)), strict=False)


def shingles(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The 5-token sequences; a shorter text that is not empty is one sequence."""
    return iter([tuple(tokens)]) if 0 < len(tokens) < SHINGLE else sequences(tokens, SHINGLE)


def jaccard_index(first: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    """Size of the intersection of two sets divided by that of their union; 0 where both are empty."""
    both = len(first & other)
    return both / (len(first) + len(other) - both) if both else 0.0


def _contains(text: Sequence[str], part: Sequence[str]) -> bool:
    length = len(part)
    return any(list(text[k : k + length]) == list(part) for k in range(len(text) - length + 1))
