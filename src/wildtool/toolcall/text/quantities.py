"""Values of numbers and quantities in texts (`5 km`, `$5 million`, `三公里`), and of hours of a named day."""

import re
from decimal import Decimal

from wildtool.toolcall.text.canonical import read_moment
from wildtool.toolcall.text.lexicon import DAYS, MEASURE_WORDS
from wildtool.toolcall.text.numerals import (
    CHINESE_NUMERALS,
    NUMBER_WORDS,
    SCALES,
    chinese_number,
    english_numbers,
    is_approximate,
    is_name_of_day,
)
from wildtool.toolcall.text.units import SIGNS, WORD_UNITS, Unit, unit_of
from wildtool.toolcall.text.wordings import reworded, wordings_of

_SCALES = {
    **SCALES,
    "trillion": 10**12,
    "百": 10**2,
    "千": 10**3,
    "万": 10**4,
    "亿": 10**8,
    "百万": 10**6,
    "千万": 10**7,
    "百亿": 10**10,
}
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9}
"""Only after an amount of money: `$5M`."""
_AMOUNT = r"(?P<amount>(?:(?<![\w)])[+-])?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?)"
_SCALE = (
    rf"(?: ?(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})(?![A-Za-z]|(?<=千)[米克瓦卡]))?"
)
_MONEY_SCALE = _SCALE.replace("(?P<scale>", rf"(?P<scale>{'|'.join(_SHORT_SCALES)}|", 1)
_ALONE = r"(?<![\w.,:/$€£¥-])"
_SIGNS = "|".join(re.escape(name) for name in sorted(SIGNS, key=len, reverse=True))
_UNIT_NAME = (
    r"degrees? ?(?:celsius|fahrenheit|c\b|f\b)|kilomet(?:er|re)s? per hour|km per hour|miles?(?: per |/)hour"
    r"|(?:kilo|mega|giga)?(?:bit|byte)s? per second|(?:met(?:er|re)s?|feet|foot) per second|frames per second"
    r"|fl\.? ?oz|fluid ounces?|(?:us|canadian|australian|hong kong|singapore|new zealand) dollars?"
    r"|(?:square|cubic) (?:kilo|centi)?met(?:er|re)s?|square (?:feet|foot|miles?)|sq\.? ?(?:m|ft|km)"
    r"|(?:[kc]?m|ft)\^?[23](?!\d)"
    rf"|pounds? sterling|swiss francs?|[kmgt]?(?:bit|b)/s|[A-Zµμ]{{1,2}}Ω|[kmµμ]?Ω|(?:{_SIGNS})(?:s(?![A-Za-z]))?"
    r"|[A-Za-zµμ]{1,16}\.?(?![A-Za-z./])|[A-Za-zµμ]{1,16}(?![A-Za-z/])"
)
_UNIT_BEHIND = re.compile(
    rf"(?<![A-Za-z0-9_.,:/$€£¥]){_AMOUNT}{_SCALE}[ -]?(?P<unit>{_UNIT_NAME})(?![A-Za-z0-9_/]|\^)",
    re.IGNORECASE,
)
_UNIT_BEFORE = re.compile(
    rf"(?<![A-Za-z0-9_.,/$])(?P<unit>[a-z]{{1,3}}\$|[$€£¥₹₩฿₽]|usd|eur|gbp|jpy|cny|rmb|cad|aud|hkd|sgd|nzd|twd|brl|mxn"
    rf"|inr|krw|thb|chf|rub|人民币|港币|港元|美元|新台币|台币|日元|欧元|英镑) ?{_AMOUNT}{_MONEY_SCALE}"
    r"(?: ?元)?(?![A-Za-z0-9_,]|\.\d)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"{_ALONE}(\d{{1,9}}(?:\.\d+)?)( ?(?:-|~|到|至) ?| to )"
    rf"(?=\d{{1,9}}(?:\.\d+)?[ -]?({_UNIT_NAME})(?![A-Za-z0-9_/]))",
    re.IGNORECASE,
)
_PARTS = re.compile(
    rf"{_ALONE}{_AMOUNT}[ -]?(?P<unit>{_UNIT_NAME}|[hm](?=\d))"
    rf"(?: and |, |,| )?(?P<less>\d{{1,4}}(?:\.\d+)?) ?(?P<part>{_UNIT_NAME}|分)(?![A-Za-z0-9_/])",
    re.IGNORECASE,
)
"""An amount in two units: 1 hour 30 minutes."""
_SCALED = re.compile(rf"{_ALONE}{_AMOUNT}{_SCALE.removesuffix('?')}", re.IGNORECASE)
_WORD = "|".join(sorted((*NUMBER_WORDS, *SCALES), key=len, reverse=True))
_WORD_END = (
    "(?!\\w|-(?!(?:day|night|week|month|year|hour|minute|star|bed|bedroom|person|seat|course|piece|page|door|mile|part|step)"
    "(?![a-z])))"
)
"""A number word may have a hyphen behind it only before what it counts: three-day."""
_WORDS = re.compile(rf"(?<![\w-])(?:an? )?(?:{_WORD})(?:[ -](?:and )?(?:{_WORD}))*{_WORD_END}", re.IGNORECASE)
_NUMERAL = re.compile(
    rf"(?<![周期拜第{CHINESE_NUMERALS}0-9])[{CHINESE_NUMERALS}]{{1,12}}(?![{CHINESE_NUMERALS}])"
)
_DAY = re.compile(
    rf"(?P<day>{'|'.join(sorted(DAYS, key=len, reverse=True))})(?:,| at)? ?(?P<hour>.+)"
    rf"|(?P<early>.+?)(?:,| on)? (?P<late>{'|'.join(sorted(DAYS, key=len, reverse=True))})"
)
_COUNTED_UNITS = (*(name for name in SIGNS if name[0] > "\u2fff"), *"点月日号时毛栋幢周", "单元")
_ABOUT = re.compile(rf"[多余几来][\u4e00-\u9fff]|[到至~-][{CHINESE_NUMERALS}]{{1,5}}[{MEASURE_WORDS}]")
"""Behind a numeral: 十多个, 10多个; the upper end of a range, 五到十天."""
_WORD_OF_NUMERALS = re.compile("十分(?!钟)|万一|千万(?![元人个美欧日英吨])|一一|万万|百分(?!之)")
"""Words that are written like numerals: 十分 is very, 千万 by all means."""
_FRACTION = re.compile(
    rf"(?<![{CHINESE_NUMERALS}])([二三四五六七八九十])分之([一二三四五六七八九])(?![{CHINESE_NUMERALS}])"
)
_AND_A_HALF = re.compile(
    rf"(?<![\d{CHINESE_NUMERALS}])(\d+|[{CHINESE_NUMERALS}]+)(?:个半(?=小时|钟头|月|星期)|(公里|公斤|千克|小时|米|天|年|斤|周|升|吨|倍)半(?![\u4e00-\u9fff]))"
)
_WHOLE_UNITS = "hours|minutes|days|weeks|years|miles|meters|metres|kilo[a-z]+|liters|litres|pounds"
_PARTS_OF_ONE = wordings_of(
    (
        (r"\bhalf a dozen\b", "6"),
        (r"\b(?:half an|a half|half a) hour\b|(?<!-)\bhalf hour\b", "0.5 hours"),
        (r"\ban hour and a half\b|\b(?:one|1) hour and a half\b|\bone and a half hours\b", "1.5 hours"),
        (rf"\b(\d+) and a half (?={_WHOLE_UNITS})", r"\1.5 "),
        (r"\ba quarter of an hour\b|\b(?:a )?quarter hour\b", "15 minutes"),
        (r"\bthree quarters of an hour\b", "45 minutes"),
        (rf"\b(?:one(?= (?:{'|'.join(sorted(WORD_UNITS))})\b)|an(?= hour\b))", "1"),
    ),
    (
        (r"半(?=个?(?:小时|钟头|月)|公里|公斤|千克|升|米|斤|年(?!度))", "0.5"),
        (r"一刻钟", "15分钟"),
        (r"三刻钟", "45分钟"),
        (r"(?<![第每这那哪上下本0-9一二三四五六七八九十])([一二三四1-4])季度", r"第\1季度"),
    ),
    re.IGNORECASE,
)
_DOZEN = re.compile(
    r"(?P<number>(?<!\d)\d+|[一两])打(?=$|[\u4e00-\u9fff])|\b(?P<several>\d+|a|one) dozen\b(?! or\b)",
    re.IGNORECASE,
)
_LONGEST = 40
"""Longer texts are not compared as quantities."""


