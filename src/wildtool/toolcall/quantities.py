"""Short texts that name a quantity (`5 km`, `$20`) or an hour of a named day (`9 AM tomorrow`): what they amount to."""

import re
from decimal import Decimal

from wildtool.toolcall.strict_text import read_moment
from wildtool.toolcall.text_words import DAYS

_UNITS = {
    word: unit
    for unit, words in {
        "mm": "mm millimeter millimetre 毫米",
        "cm": "cm centimeter centimetre 厘米",
        "m": "m meter metre 米",
        "km": "km kilometer kilometre 公里 千米",
        "inch": "inch inches 英寸",
        "foot": "foot feet ft 英尺",
        "mile": "mile 英里",
        "mg": "mg milligram 毫克",
        "g": "g gram 克",
        "kg": "kg kilogram kilo 公斤 千克",
        "ml": "ml milliliter millilitre 毫升",
        "l": "l liter litre 升",
        "s": "s sec second 秒",
        "min": "min minute 分钟",
        "h": "h hr hour 小时 个小时",
        "day": "day 天",
        "km/h": "km/h kph kmh",
        "mph": "mph",
        "%": "% percent",
        "°C": "°c celsius degcelsius degc 摄氏度",
        "°F": "°f fahrenheit degfahrenheit degf 华氏度",
        "USD": "$ us$ usd dollar usdollar 美元",
        "EUR": "€ eur euro 欧元",
        "GBP": "£ gbp 英镑",
        "JPY": "jpy yen 日元",
        "CNY": "cny rmb yuan 元 人民币",
    }.items()
    for word in words.split()
}
"""Units by their names, in the singular. None that could be another: a pound, a `¥`, a `MB`."""
_UPPER_CASE = frozenset("MGSH")
"""Letters that are another unit in upper case than in lower case."""
_AMOUNT = r"(?P<amount>[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?)"
_UNIT_BEHIND = re.compile(rf"{_AMOUNT}[ -]?(?P<unit>\D{{1,20}})")
_UNIT_BEFORE = re.compile(rf"(?P<unit>us\$|\$|€|£|usd|eur|gbp|jpy|cny|rmb) ?{_AMOUNT}", re.IGNORECASE)
_DAY = re.compile(
    rf"(?P<day>{'|'.join(sorted(DAYS, key=len, reverse=True))})(?:,| at)? ?(?P<hour>.+)"
    rf"|(?P<early>.+?)(?:,| on)? (?P<late>{'|'.join(sorted(DAYS, key=len, reverse=True))})"
)
_LONGEST = 40
"""Characters of a text that is looked at."""


def same_amount(left: str, right: str) -> bool:
    """Whether two normalised texts name the same quantity or the same hour of a named day, each in its own way."""
    if max(len(left), len(right)) > _LONGEST:
        return False
    for read in (_quantity, _hour_of_day):
        if (amount := read(left)) is not None:
            return read(right) == amount
    return False


def _quantity(text: str) -> tuple[Decimal, str] | None:
    match = _UNIT_BEHIND.fullmatch(text) or _UNIT_BEFORE.fullmatch(text)
    if match is None:
        return None
    name = match["unit"]
    if name not in _UPPER_CASE:
        name = re.sub("^degrees?", "deg", name.lower()).replace(" ", "").rstrip(".")
    unit = _UNITS.get(name) or _UNITS.get(name.removesuffix("s"))
    return (Decimal(match["amount"].replace(",", "")), unit) if unit else None


def _hour_of_day(text: str) -> tuple[str, str] | None:
    match = _DAY.fullmatch(text.lower())
    if match is None:
        return None
    moment = read_moment(match["hour"] or match["early"])
    # A date beside a named day is more than an hour.
    return (match["day"] or match["late"], moment) if moment and "-" not in moment else None
