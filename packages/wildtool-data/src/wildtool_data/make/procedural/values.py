"""Made-up argument values of a kind (city, person, date, …), and how a user says them."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from math import ceil, floor
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from wildtool.json_codec import as_list
from wildtool.tools.schema.patterns import follows, sample
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.described_values import DayForm

_FILE = Path(__file__).parent / "data" / "words.json"


def word_list(name: str, lang: str) -> Sequence[str]:
    """The words of a pool in a language."""
    return word_lists()[name][lang]


@cache
def word_lists() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """All words, by pool and language."""
    return json.loads(_FILE.read_text(encoding="utf-8"))


_SATURDAY = 5
_CODE_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
_CURRENCIES = ("EUR", "USD", "JPY", "CHF", "NOK", "CAD", "BRL", "KRW", "PLN", "ZAR", "TRY", "MXN")
_COUNTRY_CODES = (
    "PT", "AT", "NO", "CZ", "FR", "PL", "IT", "SE", "JP", "CA", "BR", "KR", "NZ", "MX", "KE", "TR",
)  # fmt: skip
_TICKERS = (
    "AAPL", "MSFT", "NVDA", "GOOGL", "AMZN", "META", "TSLA", "KO", "PEP", "JNJ", "PFE", "JPM", "WMT", "DIS", "NKE", "IBM",
    "INTC", "ORCL", "XOM", "BA",
)  # fmt: skip
"""Symbols of companies under which they have been traded for years."""
_QUOTED = frozenset(["title", "sentence", "text"])
"""Kinds that a user puts into quotation marks."""
PATTERN_KIND = "pattern:"
"""Stands before a pattern, which is then the kind: texts that follow it."""
LIKE_KIND = "like:"
"""Stands before an example, which is then the kind: texts that differ from it in their digits."""
MEMBER_KINDS = {"colour", "equipment", "team", "status", "sky", "device", "account", "shelf"}
"""Kinds drawn from a short list of words."""


class ValueSampler:
    """Draws values for one session; the same value is not drawn twice for a kind while others are left."""

    def __init__(self, draw: Random, lang: Lang, date: datetime) -> None:
        self.draw = draw
        self.lang: Lang = lang
        self.date = date
        self._used: set[tuple[str, str]] = set()

    def of(self, kind: str, members: Sequence[Any] = (), bounds: tuple[float, float] | None = None) -> Any:
        """A value of a kind; of the members where there are any; within the bounds where numbers have some."""
        return self._unused(kind, lambda: self._any(kind, members, bounds))

    def day(self, form: DayForm) -> str:
        """A day of a form, counted from the date of the session."""
        return self._unused("date", lambda: self._day(form))

    def _unused(self, kind: str, make: Callable[[], Any]) -> Any:
        value: Any = None
        for _ in range(6):
            value = make()
            if (kind, repr(value)) not in self._used:
                break
        self._used.add((kind, repr(value)))
        return value

    def _day(self, form: DayForm) -> str:
        direction = -1 if form.is_past else 1
        day = self.date + direction * timedelta(days=self.draw.randrange(1, 60))
        while form.working and day.weekday() >= _SATURDAY:
            day += direction * timedelta(days=1)
        return day.strftime(form.form)

    def _any(self, kind: str, members: Sequence[Any], bounds: tuple[float, float] | None) -> Any:
        if kind.startswith("list:"):
            inner = kind.removeprefix("list:")
            drawn = [self._any(inner, members, bounds) for _ in range(self.draw.choice((1, 2)))]
            return drawn if len(drawn) == 1 or drawn[0] != drawn[1] else drawn[:1]
        if members:
            return self.draw.choice(members)
        if kind.startswith(PATTERN_KIND):
            # A pattern that nothing follows was left out when the tool was read.
            return self._following(kind.removeprefix(PATTERN_KIND))
        if kind.startswith(LIKE_KIND):
            example = kind.removeprefix(LIKE_KIND)
            return "".join(self.digits(1) if letter in "0123456789" else letter for letter in example)
        if kind in MEMBER_KINDS:
            return self.draw.choice(word_list(kind, self.lang))
        if bounds and kind not in _MAKERS:
            kind = "integer"
        value = _MAKERS.get(kind, _text)(self)
        if bounds and isinstance(value, int | float) and not isinstance(value, bool):
            return self._between(*bounds, is_integer=isinstance(value, int))
        return value

    def _between(self, low: float, high: float, *, is_integer: bool) -> float:
        """A number from `low` to `high`; the least whole one, or `low`, where there is none."""
        drawn = low + (high - low) * self.draw.random()
        if is_integer:
            return max(ceil(low), min(floor(high), round(drawn)))
        return max(low, min(high, round(drawn, 2)))

    def _following(self, pattern: str) -> str:
        """A text that follows a pattern: rather a word than letters at random."""
        words = [self.draw.choice(word_list(name, "en")).lower() for name in ("adjectives", "nouns")]
        title, slug = " ".join(words).title(), "-".join(words)
        plain = (title, slug, slug.replace("-", "_"), title.replace(" ", ""))
        texts = (*plain, _code(self), words[1], self.digits(6))
        fitting = next((text for text in texts if follows(text, pattern)), None)
        return fitting or sample(pattern, self.draw) or ""

    def pick(self, name: str) -> str:
        """A word of a pool."""
        return self.draw.choice(word_list(name, self.lang))

    def digits(self, count: int) -> str:
        return "".join(self.draw.choice("0123456789") for _ in range(count))

    def id(self, prefix: str, form: str = "", bounds: tuple[float, float] | None = None) -> str | int:
        """An identifier no person would guess, in the form that a slot names."""
        if form == "uuid":
            return _uuid(self)
        if form == "whole":
            drawn = self.draw.randrange(10_000, 100_000)
            if not bounds or bounds[0] <= drawn <= bounds[1]:
                return drawn
            return int(self._between(*bounds, is_integer=True))
        return f"{prefix}_{self.draw.randrange(10_000, 100_000)}"


def _person(values: ValueSampler) -> str:
    first, last = values.pick("first_names"), values.pick("last_names")
    return f"{first} {last}" if values.lang == "en" else last + first


def _title(values: ValueSampler) -> str:
    adjective, noun = values.pick("adjectives"), values.pick("nouns")
    return f"{adjective} {noun}" if values.lang == "en" else f"{adjective}{noun}"


def _sentence(values: ValueSampler) -> str:
    pattern = values.pick("sentences")
    adjective, noun = values.pick("adjectives"), values.pick("nouns")
    if values.lang == "en":
        adjective, noun = adjective.lower(), noun.lower()
    return pattern.format(adjective=adjective, noun=noun, first=values.pick("first_names"))


def _text(values: ValueSampler) -> str:
    return values.draw.choice((_title, _sentence))(values)


def _address(values: ValueSampler) -> str:
    street, number = values.pick("streets"), values.draw.randrange(2, 180)
    return f"{street} Street {number}" if values.lang == "en" else f"{street}{number}号"


def _phone(values: ValueSampler) -> str:
    return f"555-{values.digits(4)}-{values.digits(2)}" if values.lang == "en" else f"138{values.digits(8)}"


def _email(values: ValueSampler) -> str:
    first = values.draw.choice(word_list("first_names", "en")).lower()
    last = values.draw.choice(word_list("last_names", "en")).lower()
    return f"{first}.{last}@example.{values.draw.choice(('org', 'com', 'net'))}"


def _date(values: ValueSampler) -> str:
    return (values.date + timedelta(days=values.draw.randrange(1, 60))).strftime("%Y-%m-%d")


def _time(values: ValueSampler) -> str:
    return f"{values.draw.randrange(7, 22):02}:{values.draw.randrange(0, 60, 5):02}"


def _code(values: ValueSampler) -> str:
    return "".join(values.draw.choice(_CODE_LETTERS) for _ in range(3)) + "-" + values.digits(4)


def _address_of_page(values: ValueSampler) -> str:
    words = [values.draw.choice(word_list("nouns", "en")).lower() for _ in range(2)]
    return f"https://{words[0]}.example.org/{words[1]}-{values.digits(3)}"


def _ip(values: ValueSampler) -> str:
    """Of the networks that are kept for examples (RFC 5737)."""
    return f"{values.draw.choice(('192.0.2', '198.51.100', '203.0.113'))}.{values.draw.randrange(2, 255)}"


def _coordinates(values: ValueSampler) -> str:
    return f"{values.draw.uniform(-60, 70):.2f},{values.draw.uniform(-170, 170):.2f}"


def _handle(values: ValueSampler) -> str:
    return f"{values.draw.choice(word_list('nouns', 'en')).lower()}_{values.draw.randrange(1000, 10_000)}"


def _version(values: ValueSampler) -> str:
    return f"{values.draw.randrange(1, 12)}.{values.draw.randrange(10)}.{values.draw.randrange(10)}"


def _uuid(values: ValueSampler) -> str:
    return str(UUID(int=values.draw.getrandbits(128), version=4))


def _integers(low: int, high: int, step: int = 1) -> Callable[[ValueSampler], int]:
    return lambda values: values.draw.randrange(low, high, step)


def _decimal(low: float, high: float, digits: int) -> Callable[[ValueSampler], float]:
    return lambda values: round(low + (high - low) * values.draw.random(), digits)


_MAKERS: Mapping[str, Callable[[ValueSampler], Any]] = {
    "person": _person,
    "city": lambda values: values.pick("cities"),
    "goods": lambda values: values.pick("goods"),
    "dish": lambda values: values.pick("dishes"),
    "title": _title,
    "sentence": _sentence,
    "text": _text,
    "address": _address,
    "phone": _phone,
    "email": _email,
    "url": _address_of_page,
    "date": _date,
    "time": _time,
    "ip": _ip,
    "coordinates": _coordinates,
    "currency": lambda values: values.draw.choice(_CURRENCIES),
    "ticker": lambda values: values.draw.choice(_TICKERS),
    "country": lambda values: values.pick("countries"),
    "country code": lambda values: values.draw.choice(_COUNTRY_CODES),
    "language": lambda values: values.pick("languages"),
    "handle": _handle,
    "version": _version,
    "hash": lambda values: f"{values.draw.getrandbits(64):016x}",
    "id": _code,
    "code": _code,
    "uuid": _uuid,
    "moment": lambda values: f"{_date(values)}T{_time(values)}:00Z",
    "morning": lambda values: f"{values.draw.randrange(7, 11):02}:{values.draw.choice(('00', '30'))}",
    "evening": lambda values: f"{values.draw.randrange(17, 22)}:{values.draw.choice(('00', '30'))}",
    "fee": _decimal(0.2, 6, 2),
    "tip": _decimal(1, 15, 1),
    "digits": lambda values: values.digits(10),
    "integer": _integers(2, 200),
    "count": _integers(2, 30),
    "minutes": _integers(15, 240, 5),
    "stars": _integers(1, 6),
    "percent": _integers(1, 100),
    "year": _integers(1950, 2024),
    "number": _decimal(1, 500, 2),
    "amount": _decimal(5, 900, 2),
    "price": _decimal(5, 300, 2),
    "km": _decimal(2, 30, 1),
    "celsius": _decimal(4, 29, 1),
    "rating": _decimal(2, 5, 1),
    "rate": _decimal(0.3, 9, 4),
    "boolean": lambda values: values.draw.random() < 0.5,
    "flag": lambda values: True,
}


def as_spoken(value: Any, kind: str, lang: Lang) -> str:
    """A value as a user writes it, so that it can be found in the text again."""
    if isinstance(value, bool):
        return ("yes" if value else "no") if lang == "en" else ("是" if value else "否")
    if isinstance(value, list):
        parts = [as_spoken(part, kind.removeprefix("list:"), lang) for part in as_list(value)]
        return (" and " if lang == "en" else "和").join(parts)
    if kind in _QUOTED:
        return f'"{value}"' if lang == "en" else f"“{value}”"
    return str(value).replace("_", " ") if kind == "enum" else str(value)
