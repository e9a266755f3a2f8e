"""Fills a tool's arguments from the conversation, each parameter with a value of its kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.models.lexical import find, recall
from wildtool.models.lexical.candidates import candidates, members_in
from wildtool.models.lexical.conversation import Conversation
from wildtool.models.lexical.days import days, times
from wildtool.models.lexical.kinds import is_integer, kind_of, typed, unit_score
from wildtool.models.lexical.offered import OfferedTool, Parameter, parameters_of
from wildtool.models.lexical.reading import as_list, as_object, is_plain
from wildtool.models.lexical.words import stems, word_set, words

LONGEST_ANSWER = 40
"""Characters up to which an answer as a whole may be the value that was asked for."""
MOST_VARIANTS = 5
"""Further calls of one tool for values that the user lists."""
MOST_VALUES = 20
"""Items of an array."""
DEEPEST = 5
"""Levels of nested objects that are filled."""


_SAME = re.compile(
    r"\b(?:same|again|instead|too|as well|also|it|that|those|them|make it|rather)\b"
    r"|也|一样|同样|再|那|还是|改成|换成",
    re.IGNORECASE,
)
_AUXILIARY = frozenset(stems("only include allow enable is has"))
_ON = re.compile(r"\b(?:on|yes|yep|enable|open|true|start|activate)\b|打开|开启|开|要", re.IGNORECASE)
_OFF = re.compile(
    r"\b(?:off|out|no|nope|disable|close|false|stop|deactivate)\b|关闭|关掉|关|不", re.IGNORECASE
)
_NOT = re.compile(r"\b(?:no|not|without|don'?t|isn'?t|never)\b|不|没|无|别", re.IGNORECASE)
_COMMON = word_set("the a an of to in for and on at is it as or be by with number that")


@dataclass(slots=True)
class Filled:
    """Arguments for one call."""

    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    missing: list[Parameter] = field(default_factory=list[Parameter])
    """Required parameters without a value."""
    stated: int = 0
    """How many values stand in the user's current words."""
    more: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Arguments of further calls, where the user listed several values of one parameter."""


class Filler:
    """Fills one call; a number, day or name of the text serves one parameter only."""

    def __init__(self, conversation: Conversation, text: str) -> None:
        self._talk = conversation
        whole = conversation.current.text
        # The answer to a question serves the parameter that was asked for, or else one without a value.
        own = "\n".join(conversation.current.texts[:-1]) if conversation.answer else whole
        self._texts = [own] if conversation.answer and conversation.answer in text else [text, own]
        """Where values are looked for, the best place first."""
        if earlier := conversation.unserved():
            self._texts.append(earlier)
        self._calls = conversation.calls()
        self._same = _SAME.search(whole) is not None
        before = conversation.turns[-2:-1]
        self._given_before = {name for turn in before for call in turn.calls for name in call.arguments}
        self._used: set[str] = set()
        self._level = 0

    def fill(self, tool: OfferedTool) -> Filled:
        """Arguments of a call of the tool."""
        # What is already known of this tool is carried over where the user speaks of "the same".
        self._tool_calls = [call for call in self._calls if call.name == tool.name]
        filled = self._fill(tool.parameters)
        kinds = [kind_of(parameter) for parameter in tool.parameters]
        for parameter, kind in zip(tool.parameters, kinds, strict=True):
            if parameter.required and kind in ("enum", "id") and kinds.count(kind) == 1:
                filled.more = filled.more or [
                    {**filled.arguments, parameter.name: value} for value in self._further(kind, parameter)
                ]
        return filled

    def _further(self, kind: str, parameter: Parameter) -> list[Any]:
        """Values beyond the first that the text has for a parameter."""
        text = self._texts[0]
        if kind == "enum":
            return members_in(parameter, text)[1:]
        values = candidates(kind, parameter, text, self._talk.now)
        return [value for value in values if repr(value) not in self._used][:MOST_VARIANTS]

    def _fill(self, parameters: Sequence[Parameter]) -> Filled:
        filled = Filled()
        for parameter in parameters:
            value = self._stated(parameter)
            if value is not None:
                filled.stated += 1
            elif parameter.required:
                value = self._recalled(parameter)
            if value is not None:
                filled.arguments[parameter.name] = value
            elif parameter.required:
                filled.missing.append(parameter)
        return filled

    def _recalled(self, parameter: Parameter) -> Any:
        """A required value from before, by key; days and amounts only where the user says "the same"."""
        name = parameter.name
        kind = kind_of(parameter)
        value: Any = None
        if kind in ("id", "name"):
            value = recall.from_results(name, self._calls, self._talk.current.text)
        if value is None and kind in ("id", "name", "place", "email", "url", "phone"):
            value = recall.from_arguments(name, self._calls)
        if value is None and self._same:
            value = recall.from_arguments(name, self._tool_calls)
        if value is None and kind == "enum":
            value = self._enum_from_history(parameter)
        members = as_list(parameter.schema.get("enum"))
        if value is None and len(members) == 1 and is_plain(members[0]):
            value = members[0]
        return typed(value, parameter)

    def _enum_from_history(self, parameter: Parameter) -> Any:
        for text in self._talk.said():
            if named := members_in(parameter, text):
                return named[-1]
        return None

    def _stated(self, parameter: Parameter) -> Any:
        """A value in the user's current words."""
        kind = kind_of(parameter)
        if kind == "object":
            return self._object(parameter)
        if not parameter.required and kind in ("free", "name", "string") and not self._mentioned(parameter):
            return None
        answer = self._talk.answer
        texts = [answer, *self._texts] if self._asked_for(parameter) else [*self._texts, answer]
        for text in texts:
            value = self._find(kind, parameter, text) if text else None
            if value is not None:
                return value
        answer = answer.strip(" .!。！\n")
        whole = kind in ("free", "name", "place", "string", "id") and 0 < len(answer) <= LONGEST_ANSWER
        if whole and parameter.required and self._asked_for(parameter):
            return self._first_unused([answer])
        return None

    def _asked_for(self, parameter: Parameter) -> bool:
        """Whether the question before was about this parameter."""
        asked = set(words(self._talk.current.question))
        return bool(asked & set(words(f"{parameter.name} {parameter.description}")))

    def _mentioned(self, parameter: Parameter) -> bool:
        return bool(set(words(parameter.name)) & set(words(self._talk.current.text)))

    def _object(self, parameter: Parameter) -> Any:
        if self._level >= DEEPEST:
            return None
        self._level += 1
        filled = self._fill(parameters_of(parameter.schema))
        self._level -= 1
        return filled.arguments if not filled.missing and filled.stated else None

    def _find(self, kind: str, parameter: Parameter, text: str) -> Any:
        """The first value of the kind in a text that serves no other parameter yet."""
        if kind == "enum":
            return next(iter(members_in(parameter, text)), None)
        special = {"number": self._number, "boolean": self._boolean, "array": self._array}.get(kind)
        if special is not None:
            return special(parameter, text)
        return self._first_unused(candidates(kind, parameter, text, self._talk.now))

    def _first_unused(self, values: Sequence[Any]) -> Any:
        value = next((v for v in values if repr(v) not in self._used), None)
        if value is not None:
            self._used.add(repr(value))
        return value

    def _number(self, parameter: Parameter, text: str) -> Any:
        taken = [(f.start, f.end) for f in (*days(text, self._talk.now), *times(text))]
        taken += [m.span() for m in find.CODE.finditer(text) if not m[0].isdigit()]
        taken += [m.span() for m in find.QUOTED.finditer(text)]
        own = set(stems(f"{parameter.name} {parameter.description}"))
        # "make it 47": the amount of the turn before is meant.
        changed = self._same and parameter.name in self._given_before
        best, best_score = None, 0
        for number in find.numbers(text, taken):
            value = int(number.value) if number.value == int(number.value) else number.value
            if repr(value) in self._used or (isinstance(value, float) and is_integer(parameter)):
                continue
            near = f"{text[max(0, number.start - 18) : number.start]} {text[number.end : number.end + 14]}"
            score = (
                2 * len(own & (set(stems(near)) - _COMMON))
                + unit_score(parameter, near)
                + (parameter.required or changed)
            )
            if score > best_score:
                best, best_score = value, score
        if best is not None:
            self._used.add(repr(best))
        return best

    def _boolean(self, parameter: Parameter, text: str) -> Any:
        """True where the text has the parameter's words, unless negated; a required one goes by on/off too."""
        own = [word for word in words(parameter.name) if word not in _AUXILIARY]
        if own and set(own) <= set(words(text)):
            parts = [part for part in re.split(r"[_\W]+", parameter.name.lower()) if len(part) > 2]
            at = min((i for part in parts if (i := text.lower().find(part)) >= 0), default=0)
            return _NOT.search(text[max(0, at - 16) : at]) is None
        if parameter.required:
            return False if _OFF.search(text) else True if _ON.search(text) else None
        return None

    def _array(self, parameter: Parameter, text: str) -> Any:
        schema = {"description": parameter.description, **as_object(parameter.schema.get("items"))}
        item = Parameter(parameter.name, schema, parameter.required)
        kind = kind_of(item)
        if kind == "enum":
            return members_in(item, text) or None
        if kind == "object":
            value = self._object(item)
            return [value] if value else None
        if kind in ("array", "boolean") or not (parameter.required or self._mentioned(parameter)):
            return None
        values: list[Any] = []
        while len(values) < MOST_VALUES and (value := self._find(kind, item, text)) is not None:
            values.append(value)
        return values or None
