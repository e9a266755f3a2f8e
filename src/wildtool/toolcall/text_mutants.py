"""Texts with one change that a careless comparison overlooks: a unit, the case of code, a character inside a word."""

import re
from collections.abc import Callable, Iterator

from wildtool.toolcall.text.canonical import CJK
from wildtool.toolcall.text.identifiers import ELEMENTS
from wildtool.toolcall.text.numerals import chinese_number
from wildtool.toolcall.text.places import STATE_CODES
from wildtool.toolcall.text.source_code import is_code

_UNITS = {
    "km": "m", "m": "km", "cm": "mm", "mm": "cm", "kg": "g", "g": "mg", "mg": "g", "l": "ml", "L": "ml", "ml": "l",
    "Mbps": "MBps", "MB": "Mb", "GB": "Gb", "mW": "MW", "mΩ": "MΩ", "kW": "kWh", "hours": "minutes", "minutes": "hours",
    "min": "s", "h": "min", "days": "weeks", "weeks": "days", "months": "days", "years": "months", "miles": "kilometers",
    "小时": "分钟", "分钟": "小时", "公里": "米", "公斤": "克", "元": "美元",
}  # fmt: skip
_UNIT = re.compile(rf"(?<=\d)( ?)({'|'.join(sorted(_UNITS, key=len, reverse=True))})(?![A-Za-z])")
_TWO_WORDS = re.compile(
    r"\b(every|all|some|may|any|extra|black|green|dark) "
    r"(day|ready|together|time|be|one|way|ordinary|bird|board|house|room)\b"
)
"""Two words that are another word when joined: `every day` and `everyday`."""
_LONG_WORD = re.compile(r"(?<![\w@./:-])[A-Za-z]{4,}(?![\w@/:-]|\.\w)")
_RANGE = re.compile(r"(?:一两|两三|三四|三五|四五|五六|六七|七八|八九)(?=[个天位次人年月])")
_PARTS = re.compile("(?<=[土草工陆耕绿外])地|(?<=[酒网贴])吧|(?<=[目])的|(?<=[值难获])得")
"""Characters that can be particles, in words that they are a part of."""
_ELEMENT = re.compile(rf"\A(?:{'|'.join(sorted(ELEMENTS))})\Z")
_OTHER_BOUND = {"at least": "at most", "at most": "at least", "至少": "至多", "至多": "至少"}
_BOUND = re.compile(r"\bat (?:least|most)(?= [$€£]?\d)|至[少多](?=[\d一二两三四五六七八九十])", re.IGNORECASE)
_STATE = re.compile(rf"(?<=[a-z], )(?:{'|'.join(sorted(STATE_CODES))})(?=$|,? \d{{5}}\b)")
_PASSIVE = re.compile(r"\b(?:was|were|is|are) (\w+ed) by (?=the |a |an |my |his |her |[A-Z])")
_STATED = re.compile(
    r"(?!(?:what|when|where|why|how|who|whom|whose|which|is|are|was|were|am|has|have|had|does|did|do|can|could|will|would"
    rf"|should|shall|must|might|may)\b)[^?!{CJK}]*\b(?:is|are|was|were|has|have|will)\b[^?{CJK}]*\.",
    re.IGNORECASE,
)


def overlooked_changes(text: str, use: str) -> Iterator[tuple[str, str]]:
    """Kind and changed text, each of another meaning.

    Args:
        use: name and description of the parameter that the text is for.
    """
    if is_code(text, use):
        letters = (place for place, sign in enumerate(text) if sign.isascii() and sign.isalpha())
        letter = next(letters, None)
        if letter is not None:
            yield "case of a letter in code", text[:letter] + text[letter].swapcase() + text[letter + 1 :]
        return
    for kind, pattern, change in _CHANGES:
        if match := pattern.search(text):
            yield kind, text[: match.start()] + change(match) + text[match.end() :]
    if _STATED.fullmatch(text):
        yield "statement made a question", f"{text[:-1]}?"


_CHANGES: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    ("other unit of an amount", _UNIT, lambda match: match[1] + _UNITS[match[2]]),
    ("words of a text joined", _TWO_WORDS, lambda match: match[1] + match[2]),
    ("invisible character in a word", _LONG_WORD, lambda match: f"{match[0][:2]}\u200b{match[0][2:]}"),
    ("a few made few", re.compile(r"\ba (?=few\b|little\b)"), lambda match: ""),
    ("roles of a sentence exchanged", _PASSIVE, lambda match: f"{match[1]} "),
    ("Chinese range read as a number", _RANGE, lambda match: chinese_number(match[0])),
    ("character cut from a Chinese word", _PARTS, lambda match: ""),
    ("symbol of an element in capitals", _ELEMENT, lambda match: match[0].upper()),
    ("bound of an amount turned", _BOUND, lambda match: _OTHER_BOUND[match[0].lower()]),
    ("other state behind a city", _STATE, lambda match: "OH" if match[0] == "TX" else "TX"),
)
