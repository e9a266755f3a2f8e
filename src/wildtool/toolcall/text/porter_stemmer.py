"""Porter's stemmer for English words with the extensions of NLTK, which `rouge_score` stems with.

Written here since importing NLTK takes longer than a whole command may (docs/decisions/0022-own-rouge-n.md). Equality
with NLTK is a test. Source of the rules: M. F. Porter, "An algorithm for suffix stripping", 1980.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

_UNCHANGED = "sky news inning outing canning howe proceed exceed succeed"
_IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
} | {word: word for word in _UNCHANGED.split()}

Condition = Callable[[str], bool]
Rule = tuple[str, str, Condition]
"""A suffix, what replaces it, and what the word before it must be like."""


def stem_word(word: str) -> str:
    """The stem of a lower-case word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and _is_consonant(word, len(word) - 2):
        word = word[:-1] + "i"
    word = _noun(word)
    word = _replace(word, _STEP_3)
    word = _replace(word, _STEP_4)
    return _final(word)


def _is_consonant(word: str, place: int) -> bool:
    """Whether a letter is a consonant; a `y` is one at the beginning and after a vowel."""
    if word[place] in "aeiou":
        return False
    if word[place] != "y":
        return True
    before = place
    while before > 0 and word[before - 1] == "y":
        before -= 1
    # In a run of `y` each is the opposite of the one before it.
    first = before == 0 or word[before - 1] in "aeiou"
    return first == ((place - before) % 2 == 0)


def _measure(stem: str) -> int:
    """How often a vowel is followed by a consonant."""
    kinds = [_is_consonant(stem, place) for place in range(len(stem))]
    return sum(not vowel and consonant for vowel, consonant in pairwise(kinds))


def _some(stem: str) -> bool:
    return _measure(stem) > 0


def _several(stem: str) -> bool:
    return _measure(stem) > 1


def _several_and_s_or_t(stem: str) -> bool:
    return _several(stem) and stem[-1] in "st"


def _has_vowel(stem: str) -> bool:
    return not all(_is_consonant(stem, place) for place in range(len(stem)))


def _ends_double(word: str) -> bool:
    return word[-2:-1] == word[-1] and _is_consonant(word, len(word) - 1)


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x and y; or a word of a vowel and a consonant."""
    last = len(word) - 1
    if last == 1:
        return not _is_consonant(word, 0) and _is_consonant(word, 1)
    return (
        _is_consonant(word, last - 2)
        and not _is_consonant(word, last - 1)
        and _is_consonant(word, last)
        and word[-1] not in "wxy"
    )


def _replace(word: str, rules: Sequence[Rule]) -> str:
    """The first rule decides whose suffix the word has, whether its condition holds or not."""
    for suffix, replacement, condition in rules:
        if word.endswith(suffix):
            stem = word[: len(word) - len(suffix)]
            return stem + replacement if condition(stem) else word
    return word


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _some(word[:-3]) else word
    suffix = next((s for s in ("ed", "ing") if word.endswith(s) and _has_vowel(word[: -len(s)])), "")
    if not suffix:
        return word
    stem = word[: -len(suffix)]
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _noun(word: str) -> str:
    if word.endswith("alli") and _some(word[:-4]):
        return _noun(word[:-2])
    if word.endswith("logi") and not any(word.endswith(suffix) for suffix, _, _ in _STEP_2):
        return word[:-1] if _some(word[:-3]) else word
    return _replace(word, _STEP_2)


def _final(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _several(stem) or (_measure(stem) == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _several(word[:-1]) else word


def _rules(condition: Condition, pairs: str) -> list[Rule]:
    """Rules from words such as `ational>ate`."""
    split = (pair.partition(">") for pair in pairs.split())
    return [(suffix, replacement, condition) for suffix, _, replacement in split]


_STEP_2 = _rules(
    _some,
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous ization>ize"
    " ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble fulli>ful",
)
_STEP_3 = _rules(_some, "icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4 = [
    *_rules(_several, "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent>"),
    *_rules(_several_and_s_or_t, "ion>"),
    *_rules(_several, "ou> ism> ate> iti> ous> ive> ize>"),
]
