"""New names, ids and years in place of those found in a session: of the same kind, and unlike anything in the session."""

import calendar
import re
from collections.abc import Callable
from datetime import date
from functools import partial
from random import Random

from wildtool.generate.procedural.values import ValueSampler
from wildtool.generate.refresh.entities import EntityRole, SessionEntities, UnclearError

_WORDS_TOO = re.compile(
    "will|may|mark|rose|grace|hope|art|bill|rich|frank|jack|dawn|april|june|august|summer|joy|faith", re.I
)
"""Names that are common words as well."""


def replacement_texts(
    found: SessionEntities, values: ValueSampler, whole: str, fixed: frozenset[str]
) -> dict[str, str]:
    """A new text for each old one; parts of a person's name have their own."""
    new: dict[str, str] = {}
    taken = [whole.casefold()]
    people = [old for old, role in found.texts.items() if role == "person"]
    old_words = {word for old in people for word in old.casefold().split()}
    for old, role in found.texts.items():
        if role == "person" and " " in old:
            for word in old.split():
                if _WORDS_TOO.fullmatch(word) and re.search(rf"\b{word.lower()}\b", whole):
                    raise UnclearError("a name that is a word too", word)
                if len(word) > 2 and word.casefold() not in fixed and word not in new:
                    name = "first_names" if word == old.split()[0] else "last_names"
                    new[word] = _distinct_draw(partial(values.pick, name), taken, old_words)
            new[old] = " ".join(new.get(word, word) for word in old.split())
    for old, role in found.texts.items():
        if old not in new and old.casefold() not in fixed:
            new[old] = _distinct_draw(partial(_drawn, old, role, values), taken, old_words)
    return new


def _distinct_draw(draw: Callable[[], str], taken: list[str], old_words: set[str]) -> str:
    """A drawn text that does not occur in the session and was not drawn before."""
    for _ in range(200):
        text = draw()
        words = set(re.findall(r"[^\W\d_]+", text.casefold()))
        if not words & old_words and not any(text.casefold() in other for other in taken):
            taken.append(text.casefold())
            return text
    raise UnclearError("an entity", draw(), "no new value can be found in its place")


def _drawn(old: str, role: EntityRole, values: ValueSampler) -> str:
    if role in ("id", "phone"):
        # Digits change and the shape stays, of a phone number also the area code.
        kept = 3 if role == "phone" else 0
        return old[:kept] + re.sub(r"[1-9]", lambda _: values.draw.choice("123456789"), old[kept:])
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