def respell_numbers(text: str) -> str:
    """A text with number words as digits; `one` stays unless before a unit, since it may be an article."""
    text = _WORDS.sub(_number_words, text)
    if text.isascii():
        return _DOZEN.sub(_dozens, reworded(text, _PARTS_OF_ONE))
    text = _FRACTION.sub(lambda match: f"{chinese_number(match[2])}/{chinese_number(match[1])}", text)
    text = reworded(_AND_A_HALF.sub(_and_a_half, text), _PARTS_OF_ONE)
    return _DOZEN.sub(_dozens, _NUMERAL.sub(_numeral, text))


def _number_words(match: re.Match[str]) -> str:
    words = re.split(r"[ -]", match[0].lower().replace(" and ", " "))
    if words[0] in ("a", "an"):
        if words[1] not in SCALES:
            return match[0]
        words[0] = "one"
    if words == ["one"] or words[0] in SCALES:
        return match[0]
    numbers = english_numbers(words)
    return match[0] if numbers is None else " ".join(map(str, numbers))


def _numeral(match: re.Match[str]) -> str:
    numeral, behind = match[0], match.string[match.end() : match.end() + 4]
    if is_approximate(numeral) or _WORD_OF_NUMERALS.match(match.string, match.start()):
        return numeral
    if numeral == match.string:
        return numeral if is_name_of_day(numeral) else chinese_number(numeral)
    if numeral == "一":
        counted = behind.startswith(_COUNTED_UNITS)
    else:
        counted = behind.startswith((*MEASURE_WORDS, *_COUNTED_UNITS)) or _ABOUT.match(behind)
    return chinese_number(numeral) if counted else numeral


