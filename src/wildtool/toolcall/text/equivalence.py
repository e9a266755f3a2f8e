"""Whether two texts mean the same: exact kinds by value, short texts by words, free text by its content words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from wildtool.toolcall.text.canonical import CJK, TEXT_KINDS, code_as_words, is_cjk, normalise
from wildtool.toolcall.text.identifiers import (
    is_inverted_name,
    is_other_symbol,
    numbered,
    with_state_codes,
    without_number_sign,
)
from wildtool.toolcall.text.lexicon import COMPOUNDS, FUNCTION_WORDS, GIVEN_NAMES, NOT_PLURALS, POLITE_START
from wildtool.toolcall.text.quantities import same_amount
from wildtool.toolcall.text.sentences import asks_otherwise, exchanges_roles
from wildtool.toolcall.text.source_code import is_code, same_code
from wildtool.toolcall.text.spellings import respelled
from wildtool.toolcall.text.tokens import Sort, Token, tokens
from wildtool.toolcall.text.wordings import Wordings, reworded

MAX_COMPARED_CHARACTERS = 5_000
"""Longer texts are compared by their blank-separated parts only, to limit the time."""
SHORT_WORDS = 4
"""Texts up to this number of content words (eight Chinese characters) must have the same words."""
SENTENCE_WORDS = 5
"""From this number of words on, function words of a short text do not count."""

_ITEM_MARK = re.compile(r" ?[,;、/&] ?(?:and )?| and | ?(?:以及|[和与及]) ?")
_SMALL_WORDS = {
    **{word: word for word in ("in", "to", "for", "by", "with", "my", "your", "his", "our", "their")},
    **dict.fromkeys(("on", "at"), "in"),
}
"""Words that may be missing, but not replaced by another."""
_GOALS = ("to", "到", "至")
_ORIGINS = ("from", "从")
# 北京市 as 北京, but not 北京市区 or 农贸市场.
_CITY_MARK = re.compile(f"(?<=[{CJK}][{CJK}])(?<!吉林)市(?![区场民长面值])")
_PROVINCES = (
    "河北|山西|辽宁|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南"
    "|陕西|甘肃|青海|台湾"
)
_PROVINCE_MARK = re.compile("|".join(f"(?<={name})省" for name in _PROVINCES.split("|")))
_AROUND: Wordings = (
    (re.compile(r"^<([^<>\s@]+@[^<>\s@]+)>$"), r"\1"),  # an address in brackets
    (re.compile(r"^\./(?=[^\s/]+/\S*$)"), ""),  # a path from here
    (re.compile("^([a-z]{2})_(?=[A-Z]{2}$)"), r"\1-"),  # a locale
)
_NON = re.compile(r"\bnon-(?!stop)(?=[a-z]{3})", re.IGNORECASE)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_A_FEW = re.compile(r"\ba (few|little)\b", re.IGNORECASE)
_PARTICLES = frozenset(word for word in FUNCTION_WORDS if is_cjk(word) and len(word) == 1)
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


def differing_rule(gold: str, predicted: str, use: str = "") -> str | None:
    """The rule by which two texts differ in meaning; None if they mean the same.

    Args:
        use: name and description of the parameter that the texts are for.
    """
    if gold == predicted:
        return None
    gold, predicted = (reworded(text, _AROUND) for text in (gold, predicted))
    if is_code(gold, use):
        return None if same_code(gold, predicted) else "code or command"
    if max(len(gold), len(predicted)) > MAX_COMPARED_CHARACTERS:
        return None if gold.split() == predicted.split() else "long text"
    gold, predicted = _without_noun(*(_plain(text, use) for text in (gold, predicted)))
    if is_other_symbol(gold, predicted):
        return "symbol"
    if gold == predicted or same_amount(gold, predicted):
        return None
    if max(len(gold), len(predicted)) > MAX_COMPARED_CHARACTERS:
        return "long text"
    ours, theirs = respelled(gold), respelled(predicted)
    if ours == theirs or same_amount(ours, theirs) or _same_words_of_code(gold, predicted):
        return None
    for kind in TEXT_KINDS:
        if (canonical := kind.read(gold)) is not None:
            is_equal = kind.read(predicted) == canonical or kind.read(ours) == (kind.read(theirs) or "")
            return None if is_equal else kind.name
    if is_inverted_name(ours, theirs):
        return None
    rule = _words_differ(ours, theirs)
    if rule is not None and (spelt_out := [_spelt_out(text) for text in (ours, theirs)]) != [ours, theirs]:
        rule = _words_differ(*spelt_out)
    if rule is None and any(_drops_part_of_word(*parts) for parts in _item_pairs(ours, theirs)):
        return "part of a word"
    return rule


def _plain(text: str, use: str) -> str:
    plain = _PROVINCE_MARK.sub("", _CITY_MARK.sub("", normalise(text)))
    return without_number_sign(with_state_codes(plain, use), use)


def _without_noun(gold: str, predicted: str) -> tuple[str, str]:
    """Two texts; one that names a number has only the number if the other is that alone: `flight BA117` and `BA117`."""
    numbers = numbered(gold), numbered(predicted)
    return (
        (numbers[0] or gold, predicted)
        if numbers[1] is None
        else (gold, numbers[1] if numbers[0] is None else predicted)
    )


def _spelt_out(text: str) -> str:
    """A text with `not` for a prefix and two letters for an umlaut: non-spicy, Müller."""
    return _NON.sub("not ", text).translate(_UMLAUTS)


def _drops_part_of_word(gold: str, predicted: str) -> bool:
    """Whether a Chinese character left out as a particle is a part of a word: 地 of 耕地."""
    if _particle_places(gold) == _particle_places(predicted):
        return False
    from wildtool.toolcall.text.chinese import particles_in_words  # loads a dictionary, and is seldom needed

    return particles_in_words(gold, _PARTICLES) != particles_in_words(predicted, _PARTICLES)


def _particle_places(text: str) -> list[tuple[str, int]]:
    """Each character that can be a particle, with the number of other Chinese characters before it."""
    places: list[tuple[str, int]] = []
    wide = 0
    for character in text:
        if character in _PARTICLES:
            places.append((character, wide))
        else:
            wide += is_cjk(character)
    return places


def _same_words_of_code(gold: str, predicted: str) -> bool:
    """Whether one text is `last_week` and the other `last week`."""
    codes = [text for text in (gold, predicted) if "_" in text]
    if len(codes) != 1:
        return False
    words = predicted if codes[0] is gold else gold
    return " " in words and code_as_words(codes[0]) == words.casefold()


def _words_differ(gold: str, predicted: str) -> str | None:
    left, right = (_A_FEW.sub("a\\1", _POLITE.sub("", text, count=1)) for text in (gold, predicted))
    ours, theirs = tokens(left), tokens(right)
    if any(word.key == "A" and word.sort == "name" for word in (*ours, *theirs)):
        # Where one text has a label A, no a is an article.
        ours, theirs = (
            [word._replace(key="A", sort="name") if word.raw in ("a", "A") else word for word in words]
            for words in (ours, theirs)
        )
    if _is_firm_and_name(ours, theirs) or _is_firm_and_name(theirs, ours):
        return "short text"
    if asks_otherwise(left, right):
        return "question"
    if exchanges_roles(ours, theirs):
        return "free text: voice"
    if _same_letters(ours, theirs, left, right) or _same_items(left, right):
        return None
    content, other = _content(ours), _content(theirs)
    is_short = min(_weight(content), _weight(other)) <= SHORT_WORDS
    is_phrase = min(_weight(ours), _weight(theirs)) < SENTENCE_WORDS or not content or not other
    is_title = all(word.raw[:1].isupper() for word in content)
    if is_title or (is_short and is_phrase):
        return None if _same_short(_without_articles(ours), _without_articles(theirs)) else "short text"
    if _drops_one(ours, theirs) or _drops_one(theirs, ours):
        return "free text: number"
    return _guard(content, other) or _other_words(content, other) or _other_small_words(ours, theirs)


def _drops_one(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether an English `one` has neither `one` nor an article in the other text: `one of the rooms` and `the rooms`."""
    ones, articles = (
        [sum(word.raw.casefold() in found for word in words) for words in (ours, theirs)]
        for found in (("one", "1"), ("a", "an"))
    )
    return ones[0] - ones[1] > max(0, articles[1] - articles[0])


