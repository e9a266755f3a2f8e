"""`baseline/lexical`: an agent without a language model, which goes by the words that the user and the tools share.

Each clause of the user's text asks for the tool that shares most with it. A parameter takes the first value of its kind
in the text, else from earlier results and calls. What is missing is asked for.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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

NAME, ENUM, DESCRIPTION = 2.0, 1.5, 1.0
"""Weights of a word by where the tool has it."""
THRESHOLD = 1.2
"""Overlap from which a clause asks for a tool: a word of its name is enough, one of its description is not."""
DEEPEST = 6
"""Levels of nested objects and results that are read."""

_CHINESE = r"[\u3400-\u9fff]"
_BREAK = re.compile(
    r"[.!?](?=\s|$)|[;\n。！？；，,：:](?!\d)|\b(?:then|also|and|but)\b|然后|另外|还有|同时", re.IGNORECASE
)
_QUOTED = re.compile(r"[\"“「‘《]([^\"“”「」‘’《》\n]{1,400})[\"”」’》]|(?<!\w)'([^'\n]{2,400})'(?!\w)")
_KINDS = {
    "date": "date day",
    "time": "time",
    "email": "email emails mail",
    "url": "url uri link website",
    "id": "id ids code no key ref reference isbn number phone",
    "text": "text message body note content comment title subject query",
}
"""Kinds of texts by the words of a parameter's name or its format."""
_FORMS = {
    "time": re.compile(r"(?<![\d:])\d\d:\d\d(?!\d)"),
    "number": re.compile(r"(?<![\w.:/-])-?\d{1,15}(?:\.\d{1,9})?(?![a-zA-Z0-9:/-]|\.\d)"),
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
    "url": re.compile(r"(?:https?://|\bwww\.)[^\s\"'<>，。；）)]{1,500}(?<![.,!?])"),
    "id": re.compile(
        r"(?<![\w-])(?:(?=[\w-]{0,30}\d)[A-Za-z]{1,8}[-_]?[A-Za-z0-9_-]{2,30}|\d{4,18})(?![\w-])"
    ),
    # The first word of a sentence is capitalised anyway.
    "name": re.compile(r"(?<![.!?] )(?<!^)\b[A-ZÀ-Þ][\w&-]*(?:\s+[A-ZÀ-Þ][\w&-]*)*"),
}
"""What a value looks like, by kind."""
_NEAR = {
    "day after tomorrow": 2, "tomorrow": 1, "today": 0, "tonight": 0, "yesterday": -1,
    "后天": 2, "明": 1, "今": 0, "昨": -1,
}  # fmt: skip
_WEEKDAYS = ("mon一", "tue二", "wed三", "thu四", "fri五", "sat六", "sun日天")
_DAY = re.compile(
    r"(?<!\d)(?P<year>\d{4})[.-](?P<month>\d\d)[.-](?P<day>\d\d)(?!\d)"
    rf"|(?P<near>{'|'.join(_NEAR)})"
    r"|(?P<weekday>\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:周|星期|礼拜)[一二三四五六日天])",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Conversation:
    """A message list, read."""

    today: date | None = None
    texts: list[str] = field(default_factory=list[str])
    """What the user wants now, and the answers to questions about it."""
    awaits_answer: bool = False
    """Whether the assistant's last message was a question."""
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Mapping[str, Any]]])
    results: list[Any] = field(default_factory=list[Any])
    """What the calls brought, in order, each as a JSON value or a text."""
    earlier: int = 0
    """How many of the calls belong to what the user wanted before."""

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
        elif role == "user" and talk.awaits_answer and len(talk.calls) == talk.earlier:
            talk.texts.append(text)
        elif role == "user":
            talk.texts, talk.awaits_answer, talk.earlier = [text], False, len(talk.calls)
        elif role == "tool":
            talk.results.append(_read_json(text))
        elif role == "assistant":
            talk.awaits_answer = re.search(r"[?？][\s\W]*$", text) is not None
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


def answer(request: Request) -> Message:
    """The next assistant message; never raises, whatever the messages and tools."""
    talk = read_conversation(request.messages)
    tools = offered.offered_tools(request.tools)
    earlier_names = {name for name, _ in talk.calls[talk.earlier :]}
    calls: list[tuple[str, dict[str, Any]]] = []
    missing: list[Parameter] = []
    for tool in wanted_tools(tools, talk.text):
        if tool.name in earlier_names:
            continue
        arguments, unknown = _Filler(talk).fill(tool.parameters)
        if unknown:
            missing = missing or unknown
            sources = (other for other in tools if other.name not in earlier_names and _gives(other, unknown))
            if (tool := next(sources, None)) is None:
                continue
            arguments, unknown = _Filler(talk).fill(tool.parameters)
        # A call of before is not repeated: its result is known.
        if not unknown and (tool.name, arguments) not in (*talk.calls, *calls):
            calls.append((tool.name, arguments))
    if calls:
        return offered.assistant_calls(calls, f"lexical_{len(request.messages)}")
    return {"role": "assistant", "content": _text(talk, missing)}


