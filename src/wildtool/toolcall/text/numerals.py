"""Numbers written in digits, English or Chinese words: `3k`, `two hundred five`, `两百五`."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import pairwise

from wildtool.toolcall.text.normal_form import normal_form

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
NUMBER_WORDS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
ORDINAL_WORDS = {word: value for value, word in enumerate(_ORDINALS.split(), start=1)} | {"thirtieth": 30}
CHINESE_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_CHINESE_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
CHINESE_NUMERALS = "".join((*_CHINESE_DIGITS, *CHINESE_SCALES))
"""The characters of Chinese numerals, for use in a character class."""

_FACTORS = SCALES | CHINESE_SCALES | {"k": 1000, "m": 1_000_000, "dozen": 12}
_DIGITS = re.compile(
    r"(?P<minus>(?<![\w)])[-−]|(?<![a-z])minus )?(?<![a-z0-9])(?<![0-9][.,'])x?"
    r"(?P<digits>[0-9]+(?:[.,'][0-9]+)*)"
    r"(?P<factor>%|[km](?![a-z])| ?(?:thousand|million|billion|hundred|dozen)(?![a-z])| ?[百千万亿])?"
)
_LONGEST = 60
"""Characters of the longest number that is read; longer ones are identifiers or noise."""
_WORDS: dict[str, Decimal] = {
    **{word: Decimal(value) for word, value in (NUMBER_WORDS | SCALES | ORDINAL_WORDS).items()},
    "dozen": Decimal(12),
    "couple": Decimal(2),
    "pair": Decimal(2),
    "both": Decimal(2),
    "once": Decimal(1),
    "twice": Decimal(2),
    "half": Decimal("0.5"),
    "quarter": Decimal("0.25"),
}
_CHINESE = re.compile(f"[{CHINESE_NUMERALS}]{{1,24}}")


def continued_number(total: int, word: str) -> int | None:
    """The number that a word makes of the one before it (`twenty` and `one`, `two` and `hundred`); None if it starts
    another number."""
    if scale := SCALES.get(word):
        return total * scale if total < scale else None
    value = NUMBER_WORDS.get(word)
    if value is None or total < 20:
        return None
    return total + value if total % 100 == 0 or (total % 10 == 0 and 0 < value < 10) else None


def english_numbers(words: Iterable[str]) -> list[int] | None:
    """The numbers that some number words say, one behind the other; None if they say none, such as `hundred two`."""
    numbers: list[int] = []
    total = part = 0
    scale = 0
    begun = False
    for word in words:
        value, factor = NUMBER_WORDS.get(word), SCALES.get(word, 0)
        if value is not None:
            is_next = begun and not _joins(total, part, value)
            if is_next:
                numbers.append(total + part)
            total, part, scale = (0, value, 0) if is_next else (total, part + value, scale)
            begun = True
        elif factor == 100 and 0 < part < 100:
            part *= factor
        elif factor > 100 and part and (factor < scale or not scale):
            total, part, scale = total + part * factor, 0, factor
        else:
            return None
    return [*numbers, total + part]


def _joins(total: int, part: int, value: int) -> bool:
    """Whether a number word goes on with the number before it: the five of twenty-five or of a hundred and five."""
    if part % 100 == 0:
        return 0 < value < 100 and total + part > 0
    return part % 10 == 0 and part % 100 > 10 and 0 < value < 10


def chinese_number(numeral: str) -> str:
    """Decimal digits of a Chinese numeral: 二十一 is 21, 两百五 is 250, 两百零五 is 205, 二〇二四 is 2024."""
    if all(character in _CHINESE_DIGITS for character in numeral):
        return "".join(str(_CHINESE_DIGITS[character]) for character in numeral)
    total = section = digit = 0
    last = 1
    for character in numeral:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
            last = 1 if digit == 0 else last
            continue
        last = CHINESE_SCALES[character]
        if last < 10_000:
            section += (digit or 1) * last
        else:
            part = section + digit
            # 一万亿 is a 万 of 亿; the 万 of 二亿三千万 counts only what is behind 亿.
            total = (total + part or 1) * last if total < last else total + (part or 1) * last
            section = 0
        digit = 0
    # In speech a last digit counts in tenths of the scale before it: 两百五 is 250, 一万二 is 12,000. After 零 it
    # counts ones.
    return str(total + section + digit * max(1, last // 10))


def is_approximate(numeral: str) -> bool:
    """Whether a Chinese numeral names a range by two digits in a row: 两三 is two or three, 十七八 is 17 or 18."""
    digits = [_CHINESE_DIGITS.get(character, -9) for character in numeral]
    pairs = [(digit, after) for digit, after in pairwise(digits) if digit > 0]
    # 一二三 and 二〇二四 are read digit by digit.
    spelled = len(digits) > 2 and -9 not in digits
    return not spelled and any(after == digit + 1 or (digit, after) == (3, 5) for digit, after in pairs)


def is_name_of_day(numeral: str) -> bool:
    """Whether a Chinese numeral is two digits in a row, as holidays are named: 五一 is the first of May, and not 51."""
    return len(numeral) == 2 and all(_CHINESE_DIGITS.get(character, 0) for character in numeral)


def numbers_in(text: str) -> frozenset[Decimal]:
    """All numbers a reader could see in a text; an ambiguous form such as `1,200` gives each reading."""
    text = normal_form("NFKC", text).casefold()
    return frozenset([*_digit_numbers(text), *_word_numbers(text), *_chinese_numbers(text)])


def _digit_numbers(text: str) -> Iterator[Decimal]:
    # Long texts repeat most of their numbers.
    for minus, digits, factor in dict.fromkeys(match.groups("") for match in _DIGITS.finditer(text)):
        sign = -1 if minus else 1
        factor = factor.strip()
        for number in _readings(digits):
            scaled = number / 100 if factor == "%" else number * _FACTORS.get(factor, 1)
            yield from (number, number * sign, scaled, scaled * sign)


def _readings(digits: str) -> Iterator[Decimal]:
    """`47.23` and `47,23` are one number, `1,200` may be two, `14.03.2025` and `1,2` are also lists."""
    pieces = re.split(r"[.,']", digits)
    if len(digits) > _LONGEST:
        return
    if len(pieces) == 1:
        yield Decimal(digits)
        return
    for mark, point in ((",", "."), (".", ","), ("'", ".")):
        integer, *fraction = digits.split(point)
        grouped = re.fullmatch(rf"[0-9]+|[0-9]{{1,3}}({re.escape(mark)}[0-9]{{3}})+", integer)
        if grouped and (not fraction or (len(fraction) == 1 and fraction[0].isdigit())):
            yield Decimal(".".join([integer.replace(mark, ""), *fraction]))
    if len(pieces) > 2 or "," in digits:
        yield from map(Decimal, pieces)


def _word_numbers(text: str) -> Iterator[Decimal]:
    words: list[str] = re.findall(r"[a-z]+", text)
    for k, word in enumerate(words):
        if word not in _WORDS:
            continue
        yield _WORDS[word]
        total = NUMBER_WORDS.get(word)
        if total is not None and (factor := _FACTORS.get(words[k + 1] if k + 1 < len(words) else "")):
            yield Decimal(total * factor)
        for following in words[k + 1 : k + 8]:
            total = None if total is None else continued_number(total, following)
            if total is None:
                break
            yield Decimal(total)


def _chinese_numbers(text: str) -> Iterator[Decimal]:
    if "半" in text:
        yield Decimal("0.5")
    for match in _CHINESE.finditer(text):
        yield Decimal(chinese_number(match[0]))
