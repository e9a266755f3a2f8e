"""Fresh values for sessions that models may have memorised: entities are replaced consistently; structure stays.

Years move to one with the same calendar, so that weekdays, `tomorrow` and `this month` stay right; amounts of money are
multiplied by one number, so that sums, halves and differences stay right; names, places, titles, ids and contacts get new
ones of their kind. Times, quantities, words and enum members stay. A session whose rewriting leaves any doubt is refused.
"""

import calendar
import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import language_prefixes, read_records, read_session
from wildtool.benchmarks.wildtoolbench.lint import lint_records
from wildtool.draws import seeded_draw
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, values_inside
from wildtool.toolcall.text.similarity import NearDuplicateIndex, fold_text
from wildtool_data.make.core.dedup import NEAR_DUPLICATE_SCORE
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.values import ValueSampler
from wildtool_data.make.refresh.entities import (
    EntityRole,
    SessionEntities,
    UnclearError,
    find_entities,
    fixed_values,
    is_money,
    qualified_key,
    tool_schemas,
)

_WORDS_TOO = re.compile(
    "will|may|mark|rose|grace|hope|art|bill|rich|frank|jack|dawn|april|june|august|summer|joy|faith", re.I
)
"""Names that are common words as well."""


def replacement_texts(
    entities: SessionEntities, values: ValueSampler, session_text: str, fixed: frozenset[str]
) -> dict[str, str]:
    """A new text for each old one; parts of a person's name have their own."""
    new: dict[str, str] = {}
    old_texts = [session_text.casefold()]
    people = [old for old, role in entities.texts.items() if role == "person"]
    old_words = {word for old in people for word in old.casefold().split()}
    for old, role in entities.texts.items():
        if role == "person" and " " in old:
            for word in old.split():
                if _WORDS_TOO.fullmatch(word) and re.search(rf"\b{word.lower()}\b", session_text):
                    raise UnclearError("a name that is a word too", word)
                if len(word) > 2 and word.casefold() not in fixed and word not in new:
                    name = "first_names" if word == old.split()[0] else "last_names"
                    new[word] = _distinct_draw(partial(values.pick, name), old_texts, old_words)
            new[old] = " ".join(new.get(word, word) for word in old.split())
    for old, role in entities.texts.items():
        if old not in new and old.casefold() not in fixed:
            new[old] = _distinct_draw(partial(_drawn, old, role, values), old_texts, old_words)
    return new


def _distinct_draw(draw: Callable[[], str], old_texts: list[str], old_words: set[str]) -> str:
    """A drawn text that does not occur in the session and was not drawn before."""
    for _ in range(200):
        text = draw()
        words = set(re.findall(r"[^\W\d_]+", text.casefold()))
        if not words & old_words and not any(text.casefold() in other for other in old_texts):
            old_texts.append(text.casefold())
            return text
    raise UnclearError("an entity", draw(), "no new value can be found in its place")


def _drawn(old: str, role: EntityRole, values: ValueSampler) -> str:
    if role in ("id", "phone"):
        # Digits change and the shape stays, of a phone number also the area code.
        prefix = 3 if role == "phone" else 0
        return old[:prefix] + re.sub(r"[1-9]", lambda _: values.draw.choice("123456789"), old[prefix:])
    if role == "person" and values.lang == "en":
        return values.pick("first_names")
    kinds: dict[EntityRole, str] = {"person": "person", "place": "city", "title": "title", "email": "email"}
    new = str(values.of(kinds[role]))
    if role == "place" and re.search(r"\d", old):
        return str(values.of("address"))
    return new


def year_shift(years: set[int], draw: Random) -> int:
    """By how many years all dates move: to years with the same weekdays and leap days."""

    def like(a: int, b: int) -> bool:
        return calendar.isleap(a) == calendar.isleap(b) and date(a, 1, 1).weekday() == date(b, 1, 1).weekday()

    shifts = [
        shift
        for shift in range(-28, 41)
        if shift and all(1905 <= year + shift <= 2095 and like(year, year + shift) for year in years)
    ]
    if years and not shifts:
        raise UnclearError(
            "dates", ", ".join(map(str, sorted(years))), "no other years have the same calendars"
        )
    return draw.choice(shifts) if years else 0


_FIELDS = ("env_info", "tasks", "answer_list")
_DRAWS = 8
"""Draws of new values until no text is nearly one of another session."""


@dataclass(frozen=True, slots=True)
class UnchangedSession:
    """A session that was not rewritten, and why."""

    item: str
    reason: str


def refresh_session(record: Mapping[str, Any], seed: str) -> dict[str, Any]:
    """The session with fresh values, without the other texts that models proposed: those have the old values.

    Raises:
        UnclearError: with a place and a value whose role is unclear.
    """
    refreshed = copy.deepcopy(dict(record))
    if "made_by" in refreshed:
        refreshed["made_by"] = {k: v for k, v in as_object(refreshed["made_by"]).items() if k != "candidates"}
    for prefix in language_prefixes(record):
        names = [f"{prefix}_{name}" for name in _FIELDS if f"{prefix}_{name}" in record]
        if "answer_list" in record and f"{prefix}_answer_list" not in record:
            names.append("answer_list")
        draw = seeded_draw(f"{seed}/{record.get('id')}/{prefix}")
        rewriter = Rewriter(record, prefix, names, draw)
        for name in names:
            refreshed[name] = rewriter.rewritten(record[name], "")
        rewriter.check({name: refreshed[name] for name in names})
    _check_findings(record, refreshed)
    return refreshed


