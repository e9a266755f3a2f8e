"""What sort of value a parameter takes, told by its type, format, name and description."""

import re
from typing import Any

from wildtool.models.lexical.offered import Parameter
from wildtool.models.lexical.reading import as_list
from wildtool.models.lexical.words import stems


def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stems(text))


_ID = _stem_set("id ids code no nr key ref reference token sku isbn uuid")
_FREE = _stem_set(
    "text message body note content comment title subject description caption query q keyword phrase "
    "memo reason remark word"
)
QUERY = _stem_set("query q keyword search term topic")
PLACE = _stem_set(
    "city place location country area region venue airport station destination origin town address "
    "street state departure arrival"
)
PERSON = _stem_set(
    "person buddy guest assignee name recipient contact payer payee merchant author artist passenger "
    "traveller owner friend user receiver customer attendee member doctor patient shop store company "
    "brand"
)
SOURCE = _stem_set("from origin departure source start pickup")
TARGET = _stem_set("to destination arrival target recipient receiver end dropoff")
_LEADS = (
    (SOURCE, ("from", "leaving")),
    (TARGET, ("to", "for", "into")),
    (PLACE, ("in", "at", "to", "near", "around", "for", "of", "from")),
    (
        PERSON,
        (
            "with",
            "for",
            "to",
            "by",
            "from",
            "at",
            "did",
            "get",
            "tell",
            "invite",
            "is",
            "called",
            "of",
            "and",
        ),
    ),
)
_CONTACTS = (
    ("email", _stem_set("email mail")),
    ("url", _stem_set("url uri link website")),
    ("phone", _stem_set("phone mobile telephone")),
)

_UNITS = (
    (
        r"[$€£¥]\s*$|\b(?:euros?|eur|dollars?|usd|bucks|pounds?|gbp|yen)\b|元|块|欧",
        r"amount|price|cost|budget|total|fare|limit|fee",
    ),
    (r"\bmin(?:ute)?s?\b|分钟", r"minute|duration|time"),
    (r"\bh(?:ou)?rs?\b|小时", r"hour|duration|time"),
    (
        r"\b(?:people|persons?|guests?|adults?|of us)\b|人|位",
        r"guest|people|person|adult|party|passenger|seat|size",
    ),
    (r"\bkm\b|kilomet|公里", r"km|distance|radius|kilomet"),
    (r"\bnights?\b|晚", r"night"),
    (r"\bdays?\b|天", r"day"),
    (r"%|percent", r"percent|rate|discount"),
    (r"\bkg\b|kilo|公斤", r"weight|kg"),
    (r"\bquestions?\b|题", r"question|count"),
)


def kind_of(parameter: Parameter) -> str:
    """What sort of value a parameter takes, by type first, then format, name and description."""
    schema, types = parameter.schema, types_of(parameter)
    if as_list(schema.get("enum")):
        return "enum"
    for kind, names in (
        ("boolean", {"boolean", "bool"}),
        ("array", {"array", "list"}),
        ("object", {"object", "dict"}),
    ):
        if names & set(types):
            return kind
    name = words_of(parameter)
    if {"integer", "number", "float"} & set(types):
        return "id" if name & _ID else "number"
    return _text_kind(parameter, name)


def _text_kind(parameter: Parameter, name: set[str]) -> str:
    about = parameter.description
    form = parameter.schema.get("format")
    if form in ("date-time", "datetime") or re.search(r"(?i)DD[T ]'?HH", about):
        return "moment"
    if form == "date" or re.search(r"(?i)YYYY-MM-DD", about) or name & _stem_set("date day"):
        return "date"
    if re.search(r"(?i)YYYY-MM\b", about) or "month" in name:
        return "month"
    if form == "time" or re.search(r"HH:MM", about) or name & _stem_set("time"):
        return "time"
    for kind, said in _CONTACTS:
        if form == kind or name & said or said & set(stems(about)[:6]):
            return kind
    if (
        name & _ID
        or re.match(r"(?i)(?:the )?(?:unique )?id\b", about)
        or (name & {"number"} and re.search(r"\d", about))
    ):
        return "id"
    if name & _FREE:
        return "free"
    if name & (PLACE | {"from", "to"}):
        return "place"
    return "name" if name & PERSON else "string"


def words_of(parameter: Parameter) -> set[str]:
    return set(stems(parameter.name))


def types_of(parameter: Parameter) -> list[str]:
    declared = parameter.schema.get("type")
    return [name for name in as_list(declared) or [declared] if isinstance(name, str) and name != "null"]


def is_integer(parameter: Parameter) -> bool:
    return "integer" in types_of(parameter)


def leads_of(parameter: Parameter) -> tuple[str, ...]:
    """Words that stand before a name that suits the parameter."""
    return next((leads for kinds, leads in _LEADS if kinds & words_of(parameter)), ())


def id_shape(description: str) -> re.Pattern[str] | None:
    """The form of an id from an example or a count of digits in the description; None if there is none."""
    example = re.search(
        r"(?:e\.g\.|for example|such as|like|例如|比如|如)\s*,?\s*['\"“]?"
        r"([A-Za-z]{0,8}[-_#]?(?:[A-Za-z]{0,4}[-_]?)?\d[\w-]{0,20})",
        description,
    )
    if example:
        form = re.sub(r"\d+", r"\\d+", re.escape(example[1]))
        return re.compile(rf"(?<!\w){form}(?!\w)", re.IGNORECASE)
    count = re.search(r"(\d{1,2})[ -]?(?:digits?|位)", description)
    return re.compile(rf"(?<!\d)\d{{{int(count[1])}}}(?!\d)") if count else None


def unit_score(parameter: Parameter, near: str) -> int:
    """Points for a unit beside a number that suits the parameter, minus points for one that does not."""
    said = f"{parameter.name} {parameter.description}".lower()
    for unit, meaning in _UNITS:
        if re.search(unit, near, re.IGNORECASE):
            return 3 if re.search(meaning, said) else -1
    return 0


def typed(value: Any, parameter: Parameter) -> Any:
    """The value in the parameter's type; None where it has no form in it."""
    types = types_of(parameter)
    if value is None or not types:
        return value
    if "string" in types and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if {"integer", "number"} & set(types) and isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None
    return value
