"""Texts of finance as those who trade write them: tickers, currencies, amounts, rates, fiscal periods, orders."""

import re

from wildtool.toolcall.text.lexicon import word_set
from wildtool.toolcall.text.units import unit_of

_CURRENCIES = word_set(
    """
    USD EUR GBP JPY CNY CNH CAD AUD HKD SGD NZD TWD BRL MXN INR KRW THB CHF RUB SEK NOK DKK PLN CZK HUF TRY ZAR ILS IDR
    MYR PHP VND AED SAR ARS CLP COP EGP RON UAH BTC ETH USDT USDC BNB SOL XRP ADA DOGE DOT LTC BCH AVAX XAU XAG
    """
)
"""Codes of ISO 4217, and of coins and metals that are traded against them."""
_TICKER = re.compile(r"\$?[A-Za-z0-9]{1,12}(?:[./ _-][A-Za-z0-9]{1,6}){0,2}")
_SHARE_CLASS = re.compile(r"([A-Z]{1,5})[./ -]([A-Z])")
_PAIR = re.compile(r"([A-Z]{3,5})[/_-]?([A-Z]{3,5})")


def read_ticker(text: str) -> str | None:
    """A ticker in capitals, with one mark before the class of a share and none between two currencies."""
    if not _TICKER.fullmatch(text) or (" " in text and not _SHARE_CLASS.fullmatch(text.upper())):
        return None
    ticker = text.removeprefix("$").upper()
    if share := _SHARE_CLASS.fullmatch(ticker):
        return f"{share[1]}.{share[2]}"
    return _pair(ticker) or ticker


def _pair(ticker: str) -> str | None:
    """Two currencies, written together or apart: BTC-USD, BTCUSD; None for anything else."""
    for length in (3, 4, 5):
        first, second = ticker[:length], ticker[length:].lstrip("/_-")
        if first in _CURRENCIES and second in _CURRENCIES and len(ticker) - length - len(second) < 2:
            return f"{first}/{second}"
    return None


def read_registered_number(text: str) -> str | None:
    """A number or code that a register gives, an ISIN or a flight, in capitals and without blanks or hyphens."""
    number = re.sub("[ -]", "", text).upper()
    is_code = re.fullmatch("(?=.*[0-9])[\u4e00-\u9fff]?[A-Z0-9]{3,34}|[A-Z]{2,4}|[A-Z]{8}|[A-Z]{11}", number)
    return number if is_code else None


_NO_CURRENCY = word_set("$ ¥ dollar dollars buck bucks cent cents pence penny quid 块 块钱 角 毛 毛钱 ¢ 美分")
"""Which dollar is open, and a part of a currency is another unit."""


def read_currency(text: str) -> str | None:
    """The code of a currency, by its code or its name; `GBp` is a penny, and stays what it is."""
    if re.fullmatch("[A-Za-z]{3,5}", text) and text.upper() in _CURRENCIES:
        return text.upper() if text.isupper() or text.islower() else text
    unit = None if text.casefold() in _NO_CURRENCY else unit_of(text)
    return unit.base if unit is not None and unit.base in _CURRENCIES else None


_FINANCIAL_NUMERALS = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟圆", "一二三四五六七八九十百千元")
_SCALE_WORDS = {
    "k": "thousand",
    "m": "million",
    "mm": "million",
    "mn": "million",
    "b": "billion",
    "bn": "billion",
    "t": "trillion",
    "tn": "trillion",
}
_SCALE_LETTER = re.compile(r"(?<=\d) ?(k|mm|mn|m|bn|b|tn|t)\b(?!\w|/)", re.IGNORECASE)
_HAS_CURRENCY = re.compile(
    rf"[$€£¥₹₩]|\b(?i:{'|'.join(sorted(_CURRENCIES))}|dollars?|euros?|pounds?|yen|yuan)\b"
)
_IN_BRACKETS = re.compile(r"\((?=[^()]*\d)([^()+-]+)\)")
_SIGN_FIRST = re.compile(r"(?<![\w.])-([A-Z]{0,3}[$€£¥₹₩]|[A-Z]{3}) ?(?=\d)")
_AND_CENTS = re.compile(r"(?<=[a-z]) and (?=[\w-]+ (?:cents?|pence)\b)", re.IGNORECASE)


def with_money_in_full(text: str) -> str:
    """An amount of money with its sign before the digits and its scale as a word: ($42.00), 1.2M USD, 壹佰元整."""
    text = re.sub("(?<=元)[整正]$", "", text.translate(_FINANCIAL_NUMERALS))
    if bracket := _IN_BRACKETS.fullmatch(text):
        text = f"-{bracket[1]}"
    text = _AND_CENTS.sub(" ", _SIGN_FIRST.sub(r"\1-", text))
    if _HAS_CURRENCY.search(text):
        text = _SCALE_LETTER.sub(lambda match: f" {_SCALE_WORDS[match[1].lower()]}", text)
    return text


