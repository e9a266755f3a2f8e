"""Values of numbers and quantities in texts (`5 km`, `$5 million`, `三公里`), and of hours of a named day."""

import re
from decimal import Decimal

from wildtool.toolcall.text.canonical import read_moment
from wildtool.toolcall.text.lexicon import CASED_UNITS, DAYS, MEASURE_WORDS
from wildtool.toolcall.text.numerals import (
    CHINESE_NUMERALS,
    NUMBER_WORDS,
    SCALES,
    chinese_number,
    continued_number,
)

_UNITS = {
    word: unit
    for unit, words in {
        "mm": "mm millimeter millimetre 毫米",
        "cm": "cm centimeter centimetre 厘米",
        "m": "m meter metre 米",
        "km": "km kilometer kilometre 公里 千米",
        "inch": "inch inches 英寸",
        "foot": "foot feet ft 英尺",
        "mile": "mile mi 英里",
        "lb": "lb pound 磅",
        "mg": "mg milligram 毫克",
        "g": "g gram 克",
        "kg": "kg kilogram kilo 公斤 千克",
        "ml": "ml milliliter millilitre 毫升",
        "l": "l liter litre 升",
        "s": "s sec second 秒",
        "min": "min minute 分钟",
        "h": "h hr hour 小时 个小时",
        "day": "day 天",
        "km/h": "km/h kph kmh kilometersperhour",
        "mph": "mph milesperhour",
        "MB": "MB megabyte",
        "GB": "GB gigabyte",
        "TB": "TB terabyte",
        "week": "week",
        "month": "month",
        "year": "year",
        "%": "% percent",
        "°C": "°c celsius degcelsius degc 摄氏度",
        "°F": "°f fahrenheit degfahrenheit degf 华氏度",
        "USD": "$ us$ usd dollar usdollar 美元",
        "EUR": "€ eur euro 欧元",
        "GBP": "£ gbp 英镑",
        "JPY": "jpy yen 日元",
        "CNY": "cny rmb yuan 元 块 块钱 人民币",
    }.items()
    for word in words.split()
}
"""Names of units, in the singular; ambiguous ones such as `¥` are missing."""
_SCALES = {**SCALES, "trillion": 10**12, "千": 10**3, "万": 10**4, "亿": 10**8}
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9}
"""Only after an amount of money: `$5M`."""
_AMOUNT = r"(?P<amount>(?:(?<![\w)])[+-])?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?)"
_SCALE = rf"(?: ?(?P<scale>{'|'.join(_SCALES)})(?![A-Za-z]|(?<=千)[米克瓦卡]))?"
_MONEY_SCALE = _SCALE.replace("(?P<scale>", rf"(?P<scale>{'|'.join(_SHORT_SCALES)}|", 1)
_NAMES = "|".join(
    re.escape(name)
    for name in sorted({*_UNITS, "kilometers per hour", "miles per hour", "us dollar"}, key=len, reverse=True)
)
_DEGREES = r"degrees? ?(?:celsius|fahrenheit|c\b|f\b)"
_ALONE = r"(?<![\w.,:/$€£¥-])"
_UNIT_BEHIND = re.compile(
    rf"(?<![A-Za-z0-9_.,:/$€£¥]){_AMOUNT}{_SCALE}[ -]?(?P<unit>{_DEGREES}|(?:{_NAMES})(?:s(?![A-Za-z]))?)"
    r"(?![A-Za-z0-9_/]|\^)",
    re.IGNORECASE,
)
_UNIT_BEFORE = re.compile(
    rf"(?<![A-Za-z0-9_.,/])(?P<unit>us\$|\$|€|£|usd|eur|gbp|jpy|cny|rmb) ?{_AMOUNT}{_MONEY_SCALE}(?![A-Za-z0-9_,]|\.\d)",
    re.IGNORECASE,
)
_SCALED = re.compile(rf"{_ALONE}{_AMOUNT}{_SCALE.removesuffix('?')}", re.IGNORECASE)
_PER_CENT = re.compile(r"百分之 ?(\d+(?:\.\d+)?)")
_WORD = "|".join(sorted((*NUMBER_WORDS, *SCALES), key=len, reverse=True))
_WORDS = re.compile(rf"(?<![\w-])(?:an? )?(?:{_WORD})(?:[ -](?:and )?(?:{_WORD}))*(?![\w-])", re.IGNORECASE)
_NUMERAL = re.compile(
    rf"(?<![周期拜第{CHINESE_NUMERALS}0-9])(?:百分之)?[{CHINESE_NUMERALS}]{{1,12}}(?![{CHINESE_NUMERALS}])"
)
_DAY = re.compile(
    rf"(?P<day>{'|'.join(sorted(DAYS, key=len, reverse=True))})(?:,| at)? ?(?P<hour>.+)"
    rf"|(?P<early>.+?)(?:,| on)? (?P<late>{'|'.join(sorted(DAYS, key=len, reverse=True))})"
)
_LONGEST = 40
"""Longer texts are not compared as quantities."""


