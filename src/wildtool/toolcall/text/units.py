"""Units and currencies: names and symbols, SI prefixes with their case, exact factors to one base unit."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from wildtool.toolcall.text.lexicon import CASED_UNITS


class Unit(NamedTuple):
    """A unit as a multiple of the base unit of its kind."""

    factor: Decimal
    base: str
    """Its name in texts of one spelling."""


_PREFIXES = {
    "p": -12,
    "n": -9,
    "µ": -6,
    "u": -6,
    "μ": -6,
    "m": -3,
    "c": -2,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
}
_PREFIX_NAMES = {
    "nano": "n", "micro": "µ", "milli": "m", "centi": "c", "": "", "kilo": "k", "mega": "M", "giga": "G", "tera": "T",
}  # fmt: skip
_SI = {
    "m": ("meter metre", "nµuμmck"),
    "g": ("gram", "nµuμmk"),
    "l": ("liter litre", "µuμmc"),
    "s": ("", "nµuμm"),
    "W": ("watt", "µuμmkMGT"),
    "Wh": ("watt-hour watthour", "mkMGT"),
    "V": ("volt", "µuμmk"),
    "A": ("amp ampere", "nµuμmk"),
    "Ah": ("", "m"),
    "Hz": ("hertz", "kMGT"),
    "Ω": ("ohm", "µuμmkMG"),
    "J": ("joule", "mkMG"),
    "Pa": ("pascal", "mkMG"),
    "N": ("newton", "mkM"),
    "S": ("siemens", "mk"),
    "cal": ("calorie", "k"),
}
"""Symbol, names, and prefixes in use; every symbol stands without a prefix, too."""
_DATA = {"B": ("byte", "Bps B/s"), "b": ("bit", "bps b/s bit/s")}
"""Not converted: a megabyte has 1000 or 1024 kilobytes."""
_OTHER = {
    "m": "1 米; 0.001 毫米; 0.01 厘米; 1000 公里 千米 klick",
    "inch": '1 inch inches in" 英寸; 12 foot feet ft 英尺; 36 yard yd 码; 63360 mile mi 英里',
    "oz": "1 oz ounce 盎司; 16 lb pound 磅",
    "g": "1 克 公克; 0.001 毫克; 0.000001 mcg 微克; 1000 公斤 千克 kilo; 500 斤; 1000000 吨 公吨 tonne",
    "l": "1 升 公升 L; 0.001 毫升 mL cc",
    "s": "1 sec second 秒 秒钟; 60 min minute 分钟; 3600 h hr hour 小时 个小时 个钟头; 86400 day 天;"
    " 604800 week wk 个星期 星期 个礼拜; 1209600 fortnight",
    "month": "1 month 个月; 12 year yr; 120 decade",
    "m2": "1 平方米 平米 squaremeter squaremetre sqm sq.m m2 m^2; 1000000 平方公里 squarekilometer squarekilometre"
    " sqkm km2 km^2; 10000 公顷 hectare",
    "tsp": "1 tsp teaspoon 茶匙",
    "tbsp": "1 tbsp tablespoon 汤匙",
    "cup": "1 cup",
    "pint": "1 pint pt 品脱",
    "quart": "1 quart qt 夸脱",
    "gallon": "1 gallon gal 加仑",
    "floz": "1 floz fl.oz fluidounce",
    "fps": "1 fps framespersecond",
    "°": "1 ° degree deg 度",
    "sqft": "1 sqft sq.ft ft2 ft^2 squarefoot squarefeet 平方英尺",
    "m3": "1 立方米 cubicmeter cubicmetre m3 m^3",
    "km/h": "1 km/h kph kmh 公里/小时; 3.6 m/s 米/秒 meterspersecond metrespersecond meterpersecond metrepersecond",
    "mph": "1 mph",
    "%": "1 % percent pct",
    "°C": "1 °c celsius degcelsius degc 摄氏度 ℃",
    "°F": "1 °f fahrenheit degfahrenheit degf 华氏度 ℉",
    "USD": "1 $ us$ usd dollar buck usdollar 美元 美金; 0.01 cent ¢ 美分",
    "EUR": "1 € eur euro 欧元",
    "GBP": "1 £ gbp poundsterling poundssterling quid 英镑; 0.01 pence penny",
    "JPY": "1 jpy yen 日元 日圆 円",
    "CNY": "1 cny rmb yuan 元 块 块钱 人民币 元人民币 cn¥; 0.1 角 毛 毛钱",
    "CAD": "1 cad c$ ca$ canadiandollar 加元 加币",
    "AUD": "1 aud a$ au$ australiandollar 澳元 澳币",
    "HKD": "1 hkd hk$ hongkongdollar 港元 港币",
    "SGD": "1 sgd s$ singaporedollar 新加坡元 新币",
    "NZD": "1 nzd nz$ newzealanddollar 纽元",
    "TWD": "1 twd nt$ 新台币 台币",
    "BRL": "1 brl r$",
    "MXN": "1 mxn mx$ mex$",
    "INR": "1 inr ₹",
    "KRW": "1 krw ₩ 韩元 韩币",
    "THB": "1 thb ฿ baht 泰铢",
    "CHF": "1 chf swissfranc 瑞士法郎",
    "RUB": "1 rub ₽ 卢布",
    "¥": "1 ¥",
}
"""Base unit to `factor names; …`, names in the singular and without blanks."""


def _symbols() -> Iterator[tuple[str, Unit]]:
    for symbol, (_, prefixes) in _SI.items():
        for prefix in ("", *prefixes):
            yield prefix + symbol, Unit(Decimal(10) ** _PREFIXES[prefix], symbol)
    for symbol, (_, rates) in _DATA.items():
        for prefix in ("", *"kMGT"):
            yield prefix + symbol, Unit(Decimal(1), prefix + symbol)
            for rate in rates.split():
                yield prefix + rate, Unit(Decimal(1), f"{prefix}{symbol}ps")
    yield from (("C", Unit(Decimal(1), "°C")), ("F", Unit(Decimal(1), "°F")))
    for symbol in ("KB", "KBps", "KB/s"):
        yield symbol, Unit(Decimal(1), "k" + symbol[1:].replace("/", "p"))


def _words() -> Iterator[tuple[str, Unit]]:
    for base, groups in _OTHER.items():
        for group in groups.split("; "):
            factor, *words = group.split()
            yield from ((word, Unit(Decimal(factor), base)) for word in words)
    for prefix_name, prefix in _PREFIX_NAMES.items():
        for symbol, (names, _) in _SI.items():
            yield from (
                (prefix_name + name, Unit(Decimal(10) ** _PREFIXES[prefix], symbol)) for name in names.split()
            )
        for symbol, (name, _) in _DATA.items():
            yield prefix_name + name, Unit(Decimal(1), prefix + symbol)
            yield f"{prefix_name}{name}spersecond", Unit(Decimal(1), f"{prefix}{symbol}ps")


_SYMBOLS = dict(_symbols())
_WORDS = dict(_words())
_ANY_CASE = {symbol.casefold(): unit for symbol, unit in _SYMBOLS.items()}
_SEVERAL_CASES = frozenset(
    key for key in _ANY_CASE if len({_SYMBOLS[symbol] for symbol in _SYMBOLS if symbol.casefold() == key}) > 1
)
_PHRASES = (
    (re.compile(r"kilomet(?:er|re)s?(?: per |/)hour|km per hour", re.I), "km/h"),
    (re.compile(r"miles?(?: per |/)hour", re.I), "mph"),
    (re.compile("^degrees? ?", re.I), "deg"),
    (re.compile("^cubic ?", re.I), "cubic"),
)
SIGNS = frozenset(name for name in _WORDS if not name.isalpha() or not name.isascii())
"""Names that are not of ASCII letters alone, for use in a pattern."""
WORD_UNITS = frozenset(name for name in _WORDS if len(name) > 2 and name.isascii() and name.isalpha())


def unit_of(name: str) -> Unit | None:
    """The unit of a name or symbol; None for a symbol that is another unit in this case."""
    if (unit := _SYMBOLS.get(name)) is not None:
        return unit
    key = name.casefold()
    if is_cased_unit(name):
        return None
    for pattern, plain in _PHRASES:
        key = pattern.sub(plain, key)
    key = key.replace(" ", "").rstrip(".")
    return _WORDS.get(key) or _WORDS.get(key.removesuffix("s")) or _ANY_CASE.get(key)


def is_cased_unit(name: str) -> bool:
    """Whether the case of a symbol matters: a milliwatt and a megawatt, a megabit and a megabyte."""
    key = name.casefold()
    return key in CASED_UNITS or key in _SEVERAL_CASES
