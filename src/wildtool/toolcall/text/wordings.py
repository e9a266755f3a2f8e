"""Wordings that stand for one another wherever they occur: abbreviations, fractions, bounds, clock times in words.

Each row is exact: what it replaces has one reading. `ABBREVIATIONS` are written out in any text, `IN_WORDS` where numbers
still are words, `IN_DIGITS` behind that.
"""

import re
from collections.abc import Callable, Iterable
from math import gcd, prod
from typing import NamedTuple

from wildtool.toolcall.text.numerals import CHINESE_SCALES, chinese_number

Replacement = str | Callable[[re.Match[str]], str]
Rows = Iterable[tuple[str, Replacement]]


class Wordings(NamedTuple):
    """Patterns and what stands in their place."""

    plain: tuple[tuple[re.Pattern[str], Replacement], ...]
    chinese: tuple[tuple[re.Pattern[str], Replacement], ...]
    """Those that no text of ASCII has."""


def reworded(text: str, wordings: Wordings) -> str:
    """A text with each of the wordings in one form."""
    for pattern, plain in wordings.plain:
        text = pattern.sub(plain, text)
    if not text.isascii():
        for pattern, plain in wordings.chinese:
            text = pattern.sub(plain, text)
    return text


def wordings_of(rows: Rows, chinese: Rows = (), flags: re.RegexFlag = re.NOFLAG) -> Wordings:
    """Patterns, given as text, and what stands in their place."""
    compiled = [
        tuple((re.compile(pattern, flags), plain) for pattern, plain in part) for part in (rows, chinese)
    ]
    return Wordings(*compiled)


_COUNTRIES = {
    "People's Republic of China": "China",
    "Russian Federation": "Russia",
    "Federal Republic of Germany": "Germany",
    "Republic of Korea": "South Korea",
}
_CHINESE_COUNTRIES = {
    "中华人民共和国": "中国",
    "美利坚合众国": "美国",
    "大不列颠及北爱尔兰联合王国": "英国",
    "大韩民国": "韩国",
    "俄罗斯联邦": "俄罗斯",
    "德意志联邦共和国": "德国",
    "法兰西共和国": "法国",
}
ABBREVIATIONS = wordings_of(
    (
        (r"\b(?:[Tt]he )?United States(?: of America)?\b|\bU\.?S\.?A(?:\.|\b)", "US"),
        (r"\b(?:[Tt]he )?United Kingdom\b", "UK"),
        (r"\b(?:[Tt]he )?United Arab Emirates\b", "UAE"),
        (rf"\b(?:[Tt]he )?({'|'.join(_COUNTRIES)})\b", lambda match: _COUNTRIES[match[1]]),
        (r"\bNYC\b", "New York City"),
        (r"^St\.? (?=[A-Z][a-z])", "Saint "),
        (r"^Ft\.? (?=[A-Z][a-z])", "Fort "),
        (r"\b([A-Z])\. (?=[A-Z]\.)", r"\1."),
        (r"\b(World War|Part|Phase|Type|Volume|Chapter|Stage) I$", r"\1 1"),
        (r"\b(Sat|Sun)\b\.?(?=$|,? (?:at )?\d|,? (?:and|&|or) [A-Z])", lambda match: _WEEKEND[match[1]]),
        (r"^(?:the |The |')?((?:\d\d)?\d0)'?s$", r"\1s"),
        (r"(?<![A-Za-z])\$(\d[\d,.]*) ?USD\b", r"$\1"),
    ),
    (
        (r"(?<=[上下])个(?=月|星期|礼拜|季度)|(?<=点)钟", ""),
        (r"这个?(?=月|周|星期)", "本"),
        (r"每日(?=[一二两三四五六七八九十\d])", "每天"),
        (r"本年(?!度)", "今年"),
        (r"^([是对好行])的$", r"\1"),
        (r"(?<=[回答批函])覆", "复"),
        (rf"{'|'.join(_CHINESE_COUNTRIES)}", lambda match: _CHINESE_COUNTRIES[match[0]]),
        (r"[及含或](?=以上)", ""),
        (r"^在(?=周|星期|[今明后昨][天日]|[上下本][周月星])", ""),
    ),
)
_WEEKEND = {"Sat": "Saturday", "Sun": "Sunday"}

