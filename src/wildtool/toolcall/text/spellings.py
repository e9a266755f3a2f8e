"""Writes dates, clock times, numbers, amounts and spans inside a text in one spelling."""

import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache

from wildtool.toolcall.text.canonical import CJK, DATE_FORMS, MONTH_NAME, MONTHS, read_moment
from wildtool.toolcall.text.numerals import CHINESE_NUMERALS, NUMBER_WORDS, ORDINAL_WORDS, chinese_number
from wildtool.toolcall.text.quantities import respell_amounts, respell_numbers
from wildtool.toolcall.text.wordings import ABBREVIATIONS, IN_DIGITS, IN_WORDS, reworded

_TENS = {word: value for word, value in NUMBER_WORDS.items() if value > 19}
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
_WEEKDAY_KEYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = MONTH_NAME

# Not inside a longer token; Chinese characters may be on either side.
_L, _R = r"(?:(?<=[日号月]-)|(?<![A-Za-z0-9_.:/-]))", r"(?![A-Za-z0-9_/-]|[.:,]\d)"
_END = rf"(?:(?<=[日号])|{_R})"
_FULL_DATE = re.compile(rf"{_L}(?:the )?(?:{'|'.join(DATE_FORMS)}){_END}", re.IGNORECASE)
_YEAR_MONTH = re.compile(
    rf"{_L}(?:(?P<y1>(?:19|20)\d\d)(?:[-/](?P<m1>\d{{1,2}})|年(?P<m2>\d{{1,2}})月(?!\d))"
    rf"|(?P<name>{_MONTH}),? (?P<y2>(?:19|20)\d\d)){_R}",
    re.IGNORECASE,
)
_ORDINAL = "(?:st|nd|rd|th)"
_MONTH_DAY = re.compile(
    rf"{_L}(?:(?P<name1>{_MONTH}) (?:the )?(?P<d1>\d{{1,2}}){_ORDINAL}?"
    rf"|(?:the )?(?P<d2>\d{{1,2}}){_ORDINAL}? (?:of )?(?P<name2>{_MONTH})"
    rf"|(?P<m3>\d{{1,2}})月(?P<d3>\d{{1,2}})[日号]){_END}",
    re.IGNORECASE,
)
_HALF = r"[ap]\.?m(?![A-Za-z])\.?"
_POINTS = r"\d{1,2}[点时](?:整|半|\d{1,2}分?)?"
_CLOCK = re.compile(
    rf"(?:(?<![A-Za-z0-9_.:/])(?:\d{{1,2}}:\d\d(?::\d\d)?(?: ?{_HALF})?|\d{{1,2}}(?:\.\d\d)? ?{_HALF}"
    rf"|{_POINTS.replace('[点时]', '点')})"
    rf"|(?:上午|早上|早晨|清晨|凌晨|下午|傍晚|晚上|中午)(?:\d{{1,2}}:\d\d|{_POINTS}))(?![A-Za-z0-9_/]|:\d)",
    re.IGNORECASE,
)
_SPOKEN_CLOCK = tuple(
    (
        re.compile(spoken.replace("<", "(?<![A-Za-z0-9])").replace(">", "(?![A-Za-z0-9])"), re.IGNORECASE),
        clock,
    )
    for spoken, clock in (
        (r"<(?:12(?::00)? )?(?:noon|midday)>|(?:中午|正午)(?!\d)", "12:00"),
        (r"<(?:12(?::00)? )?midnight>|午夜(?!\d)", "00:00"),
        (r"<(\d{1,2}) ?o'clock>", r"\1:00"),
        (r"<half past (\d{1,2})>", r"\1:30"),
        (r"(\d[点时])一刻", r"\g<1>15分"),
        (r"(\d[点时])三刻", r"\g<1>45分"),
        (r"<(?:a )?quarter past (\d{1,2})>", r"\1:15"),
        (r"<(\d{1,2})(?::00)? in the morning>", r"\1:00 am"),
        (r"<(\d{1,2})(?::00)? in the (?:afternoon|evening)>", r"\1:00 pm"),
    )
)
"""Patterns, in which `<` and `>` mark the ends of words, and the clock times they say."""
_THOUSANDS = re.compile(r"(?<![\w.,:])(\d{1,3}(?:,\d{3})+)(?![\d,:])")
_TIMES = re.compile(r"(?<=\d) ?[x×] ?(?=\d)")
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,}")
_ZONE = re.compile(r"\b(UTC|GMT) ?([+-])0?(\d{1,2})(?::00|00)?(?![\d:])", re.IGNORECASE)
_ORDINAL_WORD = re.compile(
    rf"(?<![\w-])(?:(?P<tens>{'|'.join(_TENS)})[ -])?(?P<word>{'|'.join(ORDINAL_WORDS)})(?![\w-])",
    re.IGNORECASE,
)
# A third of it, two thirds, 30 second steps, per second; but not `a second chance`.
_PART_OF = re.compile(r"(?:\d|\b(?:one|two|three|per)|\ban?(?! second))[ -]$", re.IGNORECASE)
_ROAD = re.compile(r" (?:Ave(?:nue)?|St(?:reet)?|Road|Rd)\b", re.IGNORECASE)
_CHINESE_ORDINAL = re.compile("第 ?([〇零一二三四五六七八九十百]{1,5})")
_LONE_CLOCK = re.compile(r"at (\d\d:\d\d)", re.IGNORECASE)
_LONE_MONTH = re.compile(rf"{_MONTH}|\d{{1,2}}月(?:份)?", re.IGNORECASE)
_LONE_ORDINAL = re.compile(r"(?:the )?(\d{1,4})(?:st|nd|rd|th)", re.IGNORECASE)
_COMPACT_DATE = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)")
_INTERVAL = re.compile(
    r"(?<![\d/-])(\d{4}([-/])\d\d?(?:\2\d\d?)?) ?(?:[~/]|-{1,2}) ?(\d{4}\2\d\d?(?:\2\d\d?)?)(?![\d/-])"
)
_DAYS_OF_MONTH = (
    (
        re.compile(rf"{_L}({_MONTH}) (\d{{1,2}}) ?(?:-| to ) ?(\d{{1,2}})(,? \d{{4}})?{_R}", re.IGNORECASE),
        (1, 2, 3, 4),
    ),
    (
        re.compile(rf"{_L}(\d{{1,2}}) ?(?:-| to ) ?(\d{{1,2}}) ({_MONTH})(,? \d{{4}})?{_R}", re.IGNORECASE),
        (3, 1, 2, 4),
    ),
)
"""Two days of one month, and which group is month, first and last day, year."""
_SLASHED_DATE = re.compile(rf"{_L}(\d{{1,2}})([/.-])(\d{{1,2}})\2((?:19|20)\d\d){_R}")
_DATE_WITH_DAY = re.compile(
    rf"(?P<before>{_WEEKDAY}|周[{CJK}])(?:,? |,)?(?P<d1>(?:19|20)\d\d\.\d\d\.\d\d)"
    rf"|(?P<d2>(?:19|20)\d\d\.\d\d\.\d\d)(?:,? ?)\(?(?P<behind>{_WEEKDAY}|周[{CJK}])\b\)?",
    re.IGNORECASE,
)
_WEEK_DAY = re.compile("(?:星期|礼拜)(?=[一二三四五六日天])")
_POINTED_DATE = re.compile(r"((?:19|20)\d\d)\.(\d\d?)\.(\d\d?)")
_HYPHENED_DATE = re.compile(rf"{_L}(\d{{1,2}})-({_MONTH})-(\d{{4}}){_R}", re.IGNORECASE)

