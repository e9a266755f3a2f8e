"""Finds the entities of a session that can be replaced: ids, names, places, titles, contacts, years and amounts.

A value's role follows from its key and form. Words, enum members, times and quantities stay; what looks like a name but
has a key that says nothing is unclear.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from wildtool.json_codec import as_list, as_object, values_inside
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool_data.make.procedural.value_roles import value_role
from wildtool_data.make.procedural.values import word_list

EntityRole = Literal["id", "person", "place", "title", "phone", "email"]

_KEYS: tuple[tuple[EntityRole, str], ...] = (
    ("phone", r"phone|mobile|电话|手机"),
    ("email", r"e_?mail"),
    (
        "person",
        r"(?:^|_)(?:person|payer|payee|traveller|traveler|passenger|guest|tutor|teacher|contact|recipient|sender|owner"
        r"|authors?"
        r"|artist|player|participant|attendee|attendees|patient|doctor|host|holder|customer|colleague|recipients"
        r"|buddy|friend|first_name|last_name|full_name|account_name|display_name|seller|driver|with|to_name|invitee)$",
    ),
    (
        "place",
        r"(?:^|_)(?:city|town|place|location|destination|origin|station|stop|address|street|venue|village|branch"
        r"|from|to)$",
    ),
    (
        "title",
        r"(?:^|_)(?:names?|title|merchant|shop|store|restaurant|deck|deck_name|list|list_name|playlist|project|album|event"
        r"|subject|topic|label|hotel|company|team|product|book|band|house|purpose|film|movie|song|parcel_shop|room_name|course)$",
    ),
)  # fmt: skip
_MONEY = re.compile(
    r"(?:^|_)(?:amount|price|cost|fee|balance|budget|spent|refund|paid|fare|rent|tip|deposit|repayment|saved|monthly)"
    r"(?:$|_(?:per_\w+|eur|usd|gbp|cny|from|to|old|new)$)"
)
_MONEY_IF_DECIMAL = re.compile(r"(?:^|_)(?:total|subtotal|remaining|charged?|net|debit|credit|limit)$")
_ID_KEY = re.compile(
    r"(?:^|_)(?:id|ID)s?$|[a-z](?:Id|ID)s?$|(?:^|_)(?:number|code|ref|reference|iban|order|invoice)$"
)
_ID = re.compile(
    r"[A-Za-z]{1,6}(?:[-_ ][A-Za-z0-9]{1,8}){0,3}[-_ ]?\d{2,}[A-Za-z0-9]*(?:[-_]\w+)*|[A-Z]{1,3}\d{3,}|\d{4,}"
)
_ISO_DATE = re.compile(r"(?<![\w-])(\d{4})-\d\d(?:-\d\d)?(?!\d)")
_SHORTEST, _LONGEST = 3, 60
"""Characters of a text that can be an entity."""
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?:-\d{1,2}:\d\d)?")
_NAME = re.compile(
    r"[A-ZÀ-Þ][\w'’.-]*(?: (?:[A-ZÀ-Þ][\w'’.-]*|de|la|van|von|the|of|and|&))*(?: [A-ZÀ-Þ\d][\w'’.-]*)?"
)
_ADDRESS = re.compile(
    r"[A-Z]\w+(?: [A-Z]\w+)? (?:Street|St\.?|Road|Rd\.?|Avenue|Ave\.?|Lane|Square|Drive|Boulevard|Way) \d{1,4}"
    r"|\d{1,5} [A-Z]\w+(?: [A-Z]\w+)? (?:Street|St\.?|Road|Rd\.?|Avenue|Ave\.?|Lane|Square|Drive|Boulevard|Way)"
)
"""A street with a number, under any key."""
_WIDE = re.compile(r"[\u4e00-\u9fff]{2,8}")
_PEOPLE = re.compile(
    r"contact|person|people|travell?er|passenger|customer|member|attendee|guest|doctor|e_?mail|phone|relation"
)
"""Keys and names of tools beside which a name is a person's."""
_STAMP = re.compile(r"(?:19|20)\d\d[01]\d[0-3]\d|1\d{9}")
"""Dates without separators and seconds since 1970."""
_SPLIT = re.compile(r"([a-z0-9])([A-Z])")