def _same_items(gold: str, predicted: str) -> bool:
    """Whether two texts are lists of the same short items, with any separators: `milk, eggs` and `milk and eggs`."""
    ours, theirs = zip(*_item_pairs(gold, predicted), strict=True)
    if len(ours) == 2 and all(item[:1].isupper() for item in ours) and ("," in gold) != ("," in predicted):
        # `Paris, France` is not a list, nor is `Smith, John`.
        return {item.casefold() for item in ours} <= GIVEN_NAMES and ours == theirs
    return len(ours) > 1 and all(
        _same_short(_without_articles(tokens(own)), _without_articles(tokens(their)))
        for own, their in zip(ours, theirs, strict=True)
    )


def _item_pairs(gold: str, predicted: str) -> list[tuple[str, str]]:
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


def _same_short(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    return bool(ours) and len(ours) == len(theirs) and all(map(_same_short_word, ours, theirs))


def _same_short_word(a: Token, b: Token) -> bool:
    if a.key == b.key or (a.raw[0].isupper() and _without_apostrophe(a) == _without_apostrophe(b)):
        return True
    lower = a.raw.islower() and b.raw.islower()
    return lower and a.sort == b.sort == "word" and _plural(*sorted((a.key, b.key), key=len))


def _without_apostrophe(word: Token) -> str:
    """A name of a firm such as `McDonald's` as it is often written; any other word as it is."""
    return f"{word.raw[:-2]}s" if len(word.raw) > 5 and word.raw.endswith("'s") else word.raw


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


def _other_words(ours: Sequence[Token], theirs: Sequence[Token]) -> str | None:
    """The rule broken by other content words, or another order of them."""
    ours, theirs = _without_lone(ours), _without_lone(theirs)
    own_keys = [word.key for word in ours if word.sort != "one"]
    their_keys = _in_words_of(frozenset(own_keys), [word for word in theirs if word.sort != "one"])
    if own_keys == their_keys:
        return None
    missing, gained = Counter(own_keys) - Counter(their_keys), Counter(their_keys) - Counter(own_keys)
    if not missing and not gained:
        return "free text: order"
    return "free text: other word" if missing and gained else "free text: word more or less"


def _other_small_words(ours: Sequence[Token], theirs: Sequence[Token]) -> str | None:
    """The rule broken by another small word beside the same content words: `paid by Ann` and `paid for Ann`."""
    own_words, their_words = _small_words(ours), _small_words(theirs)
    differ = any(a and b and a.isdisjoint(b) for a, b in zip(own_words, their_words, strict=False))
    return "free text: small word" if len(own_words) == len(their_words) and differ else None


def _small_words(words: Sequence[Token]) -> list[set[str]]:
    """The small words before each content word, in order; first those of words that may be anywhere."""
    lone = _lone_sorts(words)
    groups: list[set[str]] = []
    moved: list[set[str]] = []
    gap: set[str] = set()
    for word in words:
        if word.key in _SMALL_WORDS:
            gap.add(_SMALL_WORDS[word.key])
        elif word.sort not in ("article", "function"):
            (moved if word.sort in lone else groups).append(gap)
            gap = set[str]()
    return [*moved, *groups, gap]


def _weight(words: Iterable[Token]) -> float:
    return sum(word.weight for word in words)


def _without_lone(words: Sequence[Token]) -> list[Token]:
    lone = _lone_sorts(words)
    return [word for word in words if word.sort not in lone]


def _lone_sorts(words: Sequence[Token]) -> list[Sort]:
    """Kinds of words that may be anywhere: a text's only day word or only time, which both texts share."""
    sorts: tuple[Sort, ...] = ("day", "time")
    return [sort for sort in sorts if sum(word.sort == sort for word in words) == 1]


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