_POINT = (
    rf"(?:[$€£¥]?\d[\d.:]*(?: ?(?:%|°[CF]|(?:[A-Za-z]{{1,3}}|month|inch|km/h)(?![A-Za-z])|[岁年月日号天元个人周米度]))?"
    rf"|(?i:{_MONTH}(?![a-z])|{_WEEKDAY}(?![a-z]))|周[一二三四五六日天])"
)
_SPAN = re.compile(
    rf"(?<![A-Za-z0-9_.:/-])(?P<between>(?i:between) |(?i:from) |从|自)?(?P<start>{_POINT})"
    rf"(?P<mark> ?(?:--?|~) ?| (?i:to|until|till|through|thru|and) | ?[到至] ?)(?P<end>{_POINT})(?![A-Za-z0-9_/-]|[.:]\d)"
)
_DAY_WRITTEN = r"\d{4}\.\d\d\.\d\d"
_DAY_THEN_CLOCK = re.compile(rf"({_DAY_WRITTEN})(?:,| at|, at)? ?(\d\d:\d\d)\b")
_CLOCK_THEN_DAY = re.compile(rf"\b(\d\d:\d\d)(?:,| on|, on)? ({_DAY_WRITTEN})")
_HAS_VARIANTS = re.compile(
    rf"\d|[A-Z]\.[A-Z]\.|[{CHINESE_NUMERALS}到至半]|中午|正午|午夜|\b(?:{_MONTH}|{_WEEKDAY}|noon|midday|midnight|hour|dozen|half|twice|thrice|once"
    rf"|an? (?:hundred|thousand|million)|{'|'.join((*NUMBER_WORDS, *ORDINAL_WORDS))})",
    re.IGNORECASE,
)
"""Without any of these a text has only one spelling."""
_YEAR_WRITTEN = re.compile(r"(?!0000)\d{4}\.\d\d(?:\.\d\d)?$")
SPAN_MARK = "→"


