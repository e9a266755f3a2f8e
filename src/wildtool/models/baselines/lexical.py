"""`baseline/lexical`: an agent without a language model, which goes by the words that the user and the tools share.

Each clause of the user's text asks for the tool that shares most with it. A parameter takes what suits its kind from
the clause, else from before; what is missing is asked for.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from math import log
from typing import Any

from wildtool.json_codec import as_list, as_object, loads
from wildtool.models.baselines import offered
from wildtool.models.baselines.offered import OfferedTool, Parameter, as_text, is_plain
from wildtool.toolcall.schema import schema_types
from wildtool.toolcall.text.canonical import normalise
from wildtool.toolcall.text.similarity import features
from wildtool.toolcall.text.spellings import respelled
from wildtool.types import Message, Request

NAME, ENUM, DESCRIPTION, DETAIL = 2.0, 1.5, 1.0, 0.3
"""Weights of a word by where the tool has it."""
THRESHOLD = 1.3
"""Overlap from which a clause asks for a tool: a word of its name is enough, one of its description is not."""
DEEPEST = 6
"""Levels of nested objects and results that are read."""
LONGEST_ANSWER = 40
"""Characters up to which an answer as a whole may be the value that was asked for."""

_CHINESE = r"[\u3400-\u9fff]"
_BREAK = re.compile(
    r"[.!?](?=\s|$)|[;\n。！？；，,：:](?!\d)|\b(?:then|also|plus|and|but|once)\b|然后|另外|再|顺便|还有|以及|同时",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|「([^」\n]{1,400})」|‘([^’\n]{1,400})’|《([^》\n]{1,200})》"
    r"|(?<!\w)'([^'\n]{2,400})'(?!\w)"
)
_CAPITAL = r"(?<!\w)[A-ZÀ-ÖØ-ÞĀŁŚŠŽČ](?:[\w&-]|\.(?=\w))*"
_NAME = re.compile(rf"{_CAPITAL}(?:\s+(?:(?:of|de|da|the)\s+)?{_CAPITAL})*")
_NUMBER = re.compile(r"(?<![\w.:/-])-?\d{1,15}(?:\.\d{1,9})?(?![\w:/]|-\d)|\d{1,9}(?=[个位人张份次分天晚])")
_FORMS = {
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
    "url": re.compile(r"(?:https?://|\bwww\.)[^\s\"'<>，。；）)]{1,500}(?<![.,!?])"),
    "id": re.compile(
        r"(?<![\w-])(?:(?=[\w-]{0,30}\d)[A-Za-z]{1,8}[-_]?[A-Za-z0-9_-]{2,30}|\d{4,18})(?![\w-])"
    ),
}
_TIME = re.compile(r"(?<![\d:])\d\d:\d\d(?!\d)")
_NEAR = {
    "day after tomorrow": 2, "tomorrow": 1, "today": 0, "tonight": 0, "yesterday": -1, "大后天": 3, "后天": 2,
    "明天": 1, "明早": 1, "明晚": 1, "今天": 0, "今晚": 0, "今早": 0, "前天": -2, "昨天": -1, "昨晚": -1,
}  # fmt: skip
_DAY = re.compile(
    r"(?<!\d)(?P<year>\d{4})[.-](?P<month>\d\d)[.-](?P<day>\d\d)(?!\d)"
    rf"|(?<![a-z])(?P<near>{'|'.join(_NEAR)})(?![a-z])"
    r"|(?:(?P<week>\b(?:this|next|last)|[这本下上])[ 个]?)?"
    r"(?P<weekday>\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:周|星期|礼拜)[一二三四五六日天])"
    r"|\bin (?P<count>\d{1,3}) (?P<unit>day|week)\b|(?<!\d)(?P<nth>\d{1,2})(?:(?:st|nd|rd|th)\b|号)",
    re.IGNORECASE,
)
_NO = re.compile(r"\b(?:no|not|without|don'?t|isn'?t|never)\W*$|[不没无别]$", re.IGNORECASE)
_ORDINALS = ((r"\bsecond\b|第二", 1), (r"\bthird\b|第三", 2), (r"\blast\b|最后", -1))
_KINDS = (
    ("date", {"date", "day"}, r"YYYY-MM-DD"),
    ("time", {"time"}, r"HH:MM"),
    ("email", {"email", "mail"}, r"(?i)\be-?mail addr"),
    ("url", {"url", "uri", "link", "website"}, r"\bURL\b"),
    (
        "id",
        {"id", "ids", "code", "no", "key", "ref", "reference", "isbn", "number", "phone"},
        r"^(?:The )?[Ii]d\b",
    ),
    ("text", {"text", "message", "body", "note", "content", "comment", "title", "subject", "query"}, r"(?!)"),
)
"""Kinds of texts by the words of a parameter's name or its format, and by its description."""