def _and_a_half(match: re.Match[str]) -> str:
    number = match[1] if match[1].isdecimal() else chinese_number(match[1])
    counted = "个" if match.string.startswith(("月", "星期"), match.end()) else match[2] or ""
    return f"{number}.5{counted}"


def _dozens(match: re.Match[str]) -> str:
    number = match["number"] or match["several"]
    value = 1 if number.lower() in ("a", "one", "一") else 2 if number == "两" else int(number)
    return f"{12 * value}{'个' if match[0].endswith('打') else ''}"


def respell_amounts(text: str) -> str:
    """A text with each amount in digits and one unit of its kind: `5 km` is `5000 m`, `$5 million` is `5000000 USD`."""
    text = _PARTS.sub(_sum, _RANGE.sub(_unit_of_both, text))
    for pattern in (_UNIT_BEFORE, _UNIT_BEHIND):
        text = pattern.sub(_amount, text)
    return _SCALED.sub(lambda match: _plain(_value(match)), text)


def _amount(match: re.Match[str]) -> str:
    unit = unit_of(match["unit"])
    if unit is None:
        return match[0]
    text = f"{_plain(_value(match) * unit.factor)} {unit.base}"
    # With a blank before a directly following character, as in `5公里跑步`.
    return text + "." * (match["unit"].endswith(".") and match.end() == len(match.string))


def _unit_of_both(match: re.Match[str]) -> str:
    """The lower end of a range with the unit that only the upper one names: 5-7 days."""
    return f"{match[1]} {match[3]}{match[2]}" if unit_of(match[3]) else match[0]


def _sum(match: re.Match[str]) -> str:
    if match.string[: match.start()].endswith(("at ", "on ")):
        return match[0]
    unit, part = unit_of({"m": "min"}.get(match["unit"], match["unit"])), unit_of(match["part"])
    if match["part"] in ("m", "分") and unit is not None and unit.base == "s":
        part = Unit(Decimal(60), "s")
    if match["part"].lower() == "in" and unit is not None and unit.base == "inch":
        part = Unit(Decimal(1), "inch")
    less = Decimal(match["less"])
    if unit is None or part is None or unit.base != part.base or less * part.factor >= unit.factor:
        return match[0]
    return (
        f"{_plain(Decimal(match['amount'].replace(',', '')) * unit.factor + less * part.factor)} {unit.base}"
    )


def _value(match: re.Match[str]) -> Decimal:
    scale = {**_SCALES, **_SHORT_SCALES}[match["scale"].lower()] if match["scale"] else 1
    return Decimal(match["amount"].replace(",", "")) * scale


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"


def same_amount(gold: str, predicted: str) -> bool:
    """Whether two normalised texts name the same quantity or the same hour of a named day."""
    if max(len(gold), len(predicted)) > _LONGEST:
        return False
    if (amounts := _quantities(gold)) and not amounts.isdisjoint(_quantities(predicted)):
        return True
    hour = _hour_of_day(gold)
    return hour is not None and _hour_of_day(predicted) == hour


def _quantities(text: str) -> set[tuple[Decimal, str]]:
    """Every reading of a text that is an amount: a cent is of any dollar or euro."""
    match = _UNIT_BEHIND.fullmatch(text) or _UNIT_BEFORE.fullmatch(text)
    unit = unit_of(match["unit"]) if match else None
    if not match or not unit:
        return set()
    value, name = _value(match), match["unit"].casefold().removesuffix("s")
    bases = {unit.base}
    if name in ("cent", "¢"):
        bases |= {"EUR", "CAD", "AUD"}
    return {(value * unit.factor, base) for base in bases}


def _hour_of_day(text: str) -> tuple[str, str] | None:
    match = _DAY.fullmatch(text.lower())
    if match is None:
        return None
    moment = read_moment(match["hour"] or match["early"])
    # A date beside a named day is more than an hour.
    return (match["day"] or match["late"], moment) if moment and "-" not in moment else None