@lru_cache(maxsize=1024)
def respelled(text: str, *, amounts: bool = True) -> str:
    """A normalised text with one spelling of each date, clock time, number, amount and span in it.

    The result is for comparison, not for reading. Parts that are not understood stay as they are. Gold values recur, so
    results are cached.

    Args:
        amounts: whether amounts are converted to one unit of their kind, such as seconds.
    """
    text = reworded(text, ABBREVIATIONS)
    if not _HAS_VARIANTS.search(text):
        return text
    text = reworded(_HYPHENED_DATE.sub(r"\1 \2 \3", text), IN_WORDS)
    text = _TIMES.sub("x", _INITIALS.sub(lambda match: match[0].replace(".", ""), text))
    text = respell_numbers(text)
    if "第" in text:
        text = _CHINESE_ORDINAL.sub(lambda match: f"第{chinese_number(match[1])}", text)
    text = _ZONE.sub(r"UTC\2\3", _THOUSANDS.sub(lambda match: match[1].replace(",", ""), text))
    text = reworded(_ORDINAL_WORD.sub(_ordinal, text), IN_DIGITS)
    text = _INTERVAL.sub(r"\1 to \3", text)
    for pattern, (month, first, last, year) in _DAYS_OF_MONTH:
        text = pattern.sub(rf"\g<{month}> \g<{first}>\g<{year}> to \g<{month}> \g<{last}>\g<{year}>", text)
    text = _YEAR_MONTH.sub(_year_month, _FULL_DATE.sub(_full_date, text))
    text = _DATE_WITH_DAY.sub(_weekday_left_out, _SLASHED_DATE.sub(_one_reading, _WEEK_DAY.sub("周", text)))
    text = _MONTH_DAY.sub(_month_day, text)
    for pattern, clock in _SPOKEN_CLOCK:
        text = pattern.sub(clock, text)
    text = _DAY_THEN_CLOCK.sub(r"\1 \2", _CLOCK_THEN_DAY.sub(r"\2 \1", _CLOCK.sub(_clock, text)))
    if amounts:
        text = respell_amounts(text)
    text = _SPAN.sub(_span, text)
    return _whole_text_form(text)


def _whole_text_form(text: str) -> str:
    """Spellings of a whole text only: an ordinal as its number, a time, a date without separators."""
    if _LONE_MONTH.fullmatch(text):
        number = int(text.partition("月")[0]) if "月" in text else _month(text)
        return f"month {number}" if 1 <= number <= 12 else text
    if match := _LONE_ORDINAL.fullmatch(text) or _LONE_CLOCK.fullmatch(text):
        return match[1]
    if match := _COMPACT_DATE.fullmatch(text) or _POINTED_DATE.fullmatch(text):
        return _day(match[0], int(match[1]), int(match[2]), int(match[3]))
    return text


