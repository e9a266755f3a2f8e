"""What a tool of a user's file means, guessed from names and descriptions: kinds, nouns, clauses, what it returns."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wildtool.toolcall.schema import as_schema, member_schemas

_IDENTIFIER = re.compile(
    r"(?:^|[_-])(?:uu|gu)?ids?$|[a-z]Ids?$|ID$|^(?:user|group|org|account|item|order|product|customer|project|team)ids?$",
    re.ASCII,
)
_KINDS: Sequence[tuple[str, str, str]] = (
    ("string", r"e.?mail", "email"),
    ("string", r"\bips?\b", "ip"),
    ("string", r"coordinate|latitude|\bbbox\b", "coordinates"),
    ("string", r"\bcurrenc|\bcoins?\b", "currency"),
    ("string", r"\bcountry ?code|\biso ?3166|\bcountry iso", "country code"),
    ("string", r"\bcountr", "country"),
    ("string", r"\blanguage|\blocale\b", "language"),
    ("string", r"\buser ?names?\b|nickname|password", "handle"),
    ("string", r"\bversion\b", "version"),
    ("string", r"sha ?\d+|\bhash\b|base64", "hash"),
    ("string", r"phone|mobile", "phone"),
    ("string", r"\bur[il]s?\b|\blink|website|domain", "url"),
    ("string", r"timestamp", "digits"),
    ("string", r"\bdates?\b|\bdays?\b|month|birthday", "date"),
    ("string", r"\btimes?\b|\bhour", "time"),
    ("string", r"\bcity\b|\bcities\b|location|\bplaces?\b|\bregion|destination|origin|\btown", "city"),
    ("string", r"address|street", "address"),
    ("string", r"author|person|user ?name|owner|artist|player|customer|recipient|contact", "person"),
    ("string", r"title|name|topic|subject|keyword|query|term", "title"),
    ("string", r"code|symbol|number|key|token", "code"),
    ("string", r"text|message|comment|content|note|body|description", "sentence"),
    ("integer", r"year", "year"),
    ("integer", r"minute|duration", "minutes"),
    ("integer", r"limit|(?<!ac)(?<!dis)count(?!r)|page|number|quantity|size", "count"),
    ("float", r"price|amount|cost|budget", "amount"),
)
"""Type, what the name or else the description says, kind; the first that fits counts."""
_CLAUSE = re.compile(r"[,.;:(\n，。；：（]")
_LISTS = re.compile(r"^(?:search|list|find|query|browse)|s$", re.I)


@dataclass(frozen=True, slots=True)
class ReturnSemantics:
    """What a tool returns: an entity with an id, a list of them, or only facts."""

    is_list: bool = False
    entity: str = ""
    """Such as `booking`; the id's key is `booking_id`. Empty if nothing with an id is returned."""
    noun: str = ""
    fields: tuple[tuple[str, str], ...] = (("status", "status"),)
    """Name and kind of each further field."""
    id_key: str = ""
    """Key of the id, where it is not made from the entity."""
    form: str = ""
    """Form of the id, as a slot has it."""
    place: tuple[str, ...] | None = None
    """Keys from the result to the list of entities, or to the one; None if results follow no schema."""
    field: str = ""
    """Name of the id in the result, where it is not the key."""

    @property
    def key(self) -> str:
        return self.id_key or (f"{self.entity}_id" if self.entity else "")

    @property
    def name(self) -> str:
        """Name of the id in the result."""
        return self.field or self.key


def guess_kind(name: str, schema: Mapping[str, Any]) -> str:
    """The kind of values a parameter takes."""
    if "enum" in schema:
        return "enum"
    return _guess_kind(name, str(schema.get("type", "string")), str(schema.get("description", "")))


@lru_cache(maxsize=10_000)
def _guess_kind(name: str, type_: str, description: str) -> str:
    if type_ in ("boolean", "null"):
        return "boolean"
    if type_ == "string" and is_id(name):
        return "id"
    for text in (
        _words(name),
        _CLAUSE.split(description.casefold(), maxsplit=1)[0][:60],
    ):
        for of_type, pattern, kind in _KINDS:
            if of_type == type_ and re.search(pattern, text):
                return kind
    return {"integer": "integer", "float": "number"}.get(type_, "text")


def is_id(name: str) -> bool:
    """Whether a parameter of this name takes identifiers."""
    return _IDENTIFIER.search(name) is not None


@lru_cache(maxsize=10_000)
def noun_of(name: str, kind: str) -> str:
    """What a user calls a parameter: its name in words, an identifier by what it identifies."""
    words = _words(name)
    if kind == "id":
        words = re.sub(r"\s*\bids?$", "", words)
    return words or _words(name) or "id"


def guess_returns(
    name: str, own: Collection[str], ids: Mapping[str, str], returns: Mapping[str, Any]
) -> ReturnSemantics:
    """What a tool returns: an entity whose id some tool of the set wants and that the tool's name speaks of.

    Args:
        own: keys of the tool's own ids.
        ids: keys of the ids that tools of the set want, with their form.
        returns: the schema of the result; empty if none is known.
    """
    words = _words(name).split()
    for key in sorted(ids):
        noun = noun_of(key, "id")
        stem = noun.split()[-1]
        spoken_of = any(word in (stem, stem + "s", stem + "es", re.sub("y$", "ies", stem)) for word in words)
        if returns:
            if semantics := _documented(key, noun, ids[key], returns, spoken_of=spoken_of):
                return semantics
        elif spoken_of and key not in own:
            is_list = _LISTS.search(name) is not None
            fields = (("name", "title"),) if is_list else (("status", "status"),)
            return ReturnSemantics(is_list, noun, noun, fields, key, ids[key])
    return ReturnSemantics()


def _documented(
    key: str, noun: str, form: str, returns: Mapping[str, Any], *, spoken_of: bool
) -> ReturnSemantics | None:
    """Where a result of this schema has the id; None if it has none."""
    for place, is_list, schema in _entities(returns):
        words = _words(place[-1]) if place else ""
        fits = spoken_of or (words and words.rstrip("s") == noun.rstrip("s"))
        for name, child in member_schemas(schema).items():
            is_same = _words(name) == _words(key) or (fits and _words(name) in ("id", "uuid", f"{noun} id"))
            if is_same and form_of(child) == form:
                return ReturnSemantics(is_list, noun, noun, (), key, form, place, name)
    return None


def _entities(returns: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], bool, Mapping[str, Any]]]:
    """The objects in a result: their place, whether in a list, and their schema."""
    if returns.get("type") == "array":
        yield (), True, as_schema(returns.get("items"))
        return
    children = member_schemas(returns)
    yield from (
        ((name,), True, as_schema(child.get("items")))
        for name, child in children.items()
        if as_schema(child.get("items")).get("type") == "object"
    )
    yield (), False, returns
    yield from (((name,), False, child) for name, child in children.items() if child.get("type") == "object")


def form_of(schema: Mapping[str, Any]) -> str:
    """The form of the identifiers of a schema: `whole` for numbers, `uuid`, else empty; `other` for what is none."""
    if schema.get("type") in ("integer", "float") and "enum" not in schema:
        return "whole"
    if schema.get("type") != "string" or "pattern" in schema or "enum" in schema:
        return "other"
    return "uuid" if schema.get("format") == "uuid" else ""


def _words(name: str) -> str:
    return re.sub(r"[\W_]+", " ", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)).strip().casefold()
