"""Units and currencies: names and symbols, SI prefixes with their case, exact factors to one base unit."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from wildtool.data.text_blocks import text_blocks
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
    "l": ("liter litre", "µuμmcM"),
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
_OTHER = dict(
    line.split(": ", 1) for line in text_blocks(Path(__file__).with_name("units.txt"))[""].splitlines()
)
"""Base unit to `factor names; …`, names in the singular and without blanks."""


def _symbols() -> Iterator[tuple[str, Unit]]:
    for symbol, (_, prefixes) in _SI.items():
        for prefix in ("", *prefixes):
            unit = Unit(Decimal(10) ** _PREFIXES[prefix], symbol)
            yield prefix + symbol, unit
            if symbol == "l":
                yield f"{prefix}L", unit
    for symbol, (_, rates) in _DATA.items():
        for prefix in ("", *"kMGT"):
            yield prefix + symbol, Unit(Decimal(1), prefix + symbol)
            for rate in rates.split():
                yield prefix + rate, Unit(Decimal(1), f"{prefix}{symbol}ps")
    yield "Cal", Unit(Decimal(1000), "cal")
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
