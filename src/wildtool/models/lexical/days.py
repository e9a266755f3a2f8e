"""Finds days, months and times of day in English and Chinese text, counted from the date line."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """A value and where in the text it stands."""

    start: int
    end: int
    value: T


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = r"(?P<month>" + "|".join(f"{m}|{m[:3]}" for m in _MONTHS) + r"|sept)\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "a": 1, "an": 1,
    "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_NEAR = {
    "day after tomorrow": 2, "tomorrow": 1, "tmrw": 1, "tmr": 1, "today": 0, "tonight": 0, "just now": 0, "right now": 0,
    "this morning": 0, "this afternoon": 0, "this evening": 0,
    "yesterday": -1, "last night": -1, "day before yesterday": -2,
    "大后天": 3, "后天": 2, "明天": 1, "明早": 1, "明晚": 1, "今天": 0, "今晚": 0, "今早": 0, "刚才": 0, "刚刚": 0,
    "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1,
}  # fmt: skip


def whole_number(text: str) -> int | None:
    """A number written in digits or as a small English or Chinese word."""
    if text.isascii() and text.isdigit():
        return int(text[:9])
    if len(text) == 2 and text[0] == "十":
        return 10 + _SMALL.get(text[1], 0)
    if len(text) == 2 and text[1] == "十":
        return 10 * _SMALL.get(text[0], 0)
    if len(text) == 3 and text[1] == "十":
        return 10 * _SMALL.get(text[0], 0) + _SMALL.get(text[2], 0)
    return _SMALL.get(text.lower())


def _iso(m: re.Match[str], now: date) -> date:
    return date(int(m[1]), int(m[2]), int(m[3]))


def _near(m: re.Match[str], now: date) -> date:
    return now + timedelta(days=_NEAR[next(name for name in m.groups() if name).lower()])


def _in_days(m: re.Match[str], now: date) -> date:
    count = (whole_number(m[1]) or 0) * (7 if m[2].lower().startswith(("week", "周", "星期")) else 1)
    return now + timedelta(days=-count if m[3] and m[3].lower() in ("ago", "前") else count)


def _weekday(m: re.Match[str], now: date) -> date:
    wanted = next(n for n, name in enumerate(_WEEKDAYS) if name.startswith(m[2].lower()[:3]))
    return _of_week((m[1] or "").lower(), wanted, now)


def _of_week(which: str, wanted: int, now: date) -> date:
    """The coming such weekday; with "next" the one of next week, with "last" the latest one before today."""
    monday = now - timedelta(days=now.weekday())
    if which in ("next", "下"):
        return monday + timedelta(days=7 + wanted)
    if which == "下下":
        return monday + timedelta(days=14 + wanted)
    if which in ("last", "past"):
        return now - timedelta(days=(now.weekday() - wanted - 1) % 7 + 1)
    if which == "上":
        return monday + timedelta(days=wanted - 7)
    return now + timedelta(days=(wanted - now.weekday()) % 7)


def _chinese_weekday(m: re.Match[str], now: date) -> date:
    return _of_week(m[1] or "", {"日": 6, "天": 6}.get(m[2], "一二三四五六".find(m[2])), now)


def _month_day(m: re.Match[str], now: date) -> date:
    name = m["month"].lower()[:3]
    return _near_year(
        m["year"], next(n for n, month in enumerate(_MONTHS, 1) if month[:3] == name), int(m["day"]), now
    )


def _chinese_month_day(m: re.Match[str], now: date) -> date:
    return _near_year(m[1], whole_number(m[2]) or 0, whole_number(m[3]) or 0, now)


def _near_year(year: str | None, month: int, day: int, now: date) -> date:
    """The day in the given year; without one in the year that brings it closest to today."""
    if year:
        return date(int(year), month, day)
    return min((date(now.year + shift, month, day) for shift in (0, 1, -1)), key=lambda d: abs(d - now))


def _day_of_month(m: re.Match[str], now: date) -> date:
    """The coming day of this number."""
    day = whole_number(m[1]) or 0
    if day >= now.day:
        return now.replace(day=day)
    return (now.replace(day=1) + timedelta(days=32)).replace(day=day)


_COUNT = r"(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|an?|[一二两三四五六七八九十]{1,3})"
_CHINESE_DAY = r"(\d{1,2}|[一二三四五六七八九十]{1,3})"
_PATTERNS: tuple[tuple[str, Callable[[re.Match[str], date], date]], ...] = (
    (r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", _iso),
    (
        rf"(?:(\d{{4}})\s*年)?\s*(\d{{1,2}}|[一二三四五六七八九十]{{1,2}})\s*月\s*{_CHINESE_DAY}\s*[日号]?",
        _chinese_month_day,
    ),
    (rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b(?!:){_YEAR}", _month_day),
    (rf"\b{_DAY}(?:\s+of)?\s+{_MONTH}\b{_YEAR}", _month_day),
    # "22 to 25 May": the first of the two borrows the month of the second.
    (
        rf"\b{_DAY}(?=\s*(?:to|until|till|and|-|–)\s*\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}\b{_YEAR})",
        _month_day,
    ),
    (
        "|".join(sorted((rf"\b({name})s?\b" for name in _NEAR if name.isascii()), key=len, reverse=True)),
        _near,
    ),
    ("|".join(rf"({name})" for name in sorted(_NEAR, key=len, reverse=True) if not name.isascii()), _near),
    (rf"\bin {_COUNT} (days?|weeks?)\b()", _in_days),
    (rf"\b{_COUNT} (days?|weeks?) (ago|later|from now)\b", _in_days),
    (rf"{_COUNT}\s*(?:个)?(天|周|星期)[之以]?(前|后)", _in_days),
    (
        r"\b(?:(this|next|last|past|coming)\s+)?"
        rf"({'|'.join(_WEEKDAYS)}|mon|tues?|wed|thurs?|thu|fri)s?\b",
        _weekday,
    ),
    (r"(下下|下|上|这|本)?(?:个)?(?:周|星期|礼拜)([一二三四五六日天])", _chinese_weekday),
    (r"\b(?:on |till |until |to )?the (\d{1,2})(?:st|nd|rd|th)\b", _day_of_month),
    (rf"(?<![月\d一二三四五六七八九十]){_CHINESE_DAY}\s*号(?!楼|线|店|门|房)", _day_of_month),
)
_RULES = tuple((re.compile(pattern, re.IGNORECASE), rule) for pattern, rule in _PATTERNS)

_TIMES = re.compile(
    r"(?<![\d:.-])(?P<h>[01]?\d|2[0-4])(?::(?P<m>[0-5]\d)(?::[0-5]\d)?\s*(?P<half>[ap]\.?m\b)?|\s*(?P<half2>[ap]\.?m\b))"
    r"|(?P<noon>\bnoon\b|\bmidday\b|中午12点)|(?P<midnight>\bmidnight\b)"
    r"|(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上|今晚|明晚|明早|今早)?\s*(?P<ch>\d{1,2}|[一二两三四五六七八九十]{1,3})\s*点(?!钟?后)"
    r"(?:(?P<chalf>半)|(?P<cm>\d{1,2})分?|(?P<quarter>一刻))?",
    re.IGNORECASE,
)
_MONTH_WORDS = re.compile(
    rf"\b(?P<rel>this|last|next) month\b|\b{_MONTH}\b{_YEAR}|(?P<iso>\b\d{{4}}-(?:0[1-9]|1[0-2])\b)(?!-\d)"
    r"|(?P<crel>上|这|本|下)个?月|(?P<cy>\d{4})?年?(?P<cm>\d{1,2}|[一二三四五六七八九十]{1,2})月",
    re.IGNORECASE,
)
_RELATIVE_MONTH = {"this": 0, "last": -1, "next": 1, "上": -1, "这": 0, "本": 0, "下": 1}


def days(text: str, now: datetime | None) -> list[Found[date]]:
    """Days named in a text, in order; without `now` only complete ones."""
    found: list[Found[date]] = []
    for pattern, rule in _RULES if now else _RULES[:1]:
        for match in pattern.finditer(text):
            if any(f.start < match.end() and match.start() < f.end for f in found):
                continue
            try:
                value = rule(match, now.date() if now else date.min)
            except (ValueError, OverflowError):
                # 31 June, or past the end of the calendar: not a day.
                continue
            found.append(Found(match.start(), match.end(), value))
    return sorted(found, key=lambda f: f.start)


def times(text: str) -> list[Found[str]]:
    """Times of day named in a text as HH:MM, in order."""
    return list(_times(text))


def _times(text: str) -> Iterator[Found[str]]:
    for m in _TIMES.finditer(text):
        hour, minute = whole_number(m["h"] or m["ch"] or "") or 0, int(m["m"] or m["cm"] or 0)
        half = (m["half"] or m["half2"] or "").lower()
        if m["noon"]:
            hour = 12
        if m["chalf"] or m["quarter"]:
            minute = 30 if m["chalf"] else 15
        if half:
            hour = hour % 12 + (12 if half.startswith("p") else 0)
        if m["part"] in ("下午", "傍晚", "晚上", "今晚", "明晚", "中午") and 0 < hour < 11:
            hour += 12
        if hour < 24 and minute < 60:
            yield Found(m.start(), m.end(), f"{hour:02}:{minute:02}")


def months(text: str, now: datetime | None) -> list[str]:
    """Months named in a text as YYYY-MM, in order."""
    found: list[str] = []
    for m in _MONTH_WORDS.finditer(text):
        if m["iso"]:
            found.append(m["iso"])
        elif now and (relative := m["rel"] or m["crel"]):
            index = now.year * 12 + now.month - 1 + _RELATIVE_MONTH[relative.lower()]
            found.append(f"{index // 12:04}-{index % 12 + 1:02}")
        elif now:
            number = _month_number(m)
            if 1 <= number <= 12:
                # A month without a year is the latest one that has begun.
                year = int(m["year"] or m["cy"] or now.year - (number > now.month))
                found.append(f"{year:04}-{number:02}")
    return found


def _month_number(m: re.Match[str]) -> int:
    if m["month"]:
        return next(n for n, name in enumerate(_MONTHS, 1) if name[:3] == m["month"].lower()[:3])
    return whole_number(m["cm"] or "") or 0
