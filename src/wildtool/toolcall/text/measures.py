"""Lengths of time, time zones, months and units as the only content of a text, for parameters that ask for them."""

import re
from decimal import Decimal

from wildtool.toolcall.text.canonical import MONTH_NAME, MONTHS, read_offset
from wildtool.toolcall.text.numerals import chinese_number
from wildtool.toolcall.text.spellings import respelled
from wildtool.toolcall.text.units import unit_of

_SHORT = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(s|sec|m|min|Min|h|H|hr|d|D|w|W|wk|M|mo|Mo|MO|y|Y|yr)s?")
_SECONDS = {
    "s": 1,
    "sec": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "hr": 3600,
    "d": 86400,
    "w": 604800,
    "wk": 604800,
}
_MONTHS = {"mo": 1, "y": 12, "yr": 12}
_ISO = re.compile(
    r"P(?=.)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?"
    r"(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?"
)
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) (s|month)")
_REGULAR = {
    word: length
    for length, words in (
        ("3600 s", "hourly, every hour, 每小时"),
        ("86400 s", "daily, every day, each day, 每日, 每天, 日线"),
        ("604800 s", "weekly, every week, each week, 每周, 每星期, 周线"),
        ("1 month", "monthly, every month, each month, 每月, 每个月, 月线"),
        ("3 month", "quarterly, every quarter, 每季度"),
        ("12 month", "yearly, annual, annually, every year, each year, 每年"),
    )
    for word in words.split(", ")
}


def read_interval(text: str) -> str | None:
    """A length of time in seconds or months: `5m` is minutes and `1M` is a month, `PT1H30M`, 90 minutes."""
    if (regular := _REGULAR.get(text.casefold())) is not None:
        return regular
    if short := _SHORT.fullmatch(text):
        return _short_length(Decimal(short[1]), "mo" if short[2] == "M" else short[2].lower())
    if iso := _ISO.fullmatch(text):
        return _iso_length(*(int(group or 0) for group in iso.groups()))
    amount = _AMOUNT.fullmatch(respelled(text))
    return _length(Decimal(amount[1]), amount[2]) if amount else None


def _short_length(value: Decimal, unit: str) -> str:
    return (
        _length(value * _MONTHS[unit], "month") if unit in _MONTHS else _length(value * _SECONDS[unit], "s")
    )


def _iso_length(
    years: int, months: int, weeks: int, days: int, hours: int, minutes: int, seconds: int
) -> str | None:
    """A duration of ISO 8601; None for months and days, which have no common unit."""
    clock = 604800 * weeks + 86400 * days + 3600 * hours + 60 * minutes + seconds
    if not (years or months):
        return _length(Decimal(clock), "s")
    return None if clock else _length(Decimal(12 * years + months), "month")


def _length(value: Decimal, unit: str) -> str:
    return f"{value.normalize():f} {unit}"


_ZONE_NAMES = {
    name: zone
    for zone, names in (
        (
            "UTC",
            "coordinated universal time; universal time; greenwich mean time; 协调世界时; 格林威治时间; 格林尼治时间",
        ),
        ("UTC+480", "北京时间; 中国标准时间"),
        ("EST", "eastern standard time"),
        ("EDT", "eastern daylight time"),
        ("MST", "mountain standard time"),
        ("MDT", "mountain daylight time"),
        ("PST", "pacific standard time"),
        ("PDT", "pacific daylight time"),
        ("CET", "central european time"),
        ("CEST", "central european summer time"),
        ("EET", "eastern european time"),
        ("BST", "british summer time"),
        ("JST", "japan standard time; 东京时间; 日本标准时间"),
        ("KST", "korea standard time"),
    )
    for name in names.split("; ")
}
"""Names that are one zone; CST and IST are several."""
_CHINESE_ZONE = re.compile("([东西])([一二三四五六七八九十]{1,2})区")
_AREA = re.compile(r"[A-Za-z]+(?:/[A-Za-z_+-]+){1,2}")


def read_zone(text: str) -> str | None:
    """A time zone: an offset in minutes from UTC, a name, or an area such as Asia/Shanghai, which is no offset."""
    if (name := _ZONE_NAMES.get(text.casefold())) is not None:
        return name
    if match := _CHINESE_ZONE.fullmatch(text):
        return _offset(60 * int(chinese_number(match[2])) * (1 if match[1] == "东" else -1))
    if (minutes := read_offset(text)) is not None:
        return _offset(minutes)
    if re.fullmatch("[A-Za-z]{3,4}", text):
        return text.upper()
    return text.casefold() if _AREA.fullmatch(text) else None


def _offset(minutes: int) -> str:
    return f"UTC{minutes:+}" if minutes else "UTC"


def read_month(text: str) -> str | None:
    """The number of a month by its name or number: September, Sept., 9月, 九月, 09."""
    if re.fullmatch(MONTH_NAME, text, re.IGNORECASE):
        return str(MONTHS[text[:3].lower()])
    digits = re.sub("月份?$", "", respelled(text).removeprefix("month "))
    return str(int(digits)) if re.fullmatch("0?[1-9]|1[0-2]", digits) else None


def read_unit(text: str) -> str | None:
    """A unit by its name or symbol: C, celsius, degrees Celsius."""
    unit = unit_of(text) if len(text) <= 40 else None
    return f"{unit.factor.normalize():f} {unit.base}" if unit else None


_EXPONENT = re.compile(r"([+-]?\d{1,15}(?:\.\d{1,15})?)[eE]([+-]?\d{1,2})")
_IN_LETTERS = re.compile(r"([+-]?\d[\d,.]*) ?([kKMB])")
_LETTERS = {"k": "thousand", "K": "thousand", "M": "million", "B": "billion"}


def with_number_in_full(text: str) -> str:
    """A number without its exponent, letter or last zeros: 1e3 is 1000, 1M is 1 million, 2.50 is 2.5."""
    if exponent := _EXPONENT.fullmatch(text):
        return f"{Decimal(exponent[1]).scaleb(int(exponent[2])).normalize():f}"
    letters = _IN_LETTERS.fullmatch(text)
    return f"{letters[1]} {_LETTERS[letters[2]]}" if letters else without_last_zeros(text)


def without_last_zeros(text: str) -> str:
    """A number without the last zeros behind its point: 1,000.50 is 1000.5."""
    is_decimal = re.fullmatch(r"-?(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})\.\d{1,15}", text)
    return f"{Decimal(text.replace(',', '')).normalize():f}" if is_decimal else text


_DEGREES = re.compile(r"(-?\d{1,3}(?:\.\d{1,15})?) ?°?|(\d{1,3}(?:\.\d{1,15})?) ?°? ?([NSEWnsew])")


def read_coordinates(text: str) -> str | None:
    """Degrees with a sign, in the order they are given: (40.71° N, 74.00° W) is 40.71,-74.00."""
    parts = [_DEGREES.fullmatch(part) for part in re.split(" ?, ?", text.removeprefix("(").removesuffix(")"))]
    degrees = [part[1] or f"{'-' if part[3] in 'SWsw' else ''}{part[2]}" for part in parts if part]
    return ",".join(degrees) if len(degrees) == len(parts) else None