def _gives(tool: OfferedTool, parameters: Sequence[Parameter]) -> bool:
    """Whether a tool returns the value of a parameter, as the parameter's description says by naming it."""
    return any(tool.name in parameter.description for parameter in parameters)


def _text(talk: Conversation, missing: Sequence[Parameter]) -> str:
    """A question for what is missing, else the last result."""
    if missing:
        names = ", ".join(parameter.name.replace("_", " ") for parameter in missing)
        return f"What should I use as {names}?"
    if talk.results and len(talk.calls) > talk.earlier:
        return f"Here is what I found: {str(talk.results[-1])[:400]}"
    return "All right."


def wanted_tools(tools: Sequence[OfferedTool], text: str) -> list[OfferedTool]:
    """The tools that the clauses of a text ask for, in order."""
    weights = [_weights(tool) for tool in tools]
    holders = Counter(word for weight in weights for word in weight)
    matches: dict[str, OfferedTool] = {}
    for clause in _BREAK.split(text) if tools else ():
        # In order of mention: a set would add up in another order in another process.
        rarity = {word: log(1 + len(tools) / max(1, holders[word])) for word in features(clause)}
        overlaps = [sum(rarity[word] * weight.get(word, 0.0) for word in rarity) for weight in weights]
        if max(overlaps) >= THRESHOLD * log(1 + len(tools)):
            tool = tools[overlaps.index(max(overlaps))]
            matches.setdefault(tool.name, tool)
    return list(matches.values())


def _weights(tool: OfferedTool) -> dict[str, float]:
    # What follows the first sentence is often what the tool does not do.
    first = tool.description.partition(". ")[0]
    members = [name for parameter in tool.parameters for _, name in _member_names(parameter)]
    weights: dict[str, float] = {}
    for texts, weight in (([first], DESCRIPTION), (members, ENUM), ([tool.name], NAME)):
        weights |= {word: weight for text in texts for word in features(text)}
    return weights


class _Filler:
    """Fills one call; a value of the text serves one parameter only."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._used: list[Any] = []

    def fill(self, parameters: Sequence[Parameter], depth: int = 0) -> tuple[dict[str, Any], list[Parameter]]:
        """Arguments, and the required parameters that have no value."""
        values = {parameter.name: self._value(parameter, depth) for parameter in parameters}
        arguments = {name: value for name, value in values.items() if value is not None}
        return arguments, [p for p in parameters if p.required and p.name not in arguments]

    def _value(self, parameter: Parameter, depth: int) -> Any:
        kind, talk = kind_of(parameter), self._talk
        if kind == "array":
            items = {"description": parameter.description, **as_object(parameter.schema.get("items"))}
            of = Parameter(parameter.name, items, parameter.required)
            return candidates(kind_of(of), of, talk.text, talk.today)[:20] or None
        if kind == "object" and depth < DEEPEST:
            arguments, unknown = self.fill(offered.parameters_of(parameter.schema), depth + 1)
            return None if unknown else arguments or None
        for value in candidates(kind, parameter, talk.text, talk.today):
            if value not in self._used:
                self._used.append(value)
                return value
        if not parameter.required:
            return None
        value = _recalled(kind, parameter.name, talk)
        if value is None and kind in ("text", "name", "id") and len(talk.texts) > 1:
            # The whole answer to a question.
            value = talk.texts[-1].strip(" .!。！\n")[:40] or None
        return value


def _recalled(kind: str, name: str, talk: Conversation) -> Any:
    """A value from before by its key: an id or name from results, else what an earlier call was given.

    Of the records in results, the one that shares most words with the user's text counts, of these the newest result's
    first one.
    """
    words = {*features(talk.text)}
    values: list[tuple[int, Any]] = []
    for result in reversed(talk.results) if kind in ("id", "name") else ():
        for record in _records(result):
            plain = {key: value for key, value in record.items() if is_plain(value)}
            shared = words.intersection(word for value in plain.values() for word in features(str(value)))
            values += [
                (len(shared), value)
                for key, value in plain.items()
                if isinstance(value, str | int) and f"_{name}".endswith(f"_{key}")
            ]
    if values:
        return max(values, key=lambda pair: pair[0])[1]
    if kind in ("id", "name", "enum", "email", "url"):
        recent = (arguments.get(name) for _, arguments in reversed(talk.calls))
        return next((value for value in recent if value is not None and is_plain(value)), None)
    return None


def _records(value: object, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Every object inside a value, in document order."""
    if depth <= DEEPEST:
        record = as_object(value)
        yield record
        for part in [*record.values(), *as_list(value)][:100]:
            yield from _records(part, depth + 1)