_DIGIT = "一二三四五六七八九"
_NUMERAL = f"零〇两十百千{_DIGIT}"
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_SHARES = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "eighth": 8, "tenth": 10}
_MEASURED = (
    "(?:cup|teaspoon|tablespoon|tsp|tbsp|mile|inch|hour|pound|lb|kilo|kg|km|oz|ounce|lit(?:er|re)|gallon|day|week|month"
    "|year)s?\\b"
)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}


def _share(match: re.Match[str]) -> str:
    return f"{_COUNTS[match[1].lower()]}/{_SHARES[match[2].lower()]}"


def _quarter(match: re.Match[str]) -> str:
    """A quarter of a year as 2024-Q1."""
    return f"{match['year']}-Q{_QUARTERS.get(match['quarter'].lower(), match['quarter'])}"


def _in_units(unit: str) -> Replacement:
    """Two numerals with a unit between them as a decimal number of it: 一米八 is 1.8米."""
    return lambda match: ".".join(map(_digits, match.groups())) + unit


def _digits(numeral: str) -> str:
    # Digits of another script are digits, too.
    return numeral if numeral.isdecimal() else chinese_number(numeral)


def _number(numeral: str) -> str:
    """A number in digits or Chinese numerals as digits: 十二点五 is 12.5."""
    return ".".join(_digits(part) for part in re.split("[.点]", numeral))


def _sum_of_scales(match: re.Match[str]) -> str:
    """Digits and Chinese scales in turn as one number: 3万5千 is 35000, and so is 3万5."""
    total = section = 0
    last = 1
    for digits, scales in _SCALED_PART.findall(match[0]):
        factor = prod(CHINESE_SCALES[scale] for scale in scales)
        if not scales and len(digits) == 1:
            factor = last // 10
        if factor < 10_000:
            section += int(digits) * factor
        else:
            total, section = total + (section + int(digits)) * factor, 0
        last = factor
    return str(total + section)


def _decimal(match: re.Match[str]) -> str:
    """A number with a decimal comma."""
    phrase, part = (group for group in match.groups() if group)
    return f"{phrase.replace('.', '')}.{part}"


_YEAR = r"(?P<year>(?:19|20)\d\d)"
_NO_NUMERAL = rf"(?<![{_NUMERAL}\d])"
_NUMBER = rf"\d{{1,15}}(?:\.\d{{1,9}})?|[{_NUMERAL}万亿]{{1,12}}(?:点[零〇{_DIGIT}]{{1,6}})?"
"""A number in digits or Chinese numerals: 12.5, 十二点五."""
_SCALED_PART = re.compile(r"(\d+)([十百千万亿]*)")
_BY_TENS = "(?=$|公里|米|公斤|千克|克|升|万|亿|元|度|倍|小时|折)"
IN_WORDS = wordings_of(
    (
        (
            rf"\b({'|'.join(_COUNTS)})[ -]({'|'.join(_SHARES)})s?(?: of an? (?={_MEASURED}))?\b(?! hour)",
            _share,
        ),
        (r"^half$", "1/2"),
        (rf"\bhalf (?:of )?(?:an? )?(?!hour)(?={_MEASURED})", "1/2 "),
        (r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d{1,2})(?![\d,])", _decimal),
        (r"(?<=€)(\d{1,4}),(\d\d)(?!\d)|(?<![\d.,])(\d{1,4}),(\d\d)(?= ?€)", _decimal),
        (r"\btwice\b", "2 times"),
        (r"\bthrice\b", "3 times"),
        (r"\bonce (?=(?:an?|per|every) |daily\b|weekly\b|monthly\b)", "1 time "),
        (r"\bper[ -]cent\b|(?<=\d) ?pct\b", "%"),
        (r"零下 ?(?=\d)|^minus (?=\d)", "-"),
        (rf"\b(?:the )?(?P<quarter>first|second|third|fourth) quarter(?: of|,)? {_YEAR}\b", _quarter),
        (rf"\bQ(?P<quarter>[1-4])(?: of|,)?[ -]?{_YEAR}\b", _quarter),
        (rf"\b{_YEAR}[ -]?Q(?P<quarter>[1-4])\b", _quarter),
    ),
    (
        (rf"^([{_DIGIT}])两$", lambda match: f"{_digits(match[1])}两"),
        (rf"百分之 ?({_NUMBER})", lambda match: f"{_number(match[1])}%"),
        (rf"(?:零下|负) ?({_NUMBER}) ?(?=度|摄氏度|华氏度|℃|°)", lambda match: f"-{_number(match[1])}"),
        (rf"每(小时|分钟|秒)({_NUMBER})(公里|千米|米)(?!/)", r"\2\3/\1"),
        (
            r"(?<![\d.])(?:\d{1,8}[十百千万亿]{1,2})+\d{1,8}(?:[十百千万亿]{0,2}(?<!千)|千(?![米克瓦卡]))(?![\d.十百千万亿])",
            _sum_of_scales,
        ),
        (rf"{_NO_NUMERAL}([{_NUMERAL}]{{1,4}})点([{_DIGIT}]){_BY_TENS}", _in_units("")),
        (
            rf"{_NO_NUMERAL}([{_NUMERAL}]{{1,3}}|\d{{1,3}})米([零〇]?[{_DIGIT}\d]{{1,2}})(?![{_NUMERAL}\d米xX×*]|[a-z])",
            _in_units("米"),
        ),
        (rf"([{_NUMERAL}]{{1,4}}|\d{{1,9}})块([{_DIGIT}\d])[毛角]?(?=$|[,.])", _in_units("元")),
        (rf"([{_DIGIT}])成(?=$|[,.])", lambda match: f"{_digits(match[1])}0%"),
        (r"([摄华]氏)(-?\d+(?:\.\d+)?)度", r"\2\1度"),
        (rf"(?<!\d){_YEAR}年(?:第?(?P<quarter>[一二三四1-4])季度)", _quarter),
        (rf"(?<!\d){_YEAR}年Q(?P<quarter>[1-4])", _quarter),
    ),
    re.IGNORECASE,
)

