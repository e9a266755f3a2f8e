"""Rewrites the texts and gold of one session in one language: old values to new ones, everywhere alike."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

from wildtool.generate.core.plan import Lang
from wildtool.generate.procedural.values import ValueSampler
from wildtool.generate.refresh.entities import (
    UnclearError,
    find_entities,
    fixed_values,
    is_money,
    qualified_key,
    tool_schemas,
)
from wildtool.generate.refresh.replacements import replacement_texts, year_shift
from wildtool.json_codec import as_list, as_object, values_inside

_NUMBER = r"(?<![A-Za-z0-9_.,:/#-])[0-9]+(?:[.,][0-9]+)*(?![A-Za-z0-9_]|[.,:][0-9])"
_NUMBERS = re.compile(f"(?P<number>{_NUMBER})")
_CURRENCY = re.compile(
    r"^\s?(?:€|\$|£|EUR|USD|GBP|CNY|euros?|dollars?|pounds?|bucks|元|块|欧元|美元)|[€$£¥]\s?$", re.I
)
_WORD = re.compile(r"\w", re.ASCII)
_FACTORS = (2, 3, 4)


class Rewriter:
    """Old values to new ones, for one language of one session."""

    def __init__(self, record: Mapping[str, Any], prefix: str, names: list[str], draw: Random) -> None:
        answers = next(record[name] for name in names if name.endswith("answer_list"))
        nodes = [node for task in answers for node in task]
        line = str(record[f"{prefix}_env_info"])
        fixed = fixed_values(record[f"{prefix}_tools"])
        self._found = find_entities(nodes, line, fixed, tool_schemas(record[f"{prefix}_tools"]))
        self._found.money.update(_marked([record[name] for name in names]))
        lang: Lang = "zh" if prefix == "chinese" else "en"
        whole = str([record[name] for name in names])
        self._new = replacement_texts(self._found, ValueSampler(draw, lang, date(2025, 1, 1)), whole, fixed)  # pyright: ignore[reportArgumentType]
        self._shift = year_shift(self._found.years, draw)
        self._factor = draw.choice(_FACTORS)
        texts = sorted(self._new, key=len, reverse=True)
        parts = [_bounded(text) for text in texts]
        years = "|".join(str(year) for year in sorted(self._found.years))
        self._pattern = re.compile(
            f"(?P<text>{'|'.join(parts) or '(?!)'})"
            rf"|(?P<year>(?<![A-Za-z0-9_.])(?:{years or '(?!)'})(?!\d))|(?P<number>{_NUMBER})",
            re.IGNORECASE,
        )

    def rewritten(self, value: Any, key: str, *, beside_currency: bool = False) -> Any:
        """A JSON value with all entities rewritten."""
        if isinstance(value, dict):
            table = as_object(value)
            beside = "currency" in table
            return {
                k: self.rewritten(child, qualified_key(key, k), beside_currency=beside)
                for k, child in table.items()
            }
        if isinstance(value, list):
            return [self.rewritten(child, key, beside_currency=beside_currency) for child in as_list(value)]
        if isinstance(value, str):
            return self._pattern.sub(self._replace, value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if is_money(key, value, beside_currency=beside_currency):
            return type(value)(Decimal(str(value)) * self._factor)
        if str(value) in self._new:
            return int(self._new[str(value)])
        if isinstance(value, int) and value in self._found.years and "year" in key.casefold():
            return value + self._shift
        return value

    def _replace(self, match: re.Match[str]) -> str:
        if match["text"]:
            new = self._new[_known(match["text"], self._new)]
            return new.lower() if match["text"].islower() and not new.islower() else new
        if match["year"]:
            return str(int(match["year"]) + self._shift)
        return self._amount(match)

    def _amount(self, match: re.Match[str]) -> str:
        """A number in a text: multiplied if it is an amount of money."""
        said = match["number"]
        value = _value(said)
        if value is None:
            return said
        marked = _is_marked(match)
        if not marked and value not in self._found.money:
            return said
        labels = re.findall(
            r"[a-z]+(?=[ _:]+$)", match.string[max(0, match.start() - 30) : match.start()].casefold()
        )
        if labels and is_money(labels[-1], float(value), beside_currency=False):
            marked = True
        elif labels and labels[-1] in self._found.number_keys:
            return said
        if not marked and value in self._found.numbers - self._found.gold_money:
            return said
        if not marked and value in self._found.numbers:
            raise UnclearError(f"a text, {match.string[:60]!r}", said)
        return str(value * self._factor)

    def check(self, made: Any) -> None:
        """Raises UnclearError if an old value is left."""
        text = str(made)
        for old in self._new:
            if re.search(_bounded(old), text, re.IGNORECASE):
                raise UnclearError("the rewritten session", old, "it still stands there")


def _value(said: str) -> Decimal | None:
    """A number as written, such as `1,850.5`; None if it could be read in two ways."""
    plain = said.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", said) else said
    return Decimal(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None


def _is_marked(match: re.Match[str]) -> bool:
    """True for a number beside a currency."""
    after = match.string[match.end() : match.end() + 8]
    before = match.string[max(0, match.start() - 2) : match.start()]
    return any(_CURRENCY.search(text) for text in (after, before))


def _marked(value: Any) -> Iterator[Decimal]:
    """The numbers beside a currency in all texts of a JSON value."""
    for text in values_inside(value):
        for match in _NUMBERS.finditer(text) if isinstance(text, str) else ():
            number = _value(match["number"])
            if number is not None and _is_marked(match):
                yield number


def _bounded(text: str) -> str:
    """A pattern for a text that is no part of a longer word."""
    left = r"(?<![A-Za-z0-9])" if _WORD.match(text[0]) else ""
    right = r"(?![A-Za-z0-9])" if _WORD.match(text[-1]) else ""
    return left + re.escape(text) + right


def _known(text: str, known: Mapping[str, str]) -> str:
    return text if text in known else next(old for old in known if old.casefold() == text.casefold())