def kind_of(parameter: Parameter) -> str:
    """What sort of value a parameter takes, by enumeration, type, name and format."""
    if parameter.members:
        return "enum"
    types = schema_types(parameter.schema)
    for kind in ("boolean", "array", "object", "integer", "number"):
        if kind in types:
            return kind
    # The parts of `fromCity` and `from_city`.
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", f"{parameter.name} {parameter.schema.get('format')}")
    parts = {word.lower() for word in words}
    return next((kind for kind, own in _KINDS.items() if not parts.isdisjoint(own.split())), "name")


def candidates(kind: str, parameter: Parameter, text: str, today: date | None) -> list[Any]:
    """Values of a kind that a text holds for a parameter, in order of mention.

    Texts hold many numbers and names, so that only a required parameter takes one.
    """
    match kind:
        case "enum":
            return _members(parameter, text)
        case "date":
            return days(text, today)
        case "time":
            return _FORMS[kind].findall(_spelled(text))
        case "email" | "url" | "id":
            return _FORMS[kind].findall(text)
        case "text":
            return _quoted(text)
        case "name" if parameter.required:
            return _quoted(text) + _FORMS[kind].findall(text)
        case "number" | "integer" if parameter.required:
            numbers = map(float, _FORMS["number"].findall(_spelled(_QUOTED.sub(" ", text))))
            values = [int(number) if number.is_integer() else number for number in numbers]
            return [number for number in values if kind == "number" or isinstance(number, int)]
        case _:
            return []


def _quoted(text: str) -> list[str]:
    return [match[1] or match[2] for match in _QUOTED.finditer(text)]


def _spelled(text: str) -> str:
    """The text with days as 2024.05.06 (0000.05.06 without a year), times as 13:45, and numbers in digits."""
    return respelled(normalise(text), amounts=False)


def _members(parameter: Parameter, text: str) -> list[Any]:
    """Members of its enumeration that a text names, in order of mention; case, `_` and endings do not matter."""
    padded = " ".join(("", *features(text), ""))
    mentions = [
        (at, -len(phrase), member)
        for member, name in _member_names(parameter)
        if (phrase := " ".join(features(name))) and (at := padded.find(f" {phrase} ")) >= 0
    ]
    # "heart rate" names heart_rate rather than a member `heart` at the same place.
    return list(dict.fromkeys(member for *_, member in sorted(mentions, key=lambda place: place[:2])))


def _member_names(parameter: Parameter) -> Iterator[tuple[Any, str]]:
    """Members, and Chinese words that the description puts beside them, as in `high（高）` or `高=high`."""
    described = parameter.description
    has_chinese = re.search(_CHINESE, described) is not None
    for member in parameter.members:
        yield member, str(member)
        # To compile its pattern takes longer than all else, and most descriptions have no such words.
        if not has_chinese or str(member) not in described:
            continue
        name = rf"(?<!\w){re.escape(str(member))}(?!\w)"
        beside = rf"{name}[（(:：= ]*({_CHINESE}{{1,6}})|({_CHINESE}{{1,6}})[（(=]{name}"
        yield from ((member, after or before) for after, before in re.findall(beside, described))


def days(text: str, today: date | None) -> list[str]:
    """Days named in a text as YYYY-MM-DD, in order; without `today` only those with a year."""
    texts: list[str] = []
    for match in _DAY.finditer(_spelled(text)):
        try:
            day = _day(match, today)
        except (ValueError, OverflowError):
            # 31 June, or past the end of the calendar.
            continue
        texts += [day.isoformat()] if day else []
    return texts


def _day(match: re.Match[str], today: date | None) -> date | None:
    if match["year"] and match["year"] != "0000":
        return date(int(match["year"]), int(match["month"]), int(match["day"]))
    if today is None:
        return None
    if match["year"]:
        return today.replace(month=int(match["month"]), day=int(match["day"]))
    if match["near"]:
        return today + timedelta(days=_NEAR[match["near"].lower()])
    word = match["weekday"].lower()
    weekday = next(k for k, names in enumerate(_WEEKDAYS) if word[:3] in names or word[-1] in names)
    return today + timedelta(days=(weekday - today.weekday()) % 7)
