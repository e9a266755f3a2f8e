"""Values of one kind that a text holds for a parameter, the likeliest first."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from wildtool.models.lexical import find
from wildtool.models.lexical.days import days, months, times
from wildtool.models.lexical.kinds import PERSON, PLACE, QUERY, SOURCE, TARGET, id_shape, leads_of, words_of
from wildtool.models.lexical.offered import Parameter
from wildtool.models.lexical.reading import as_list, is_plain
from wildtool.models.lexical.words import has_cjk, tagged

_CHINESE_SPAN = r"[^\s，。！？、；,.!?的]{1,12}?"
_SAID = re.compile(r"\b(?:called|named|titled|saying|that says?|write)\s*:?\s+(.{2,200})", re.IGNORECASE)
_ABOUT = re.compile(r"\b(?:about|regarding|for|on)\s+((?:the\s+)?[\w' -]{3,60})")


def candidates(kind: str, parameter: Parameter, text: str, now: datetime | None) -> list[Any]:
    """Values of a kind in a text; relative days are counted from `now`."""
    if kind in _DATED:
        return _DATED[kind](parameter, text, now)
    return _PLAIN[kind](parameter, text) if kind in _PLAIN else []


def members_in(parameter: Parameter, text: str) -> list[Any]:
    """The enumeration members of a parameter that a text names, in order of mention."""
    members = [member for member in as_list(parameter.schema.get("enum")) if is_plain(member)]
    return find.members_named(members, text, parameter.description)


def _dates(parameter: Parameter, text: str, now: datetime | None) -> list[str]:
    return [found.value.isoformat() for found in days(text, now)]


def _months(parameter: Parameter, text: str, now: datetime | None) -> list[str]:
    return months(text, now)


def _moments(parameter: Parameter, text: str, now: datetime | None) -> list[str]:
    """Day and time of day together, in the form that the description asks for."""
    blank = " " if re.search(r"DD HH", parameter.description) else "T"
    seconds = ":00" if re.search(r"(?i)HH:MM:SS", parameter.description) else ""
    pairs = zip(days(text, now), times(text), strict=False)
    return [f"{day.value.isoformat()}{blank}{time.value}{seconds}" for day, time in pairs]


def _times(parameter: Parameter, text: str) -> list[str]:
    return [found.value for found in times(text)]


def _ids(parameter: Parameter, text: str) -> list[str]:
    form = id_shape(parameter.description) or find.CODE
    codes = [match[0] for match in form.finditer(find.without_quoted(text))]
    named = {found.value.isoformat() for found in days(text, None)}
    return [code for code in codes if code not in named]


def _places(parameter: Parameter, text: str) -> list[str]:
    suited, others = _names(parameter, text)
    return [*(suited or find.lower_names(text, leads_of(parameter)[:2])), *others]


def _people(parameter: Parameter, text: str) -> list[str]:
    suited, others = _names(parameter, text)
    return [*suited, *find.quoted(text), *others]


def _strings(parameter: Parameter, text: str) -> list[str]:
    suited, others = _names(parameter, text)
    return [*find.quoted(text), *suited, *others]


def _free(parameter: Parameter, text: str) -> list[str]:
    """Quoted words, else what follows "called", or for a query what follows "about"."""
    match = _SAID.search(text)
    if match is None and words_of(parameter) & QUERY:
        match = _ABOUT.search(text)
    return find.quoted(text) or ([match[1].strip(" .!?")] if match else [])


def _emails(parameter: Parameter, text: str) -> list[str]:
    return [match[0] for match in find.EMAIL.finditer(text)]


def _urls(parameter: Parameter, text: str) -> list[str]:
    return [match[0].rstrip(".,!?") for match in find.URL.finditer(text)]


def _phones(parameter: Parameter, text: str) -> list[str]:
    return [match[0].strip() for match in find.PHONE.finditer(text)]


def _names(parameter: Parameter, text: str) -> tuple[list[str], list[str]]:
    """Names after a preposition that suits the parameter, and (for a required one) all others."""
    found = find.names(text)
    suited = [name for lead in leads_of(parameter) for name, before in found if before == lead]
    if not suited and has_cjk(text):
        suited = _chinese_names(parameter, text)
    return suited, [name for name, _ in found if parameter.required and not find.is_acronym(name)]


def _chinese_names(parameter: Parameter, text: str) -> list[str]:
    name, text = words_of(parameter), find.without_quoted(text)
    if name & SOURCE and (found := re.findall(rf"从({_CHINESE_SPAN})(?=到|去|[\s，。]|$)", text)):
        return found
    if name & (PLACE | SOURCE | TARGET):
        return tagged(text, "ns")
    return tagged(text, "nr") if name & PERSON else []


_DATED: dict[str, Callable[[Parameter, str, datetime | None], list[Any]]] = {
    "date": _dates,
    "month": _months,
    "moment": _moments,
}
_PLAIN: dict[str, Callable[[Parameter, str], list[Any]]] = {
    "time": _times,
    "id": _ids,
    "place": _places,
    "name": _people,
    "string": _strings,
    "free": _free,
    "email": _emails,
    "url": _urls,
    "phone": _phones,
}
