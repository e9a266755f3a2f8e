"""Compares two texts by their words: short ones by all words, free text by its content words.

How much a word counts depends on what the texts are for. A query is understood: polite words, small words and forms of
words do not count. A message is kept as it was written: they do.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from wildtool.toolcall.text.canonical import is_cjk
from wildtool.toolcall.text.lexicon import (
    ACCENTED,
    ARTICLES,
    CAPITONYMS,
    COMPOUNDS,
    GIVEN_NAMES,
    IRREGULAR_PLURALS,
    NOT_PLURALS,
    POLITE_START,
    word_set,
)
from wildtool.toolcall.text.sentences import asks_otherwise, exchanges_roles, has_one_clause
from wildtool.toolcall.text.tokens import Sort, Token, folded, tokens

TextUse = Literal["query", "unknown", "described", "kept"]
"""Queries and instructions; texts of which nobody says what they are for; texts for something else; names and messages,
which are kept as they were written."""
_LOOSE: frozenset[TextUse] = frozenset({"query", "unknown"})

SHORT_WORDS = 4
"""Texts up to this number of content words (eight Chinese characters) must have the same words."""
SENTENCE_WORDS = 5
"""From this number of words on, function words of a short text do not count."""

_ITEM_MARK = re.compile(r" ?[,;、/&] ?(?:and )?| and | ?(?:以及|[和与及]) ?")
_SMALL_WORDS = {
    **{word: word for word in ("in", "to", "for", "by", "with", "my", "your", "his", "our", "their")},
    **dict.fromkeys(("on", "at"), "in"),
}
_VERBS = {
    **dict.fromkeys(("is", "are", "am", "was", "were", "be", "been"), "is"),
    **dict.fromkeys(("has", "have", "had"), "has"),
}
_EXCHANGED = {**_SMALL_WORDS, **_VERBS}
_KINDS = (frozenset(_SMALL_WORDS.values()), frozenset(_VERBS.values()))
"""Words that may be missing, but not replaced by another of their kind."""
_NEEDED_WORDS = word_set("by with for to")
"""Of these none may be left out: photos taken by Ann are not photos taken of Ann."""
_BEFORE_NAMES = word_set("of in on at")
"""Left out of a query of few words, `of` anywhere and the others before a name, a number or a time."""
_BEING = word_set("is are am be been being")
_HAVING = word_set("has have")
"""Beside `been` one with it: is moved, has been moved. Bob has a dog, and is none."""
_SPOKEN = ARTICLES - word_set("a an the 的 地 得")
"""Polite words and particles, which count in kept texts."""
_PLACE_WORDS = word_set("in to from near at around across of")
_GOALS = ("to", "到", "至")
_ORIGINS = ("from", "从")
_A_FEW = re.compile(r"\ba (few|little)\b", re.IGNORECASE)
_APART_SORTS: frozenset[Sort] = frozenset(
    {"number", "one", "time", "negation", "function", "symbol", "exact"}
)
_PREFIXES = frozenset(
    ["co", "re", "un", "de", "dis", "in", "ex", "im", "pre", "over", "under", "out", "extra", "no"]
)
_CAMEL_PARTS = re.compile("[A-Z][a-z]+|[A-Z]+(?![a-z])")
_POLITE = re.compile(POLITE_START, re.IGNORECASE)
_STRICT_SORTS: dict[str, tuple[Sort, ...]] = {
    "free text: number": ("number", "time"),
    "free text: negation": ("negation",),
    "free text: marker word": ("marker", "day", "symbol", "exact"),
}


def differing_words(gold: str, predicted: str, text_use: TextUse) -> str | None:
    """The rule by which the words of two respelled texts differ; None if they say the same."""
    left, right = (_A_FEW.sub("a\\1", _without_politeness(text, text_use)) for text in (gold, predicted))
    ours, theirs = (_counted(tokens(text), text_use) for text in (left, right))
    if any(word.key == "A" and word.sort == "name" for word in (*ours, *theirs)):
        # Where one text has a label A, no a is an article.
        ours, theirs = (
            [word._replace(key="A", sort="name") if word.raw in ("a", "A") else word for word in words]
            for words in (ours, theirs)
        )
    if _is_firm_and_name(ours, theirs) or _is_firm_and_name(theirs, ours):
        return "short text"
    if (rule := _differing_letters(left, right, text_use)) or _drops_possessive(ours, theirs, text_use):
        return rule or "possessive"
    if asks_otherwise(left, right):
        return "question"
    if exchanges_roles(ours, theirs):
        return "free text: voice"
    if _same_letters(ours, theirs, left, right) or _same_items(left, right, text_use):
        return None
    content, other = _content(ours), _content(theirs)
    is_short = min(_weight(content), _weight(other)) <= SHORT_WORDS
    is_phrase = min(_weight(ours), _weight(theirs)) < SENTENCE_WORDS or not content or not other
    is_title = all(word.raw[:1].isupper() for word in content)
    if is_title or (is_short and is_phrase):
        pair = (_without_articles(ours), _without_articles(theirs))
        if text_use == "query":
            pair = (_without_small_words(pair[0]), _without_small_words(pair[1]))
        return None if _same_short(*pair, text_use) else "short text"
    if _drops_one(ours, theirs) or _drops_one(theirs, ours):
        return "free text: number"
    movable = _movable_sorts(left, right, ours, theirs)
    if text_use not in _LOOSE:
        return _guard(content, other) or _other_kept_words(ours, theirs, movable)
    return (
        _guard(content, other)
        or _other_words(content, other, movable)
        or _other_small_words(ours, theirs, movable)
    )


def _without_politeness(text: str, text_use: TextUse) -> str:
    return _POLITE.sub("", text, count=1) if text_use in _LOOSE else text


def _counted(words: list[Token], text_use: TextUse) -> list[Token]:
    """The words of a text; in a kept one polite words and particles are words like others, and men are not a man."""
    if text_use in _LOOSE:
        return words
    return [
        word._replace(key=word.raw.casefold())
        if word.raw.casefold() in IRREGULAR_PLURALS
        else word._replace(sort="word")
        if word.key in _SPOKEN
        else word
        for word in words
    ]


def _differing_letters(gold: str, predicted: str, text_use: TextUse) -> str | None:
    """The rule broken by an accent or a capital that makes another word: rosé and rose, polish and Polish."""
    if not (gold.isascii() and predicted.isascii()):
        ours, theirs = (frozenset(_LATIN_WORD.findall(text)) for text in (gold, predicted))
        if _loses_accent(ours, theirs, text_use) or _loses_accent(theirs, ours, text_use):
            return "accent"
    if CAPITONYMS.isdisjoint(gold.casefold().split()):
        return None
    return "capital" if _is_other_capital(gold, predicted, text_use) else None


_LATIN_WORD = re.compile(r"[^\W\d_]+")
_CAPITONYM = re.compile(rf"\b(?:{'|'.join(sorted(CAPITONYMS))})\b", re.IGNORECASE)


def _loses_accent(accented: Collection[str], plain: Collection[str], text_use: TextUse) -> bool:
    for word in accented:
        bare = folded(word)
        if word.isascii() or bare == word.casefold() or word in plain:
            continue
        others = [other for other in plain if other.casefold() == bare]
        if any(word[0].isupper() and other[0].isupper() for other in others):
            # A name is often written without its accents.
            continue
        if others and (text_use not in _LOOSE or bare in ACCENTED):
            return True
    return False


def _is_other_capital(gold: str, predicted: str, text_use: TextUse) -> bool:
    """Whether a word has a capital in one text alone, and not for being the first of a sentence or a title."""
    pair = [[(match[0], match.start()) for match in _CAPITONYM.finditer(text)] for text in (gold, predicted)]
    if len(pair[0]) != len(pair[1]):
        return False
    for (word, start), (other, other_start) in zip(*pair, strict=True):
        if word.casefold() != other.casefold() or word[0].isupper() == other[0].isupper():
            continue
        text, place = (gold, start) if word[0].isupper() else (predicted, other_start)
        lower, lower_place = (predicted, other_start) if word[0].isupper() else (gold, start)
        before = lower[:lower_place].split()
        is_title = all(part[:1].isupper() for part in text.split() if len(part) > 3)
        is_behind_place_word = bool(before) and before[-1].casefold() in _PLACE_WORDS
        if (is_title and " " in text) or is_behind_place_word:
            continue
        if text_use == "query" or text[:place].rstrip()[-1:] not in ("", *".!?:;"):
            return True
    return False


def _drops_possessive(ours: Sequence[Token], theirs: Sequence[Token], text_use: TextUse) -> bool:
    """Whether `Ann's` in one text is `Ann` in the other; in queries lower-case words may lose it: men's shoes."""
    if not any("'s" in word.raw for word in (*ours, *theirs)):
        return False
    owners = [{word.key for word in words if word.raw.endswith("'s")} for words in (ours, theirs)]
    if owners[0] == owners[1]:
        return False
    owned = owners[0] ^ owners[1]
    for words, own in zip((theirs, ours), owners, strict=True):
        for word, behind in zip(words, [*words[1:], None], strict=False):
            counts = text_use not in _LOOSE or word.raw[:1].isupper()
            is_contracted = behind is not None and behind.key in ("is", "has")
            if (
                word.key in owned & own
                and word.sort not in ("day", "marker")
                and counts
                and not is_contracted
            ):
                return True
    return False