_BASIS_POINTS = re.compile(
    r"(?<![\w.])([+-]?\d+(?:\.\d+)?) ?(?:bps?|basis points?|个?基点)(?!\w)", re.IGNORECASE
)


def with_basis_points_in_percent(text: str) -> str:
    """A rate with hundredths of a percent in percent: 25 bps is 0.25 %."""
    return _BASIS_POINTS.sub(lambda match: f"{float(match[1]) / 100:.8g}%", text)


_YEAR = r"'?(?P<year>(?:19|20)?\d\d)"
_PARTS = {
    "first": "1",
    "second": "2",
    "third": "3",
    "fourth": "4",
    "一": "1",
    "二": "2",
    "三": "3",
    "四": "4",
    "上": "1",
    "下": "2",
}
_FISCAL = r"(?P<fiscal>FY ?|fiscal (?:year )?)?"
_PERIODS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<fiscal>FY|fiscal(?: year)?|financial year) ?-?{_YEAR}",
        r"(?P<year>(?:19|20)\d\d)(?P<fiscal>财年|财政年度)",
        rf"(?P<kind>[QH])(?P<part>[1-4]),?(?: of)?[ -]?{_FISCAL}{_YEAR}",
        rf"(?P<part>[1-4])(?P<kind>[QH])[ -]?{_FISCAL}{_YEAR}",
        rf"{_FISCAL}{_YEAR}[ -]?(?P<kind>[QH])(?P<part>[1-4])",
        rf"(?:the )?(?P<part>first|second|third|fourth) (?P<kind>quarter|half)(?: of)? {_FISCAL}{_YEAR}",
        r"(?P<year>(?:19|20)\d\d)(?P<fiscal>财)?年?第?(?P<part>[一二三四1-4])(?P<kind>季度|季)",
        r"(?P<year>(?:19|20)\d\d)(?P<fiscal>财)?年(?P<part>[上下])(?P<kind>半年)",
    )
)
_RUNNING = tuple(
    (re.compile(form, re.IGNORECASE), name)
    for form, name in (
        (
            r"[TL]TM|(?:trailing|last|past|rolling)[ -](?:twelve|12)[ -]months?|(?:过去|最近|滚动)(?:十二|12)个月",
            "TTM",
        ),
        (r"YTD|year[ -]to[ -]date|年初至今|今年以来|本年迄今", "YTD"),
        (r"QTD|quarter[ -]to[ -]date|季初至今", "QTD"),
        (r"MTD|month[ -]to[ -]date|月初至今", "MTD"),
        (r"YoY|year[ -]o(?:ver|n)[ -]year|同比", "YoY"),
        (r"QoQ|quarter[ -]o(?:ver|n)[ -]quarter", "QoQ"),
        (r"MoM|month[ -]o(?:ver|n)[ -]month", "MoM"),
    )
)
_LENGTH = re.compile(r"(\d{1,3}) ?-?(?:((?i:y|yrs?|years?|年))|(M|(?i:mos?|months?|个月)))")
"""In small letters m may be minutes."""


def read_fiscal_period(text: str) -> str | None:
    """A fiscal year, quarter or half, a running period, or a length in years or months."""
    for form, name in _RUNNING:
        if form.fullmatch(text):
            return name
    if length := _LENGTH.fullmatch(text):
        return f"{int(length[1]) * (12 if length[2] else 1)} months"
    match = next((match for form in _PERIODS if (match := form.fullmatch(text))), None)
    return _period(match) if match else None


def _period(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    year = parts["year"]
    fiscal = "FY" if parts.get("fiscal") else ""
    part = (parts.get("part") or "").lower()
    kind = {"q": "Q", "季": "Q", "h": "H", "半": "H"}.get((parts.get("kind") or " ")[0].lower(), "")
    part = _PARTS.get(part, part)
    if kind == "H" and part not in ("1", "2"):
        return None
    return f"{fiscal}{year if len(year) == 4 else f'20{year}'}{kind}{part}"


_ORDER_TERMS = {
    "gtc": "good till cancelled",
    "ioc": "immediate or cancel",
    "fok": "fill or kill",
    "gtd": "good till date",
    "moc": "market on close",
    "loc": "limit on close",
    "mkt": "market",
    "lmt": "limit",
    "stp": "stop",
}


def with_order_terms_in_full(text: str) -> str:
    """The type of an order or how long it holds, without abbreviation."""
    return re.sub(
        r"^good[ -](?:until|til|till|'til)(?=[ -])",
        "good till",
        _ORDER_TERMS.get(text.casefold(), text),
        flags=re.IGNORECASE,
    )