_LEADS = (
    ({"from", "origin", "departure", "source", "start"}, ("from",)),
    ({"to", "destination", "arrival", "target", "end"}, ("to", "for")),
    ({"city", "place", "location", "country", "region", "station", "address"}, ("in", "at", "near")),
    ({"person", "guest", "recipient", "contact", "author", "artist", "friend"}, ("with", "for", "to", "by")),
)
"""Words of a parameter's name and the words before a name that suits it."""


def answer(request: Request) -> Message:
    """The next assistant message; never raises, whatever the messages and tools."""
    talk = read_conversation(request.messages)
    made = {name for name, _ in talk.calls[talk.earlier[0] :]}
    calls: list[tuple[str, dict[str, Any]]] = []
    missing: list[Parameter] = []
    for tool, clause in wishes(offered.offered_tools(request.tools), talk.text):
        arguments, unknown = _Filler(talk, clause).fill(tool.parameters)
        if tool.name not in made and unknown:
            missing = missing or unknown
        elif tool.name not in made and (tool.name, arguments) not in (*talk.calls, *calls):
            # What a call brought once is still known.
            calls.append((tool.name, arguments))
    if calls:
        return offered.assistant_calls(calls, f"lexical_{len(request.messages)}")
    return {"role": "assistant", "content": _text(talk, missing)}


@dataclass(slots=True)
class Conversation:
    """A message list, read."""

    today: date | None = None
    texts: list[str] = field(default_factory=list[str])
    """What the user wants now, and the answers to questions about it."""
    question: str = ""
    """What the assistant asked last; empty if it said something else."""
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Mapping[str, Any]]])
    results: list[Any] = field(default_factory=list[Any])
    """What the calls brought, in order, each as a JSON value or a text."""
    earlier: tuple[int, int] = (0, 0)
    """How many of the calls and results belong to what the user wanted before."""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def read_conversation(messages: Sequence[object]) -> Conversation:
    """Reads messages of any quality."""
    talk = Conversation()
    for message in map(as_object, messages):
        role, text = message.get("role"), as_text(message.get("content"))
        if role == "system":
            talk.today = talk.today or next(map(date.fromisoformat, days(text, None)), None)
        elif role == "user" and talk.question and len(talk.calls) == talk.earlier[0]:
            talk.texts.append(text)
        elif role == "user":
            talk.texts, talk.question, talk.earlier = [text], "", (len(talk.calls), len(talk.results))
        elif role == "tool":
            talk.results.append(_read_json(text))
        elif role == "assistant":
            talk.question = text if re.search(r"[?？][\s\W]*$", text) else ""
            for call in as_list(message.get("tool_calls")):
                function = as_object(as_object(call).get("function"))
                arguments = as_object(_read_json(as_text(function.get("arguments"))))
                talk.calls.append((as_text(function.get("name")), arguments))
    return talk


