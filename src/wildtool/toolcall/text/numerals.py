"""Reads numbers in running text: digits in any grouping, factors such as `3k`, English and Chinese words."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

_FACTORS = {
    "k": 1000,
    "thousand": 1000,
    "m": 1_000_000,
    "million": 1_000_000,
    "hundred": 100,
    "dozen": 12,
    "百": 100,
    "千": 1000,
    "万": 10_000,
    "亿": 100_000_000,
}
_DIGITS = re.compile(
    r"(?P<minus>(?<![\w)])[-−]|(?<![a-z])minus )?(?<![a-z0-9])(?<![0-9][.,'])x?"
    r"(?P<digits>[0-9]+(?:[.,'][0-9]+)*)"
    r"(?P<factor>%|[km](?![a-z])| ?(?:thousand|million|hundred|dozen)(?![a-z])| ?[百千万亿])?"
)
_LONGEST = 60
"""Characters of the longest number that is read; longer ones are identifiers or noise."""
_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_SMALL: dict[str, int] = {word: number for number, word in enumerate(_ONES)}
_WORDS: dict[str, Decimal] = {
    **{word: Decimal(number) for word, number in (_SMALL | _TENS).items()},
    **{word: Decimal(number) for number, word in enumerate(_ORDINALS, 1)},
    "hundred": Decimal(100),
    "thousand": Decimal(1000),
    "dozen": Decimal(12),
    "couple": Decimal(2),
    "pair": Decimal(2),
    "both": Decimal(2),
    "once": Decimal(1),
    "twice": Decimal(2),
    "half": Decimal("0.5"),
    "quarter": Decimal("0.25"),
}
_CHINESE_DIGITS = {c: k for k, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十百千万]{1,24}")


def numbers_in(text: str) -> frozenset[Decimal]:
    """All numbers a reader could see in a text; an ambiguous form such as `1,200` gives each reading."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return frozenset([*_digit_numbers(text), *_word_numbers(text), *_chinese_numbers(text)])


def _digit_numbers(text: str) -> Iterator[Decimal]:
    for match in _DIGITS.finditer(text):
        sign = -1 if match["minus"] else 1
        factor = (match["factor"] or "").strip()
        for number in _readings(match["digits"]):
            yield number
            yield number * sign
            if factor == "%":
                yield number / 100
            elif factor:
                yield number * _FACTORS[factor]


def _readings(digits: str) -> Iterator[Decimal]:
    """`47.23` and `47,23` are one number, `1,200` may be two, `14.03.2025` and `1,2` are also lists."""
    pieces = re.split(r"[.,']", digits)
    if len(digits) > _LONGEST:
        return
    if len(pieces) == 1:
        yield Decimal(digits)
        return
    for mark, point in ((",", "."), (".", ","), ("'", ".")):
        whole, *fraction = digits.split(point)
        grouped = re.fullmatch(rf"[0-9]+|[0-9]{{1,3}}({re.escape(mark)}[0-9]{{3}})+", whole)
        if grouped and (not fraction or (len(fraction) == 1 and fraction[0].isdigit())):
            yield Decimal(".".join([whole.replace(mark, ""), *fraction]))
    if len(pieces) > 2 or "," in digits:
        yield from map(Decimal, pieces)


def _word_numbers(text: str) -> Iterator[Decimal]:
    words: list[str] = re.findall(r"[a-z]+", text)
    for word, following in pairwise([*words, ""]):
        if word not in _WORDS:
            continue
        yield _WORDS[word]
        if word in _TENS and 0 < _SMALL.get(following, 0) < 10:
            yield Decimal(_TENS[word] + _SMALL[following])
        if word in _SMALL and following in _FACTORS:
            yield Decimal(_SMALL[word] * _FACTORS[following])


def _chinese_numbers(text: str) -> Iterator[Decimal]:
    if "半" in text:
        yield Decimal("0.5")
    for match in _CHINESE.finditer(text):
        yield Decimal(_chinese_value(match.group()))


def _chinese_value(numeral: str) -> int:
    if not any(c in _CHINESE_UNITS or c == "万" for c in numeral):
        return int("".join(str(_CHINESE_DIGITS[c]) for c in numeral))
    total = section = digit = 0
    unit = 10
    for c in numeral:
        if c == "万":
            total, section, digit, unit = (total + section + digit) * 10_000, 0, 0, 10_000
        elif c in _CHINESE_UNITS:
            unit = _CHINESE_UNITS[c]
            section, digit = section + (digit or 1) * unit, 0
        else:
            unit = 10 if c in "零〇" else unit
            digit = _CHINESE_DIGITS[c]
    # A digit at the end counts in the unit below the last one: 两百五 is 250, 一万二 is 12,000.
    return total + section + digit * (unit // 10 if unit > 10 else 1)