class UnclearError(Exception):
    """A value of unclear role: rewriting it, or leaving it, could be wrong."""

    def __init__(self, place: str, value: str, reason: str = "its role is unclear") -> None:
        super().__init__(": ".join(part for part in (place, value and repr(value), reason) if part))


@dataclass(slots=True)
class SessionEntities:
    """What was found in one session."""

    texts: dict[str, EntityRole] = field(default_factory=dict[str, EntityRole])
    """Role of each value, as written."""
    years: set[int] = field(default_factory=set[int])
    money: set[Decimal] = field(default_factory=set[Decimal])
    gold_money: set[Decimal] = field(default_factory=set[Decimal])
    """Amounts among gold arguments."""
    numbers: set[Decimal] = field(default_factory=set[Decimal])
    """Numbers that are no amounts of money."""
    number_keys: set[str] = field(default_factory=set[str])
    """Keys of those numbers, as words."""
    words: dict[str, str] = field(default_factory=dict[str, str])
    """Gold values that look like names, and are words of a list by the definition of their parameter; with the place."""


def find_entities(
    nodes: list[Any], date: str, fixed: frozenset[str], schemas: Mapping[str, Mapping[str, Any]] | None = None
) -> SessionEntities:
    """The entities of a session.

    Args:
        nodes: all gold nodes of all tasks, as written.
        date: the date line.
        fixed: values that must stay: enum members and names of tools, case-folded.
        schemas: the parameters of each tool.

    Raises:
        UnclearError: for a gold value that looks like a name of something unknown.
    """
    entities = SessionEntities()
    entities.years.update(int(match[1]) for match in _ISO_DATE.finditer(date))
    unknown: dict[str, str] = {}
    for node in nodes:
        action = as_object(node["action"])
        name = str(action["name"])
        gold = not name.startswith(("prepare_to_answer", "ask_user_for_"))
        for leaf in _leaves(node.get("observation"), "observation", "", (), {}):
            _record_leaf(entities, leaf, {}, fixed)
        schema = (schemas or {}).get(name, {})
        arguments = as_object(action["arguments"] if gold else {})
        other = as_object(node.get("alternatives"))
        accepted = [{**arguments, key: value} for key in other for value in as_list(other[key])]
        for calls in (arguments, *accepted):
            for leaf in _leaves(calls, name, "", (name,), schema):
                _record_leaf(entities, leaf, unknown, fixed)
    for value, path in unknown.items():
        if value not in entities.texts:
            raise UnclearError(path, value)
    texts = {value.casefold() for value in entities.texts}
    for value, path in entities.words.items():
        if value.casefold() in texts:
            raise UnclearError(path, value, "it is a word of a list here, and elsewhere a name")
    return entities


def is_money(key: str, value: int | float, *, beside_currency: bool) -> bool:
    """True for an amount of money: by its key, or as a decimal beside a currency."""
    decimal = isinstance(value, float)
    plain = snake(key)
    return _MONEY.search(plain) is not None or (
        decimal and (beside_currency or bool(_MONEY_IF_DECIMAL.search(plain)))
    )


def qualified_key(key: str, name: str) -> str:
    """The key of a value, with its object's if only that says what it is, as in `amount: {from, to}`."""
    return f"{key}_{name}" if _MONEY.search(snake(key)) and name in ("from", "to", "old", "new") else name


def snake(key: str) -> str:
    """`accountId` as `account_id`."""
    return _SPLIT.sub(r"\1_\2", key).casefold()


@dataclass(frozen=True, slots=True)
class _Leaf:
    path: str
    key: str
    value: Any
    beside: tuple[str, ...]
    """Keys of its object; for arguments also the tool's name."""
    schema: Mapping[str, Any]
    """Definition of the parameter; empty for what a tool returned."""


def _leaves(
    value: Any, path: str, key: str, beside: tuple[str, ...], schema: Mapping[str, Any]
) -> Iterator[_Leaf]:
    if isinstance(value, dict):
        table = as_object(value)
        around = (*beside[:1], *table)
        for name, child in table.items():
            inner = member_schemas(schema).get(name, {})
            yield from _leaves(child, f"{path}.{name}", qualified_key(key, name), around, inner)
    elif isinstance(value, list):
        # The description of a list may be the only one of its elements.
        inner = {"description": schema.get("description", ""), **as_schema(schema.get("items"))}
        for child in as_list(value):
            yield from _leaves(child, path, key, beside, inner)
    elif value is not None:
        yield _Leaf(path, key, value, beside, schema)