_AMOUNT = r"(?=[$€£¥]?\d)"
_LOWEST = r"(?<![\w.+:-])([$€£¥]?\d[\d.]*)"
_BOUNDS = {
    "<": "less than", "<=": "at most", "≤": "at most", ">": "more than", ">=": "at least", "≥": "at least",
    "以上": "至少", "以内": "至多", "左右": "大约", "上下": "大约",
}  # fmt: skip
"""Signs and Chinese words behind a number, with the words before it."""
_COUNTED = "[元块岁人年天个周月度米]|个人|个月|小时|分钟|公里|公斤|美元|%"
_PERIOD = r"(?=(?:night|day|week|month|year|hour|minute|second|person)\b)"
_HOUR = r"(1[0-2]|[1-9])(?![\d:.])"
_FRACTION = r"(?P<above>\d)/(?P<below>\d\d?)"


def _before(match: re.Match[str]) -> str:
    """A clock time some minutes before an hour: `quarter to 9`, 差一刻9点."""
    minutes, hour = (group for group in match.groups() if group)
    return _minutes_before(hour, minutes) or match[0]


def _before_in_chinese(match: re.Match[str]) -> str:
    """The same with the hour first: 9点差一刻."""
    return _minutes_before(match[1], match[2] or "quarter") or match[0]


def _minutes_before(hour: str, minutes: str) -> str:
    less = int(minutes) if minutes.isdecimal() else 15
    return f"{(int(hour) - 2) % 12 + 1}:{60 - less:02}" if 0 < less < 60 else ""


def _past(match: re.Match[str]) -> str:
    return f"{match['hour']}:{int(match['minutes'] or 15):02}"


def _mixed(match: re.Match[str]) -> str:
    """A fraction as a decimal number, where that has an end: 1 1/2 hours is 1.5 hours."""
    above, below = int(match["above"]), int(match["below"])
    is_exact = below in (2, 4, 5, 8, 10) and gcd(above, below) == 1
    return f"{int(match['whole'] or 0) + above / below:g}" if is_exact else match[0]


