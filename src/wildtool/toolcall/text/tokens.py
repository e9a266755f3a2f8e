"""Splits a text into words and classifies them for comparison: number, marker, name, or plain word."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

from wildtool.toolcall.text import lexicon, numerals
from wildtool.toolcall.text.canonical import CJK
from wildtool.toolcall.text.normal_form import normal_form
from wildtool.toolcall.text.units import is_cased_unit

Sort = Literal[
    "word", "function", "article", "number", "one", "time", "negation", "marker", "day", "name", "exact", "symbol"
]  # fmt: skip


class Token(NamedTuple):
    """One word of a text."""

    key: str
    """What is compared: lower case, one spelling, synonyms joined."""
    sort: Sort
    raw: str
    """The word in the normalised text."""

    @property
    def weight(self) -> float:
        """Length in words; a Chinese character counts half."""
        return 0.5 if len(self.raw) == 1 and _CJK_CHARACTER.match(self.raw) else 1.0


_CONTRACTIONS = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
_IS_SUBJECTS = frozenset(
    ["it", "that", "he", "she", "there", "here", "what", "where", "who", "how", "when", "let"]
)
_ROMAN = {
    name: number
    for number, name in enumerate(
        ["II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI"],
        start=2,
    )
}
"""Without I; V and X are letters where a text has no other numeral."""
_CAPITAL_WORDS = frozenset({"IT", "WHO", "US"})
"""Words that are another word in capitals."""
_TIME = re.compile(r"\d{4}\.\d\d(?:\.\d\d)?|\d\d:\d\d")
"""A date or a clock time as `spellings` writes it."""
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_CHINESE_PHRASES = sorted(
    {
        word
        for word in (*lexicon.ARTICLES, *lexicon.MARKERS, *lexicon.CHINESE_COMPOUNDS, *lexicon.SYNONYMS)
        if len(word) > 1 and _CJK_CHARACTER.match(word)
    },
    key=len,
    reverse=True,
)
_LETTER = rf"(?:(?![{CJK}])[^\W\d_]|[\u0300-\u036f\u0900-\u0965\u0970-\u0dff\u0e31-\u0e4e])"
_TOKEN = re.compile(
    rf"(?P<number>(?:(?<![\w)\].])[+-])?\d+(?:[.,:]\d+)*|(?<![\w.])[+-]?\.\d+)"
    rf"|(?P<phrase>{'|'.join(_CHINESE_PHRASES)})"
    rf"|(?P<numeral>[{numerals.CHINESE_NUMERALS}]{{1,12}}+)(?=[{lexicon.MEASURE_WORDS}])"
    rf"|(?P<character>[{CJK}])"
    rf"|(?P<word>{_LETTER}+(?:'{_LETTER}+)*)"
    r"|(?P<symbol>[^\s\w.,;:!?'\"()\[\]{}·…、「」『』《》〈〉【】~*|-])"
)
_EXACT = re.compile(r"://|\w@\w|_|\\")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SENTENCE_ENDS = frozenset('.!?:;"')


def tokens(text: str) -> list[Token]:
    """The words of a normalised text, in order."""
    return list(_in_context(list(_join_numbers(_cut(_SAME_WEEKDAY.sub("周", text))))))


def _in_context(tokens: list[Token]) -> Iterator[Token]:
    """Tokens reclassified by their neighbours."""
    for place, token in enumerate(tokens):
        before, behind = (
            tokens[place - 1] if place else None,
            tokens[place + 1] if place + 1 < len(tokens) else None,
        )
        if before and before.sort == "number" and is_cased_unit(token.raw):
            # A metre and a million, a megabit and a megabyte.
            yield Token(token.raw, "marker", token.raw)
        elif token.raw == "on" and behind and behind.sort == "day":
            yield token._replace(sort="article")
        elif token.key == "about" and not (behind and behind.sort in ("number", "time")):
            yield token._replace(sort="function")
        elif token.key == "的" and behind is None and before and not _CJK_CHARACTER.match(before.raw):
            # A final 的 after a Latin name is not a particle.
            yield token._replace(sort="word")
        elif before and before.raw[:1].isupper() and len(token.raw) > 1 and token.raw in _ROMAN:
            yield Token(str(_ROMAN[token.raw]), "number", token.raw)
        elif _is_label(token, before, behind) or (len(tokens) == 1 and token.raw in _CAPITAL_WORDS):
            yield Token(token.raw.upper(), "name", token.raw)
        else:
            yield token


def _is_label(token: Token, before: Token | None, behind: Token | None) -> bool:
    """Whether a token is a label `A`: plan A, blood type A, A级."""
    if token.raw in ("a", "A") and before is not None and behind is None:
        # An article is never the last word.
        return True
    if token.raw != "A":
        return False
    if behind is not None and _CJK_CHARACTER.match(behind.raw):
        return True
    return before is not None or behind is None


_SAME_WEEKDAY = re.compile("星期|礼拜")


def _cut(text: str) -> Iterator[Token]:
    shouted = text.isupper()
    start = True
    for chunk in text.split(" "):
        pieces = re.findall(r"[!-~]+|[^!-~]+", chunk) if _EXACT.search(chunk) else [chunk]
        for piece in pieces:
            if _EXACT.search(piece):
                yield Token(piece.strip(".,;:!?()\"'"), "exact", piece)
                start = False
                continue
            for match in _TOKEN.finditer(piece):
                first = start or piece[match.start() - 1 : match.start()] in _SENTENCE_ENDS
                yield from _tokens_of(match, first=first, shouted=shouted)
                start = False
        start = start or chunk[-1:] in _SENTENCE_ENDS


def _tokens_of(match: re.Match[str], *, first: bool, shouted: bool) -> Iterator[Token]:
    raw = match[0]
    if match.lastgroup == "number" and _TIME.fullmatch(raw):
        yield Token(raw, "time", raw)
    elif match.lastgroup == "number":
        yield Token(raw.replace(",", "") if _THOUSANDS.fullmatch(raw) else raw, "number", raw)
    elif match.lastgroup == "numeral":
        value = raw if numerals.is_approximate(raw) else numerals.chinese_number(raw)
        yield Token(value, "one" if raw == "一" else "number", raw)
    elif match.lastgroup == "word":
        is_name = raw in _CAPITAL_WORDS if first else raw[0].isupper()
        is_ending = raw in _CAPITAL_WORDS and match.string[: match.start()].endswith("-")  # en-US
        yield from _word(raw, named=is_name and not shouted and not is_ending)
    elif match.lastgroup == "symbol" and raw not in lexicon.SYNONYMS:
        yield Token(raw, "word" if unicodedata.category(raw) == "So" else "symbol", raw)
    else:
        yield _classified(lexicon.SYNONYMS.get(raw, raw), raw, named=False)


def _word(raw: str, *, named: bool) -> Iterator[Token]:
    word = folded(raw)
    if word.endswith("n't") or word == "cannot":
        stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(word[:-3], word[:-3])
        yield Token(stem, "function", raw)
        yield Token("not", "negation", raw)
        return
    stem, apostrophe, ending = word.rpartition("'")
    if apostrophe and (ending in _CONTRACTIONS or (ending == "s" and stem in _IS_SUBJECTS)):
        verb = "us" if stem == "let" else _CONTRACTIONS.get(ending, "is")
        yield from _word(raw[: len(stem)], named=named)
        yield _classified(verb, raw[len(stem) + 1 :], named=False)
        return
    if apostrophe and ending == "d":
        yield from _word(raw[: len(stem)], named=named)
        yield _classified("would", raw[len(stem) + 1 :], named=False)
        return
    word = word.removesuffix("'s").replace("'", "")
    # IT and WHO in capitals are not function words.
    if named and len(raw) > 1 and raw.isupper() and (word in lexicon.FUNCTION_WORDS or raw in _CAPITAL_WORDS):
        yield Token(raw, "name", raw)
    else:
        yield _classified(lexicon.SYNONYMS.get(word, _one_spelling(word)), raw, named=named)


def _classified(key: str, raw: str, *, named: bool) -> Token:
    if key in lexicon.NEGATIONS:
        sort: Sort = "negation"
    elif key in lexicon.ARTICLES:
        sort = "article"
    elif key in lexicon.FUNCTION_WORDS:
        sort = "function"
    elif key in lexicon.DAYS:
        sort = "day"
    elif key in lexicon.MARKERS or (
        key not in lexicon.NOT_PLURALS and key.removesuffix("s") in lexicon.MARKERS
    ):
        sort = "marker"
        key = key if key in lexicon.MARKERS else key.removesuffix("s")
    else:
        sort = "name" if named and raw != "I" else "word"
    return Token(key, sort, raw)


def folded(word: str) -> str:
    """Lower case without accents on Latin letters; marks of other scripts are letters of their own."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    letters = normal_form("NFD", folded)
    latin = re.sub(r"(?<=[a-z])[\u0300-\u036f]+", "", letters)
    return normal_form("NFC", latin)