def refresh_file(
    path: Path, seed: str, refused: list[UnchangedSession], *, skip_unclear: bool
) -> Iterator[dict[str, Any]]:
    """The rewritten sessions of a file.

    Args:
        refused: gets the sessions that `skip_unclear` leaves out.

    Raises:
        DataError: for a file that is no session file, or a session in which the role of a value is unclear.
    """
    apart = _TextDeduplicator()
    for number, record in read_records(path):
        for prefix in language_prefixes(record) or [""]:
            # Says what is wrong with a record that is no session.
            read_session(record, f"{path}:{number}", prefix)
        try:
            yield apart.refreshed(record, seed)
        except UnclearError as unclear:
            if not skip_unclear:
                raise DataError(
                    f"{path}:{number}: {record.get('id')}: {unclear}; correct it, or leave such sessions out "
                    "with --skip-unclear"
                ) from unclear
            refused.append(UnchangedSession(str(record.get("id")), str(unclear)))


class _TextDeduplicator:
    """Keeps rewritten texts of a file distinct if the old ones were: new names could make two alike."""

    def __init__(self) -> None:
        self._old, self._new = (NearDuplicateIndex(NEAR_DUPLICATE_SCORE) for _ in range(2))

    def refreshed(self, record: Mapping[str, Any], seed: str) -> dict[str, Any]:
        """The session with fresh values; drawn again, a few times, if a text nearly repeats an earlier one.

        Raises:
            UnclearError: for a text that is so each time, or a value whose role is unclear.
        """
        old = _user_texts(record)
        alike = [self._old.first_near(text) is not None for text in old]
        near: list[str] = []
        for attempt in range(_DRAWS):
            fresh = refresh_session(record, f"{seed}/{attempt}" if attempt else seed)
            new = _user_texts(fresh)
            near = [
                text
                for text, was_alike in zip(new, alike, strict=True)
                if not was_alike and self._new.first_near(text) is not None
            ]
            if not near:
                for remembered, texts in ((self._old, old), (self._new, new)):
                    for text in texts:
                        remembered.add(text)
                return fresh
        raise UnclearError("a user text", near[0], "rewritten, it is nearly one of another session")


def _user_texts(record: Mapping[str, Any]) -> list[str]:
    """What users say in all languages of a session, as texts are compared."""
    return [
        fold_text(str(text)) for prefix in language_prefixes(record) for text in record[f"{prefix}_tasks"]
    ]


def _check_findings(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises UnclearError if the rewritten session breaks a rule that the old one kept."""
    before, after = (list(lint_records([(1, dict(each))], "", balanced=False)) for each in (old, new))
    if len(after) > len(before):
        earlier = {(finding.where, finding.message) for finding in before}
        worse = next((each for each in after if (each.where, each.message) not in earlier), after[-1])
        raise UnclearError(worse.where.split(" ", 2)[-1], "", f"rewritten, {worse.message[:80]}")


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
        session_text = str([record[name] for name in names])
        values = ValueSampler(draw, lang, datetime.min)
        self._new = replacement_texts(self._found, values, session_text, fixed)
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
            new = self._new[_old_text(match["text"], self._new)]
            return new.lower() if match["text"].islower() else new
        if match["year"]:
            return str(int(match["year"]) + self._shift)
        return self._amount(match)

    def _amount(self, match: re.Match[str]) -> str:
        """A number in a text: multiplied if it is an amount of money."""
        amount = match["number"]
        value = _value(amount)
        if value is None:
            return amount
        marked = _is_marked(match)
        if not marked and value not in self._found.money:
            return amount
        labels = re.findall(
            r"[a-z]+(?=[ _:]+$)", match.string[max(0, match.start() - 30) : match.start()].casefold()
        )
        if labels and is_money(labels[-1], float(value), beside_currency=False):
            marked = True
        elif labels and labels[-1] in self._found.number_keys:
            return amount
        if not marked and value in self._found.numbers - self._found.gold_money:
            return amount
        if not marked and value in self._found.numbers:
            raise UnclearError(f"a text, {match.string[:60]!r}", amount)
        return str(value * self._factor)

    def check(self, refreshed: Any) -> None:
        """Raises UnclearError if an old value is left."""
        text = str(refreshed)
        for old in self._new:
            if re.search(_bounded(old), text, re.IGNORECASE):
                raise UnclearError("the rewritten session", old, "it still stands there")


def _value(text: str) -> Decimal | None:
    """A number as written, such as `1,850.5`; None if it could be read in two ways."""
    plain = text.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else text
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
    left_border = r"(?<![A-Za-z0-9])" if _WORD.match(text[0]) else ""
    right = r"(?![A-Za-z0-9])" if _WORD.match(text[-1]) else ""
    return left_border + re.escape(text) + right


def _old_text(text: str, replacements: Mapping[str, str]) -> str:
    return (
        text
        if text in replacements
        else next(old for old in replacements if old.casefold() == text.casefold())
    )