def _read_json(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return text


def _text(talk: Conversation, missing: Sequence[Parameter]) -> str:
    """A question for what is missing, else what the calls brought."""
    chinese = re.search(_CHINESE, talk.text)
    if missing:
        wanted = ", ".join(parameter.name.replace("_", " ") for parameter in missing)
        return f"请问 {wanted} 是什么？" if chinese else f"What should I use as {wanted}?"
    if facts := "; ".join(str(result)[:400] for result in talk.results[talk.earlier[1] :]):
        return f"查到：{facts}" if chinese else f"Here is what I found: {facts}"
    return "好的。" if chinese else "All right."


def wishes(tools: Sequence[OfferedTool], text: str) -> list[tuple[OfferedTool, str]]:
    """The tools that a text asks for, each with its clauses; a clause that asks for none goes with the one before."""
    weights = [_weights(tool) for tool in tools]
    holders = Counter(word for weight in weights for word in weight if weight[word] > DETAIL)
    found: list[tuple[OfferedTool, str]] = []
    lead = ""
    for clause in _clauses(text) if tools else ():
        # In order of mention: a set would add up in another order in another process.
        rarity = {word: log(1 + (len(tools) + 1) / ((holders[word] or 1) + 0.5)) for word in features(clause)}
        overlaps = [sum(rarity[word] * weight.get(word, 0.0) for word in rarity) for weight in weights]
        best = max(overlaps)
        tool = tools[overlaps.index(best)]
        asks = best >= THRESHOLD * log(1 + (len(tools) + 1) / 1.5)
        if found and (not asks or found[-1][0] is tool):
            found[-1] = (found[-1][0], found[-1][1] + clause)
        elif asks:
            found.append((tool, lead + clause))
        else:
            lead += clause
    return found


def _clauses(text: str) -> list[str]:
    """Parts of a text that may each ask for something; what is in quotes is never cut."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    cuts = [m.start() for m in _BREAK.finditer(text) if not any(a < m.start() < b for a, b in quoted)]
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _weights(tool: OfferedTool) -> dict[str, float]:
    first, _, rest = tool.description.partition(". ")
    # What follows the first sentence is often what the tool does not do.
    details = [rest, *(f"{parameter.name} {parameter.description}" for parameter in tool.parameters)]
    members = [name for parameter in tool.parameters for _, name in _member_names(parameter)]
    weights: dict[str, float] = {}
    for texts, weight in ((details, DETAIL), ([first], DESCRIPTION), (members, ENUM), ([tool.name], NAME)):
        weights |= {word: weight for text in texts for word in features(text)}
    return weights


class _Filler:
    """Fills one call; a value of the text serves one parameter only."""

    def __init__(self, talk: Conversation, clause: str) -> None:
        self._talk = talk
        self._clause = clause
        self._used: set[str] = set()

    def fill(self, parameters: Sequence[Parameter], depth: int = 0) -> tuple[dict[str, Any], list[Parameter]]:
        """Arguments, and the required parameters that have no value."""
        values = {parameter.name: self._value(parameter, depth) for parameter in parameters}
        arguments = {name: value for name, value in values.items() if value is not None}
        return arguments, [p for p in parameters if p.required and p.name not in arguments]

    def _value(self, parameter: Parameter, depth: int) -> Any:
        """From the answer to a question about the parameter, the clause, the whole text, else from before."""
        kind, talk = kind_of(parameter), self._talk
        if is_list := kind == "array":
            schema = {"description": parameter.description, **as_object(parameter.schema.get("items"))}
            parameter = Parameter(parameter.name, schema, parameter.required)
            kind = kind_of(parameter)
        if kind == "object" and depth < DEEPEST:
            arguments, unknown = self.fill(offered.parameters_of(parameter.schema), depth + 1)
            return None if unknown or not arguments else [arguments] if is_list else arguments
        about = {*features(f"{parameter.name} {parameter.description}")}
        reply = talk.texts[-1] if talk.texts and about.intersection(features(talk.question)) else ""
        for text in (reply, self._clause, talk.text):
            found = [
                value
                for value in candidates(kind, parameter, text, talk.today)
                if kind in ("enum", "boolean") or is_list or repr(value) not in self._used
            ]
            if is_list and found and (parameter.required or about.intersection(features(text))):
                return found[:20]
            if found and not is_list:
                self._used.add(repr(found[0]))
                return found[0]
        reply = reply.strip(" .!。！\n")
        if kind in ("text", "name", "id") and 0 < len(reply) <= LONGEST_ANSWER:
            return [reply] if is_list else reply
        return _recalled(kind, parameter.name, talk) if parameter.required and not is_list else None


def _recalled(kind: str, name: str, talk: Conversation) -> Any:
    """A value from before, by key; days, amounts and texts are not carried over."""
    value = _from_results(name, talk) if kind in ("id", "name") else None
    if value is None and kind in ("id", "name", "enum", "email", "url"):
        earlier = [arguments.get(name) for _, arguments in reversed(talk.calls)]
        value = next((value for value in earlier if value is not None and is_plain(value)), None)
    return value


def _from_results(name: str, talk: Conversation) -> Any:
    """The value of a key that fits a parameter's name in what calls returned; else None.

    Where several records have one, those count that share most words with the user's text, of these the newest
    result's, and of these the one that an ordinal names, else the first.
    """
    said = {*features(talk.text)}
    found: list[tuple[int, int, Any]] = []
    for age, result in enumerate(reversed(talk.results)):
        for container, record in _records(result, "", 0):
            held = {
                word for value in record.values() if is_plain(value) for word in features(str(value)[:200])
            }
            for key, value in record.items():
                # A mere `id` takes the name of what holds it along.
                own = f"_{container}_{key}" if key == "id" else f"_{key}"
                if isinstance(value, str | int) and is_plain(value) and f"_{name}".endswith(own):
                    found.append((-len(said & held), age, value))
    best = min((place for *place, _ in found), default=None)
    equal = [value for *place, value in found if place == best]
    at = next((at for pattern, at in _ORDINALS if re.search(pattern, talk.text, re.IGNORECASE)), 0)
    return equal[at] if equal and at < len(equal) else next(iter(equal), None)


def _records(value: object, key: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object inside a value in document order, each with the key that it (or its list) stands under."""
    if depth <= DEEPEST:
        if found := as_object(value):
            yield key, found
        for name, part in [*found.items(), *((key, part) for part in as_list(value))][:100]:
            yield from _records(part, name, depth + 1)


def kind_of(parameter: Parameter) -> str:
    """What sort of value a parameter takes, by enumeration, type, format, name and description."""
    if parameter.members:
        return "enum"
    types = schema_types(parameter.schema)
    if kind := next(
        (kind for kind in ("boolean", "array", "object", "integer", "number") if kind in types), ""
    ):
        return kind
    named = _parts(f"{parameter.name} {parameter.schema.get('format')}")
    about = parameter.description
    return next((kind for kind, own, form in _KINDS if named & own or re.search(form, about)), "name")


def _parts(name: str) -> set[str]:
    """The parts of `fromCity` or `from_city`."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def candidates(kind: str, parameter: Parameter, text: str, today: date | None) -> Sequence[Any]:
    """Values of a kind that a text holds for a parameter, the likeliest first."""
    if kind in _FORMS:
        return _FORMS[kind].findall(_QUOTED.sub(" ", text) if kind == "id" else text)
    find: Mapping[str, Callable[[], Sequence[Any]]] = {
        "enum": lambda: _members(parameter, text),
        "boolean": lambda: _truth(parameter, text),
        "integer": lambda: [value for value in _numbers(parameter, text) if isinstance(value, int)],
        "number": lambda: _numbers(parameter, text),
        "date": lambda: days(text, today),
        "time": lambda: _TIME.findall(_spelled(text)),
        "text": lambda: _quoted(text),
        "name": lambda: _names(parameter, text),
    }
    return find[kind]() if kind in find else ()


def _spelled(text: str) -> str:
    """The text with days as 2024.05.06 (0000.05.06 without a year), times as 13:45, and numbers in digits."""
    return respelled(normalise(text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _quoted(text: str) -> list[str]:
    return [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]


def _members(parameter: Parameter, text: str) -> list[Any]:
    """Members of its enumeration that a text names, in order of mention; case, `_` and endings do not matter."""
    said = " ".join(("", *features(text), ""))
    found: dict[int, tuple[int, Any]] = {}
    for member, name in _member_names(parameter):
        wanted = " ".join(features(name))
        at = text.find(name) if re.search(_CHINESE, name) else said.find(f" {wanted} ")
        # "heart rate" names heart_rate only, not a member `heart` at the same place.
        if wanted and at >= 0 and len(name) > found.get(at, (0, None))[0]:
            found[at] = len(name), member
    return [found[at][1] for at in sorted(found)]


def _member_names(parameter: Parameter) -> Iterator[tuple[Any, str]]:
    """Members, and Chinese words that the description puts beside them, as in `high（高）` or `高=high`."""
    for member in parameter.members:
        yield member, str(member)
        name = rf"(?<!\w){re.escape(str(member))}(?!\w)"
        for gloss in re.findall(rf"{name}[（(:：= ]*({_CHINESE}{{1,6}})", parameter.description):
            yield member, gloss
        for gloss in re.findall(rf"({_CHINESE}{{1,6}})[（(=]{name}", parameter.description):
            yield member, gloss


def _truth(parameter: Parameter, text: str) -> list[bool]:
    """True where the text has the parameter's words, False where they are negated."""
    own = features(parameter.name)
    if not own or not {*own} <= {*features(text)}:
        return []
    at = text.lower().find(re.split(r"[_\W]", parameter.name.lower())[0])
    return [_NO.search(text[: max(at, 0)]) is None]


def _numbers(parameter: Parameter, text: str) -> list[int | float]:
    """Numbers by the words of the parameter beside them; one that need not be given must have such a word."""
    own = {*features(f"{parameter.name} {parameter.description}")}
    text = _spelled(text)
    for taken in (_QUOTED, _FORMS["url"], _DAY, _TIME):
        text = taken.sub(_blank, text)
    scored: list[tuple[int, int | float]] = []
    for match in _NUMBER.finditer(text):
        before = features(text[max(0, match.start() - 30) : match.start()])[-2:]
        # A unit may be short for a word of the parameter, as in `5 min`.
        unit = re.match(r"\W?([a-z]+)", text[match.end() :].lower())
        shared = len(own.intersection(before)) + any(word.startswith(unit[1]) for word in own if unit)
        if shared or parameter.required:
            value = float(match[0])
            scored.append((-shared, int(value) if value.is_integer() else value))
    return [value for _, value in sorted(scored, key=lambda pair: pair[0])]


def _names(parameter: Parameter, text: str) -> list[str]:
    """Names after a preposition that suits the parameter, then (for a required one) quoted and other names."""
    plain = _QUOTED.sub(_blank, text)
    found: list[tuple[str, str]] = []
    for match in _NAME.finditer(plain):
        before = plain[max(0, match.start() - 20) : match.start()].rstrip()
        # The first word of a sentence is capitalised anyway.
        if " " in match[0] or before[-1:] not in ("", ".", "!", "?"):
            found.append((match[0], before.removesuffix(" the").rpartition(" ")[2].lower()))
    leads = next((leads for own, leads in _LEADS if _parts(parameter.name) & own), ())
    suited = [name for lead in leads for name, before in found if before == lead]
    return [*suited, *_quoted(text), *(name for name, _ in found)] if parameter.required else suited


def days(text: str, today: date | None) -> list[str]:
    """Days named in a text as YYYY-MM-DD, in order; without `today` only those with a year."""
    found: list[str] = []
    for match in _DAY.finditer(_spelled(text)):
        try:
            day = _day(match, today)
        except (ValueError, OverflowError):
            # 31 June, or past the end of the calendar.
            continue
        found += [day.isoformat()] if day else []
    return found


def _day(match: re.Match[str], today: date | None) -> date | None:
    if match["year"] and match["year"] != "0000":
        return date(int(match["year"]), int(match["month"]), int(match["day"]))
    if today is None:
        return None
    if match["year"]:
        near = [date(today.year + years, int(match["month"]), int(match["day"])) for years in (0, 1, -1)]
        return min(near, key=lambda day: abs(day - today))
    if match["near"]:
        return today + timedelta(days=_NEAR[match["near"].lower()])
    if match["count"]:
        return today + timedelta(days=int(match["count"]) * (7 if match["unit"].lower() == "week" else 1))
    if match["nth"]:
        month = today.replace(day=1) + timedelta(days=32 * (int(match["nth"]) < today.day))
        return month.replace(day=int(match["nth"]))
    named = match["weekday"].lower()
    weekday = (
        "montuewedthufrisatsun".find(named[:3]) // 3
        if named.endswith("y")
        else "一二三四五六日".find(named[-1]) % 7
    )
    ahead = {"next": 7, "下": 7, "last": -7, "上": -7}.get((match["week"] or "").lower())
    passed = weekday - today.weekday()
    return today + timedelta(days=passed % 7 if ahead is None else passed + ahead)
