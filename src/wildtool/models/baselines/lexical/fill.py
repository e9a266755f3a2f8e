"""Fills a tool's arguments from the conversation, each parameter with a value of its kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.models.baselines.lexical import values
from wildtool.models.baselines.lexical.conversation import Conversation, from_results
from wildtool.models.baselines.lexical.reading import (
    OfferedTool,
    Parameter,
    as_list,
    as_object,
    is_plain,
    parameters_of,
)
from wildtool.models.baselines.lexical.words import stems, words

LONGEST_ANSWER = 40
"""Characters up to which an answer as a whole may be the value that was asked for."""
MOST_VALUES = 20
"""Items of an array."""
DEEPEST = 5
"""Levels of nested objects that are filled."""
_NOT = re.compile(r"\b(?:no|not|without|don'?t|isn'?t|never)\W*$|[不没无别]$", re.IGNORECASE)
_TYPES = {
    "boolean": "boolean", "bool": "boolean", "array": "array", "list": "array", "object": "object", "dict": "object",
    "integer": "number", "int": "number", "number": "number", "float": "number",
}  # fmt: skip


def _stem_set(text: str) -> frozenset[str]:
    return frozenset((*stems(text), *text.split()))


_FORMS = (
    ("moment", _stem_set("datetime"), r"DD[T ]'?HH"),
    ("date", _stem_set("date day"), r"YYYY-MM-DD"),
    ("time", _stem_set("time"), r"HH:MM"),
    ("email", _stem_set("email mail"), r"(?i)\be-?mail addr"),
    ("url", _stem_set("url uri link website"), r"\bURL\b"),
    ("id", _stem_set("id ids code no key ref reference isbn number phone"), r"(?i)^(?:the )?(?:unique )?id\b"),
    ("text", _stem_set("text message body note content comment title subject description query keyword"), r"(?!)"),
)  # fmt: skip
"""Kinds of texts by the words of a parameter's name or its format, and by its description."""
_LEADS = (
    (_stem_set("from origin departure source start"), ("from",)),
    (_stem_set("to destination arrival target end"), ("to", "for")),
    (_stem_set("city place location country region venue airport station town address"), ("in", "at", "near")),
    (_stem_set("person guest assignee name recipient contact author artist friend"), ("with", "for", "to", "by")),
)  # fmt: skip
"""Words of a parameter's name and the words before a name that suits it."""


@dataclass(slots=True)
class Filled:
    """Arguments for one call."""

    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    missing: list[Parameter] = field(default_factory=list[Parameter])
    """Required parameters without a value."""


def fill(talk: Conversation, text: str, tool: OfferedTool) -> Filled:
    """Arguments for a tool that a part of the user's text asks for."""
    return _Filler(talk, text).fill(tool.parameters)


def kind_of(parameter: Parameter) -> str:
    """What sort of value a parameter takes, by enumeration, type, format, name and description."""
    if parameter.members:
        return "enum"
    types = parameter.schema.get("type")
    for name in as_list(types) or [types]:
        if isinstance(name, str) and name in _TYPES:
            return _TYPES[name]
    said = {*stems(parameter.name), str(parameter.schema.get("format")).replace("-", "")}
    about = parameter.description
    return next((kind for kind, named, form in _FORMS if named & said or re.search(form, about)), "name")