def respell_numbers(text: str) -> str:
    """A text with number words as digits; `one` stays, since it may be an article."""
    return _NUMERAL.sub(_numeral, _WORDS.sub(_number_words, text))


def _number_words(match: re.Match[str]) -> str:
    words = re.split(r"[ -]", match[0].lower().replace(" and ", " "))
    if words[0] in ("a", "an"):
        if words[1] not in SCALES:
            return match[0]
        words[0] = "one"
    if words == ["one"] or words[0] in SCALES:
        return match[0]
    found: list[int] = []
    for word in words:
        joined = continued_number(found[-1], word) if found else None
        if joined is not None:
            found[-1] = joined
        elif word in NUMBER_WORDS:
            found.append(NUMBER_WORDS[word])
        else:
            return match[0]
    return " ".join(map(str, found))


def _numeral(match: re.Match[str]) -> str:
    numeral, behind = match[0], match.string[match.end() : match.end() + 1]
    if numeral.startswith("百分之"):
        return f"{chinese_number(numeral[3:])}%" if len(numeral) > 3 else numeral
    if numeral == match.string:
        return chinese_number(numeral)
    counted = behind != "" and behind in (MEASURE_WORDS if numeral != "一" else "点月日号时")
    return chinese_number(numeral) if counted else numeral


def respell_amounts(text: str) -> str:
    """A text with each amount in digits and one name per unit: `5 million dollars` is `5000000 USD`."""
    text = _PER_CENT.sub(r"\1%", text)
    for pattern in (_UNIT_BEFORE, _UNIT_BEHIND):
        text = pattern.sub(_amount, text)
    return _SCALED.sub(lambda match: _plain(_value(match)), text)


def _amount(match: re.Match[str]) -> str:
    unit = unit_name(match["unit"])
    return f"{_plain(_value(match))} {unit}" if unit else match[0]


def _value(match: re.Match[str]) -> Decimal:
    scale = {**_SCALES, **_SHORT_SCALES}[match["scale"].lower()] if match["scale"] else 1
    return Decimal(match["amount"].replace(",", "")) * scale


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"


def unit_name(name: str) -> str | None:
    """The standard name of a unit; None for a symbol that is another unit in this case."""
    if name.casefold() in CASED_UNITS:
        return name if _UNITS.get(name) == name else None
    plain = re.sub("^degrees?", "deg", name.lower()).replace(" ", "").rstrip(".")
    return _UNITS.get(plain) or _UNITS.get(plain.removesuffix("s"))


def same_amount(left: str, right: str) -> bool:
    """Whether two normalised texts name the same quantity or the same hour of a named day."""
    if max(len(left), len(right)) > _LONGEST:
        return False
    for read in (_quantity, _hour_of_day):
        if (amount := read(left)) is not None:
            return read(right) == amount
    return False


def _quantity(text: str) -> tuple[Decimal, str] | None:
    match = _UNIT_BEHIND.fullmatch(text) or _UNIT_BEFORE.fullmatch(text)
    unit = unit_name(match["unit"]) if match else None
    return (_value(match), unit) if match and unit else None


def _hour_of_day(text: str) -> tuple[str, str] | None:
    match = _DAY.fullmatch(text.lower())
    if match is None:
        return None
    moment = read_moment(match["hour"] or match["early"])
    # A date beside a named day is more than an hour.
    return (match["day"] or match["late"], moment) if moment and "-" not in moment else None