IN_DIGITS = wordings_of(
    (
        (
            rf"\b(?:(?:no|not) (?:more|greater|higher) than|up to|max(?:imum)? of) {_AMOUNT}",
            "at most ",
        ),
        (rf"\b(?:(?:no|not) (?:less|fewer|lower) than|min(?:imum)? of) {_AMOUNT}", "at least "),
        (rf"\b(?:under|below|(?:less|fewer|smaller|lower) than) {_AMOUNT}", "less than "),
        (rf"\b(?:over|above|(?:more|greater|higher|larger) than) {_AMOUNT}", "more than "),
        (
            rf"{_LOWEST}(?:\+(?![\w+]| ?\d)| (?:or|and) (?:more|above|over|up|older)\b)",
            r"at least \1",
        ),
        (rf"{_LOWEST} (?:or|and) (?:less|fewer|below|under|younger)\b", r"at most \1"),
        (rf"(?:^|(?<=\w ))(<=?|>=?|[≤≥]) ?{_AMOUNT}", lambda match: f"{_BOUNDS[match[1]]} "),
        (r"\bpast (?=\d+ (?:second|minute|hour|day|week|month|quarter|year)s?\b)", "last "),
        (rf"\b(?:around|approximately|approx\.?|roughly|circa) {_AMOUNT}", "about "),
        (rf"(?<![\w~] )(?<![\w~])~ ?{_AMOUNT}", "about "),
        (rf"(?<=[\d元]) ?/ ?{_PERIOD}|(?<=\d) an? {_PERIOD}", " per "),
        (r"^(\d{1,4}(?:\.\d)?)k$", lambda match: f"{1000 * float(match[1]):g}"),
        (r"(?<=\d)k(?= (?:dollars|euros|usd|eur|gbp|yuan|rmb)\b)", " thousand"),
        (r"(?<!° )(?<![\w°'\"])(\d{1,2})' ?(\d{1,2})(?:\"|'')(?!\w)", r"\1 ft \2 inches"),
        (rf"(?<![\w./])(?:(?P<whole>\d{{1,3}}) )?{_FRACTION}(?= ?{_MEASURED})", _mixed),
        (rf"^(?P<whole>\d{{1,3}} )?{_FRACTION}$", _mixed),
        (r"([$€£¥]) ?(\d[\d,.]*[km]?)( ?[-~] ?| to )(?=\d)", r"\1\2\3\1"),
        (
            rf"\b(?:a )?(?:quarter after|(?P<minutes>5|10|15|20|25)(?: minutes)? past) (?P<hour>{_HOUR})",
            _past,
        ),
        (
            rf"\b(?:a )?(quarter) (?:to|before|till|of) {_HOUR}"
            rf"|\b(\d\d?) minutes? (?:to|before|till) {_HOUR}(?! ?[a-z])",
            _before,
        ),
        (r"^((?-i:[A-Z])[a-z]+) the (\d{1,2})(?:st|nd|rd|th)$", r"\1 \2"),
    ),
    (
        (r"(?:不少于|不低于|至少|最少)(?=\d)", "至少"),
        (r"(?:不多于|不超过|不高于|至多|最多)(?=\d)", "至多"),
        (r"(?<!不)(?:少于|低于|不足)(?=\d)", "小于"),
        (r"(?<!不)(?:多于|高于|超过)(?=\d)", "大于"),
        (r"(?:大约|大概|约)(?=\d)", "大约"),
        (rf"(\d[\d.]*(?:{_COUNTED})?)(以上|以内|左右|上下)", lambda match: f"{_BOUNDS[match[2]]}{match[1]}"),
        (r"(?:过去|最近)的?(?=\d+(?:天|日|周|年|个(?:小时|星期|月)))", "最近"),
        (r"(?<=\d)个人(?![\u4e00-\u9fff])", "人"),
        (r"(\d)周(?![一二三四五六日天年末边围岁刊])", r"\1个星期"),
        (r"^(\d{1,2}(?:\.\d)?)年$", r"\1 years"),
        (r"^((?:19|20)\d\d)年$", r"\1"),
        (rf"差(?:(\d\d?)分|(一刻))钟?(?:到|不到)?{_HOUR}点", _before),
        (r"(?<![\d:.])(1[0-2]|[1-9])点差(?:(\d\d?)分|一刻)", _before_in_chinese),
    ),
    re.IGNORECASE,
)