def _without_small_words(words: Sequence[Token]) -> list[Token]:
    """The words of a query without `of`, and without other prepositions before a name, a number or a time."""
    kept: list[Token] = []
    for place, word in enumerate(words):
        behind = words[place + 1] if place + 1 < len(words) else None
        is_before_name = behind is not None and behind.sort in ("name", "number", "time", "day")
        if place and word.key in _BEFORE_NAMES and (word.key == "of" or is_before_name):
            continue
        kept.append(word)
    return kept


def _without_movable(words: Sequence[Token], movable: Collection[Sort]) -> list[Token]:
    """The words but for a day or time that may be anywhere, and the preposition before it."""
    return [
        word
        for word, behind in zip(words, [*words[1:], None], strict=False)
        if word.sort not in movable
        and not (behind is not None and behind.sort in movable and word.sort == "function")
    ]


def _without_auxiliaries(words: Sequence[Token]) -> list[Token]:
    """The words with `is` for `are` and for `has been`; others tell the time or the will: was, will, can."""
    return [
        word._replace(key="is") if word.key in _BEING else word
        for word, behind in zip(words, [*words[1:], None], strict=False)
        if not (word.key in _HAVING and behind is not None and behind.key == "been")
    ]


def _other_kept_words(
    ours: Sequence[Token], theirs: Sequence[Token], movable: Collection[Sort]
) -> str | None:
    """The rule broken by any other word in texts that are kept as they are, but for articles and `is` or `has been`."""
    own, their = (
        [
            word.key
            for word in _without_movable(_without_auxiliaries(words), movable)
            if word.sort not in ("article", "one")
        ]
        for words in (ours, theirs)
    )
    if own == their:
        return None
    return "free text: order" if Counter(own) == Counter(their) else "free text: other word"