def _record_leaf(
    entities: SessionEntities, leaf: _Leaf, unknown: dict[str, str], fixed: frozenset[str]
) -> None:
    """Adds one leaf to what was found."""
    value = leaf.value
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        amount = is_money(leaf.key, value, beside_currency="currency" in leaf.beside)
        (entities.money if amount else entities.numbers).add(Decimal(str(value)))
        if amount and leaf.beside and leaf.path.startswith(leaf.beside[0]):
            entities.gold_money.add(Decimal(str(value)))
        entities.number_keys.update([] if amount else [snake(leaf.key).split("_")[-1]])
        if isinstance(value, int) and _ID_KEY.search(leaf.key) and value > 999:
            entities.texts[str(value)] = "id"
        elif _STAMP.fullmatch(str(value)):
            raise UnclearError(leaf.path, str(value))
        return
    text = str(value)
    entities.years.update(int(match[1]) for match in _ISO_DATE.finditer(text) if 1900 < int(match[1]) < 2100)
    wide = _WIDE.fullmatch(text) is not None
    if text.casefold() in fixed or not leaf.key or _ISO_DATE.match(text) or _CLOCK.fullmatch(text):
        return
    if len(text) > _LONGEST or (len(text) < _SHORTEST and not wide):
        return
    role = entity_role(leaf.key, text)
    is_name = role == "title" and not wide and snake(leaf.key) in ("name", "names")
    if is_name and _PEOPLE.search(snake(" ".join(leaf.beside))):
        role = "person"
    if role is not None:
        entities.texts[text] = "person" if entities.texts.get(text) == "person" else role
    elif _STAMP.fullmatch(text):
        raise UnclearError(leaf.path, text)
    elif _NAME.fullmatch(text) and not text.isupper():
        told = value_role(snake(leaf.key), leaf.schema, text) if leaf.schema else ""
        if told == "stays":
            entities.words[text] = leaf.path
        elif told:
            entities.texts[text] = told
        else:
            unknown[text] = leaf.path


def entity_role(key: str, text: str) -> EntityRole | None:
    """The role of a text under a key; None for words that are nobody's name."""
    plain = snake(key)
    if "@" in text:
        return "email" if re.fullmatch(r"[\w.+-]+@[\w.-]+", text) else None
    by_key = next((role for role, pattern in _KEYS if re.search(pattern, plain)), None)
    if by_key == "phone":
        return "phone" if re.search(r"\d{3}", text) else None
    if _ID.fullmatch(text) and (_ID_KEY.search(key) or re.search(r"[-_]\d{2,}", text)):
        return "id"
    if _ID_KEY.search(key):
        return "id" if re.search(r"\d{2}", text) and " " not in text else None
    if _WIDE.fullmatch(text):
        if text in word_list("cities", "zh"):
            return "place"
        if by_key == "person" and not (len(text) <= 3 and text[0] in word_list("last_names", "zh")):
            return None
        return by_key if by_key in ("title", "place", "person") else None
    if by_key in ("person", "place", "title") and _NAME.fullmatch(text):
        return by_key
    return "place" if text in word_list("cities", "en") or _ADDRESS.fullmatch(text) else None


def fixed_values(tools: list[Any]) -> frozenset[str]:
    """Enum members and names that tools define, case-folded."""
    fixed: set[str] = set()
    for table in map(as_object, values_inside(tools)):
        fixed.update(str(member).casefold() for member in as_list(table.get("enum")))
        if isinstance(table.get("name"), str):
            fixed.add(table["name"].casefold())
    return frozenset(fixed)


def tool_schemas(tools: list[Any]) -> dict[str, Mapping[str, Any]]:
    """The parameters of each tool as a record writes it."""
    functions = [as_schema(as_schema(tool).get("function")) for tool in tools]
    return {str(function.get("name")): as_schema(function.get("parameters")) for function in functions}
