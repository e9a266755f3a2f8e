"""Finds values in English and Chinese text by form: days, times, numbers, names, quoted texts, codes, members."""

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, TypeAlias, TypeVar

from wildtool.models.baselines.lexical.words import STOP, has_cjk, stems

T = TypeVar("T")
Found: TypeAlias = tuple[tuple[int, int], T]
"""A span of the text and the value that stands there."""

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
URL = re.compile(r"(?:https?://|\bwww\.)[^\s\"'<>，。；）)]{1,500}(?<![.,!?])")
CODE = re.compile(
    r"(?<![\w-])(?=[\w-]{0,30}\d)[A-Za-z]{1,8}[-_]?[A-Za-z0-9_-]{2,30}(?![\w-])|(?<![\w.-])\d{4,18}(?![\w.-])"
)
QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|「([^」\n]{1,400})」|‘([^’\n]{1,400})’|《([^》\n]{1,200})》"
    r"|(?<!\w)'([^'\n]{2,400})'(?!\w)"
)
_NUMBER = re.compile(
    r"(?<![\w.:/-])-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,9})?(?![\d:/]|-\d|st\b|nd\b|rd\b|th\b)"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten)\b|[一二两三四五六七八九十]{1,3}(?=[个位人张份次分天晚])",
    re.IGNORECASE,
)
_WORD = r"(?<!\w)[A-ZÀ-ÖØ-ÞĀŁŚŠŽČ](?:[\w'’&-]|\.(?=\w))*"
_NAME = re.compile(
    rf"(?:\b(?P<lead>[A-Za-z]+)\s+(?:the\s+)?)??(?P<name>{_WORD}(?:\s+(?:(?:of|de|da|the)\s+)?{_WORD})*)"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NOT_NAME = re.compile(rf"{'|'.join((*STOP, *_WEEKDAYS, _MONTH))}|[ap]m|good|great|sorry|well", re.IGNORECASE)
_DIGITS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_NEAR = {
    "day after tomorrow": 2, "tomorrow": 1, "today": 0, "tonight": 0, "just now": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "day before yesterday": -2, "yesterday": -1, "last night": -1,
    "大后天": 3, "后天": 2, "明天": 1, "明早": 1, "明晚": 1, "今天": 0, "今晚": 0, "今早": 0, "刚才": 0, "刚刚": 0,
    "前天": -2, "昨天": -1, "昨晚": -1,
}  # fmt: skip
_WEEKS = {"next": 1, "下": 1, "下下": 2, "last": -1, "上": -1}
_COUNT = r"(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|an?|[一二两三四五六七八九十]{1,3})"
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"


def number(text: str) -> float:
    """A number in digits, or a small one in English or Chinese words; 0 for other texts."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        tens, ten, ones = text.rpartition("十")
        return float(10 * _DIGITS.get(tens, 1) * bool(ten) + _DIGITS.get(ones.lower(), 0))


def _near(m: re.Match[str], today: date) -> date:
    return today + timedelta(days=_NEAR[m[0].lower()])


def _in_days(m: re.Match[str], today: date) -> date:
    days = int(number(m[1])) * (7 if m[2].lower() in ("week", "周", "星期") else 1)
    return today + timedelta(days=-days if m[3] and m[3][-1] in "o前" else days)


def _weekday(m: re.Match[str], today: date) -> date:
    """The coming such weekday; with "next" or "last" the one of that week."""
    name = m[2].lower()
    wanted = _WEEKDAYS.index(name) if name in _WEEKDAYS else "一二三四五六日".find(name) % 7
    weeks = _WEEKS.get((m[1] or "").lower())
    if weeks is None:
        return today + timedelta(days=(wanted - today.weekday()) % 7)
    return today + timedelta(days=wanted - today.weekday() + 7 * weeks)


def _calendar(year: str | None, month: int, day: int, today: date) -> date:
    """The day in the given year; without one in the year that brings it closest to today."""
    years = [int(year)] if year else [today.year, today.year + 1, today.year - 1]
    return min((date(y, month, day) for y in years), key=lambda d: abs(d - today))


def _day_of_month(m: re.Match[str], today: date) -> date:
    """The coming day of this number."""
    first = today.replace(day=1) + timedelta(days=32 * (int(m[1]) < today.day))
    return first.replace(day=int(m[1]))


def _iso(m: re.Match[str], today: date) -> date:
    return date(int(m[1]), int(m[2]), int(m[3]))


def _year_month_day(m: re.Match[str], today: date) -> date:
    return _calendar(m[1], int(number(m[2])), int(number(m[3])), today)


def _month_day(m: re.Match[str], today: date) -> date:
    return _calendar(m["year"], _MONTHS.index(m["month"].lower()[:3]) + 1, int(m["day"]), today)


_DAYS: tuple[tuple[str, Callable[[re.Match[str], date], date]], ...] = (
    (r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", _iso),
    (rf"(?:(\d{{4}})年)?{_COUNT}月{_COUNT}[日号]?", _year_month_day),
    (rf"\b{_MONTH}\.?\s+{_NTH}\b(?!:)(?:,?\s+(?P<year>\d{{4}}))?", _month_day),
    (rf"\b{_NTH}(?:\s+of)?\s+{_MONTH}\b(?:\s+(?P<year>\d{{4}}))?", _month_day),
    (rf"(?<![a-z])(?:{'|'.join(sorted(_NEAR, key=len, reverse=True))})(?![a-z])", _near),
    (rf"\bin {_COUNT} (day|week)s?\b()", _in_days),
    (rf"{_COUNT}\s*个?(day|week|天|周|星期)s?\s*(ago|later|from now|[之以]?[前后])", _in_days),
    (rf"\b(?:(this|next|last)\s+)?({'|'.join(_WEEKDAYS)})\b", _weekday),
    (r"(下下|下|上|这|本)?个?(?:周|星期|礼拜)([一二三四五六日天])", _weekday),
    (r"(?:\bthe |(?<![月\d]))(\d{1,2})(?:(?:st|nd|rd|th)\b|号)", _day_of_month),
)
_DAY_RULES = tuple((re.compile(pattern, re.IGNORECASE), rule) for pattern, rule in _DAYS)
_TIME = re.compile(
    r"(?<![\d:.-])(?P<h>[01]?\d|2[0-3])(?::(?P<m>[0-5]\d)\s*(?P<half>[ap]\.?m\b)?|\s*(?P<half2>[ap]\.?m\b))"
    r"|(?P<part>早上|上午|中午|下午|傍晚|晚上|今晚|明晚|明早|今早)?(?P<ch>\d{1,2}|[一二两三四五六七八九十]{1,3})点(?P<chalf>半)?",
    re.IGNORECASE,
)


def days(text: str, today: date | None) -> list[Found[str]]:
    """Days named in a text as YYYY-MM-DD with their spans, in order; without `today` only complete ones."""
    found: list[Found[str]] = []
    for pattern, rule in _DAY_RULES if today else _DAY_RULES[:1]:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for (start, end), _ in found):
                continue
            try:
                found.append((match.span(), rule(match, today or date.min).isoformat()))
            except (ValueError, OverflowError):
                # 31 June, or past the end of the calendar: not a day.
                continue
    return sorted(found)


def times(text: str) -> list[Found[str]]:
    """Times of day named in a text as HH:MM with their spans, in order."""
    found: list[Found[str]] = []
    for m in _TIME.finditer(text):
        hour, minute = int(number(m["h"] or m["ch"])), 30 if m["chalf"] else int(m["m"] or 0)
        half = (m["half"] or m["half2"] or "").lower()
        if half:
            hour = hour % 12 + 12 * half.startswith("p")
        elif m["part"] in ("下午", "傍晚", "晚上", "今晚", "明晚") and hour < 12:
            hour += 12
        if hour < 24:
            found.append((m.span(), f"{hour:02}:{minute:02}"))
    return found


def numbers(text: str, today: date | None) -> list[Found[int | float]]:
    """Numbers with their spans, in order, but for those that are part of a day, time, code or quotation."""
    taken = [span for span, _ in (*days(text, today), *times(text))]
    taken += [m.span() for form in (CODE, QUOTED, URL) for m in form.finditer(text) if not m[0].isdigit()]
    found: list[Found[int | float]] = []
    for m in _NUMBER.finditer(text):
        if not any(start < m.end() and m.start() < end for start, end in taken):
            value = number(m[0])
            found.append((m.span(), int(value) if value.is_integer() else value))
    return found


def quoted(text: str) -> list[str]:
    """Texts in quotation marks, in order."""
    return [next(group for group in match.groups() if group) for match in QUOTED.finditer(text)]


def without_quoted(text: str) -> str:
    """The text with blanks in place of quotations."""
    return QUOTED.sub(lambda match: " " * len(match[0]), text)


def names(text: str) -> list[tuple[str, str]]:
    """Capitalised names with the word before each ("" if none), in order."""
    found: list[tuple[str, str]] = []
    text = without_quoted(text)
    for match in _NAME.finditer(text):
        parts = re.sub(r"['’]s?\b.*", "", match["name"]).split()
        while parts and _NOT_NAME.fullmatch(parts[0]):
            parts = parts[1:]
        # The first word of a sentence is capitalised anyway.
        starts = text[: match.start("name")].rstrip()[-1:] in ("", ".", "!", "?")
        if parts and not (starts and len(parts) == 1):
            found.append((" ".join(parts), (match["lead"] or "").lower()))
    return found


def members_named(members: Sequence[Any], text: str, description: str) -> list[Any]:
    """Enumeration members that a text names, in order of mention; case, `_` and endings do not matter."""
    said = " ".join(("", *stems(text), ""))
    found: dict[int, tuple[int, Any]] = {}
    for member in members:
        for name in (str(member), *glosses(str(member), description)):
            wanted = " ".join(stems(name))
            at = text.find(name) if has_cjk(name) else said.find(f" {wanted} ")
            # "heart rate" names heart_rate only, not a member `heart` at the same place.
            if wanted and at >= 0 and len(name) > found.get(at, (0, None))[0]:
                found[at] = len(name), member
    return [found[at][1] for at in sorted(found)]


def glosses(member: str, description: str) -> list[str]:
    """Chinese words that a description puts beside a member, as in `high（高）` or `高=high`."""
    if not member or not has_cjk(description):
        return []
    name, chinese = re.escape(member), r"([\u3400-\u9fff]{1,6})"
    after = re.findall(rf"(?<!\w){name}\s*(?:[（(:：=]|表示|是|为|即|)\s*{chinese}", description)
    return [*after, *re.findall(rf"{chinese}\s*(?:[（(:：=]|用|是|为)\s*{name}(?!\w)", description)]
