"""Whether two texts mean the same: strict kinds exactly, short ones by words, free text by similarity."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rapidfuzz.distance import Indel

from wildtool.toolcall.quantities import same_amount
from wildtool.toolcall.strict_text import CJK, KINDS, normalise
from wildtool.toolcall.text_words import POLITE_START
from wildtool.toolcall.word_tokens import Sort, Token, tokens

MAX_CHARACTERS = 5_000
"""Longer texts are the same only if their blank-separated parts are; keeps any text from being slow."""
SHORT_WORDS = 4
"""Up to so many content words (eight Chinese characters) nothing may be added or left out."""
SENTENCE_WORDS = 5
"""A short text of so many words, function words included, may be said with other function words."""
MIN_SIMILARITY = 0.9
"""Share of content words of both texts that stand in the other in the same order."""
WORDS_PER_REPLACEMENT = 20
"""One plain word in so many may be replaced by another one."""

_GOALS = ("to", "到", "至")
_ORIGINS = ("from", "从")
# 北京市 as 北京, but not 北京市区 or 农贸市场.
_CITY_MARK = re.compile(f"(?<=[{CJK}][{CJK}])市(?![区场民长面值])")
_POLITE = re.compile(POLITE_START, re.IGNORECASE)
_STRICT_SORTS: dict[str, tuple[Sort, ...]] = {
    "free text: number": ("number",),
    "free text: negation": ("negation",),
    "free text: marker word": ("marker", "day", "symbol", "exact"),
}


def differs(gold: str, predicted: str) -> str | None:
    """The rule by which two texts differ in meaning; None where they mean the same."""
    if gold == predicted:
        return None
    if max(len(gold), len(predicted)) > MAX_CHARACTERS:
        return None if gold.split() == predicted.split() else "long text"
    left, right = (_CITY_MARK.sub("", normalise(text)) for text in (gold, predicted))
    if left == right or same_amount(left, right):
        return None
    if max(len(left), len(right)) > MAX_CHARACTERS:
        return "long text"
    for kind in KINDS:
        if (canonical := kind.read(left)) is not None:
            return None if kind.read(right) == canonical else kind.name
    return _words_differ(left, right)


def _words_differ(left: str, right: str) -> str | None:
    ours, theirs = (tokens(_POLITE.sub("", text, count=1)) for text in (left, right))
    if _same_letters(ours, theirs):
        return None
    content, other = _content(ours), _content(theirs)
    is_short = min(_weight(content), _weight(other)) <= SHORT_WORDS
    is_phrase = min(_weight(ours), _weight(theirs)) < SENTENCE_WORDS or not content or not other
    if _is_title(content) or (is_short and is_phrase):
        return None if _same_short(_without_articles(ours), _without_articles(theirs)) else "short text"
    return _guard(content, other) or _similarity(content, other, 1.0 if is_short else MIN_SIMILARITY)


def _content(words: Sequence[Token]) -> list[Token]:
    """Content words; in `from A to B` the `from` says nothing that `to` does not say."""
    last_goal = max((place for place, word in enumerate(words) if word.key in _GOALS), default=-1)
    return [
        word
        for place, word in enumerate(words)
        if word.sort not in ("article", "function") and not (word.key in _ORIGINS and place < last_goal)
    ]


def _without_articles(words: Iterable[Token]) -> list[Token]:
    return [word for word in words if word.sort != "article"]


def _is_title(content: Sequence[Token]) -> bool:
    return all(word.raw[:1].isupper() for word in content)


def _same_letters(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Same words but for where they are cut: `e-mail` and `email`, `New York` and `NewYork`."""
    left, right = _without_articles(ours), _without_articles(theirs)
    joined = ["".join(word.key for word in words) for words in (left, right)]
    numbers = [[word.key for word in words if word.sort in ("number", "one")] for words in (left, right)]
    return joined[0] == joined[1] != "" and numbers[0] == numbers[1]


