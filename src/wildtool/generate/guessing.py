"""What a tool of a user's file means, guessed from names and descriptions: kinds, nouns, clauses, what it returns."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.generate.plan import Lang

_IDENTIFIER = re.compile(r"(?:^|_)ids?$|[a-z]Ids?$|ID$", re.ASCII)
_KINDS: Sequence[tuple[str, str, str]] = (
    ("string", r"e.?mail", "email"),
    ("string", r"\bips?\b", "ip"),
    ("string", r"coordinate|latitude|\bbbox\b", "coordinates"),
    ("string", r"\bcurrenc|\bcoins?\b", "currency"),
    ("string", r"\bcountr", "country"),
    ("string", r"\blanguage|\blocale\b", "language"),
    ("string", r"\buser ?names?\b|nickname|password", "handle"),
    ("string", r"\bversion\b", "version"),
    ("string", r"sha ?\d+|\bhash\b|base64", "hash"),
    ("string", r"phone|mobile", "phone"),
    ("string", r"url|link|website|domain", "url"),
    ("string", r"timestamp", "digits"),
    ("string", r"date|day\b|month", "date"),
    ("string", r"time|hour", "time"),
    ("string", r"city|location|place|region|destination|origin|town", "city"),
    ("string", r"address|street", "address"),
    ("string", r"author|person|user ?name|owner|artist|player|customer|recipient|contact", "person"),
    ("string", r"title|name|topic|subject|keyword|query|term", "title"),
    ("string", r"code|symbol|number|key|token", "code"),
    ("string", r"text|message|comment|content|note|body|description", "sentence"),
    ("integer", r"year", "year"),
    ("integer", r"minute|duration", "minutes"),
    ("integer", r"limit|count|page|number|quantity|size", "count"),
    ("float", r"price|amount|cost|budget", "amount"),
)
"""Type, what the name or else the description says, kind; the first that fits counts."""
_THIRD_PERSON = re.compile(r"(\w+?)(?:(?<=sh)es|(?<=ch)es|(?<=ss)es|(?<=x)es|(?<!s)s)\b")
_LISTS = re.compile(r"^(?:search|list|find|query|browse)|s$", re.I)


@dataclass(frozen=True, slots=True)
class Gives:
    """What a tool returns: an entity with an id, a list of them, or only facts."""

    listed: bool = False
    entity: str = ""
    """Such as `booking`; the id's key is `booking_id`. Empty where nothing with an id is returned."""
    noun: str = ""
    fields: tuple[tuple[str, str], ...] = (("status", "status"),)
    """Name and kind of each further field."""
    id_key: str = ""
    """Key of the id, where it is not made from the entity."""

    @property
    def key(self) -> str:
        return self.id_key or (f"{self.entity}_id" if self.entity else "")


def guess_kind(name: str, schema: Mapping[str, Any]) -> str:
    """The kind of values a parameter takes."""
    type_ = str(schema.get("type", "string"))
    if "enum" in schema:
        return "enum"
    if type_ in ("boolean", "null"):
        return "boolean"
    if type_ == "string" and _IDENTIFIER.search(name):
        return "id"
    for text in (_words(name), str(schema.get("description", "")).casefold()):
        for of_type, pattern, kind in _KINDS:
            if of_type == type_ and re.search(pattern, text):
                return kind
    return {"integer": "integer", "float": "number"}.get(type_, "text")


def noun_of(name: str, kind: str) -> str:
    """What a user calls a parameter: its name in words, an identifier by what it identifies."""
    words = _words(name)
    if kind == "id":
        words = re.sub(r"\s*\bids?$", "", words)
    return words or "record"


def guess_clause(description: str, slots: Sequence[tuple[str, str, str, bool]], lang: Lang) -> str:
    """An infinitive clause from a tool's description, with a part for each slot (key, noun, kind, required)."""
    sentence = re.split(r"(?<=[a-z0-9\u4e00-\u9fff)])[.。!?！？](?:\s|$)", description.strip())[0].rstrip(
        ".。 "
    )
    sentence = re.sub(r"[\[\]{}]", "", sentence)
    first = sentence.split(" ", 1)[0]
    base = _THIRD_PERSON.fullmatch(first)
    rest = sentence[len(first) :]
    verb = (base[1] if base else first).lower() if first[1:].islower() else first
    parts = "".join(f"[{'; ' if lang == 'en' else '，'}{{{key}}}]" for key, *_ in slots)
    return verb + rest + parts


def guess_gives(name: str, own: Collection[str], wanted: Collection[str]) -> Gives:
    """What a tool returns: an entity whose id some tool of the set wants and that the tool's name speaks of."""
    words = _words(name).split()
    for key in sorted(wanted):
        noun = noun_of(key, "id")
        stem = noun.split()[-1]
        if key not in own and any(word in (stem, stem + "s", stem + "es") for word in words):
            listed = _LISTS.search(name) is not None
            fields = (("name", "title"),) if listed else (("status", "status"),)
            return Gives(listed, noun, noun, fields, key)
    return Gives()


def _words(name: str) -> str:
    return re.sub(r"[_.\-\s]+", " ", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)).strip().casefold()