def _ordinal(match: re.Match[str]) -> str:
    word, tens = match["word"].lower(), (match["tens"] or "").lower()
    text, start, end = match.string, *match.span()
    before, behind = text[max(0, start - 12) : start], text[end : end + 1]
    unit = word == "second" and bool(before + behind) and not behind.startswith(" ")
    if unit or (_PART_OF.search(before) and not _ROAD.match(text, end)) or (tens and ORDINAL_WORDS[word] > 9):
        return match[0]
    value = NUMBER_WORDS.get(tens, 0) + ORDINAL_WORDS[word]
    return f"{value}{_ending(value)}"


def _ending(value: int) -> str:
    return "th" if 10 < value % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _full_date(match: re.Match[str]) -> str:
    read = read_moment(re.sub("(?i)^the ", "", match[0]))
    return match[0] if read is None else _apart(read.replace("-", "."), match)


def _one_reading(match: re.Match[str]) -> str:
    """A date of day, month and year in any order that only one reading allows: 25/12/2024, 12/25/2024, 5/5/2024."""
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if first != second and first <= 12 and second <= 12:
        return match[0]
    month, day = (second, first) if first > 12 else (first, second)
    return _day(match[0], year, month, day)


def _weekday_left_out(match: re.Match[str]) -> str:
    """A date without its weekday, if it is that day's."""
    digits, name = match["d1"] or match["d2"], (match["before"] or match["behind"]).lower()
    try:
        weekday = date.fromisoformat(digits.replace(".", "-")).weekday()
    except ValueError:
        return match[0]
    named = (
        "一二三四五六日".find(name[1].replace("天", "日"))
        if name[0] == "周"
        else _WEEKDAY_KEYS.index(name[:3])
    )
    return digits if named == weekday else match[0]


def _apart(digits: str, match: re.Match[str]) -> str:
    """With a blank before a directly following character, as in `5月8日15:00`."""
    return digits + " " * match.string[match.end() : match.end() + 1].isalnum()


def _year_month(match: re.Match[str]) -> str:
    named = match["name"]
    month = _month(named) if named else int(match["m1"] or match["m2"])
    return _apart(f"{match['y1'] or match['y2']}.{month:02}", match) if 1 <= month <= 12 else match[0]


def _month_day(match: re.Match[str]) -> str:
    named = match["name1"] or match["name2"]
    month = _month(named) if named else int(match["m3"])
    day = int(match["d1"] or match["d2"] or match["d3"])
    # A leap year, which has every day.
    return _apart(_day(match[0], 2000, month, day).replace("2000.", "0000.", 1), match)


def _day(text: str, year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat().replace("-", ".")
    except ValueError:
        return text


def _month(name: str) -> int:
    return MONTHS[name[:3].lower()]


def _clock(match: re.Match[str]) -> str:
    return _apart(read_moment(match[0]) or match[0], match)


def _span(match: re.Match[str]) -> str:
    start, end, mark = match["start"], match["end"], match["mark"].strip().lower()
    between = (match["between"] or "").strip().lower() == "between"
    if mark == "and" and not between:
        return match[0]
    start, end = _in_year_of(end, start), _in_year_of(start, end)
    return f"{_side(start)} {SPAN_MARK} {_side(end)}"


def _in_year_of(other: str, side: str) -> str:
    """One side of a span with the year or month that only the other one names: 2025年6月3日到6月9日, 6月3日到9日."""
    if (day := re.fullmatch(r"(\d{1,2})[日号]", side)) and len(other) == 10:
        return f"{other[:8]}{int(day[1]):02}"
    if not _YEAR_WRITTEN.match(other):
        return side
    month = re.fullmatch(r"(\d{1,2})月", side)
    return (
        f"{other[:4]}.{int(month[1]):02}"
        if month and len(other) == 7
        else re.sub(r"^0000\b", other[:4], side)
    )


_SIDES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(_MONTH, re.IGNORECASE), lambda match: f"month {_month(match[0])}"),
    (re.compile(_WEEKDAY, re.IGNORECASE), lambda match: f"weekday {match[0][:3].lower()}"),
    (re.compile(rf"周[{CJK}]"), lambda match: match[0].replace("天", "日")),
    (re.compile(r"((?:19|20)\d\d)年"), lambda match: match[1]),
)


def _side(point: str) -> str:
    return next((write(match) for form, write in _SIDES if (match := form.fullmatch(point))), point)