def _same_short(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    return bool(ours) and len(ours) == len(theirs) and all(map(_same_short_word, ours, theirs))


def _same_short_word(left: Token, right: Token) -> bool:
    if left.key == right.key:
        return True
    lower = left.raw.islower() and right.raw.islower()
    return lower and left.sort == right.sort == "word" and _plural(*sorted((left.key, right.key), key=len))


def _plural(short: str, long: str) -> bool:
    forms = {short + "s", short + "es", re.sub("y$", "ies", short)}
    return len(short) > 2 and short != "new" and short[-1] != "s" and long in forms


def _guard(ours: Sequence[Token], theirs: Sequence[Token]) -> str | None:
    """What may not differ however similar the texts are: numbers, negations, marker words, names."""
    spare = [sum(word.sort == "one" for word in words) for words in (ours, theirs)]
    for rule, sorts in _STRICT_SORTS.items():
        left, right = (Counter(word.key for word in words if word.sort in sorts) for words in (ours, theirs))
        missing, extra = left - right, right - left
        if rule.endswith("number"):
            # `one` may stand for 1, or for `a`.
            missing["1"] -= spare[1]
            extra["1"] -= spare[0]
        if +missing or +extra:
            return rule
    left, right = (Counter(word.key for word in words) for words in (ours, theirs))
    names = {word.key for word in (*ours, *theirs) if word.sort == "name"}
    return "free text: name" if any(left[name] != right[name] for name in names) else None


def _similarity(ours: Sequence[Token], theirs: Sequence[Token], least: float) -> str | None:
    ours, theirs = _without_lone_day(ours), _without_lone_day(theirs)
    left = [word.key for word in ours]
    right = _in_words_of(frozenset(left), theirs)
    lost, gained = list[str](), list[str]()
    changed = replaced = out = put = 0.0
    for step in Indel.opcodes(left, right):
        before, after = ours[step.src_start : step.src_end], theirs[step.dest_start : step.dest_end]
        if step.tag == "equal":
            replaced += min(out, put)
            out = put = 0.0
            continue
        lost += left[step.src_start : step.src_end]
        gained += right[step.dest_start : step.dest_end]
        out, put = out + _weight(before), put + _weight(after)
        changed += _weight(before) + _weight(after)
    replaced += min(out, put)
    total = _weight(ours) + _weight(theirs)
    if Counter(lost) & Counter(gained):
        return "free text: order"
    if replaced > total / 2 / WORDS_PER_REPLACEMENT:
        return "free text: other word"
    return None if changed <= (1 - least) * total else "free text: similarity"


def _weight(words: Iterable[Token]) -> float:
    return sum(word.weight for word in words)


def _without_lone_day(words: Sequence[Token]) -> list[Token]:
    """A text's only day word may stand anywhere; the guards have seen that both texts have the same one."""
    lone = sum(word.sort == "day" for word in words) == 1
    return [word for word in words if not (lone and word.sort == "day")]


def _in_words_of(vocabulary: frozenset[str], words: Iterable[Token]) -> list[str]:
    """Keys of the words, each as another form of the same word where the vocabulary has that form."""
    return [
        word.key
        if word.key in vocabulary or word.sort != "word"
        else next((form for form in _forms(word.key) if form in vocabulary), word.key)
        for word in words
    ]


def _forms(word: str) -> Iterator[str]:
    """Other forms of an English word (plural, past, -ing), in both directions."""
    if len(word) < 3 or not word.isascii():
        return
    stems = {word}
    for ending in ("s", "es", "ed", "d", "ing"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            stem = word.removesuffix(ending)
            stems |= {stem, stem + "e"} if ending in ("ed", "ing") else {stem}
            stems |= {stem[:-1]} if stem[-1] == stem[-2] else set()
            stems |= {stem[:-1] + "y"} if stem[-1] == "i" else set()
    for stem in sorted(stems):
        yield stem
        yield from (stem + ending for ending in ("s", "es", "ed", "d", "ing"))
        yield from (stem.removesuffix("e") + "ing", stem + stem[-1] + "ed", stem + stem[-1] + "ing")
        yield from (re.sub("y$", "ies", stem), re.sub("y$", "ied", stem))
