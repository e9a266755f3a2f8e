"""Word lists for the comparison of free text, English and Chinese; the longer ones are in `lexicon.txt`."""

from pathlib import Path

from wildtool.data.text_blocks import text_blocks


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_LISTS = text_blocks(Path(__file__).with_name("lexicon.txt"))


def _words(name: str) -> frozenset[str]:
    return word_set(_LISTS[name])


ARTICLES = _words("articles")
"""Left out of every text that is compared by words."""

FUNCTION_WORDS = ARTICLES | _words("function words")
"""Left out of free text only: in a short text `in stock` and `stock` are two things."""

POLITE_START = (
    r"(?:(?:(?:can|will) you (?:please|kindly)|(?:could|would) you(?! (?:like|prefer|rather|mind))"
    r"|(?:i would|i'd) like(?: you)? to|i (?:want|need)(?: you)? to|please|kindly)\s+)+"
)

COMPOUNDS = _words("compounds")
"""Words that are also written apart: `hot dog`."""

NEGATIONS = _words("negations")

DAYS = _words("days")

MARKERS = DAYS | _words("markers")
"""Words that change the meaning of a sentence: both texts must have the same ones, equally often."""

SYNONYMS = {word: group.split()[0] for group in _LISTS["synonyms"].splitlines() for word in group.split()[1:]}
"""Word to the first word of its group; words of a group are interchangeable in any text."""

NOT_PLURALS = _words("not plurals")
"""Words that are another word without their s, besides all that end in -ics."""

CLAUSE_VERBS = _words("verbs with clauses")
"""Verbs, without their endings (-e, -y, -ed, -ing), that have a clause as their object: tell him that, think he will."""

ACCENTED = _words("other words without accents")
"""Words, without their accents, that are other words so."""

CAPITONYMS = _words("capitonyms")
"""Words that are other words with a capital: turkey, Turkey."""

IRREGULAR_PLURALS = word_set("child children kid kids man men woman women person persons people")
"""Words that are one with their plural in `SYNONYMS`."""

CHINESE_COMPOUNDS = _words("chinese compounds")
"""Words in which a character of the other lists means something else."""

CASED_UNITS = word_set("m mm mg g s b kb mb gb tb mw ma mv mj n pa")
"""Symbols whose case changes the unit: metre and million, megabit and megabyte."""

MEASURE_WORDS = (
    "星居章节季级期页个份张人天年月日号点分秒小时周岁元块次间位名部本条只台件杯瓶公斤克米里折楼层室座等倍度"
    "股夜晚"
)

GIVEN_NAMES = _words("given names")
"""Common names, which no place stands behind: `Tom, Jerry` is a list, `Paris, Texas` is not."""

SIMPLIFIED = str.maketrans(
    "".join(_LISTS["traditional characters"].split()), "".join(_LISTS["simplified characters"].split())
)
"""For `str.translate`."""