class _Filler:
    """Fills one call; a value of the text serves one parameter only."""

    def __init__(self, talk: Conversation, text: str) -> None:
        self._talk = talk
        self._text = text
        self._used: set[str] = set()

    def fill(self, parameters: Sequence[Parameter], depth: int = 0) -> Filled:
        filled = Filled()
        for parameter in parameters:
            value = self._stated(parameter, depth)
            if value is None and parameter.required:
                value = self._recalled(parameter)
            if value is not None:
                filled.arguments[parameter.name] = value
            elif parameter.required:
                filled.missing.append(parameter)
        return filled

    def _stated(self, parameter: Parameter, depth: int) -> Any:
        """A value in the user's current words; the answer to a question about the parameter comes first."""
        kind = kind_of(parameter)
        if kind == "object":
            filled = self.fill(parameters_of(parameter.schema), depth + 1) if depth < DEEPEST else Filled()
            return None if filled.missing else filled.arguments or None
        answer = self._talk.current.texts[-1] if self._asked_for(parameter) else ""
        for text in (answer, self._text, self._talk.current.text):
            found = (
                self._array(parameter, text, depth) if kind == "array" else self._first(kind, parameter, text)
            )
            if found is not None:
                return found
        answer = answer.strip(" .!。！\n")
        return answer if kind in ("text", "name", "id") and 0 < len(answer) <= LONGEST_ANSWER else None

    def _asked_for(self, parameter: Parameter) -> bool:
        """Whether the assistant's question was about this parameter."""
        return bool({*words(self._talk.question)} & {*words(f"{parameter.name} {parameter.description}")})

    def _first(self, kind: str, parameter: Parameter, text: str) -> Any:
        """The first value of the kind in a text that serves no other parameter yet."""
        for value in candidates(kind, parameter, text, self._talk):
            if kind in ("enum", "boolean") or repr(value) not in self._used:
                self._used.add(repr(value))
                return value
        return None

    def _array(self, parameter: Parameter, text: str, depth: int) -> Any:
        """All values of the items' kind; of an array that need not be given only where it is mentioned."""
        schema = {"description": parameter.description, **as_object(parameter.schema.get("items"))}
        item = Parameter(parameter.name, schema, parameter.required)
        kind = kind_of(item)
        if kind == "object":
            value = self._stated(item, depth)
            return None if value is None else [value]
        if kind != "enum" and not (parameter.required or {*words(parameter.name)} & {*words(text)}):
            return None
        return candidates(kind, item, text, self._talk)[:MOST_VALUES] or None

    def _recalled(self, parameter: Parameter) -> Any:
        """A required value from before, by key; days, amounts and texts are not carried over."""
        kind, calls = kind_of(parameter), self._talk.calls()
        value = None
        if kind in ("id", "name"):
            value = from_results(parameter.name, calls, self._talk.current.text)
        if value is None and kind in ("id", "name", "enum", "email", "url"):
            earlier = [call.arguments.get(parameter.name) for call in calls]
            value = next((value for value in earlier if value is not None and is_plain(value)), None)
        return value


def candidates(kind: str, parameter: Parameter, text: str, talk: Conversation) -> list[Any]:
    """Values of a kind that a text holds for a parameter, the likeliest first."""
    match kind:
        case "enum":
            return values.members_named(parameter.members, text, parameter.description)
        case "boolean":
            return _truth(parameter, text)
        case "number":
            return _numbers(parameter, text, talk)
        case "date":
            return [day for _, day in values.days(text, talk.today)]
        case "time":
            return [time for _, time in values.times(text)]
        case "moment":
            pairs = zip(values.days(text, talk.today), values.times(text), strict=False)
            return [f"{day}T{time}:00" for (_, day), (_, time) in pairs]
        case "email" | "url":
            return (values.EMAIL if kind == "email" else values.URL).findall(text)
        case "id":
            return _codes(parameter, text)
        case "text":
            return values.quoted(text)
        case "name":
            return _names(parameter, text)
        case _:
            return []


def _truth(parameter: Parameter, text: str) -> list[bool]:
    """True where the text has the parameter's words, False where they are negated."""
    own = {*words(parameter.name)}
    if not own or not own <= {*words(text)}:
        return []
    at = text.lower().find(re.split(r"[_\W]", parameter.name.lower())[0])
    return [_NOT.search(text[: max(at, 0)]) is None]


def _numbers(parameter: Parameter, text: str, talk: Conversation) -> list[int | float]:
    """Numbers by the words of the parameter beside them; one that need not be given must have such a word."""
    own = {*words(f"{parameter.name} {parameter.description}")}
    scored: list[tuple[int, int | float]] = []
    for (start, end), value in values.numbers(text, talk.today):
        shared = len(own & {*stems(text[max(0, start - 30) : start])[-2:], *stems(text[end : end + 20])[:1]})
        if (shared or parameter.required) and (
            isinstance(value, int) or parameter.schema.get("type") != "integer"
        ):
            scored.append((shared, value))
    return [value for _, value in sorted(scored, key=lambda pair: -pair[0])]


def _codes(parameter: Parameter, text: str) -> list[str]:
    """Codes of the form of an example in the parameter's description, else codes of any form."""
    example = values.CODE.search(parameter.description)
    form = (
        rf"(?<!\w){re.sub('[0-9]+', '[0-9]+', re.escape(example[0]))}(?!\w)"
        if example
        else values.CODE.pattern
    )
    return re.findall(form, values.without_quoted(text))


def _names(parameter: Parameter, text: str) -> list[str]:
    """Names after a preposition that suits the parameter, then (for a required one) quoted and other names."""
    said, found = {*stems(parameter.name)}, values.names(text)
    leads = next((leads for named, leads in _LEADS if named & said), ())
    suited = [name for lead in leads for name, before in found if before == lead]
    return [*suited, *values.quoted(text), *(name for name, _ in found)] if parameter.required else suited