_SPELLINGS = (
    (re.compile(r"(?<=..)our(?=s?$|ed$|ing$|ful$|ite|able$)"), "or"),
    (re.compile(r"(?<=...)is(?=(?:e|es|ed|ing|ation|ations)$)"), "iz"),
    (re.compile(r"(?<=...)ys(?=(?:e|es|ed|ing)$)"), "yz"),
    (re.compile(r"(?<=..)tre(?=s?$)"), "ter"),
    (re.compile(r"(?<=..)ogue(?=s?$)"), "og"),
    (re.compile(r"(?<=(?:avel|ncel|odel|abel))l(?=ed$|ing$|er)"), ""),
    (re.compile("^jewell(?:e(?=ry))?"), "jewel"),
)


def _one_spelling(word: str) -> str:
    """British and American spellings as one (colour, organise, centre, catalogue, travelled)."""
    if len(word) > 4 and (word not in lexicon.NOT_PLURALS or word == "colours"):
        for pattern, replacement in _SPELLINGS:
            word = pattern.sub(replacement, word)
    return word


def _join_numbers(tokens: Iterator[Token]) -> Iterator[Token]:
    """Number words as digits: `twenty one` is 21, `two hundred` is 200; a lone `one` may be an article."""
    total, raws = 0, list[str]()
    for token in tokens:
        joined = numerals.continued_number(total, token.key) if raws else None
        if joined is None:
            if raws:
                yield _number(total, raws)
            total, raws = 0, []
            joined = numerals.SCALES.get(token.key) or numerals.NUMBER_WORDS.get(token.key)
            if joined is None:
                yield token
                continue
        total = joined
        raws.append(token.raw)
    if raws:
        yield _number(total, raws)


def _number(total: int, raws: list[str]) -> Token:
    raw = " ".join(raws)
    return Token(str(total), "one" if raw.lower() == "one" else "number", raw)