def _drops_one(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether an English `one` has neither `one` nor an article in the other text: `one of the rooms` and `the rooms`."""
    ones, articles = (
        [sum(word.raw.casefold() in found for word in words) for words in (ours, theirs)]
        for found in (("one", "1"), ("a", "an"))
    )
    return ones[0] - ones[1] > max(0, articles[1] - articles[0])


def _same_items(gold: str, predicted: str, text_use: TextUse) -> bool:
    """Whether two texts are lists of the same short items, with any separators: `milk, eggs` and `milk and eggs`."""
    ours, theirs = zip(*item_pairs(gold, predicted), strict=True)
    if len(ours) == 2 and all(item[:1].isupper() for item in ours) and ("," in gold) != ("," in predicted):
        # `Paris, France` is not a list, nor is `Smith, John`.
        return {item.casefold() for item in ours} <= GIVEN_NAMES and ours == theirs
    # Beside others an item is of a kind, as `almonds` and `almond` are.
    word_by_word: TextUse = "unknown" if text_use == "described" else text_use
    if len(ours) < 2:
        return False

    def words_of(item: str) -> list[Token]:
        return _without_articles(_counted(tokens(item), text_use))

    return all(
        _same_short(words_of(own), words_of(their), word_by_word)
        for own, their in zip(ours, theirs, strict=True)
    )


def item_pairs(gold: str, predicted: str) -> list[tuple[str, str]]:
    """The items of two lists as pairs; both texts as one where they are no lists of one length."""
    ours, theirs = (_ITEM_MARK.split(text.rstrip(".!")) for text in (gold, predicted))
    return list(zip(ours, theirs, strict=True)) if len(ours) == len(theirs) else [(gold, predicted)]


def _content(words: Sequence[Token]) -> list[Token]:
    """Content words; in `from A to B` the `from` is redundant."""
    last_goal = max((place for place, word in enumerate(words) if word.key in _GOALS), default=0)
    return [
        word
        for place, word in enumerate(words)
        if word.sort not in ("article", "function") and not (word.key in _ORIGINS and place < last_goal)
    ]


def _without_articles(words: Iterable[Token]) -> list[Token]:
    return [word for word in words if word.sort != "article"]


def _same_letters(ours: Sequence[Token], theirs: Sequence[Token], gold: str, predicted: str) -> bool:
    """Whether the words are the same, but for compounds written apart: `e-mail` and `email`, `hot dog` and `hotdog`."""
    pair = [[word for word in _without_articles(words) if word.key] for words in (ours, theirs)]
    if not all(pair):
        return False
    places = [0, 0]
    while all(place < len(words) for place, words in zip(places, pair, strict=True)):
        groups = [[words[place]] for place, words in zip(places, pair, strict=True)]
        while (lengths := [sum(len(word.key) for word in group) for group in groups])[0] != lengths[1]:
            side = int(lengths[1] < lengths[0])
            nearest = places[side] + len(groups[side])
            if nearest == len(pair[side]):
                return False
            groups[side].append(pair[side][nearest])
        if not _same_compound(groups[0], groups[1], f"{gold} {predicted}"):
            return False
        places = [place + len(group) for place, group in zip(places, groups, strict=True)]
    return places == [len(words) for words in pair]


def _same_compound(ours: Sequence[Token], theirs: Sequence[Token], texts: str) -> bool:
    joined = "".join(word.key for word in ours)
    if joined != "".join(word.key for word in theirs):
        return False
    if len(ours) == len(theirs) == 1 or all(is_cjk(word.raw) for word in (*ours, *theirs)):
        return True
    if min(len(ours), len(theirs)) > 1:
        return False
    parts, whole = (ours, theirs[0]) if len(ours) > 1 else (theirs, ours[0])
    if joined in COMPOUNDS or joined.removesuffix("s") in COMPOUNDS:
        return True
    if any(word.sort in _APART_SORTS for word in parts):
        return False
    if _CAMEL_PARTS.findall(whole.raw) == [word.raw for word in parts]:
        return True
    # A prefix may make another word: co-op and coop, re-sign and resign.
    hyphened = "-".join(word.raw for word in parts) in texts
    return hyphened and parts[0].key not in _PREFIXES and not (len(parts[0].key) == 2 and len(joined) < 5)


def _same_short(ours: Sequence[Token], theirs: Sequence[Token], text_use: TextUse) -> bool:
    if text_use == "described" and len(ours) == 1:
        # One shoe is not two, and briefs are not brief; `historical sites` are of the kind of a `historical site`.
        text_use = "kept"
    return (
        bool(ours)
        and len(ours) == len(theirs)
        and all(_same_short_word(a, b, text_use) for a, b in zip(ours, theirs, strict=True))
    )


def _same_short_word(a: Token, b: Token, text_use: TextUse) -> bool:
    if a.key == b.key or _leaves_out_apostrophe(a, b, text_use):
        return True
    if text_use == "kept":
        return False
    lower = a.raw.islower() and b.raw.islower()
    return lower and a.sort == b.sort == "word" and _plural(*sorted((a.key, b.key), key=len))


def _leaves_out_apostrophe(a: Token, b: Token, text_use: TextUse) -> bool:
    """Whether one of two words has an apostrophe that the other leaves out, in a name or a query: McDonald's."""
    owner, other = (a, b) if a.raw.endswith("'s") else (b, a)
    is_name = a.raw[0].isupper() or b.raw[0].isupper()
    if len(owner.raw) < 6 or not owner.raw.endswith("'s") or not (is_name or text_use == "query"):
        return False
    return f"{owner.raw[:-2]}s".casefold() == other.raw.casefold()


def _is_firm_and_name(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether one text is `Wendy's` alone and the other one `Wendy`."""
    return len(ours) == len(theirs) == 1 and ours[0].raw == f"{theirs[0].raw}'s"


def _plural(short: str, long: str) -> bool:
    forms = {short + "s", short + "es", re.sub("y$", "ies", short)}
    return len(short) > 2 and short[-1] != "s" and long in forms and not _is_no_plural(long)


def _is_no_plural(word: str) -> bool:
    return word in NOT_PLURALS or word.endswith("ics")


def _guard(ours: Sequence[Token], theirs: Sequence[Token]) -> str | None:
    """The rule that two similar texts break by different numbers, negations, marker words or names."""
    spare = [sum(word.sort == "one" for word in words) for words in (ours, theirs)]
    for rule, sorts in _STRICT_SORTS.items():
        own, their = (Counter(word.key for word in words if word.sort in sorts) for words in (ours, theirs))
        missing, extra = own - their, their - own
        if rule.endswith("number"):
            # `one` may mean 1 or `a`.
            missing["1"] -= spare[1]
            extra["1"] -= spare[0]
        if +missing or +extra:
            return rule
    own, their = (Counter(word.key for word in words) for words in (ours, theirs))
    names = {word.key for word in (*ours, *theirs) if word.sort == "name"}
    return "free text: name" if any(own[name] != their[name] for name in names) else None


def _other_words(ours: Sequence[Token], theirs: Sequence[Token], movable: Collection[Sort]) -> str | None:
    """The rule broken by other content words, or another order of them."""
    ours, theirs = (
        [word for word in words if word.sort not in ("one", *movable)] for words in (ours, theirs)
    )
    own_keys = [word.key for word in ours]
    their_keys = _in_words_of(frozenset(own_keys), theirs)
    if own_keys == their_keys:
        return None
    missing, gained = Counter(own_keys) - Counter(their_keys), Counter(their_keys) - Counter(own_keys)
    if not missing and not gained:
        return "free text: order"
    return "free text: other word" if missing and gained else "free text: word more or less"


def _other_small_words(
    ours: Sequence[Token], theirs: Sequence[Token], movable: Collection[Sort]
) -> str | None:
    """The rule broken by another small word beside the same content words: `paid by Ann` and `paid for Ann`."""
    own_words, their_words = _small_words(ours, movable), _small_words(theirs, movable)
    differ = any(
        any(a & kind and b & kind and (a & kind).isdisjoint(b) for kind in _KINDS)
        or a & _NEEDED_WORDS != b & _NEEDED_WORDS
        for a, b in zip(own_words, their_words, strict=False)
    )
    return "free text: small word" if len(own_words) == len(their_words) and differ else None


def _small_words(words: Sequence[Token], movable: Collection[Sort]) -> list[set[str]]:
    """The small words before each content word, in order; first those of words that may be anywhere."""
    groups: list[set[str]] = []
    moved: list[set[str]] = []
    gap: set[str] = set()
    for word in words:
        if word.key in _EXCHANGED and word.raw != "s":
            # What's is what is or what has.
            gap.add(_EXCHANGED[word.key])
        elif word.sort not in ("article", "function"):
            (moved if word.sort in movable else groups).append(gap)
            gap = set[str]()
    return [*moved, *groups, gap]


def _weight(words: Iterable[Token]) -> float:
    return sum(word.weight for word in words)


def _movable_sorts(gold: str, predicted: str, ours: Sequence[Token], theirs: Sequence[Token]) -> list[Sort]:
    """Kinds of words that may be anywhere: the only day word or only time of texts of one clause each."""
    sorts: tuple[Sort, ...] = ("day", "time")
    lone: list[Sort] = [
        sort
        for sort in sorts
        if all(sum(word.sort == sort for word in words) == 1 for words in (ours, theirs))
    ]
    if not lone or not has_one_clause(gold) or not has_one_clause(predicted):
        return []
    return lone


def _in_words_of(vocabulary: frozenset[str], words: Iterable[Token]) -> list[str]:
    """Keys of the words, each in the form that the vocabulary has of it, if any."""

    def form_of(word: Token) -> str:
        if word.key in vocabulary:
            return word.key
        # Bored is not boring.
        bars = {"ed": "ing", "in": "ed"}.get(
            word.key[-2:] if word.key.endswith("ed") else word.key[-3:-1], " "
        )
        matches = (
            form
            for form in _forms(word.key)
            if form in vocabulary and not (form.endswith(bars) or _is_no_plural(form))
        )
        return next(matches, word.key)

    return [form_of(word) for word in words]


def _forms(word: str) -> Iterator[str]:
    """Other forms of an English word (plural, past, -ing), in both directions."""
    if len(word) < 3 or not word.isascii() or _is_no_plural(word):
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
