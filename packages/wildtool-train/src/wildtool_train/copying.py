"""Policies that copy: they choose a tool by the words that it shares with the user, and take values from what is written.

They do a small part of the task by rules, so what they earn is no fault of a reward. It is the floor of a set: who earns
no more has shown no more than that.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wildtool.episode import written_text
from wildtool.json_codec import as_list, as_object, loads
from wildtool.types import Message, Tool
from wildtool_train.view import CLAIM, Policy, View, call_each, say

_QUESTION = "Which one do you mean?"
_FORMS: Mapping[str, str] = {
    "date": r"\b\d{4}-\d\d-\d\d\b",
    "day": r"\b\d{4}-\d\d-\d\d\b",
    "time": r"\b\d?\d:\d\d\b",
    "email": r"\b[\w.+-]+@[\w.-]+\w",
    "id": r"\b[a-z]{2,}_\d+\b",
}
"""By a word in the name or description of a parameter, how its values are written."""
_QUOTED = r'["“„«]([^"”“»]+)["”“»]'
_NAME = r"(?<=\W)[A-ZÄÖÜ][\w-]+(?: [A-ZÄÖÜ][\w-]+)*"
_NUMBER = r"(?<![\w:.-])\d+(?:\.\d+)?(?![\w:-])"
_PLAIN: Mapping[str, Any] = {"boolean": True, "integer": 1, "number": 1.0, "array": [], "object": {}}
"""By type a value where none is written."""
Take = Callable[[str, Mapping[str, Any]], Any]
"""The value of a parameter by its name and schema; None where none is found."""


def _requests(view: View) -> str:
    """What the user has said in this unit."""
    texts = [written_text(message) or "" for message in view.messages if message.get("role") == "user"]
    return " ".join(texts[-1 - view.step :])


def _answers(view: View) -> str:
    """What was answered last, where ids come from."""
    return f"{view.last('tool')} {view.last('assistant')}"


def _likeliest(view: View) -> list[Tool]:
    """The tool whose name and description share most words with what the user says; none where there are no tools."""
    words = set(re.findall(r"\w+", _requests(view).casefold()))

    def shared(tool: Tool) -> int:
        function = as_object(tool.get("function"))
        text = f"{function.get('name')} {function.get('description')}".casefold()
        return len(words & set(re.findall(r"[^\W_]+", text)))

    return sorted(view.tools, key=shared, reverse=True)[:1]


def _by_patterns(text: str, earlier: str) -> Take:
    """Values as they are written in a text; ids in an earlier one, too."""

    def take(name: str, schema: Mapping[str, Any]) -> Any:
        if members := as_list(schema.get("enum")):
            return next((each for each in members if str(each).casefold() in text.casefold()), None)
        match schema.get("type"):
            case "integer" | "number" as kind:
                numbers = re.findall(_NUMBER, text)
                return _number(numbers[0], kind) if numbers else None
            case "string":
                return _text(f"{name} {schema.get('description')}".casefold(), text, earlier)
            case kind:
                return True if kind == "boolean" else None

    return take


def _number(text: str, kind: str) -> float:
    return int(float(text)) if kind == "integer" else float(text)


def _text(about: str, text: str, earlier: str) -> str | None:
    """A text from what the user says. Args: about: name and description of its parameter."""
    for word, form in _FORMS.items():
        if re.search(rf"(?:\b|_){word}(?:\b|_)", about):
            values = re.findall(form, text) or (re.findall(form, earlier) if word == "id" else [])
            return values[0] if values else None
    values = re.findall(_QUOTED, text) or re.findall(_NAME, text)
    return values[0] if values else None


def _by_history(view: View, choose: Callable[[Sequence[str]], str]) -> Take:
    """Values that earlier calls gave parameters of that name. Args: choose: one of them, as JSON."""
    values: dict[str, list[str]] = defaultdict(list)
    for call in view.earlier_calls:
        try:
            arguments = as_object(loads(str(call.get("arguments") or "{}")))
        except ValueError:
            continue
        for name, value in arguments.items():
            values[name].append(json.dumps(value))
    return lambda name, schema: json.loads(choose(values[name])) if name in values else None


def _arguments(schema: Mapping[str, Any], take: Take) -> dict[str, Any]:
    """A value for each required parameter; None where none is found."""
    required = set(map(str, as_list(schema.get("required"))))
    declared = {name: as_object(inner) for name, inner in as_object(schema.get("properties")).items()}
    return {
        name: _arguments(inner, take) if inner.get("type") == "object" else take(name, inner)
        for name, inner in declared.items()
        if name in required
    }


def _parameters(tool: Tool) -> Mapping[str, Any]:
    return as_object(as_object(tool.get("function")).get("parameters"))


def _first(name: str, schema: Mapping[str, Any]) -> Any:
    """The default, the first of several values, or a plain one."""
    members = as_list(schema.get("enum"))
    return schema.get("default", members[0] if members else _PLAIN.get(str(schema.get("type")), "it"))


def _or_first(take: Take) -> Take:
    """Values as another takes them, or the first ones."""

    def either(name: str, schema: Mapping[str, Any]) -> Any:
        value = take(name, schema)
        return _first(name, schema) if value is None else value

    return either


def _called(view: View, take: Take) -> Message:
    return call_each(_likeliest(view), lambda tool: _arguments(_parameters(tool), take))


def _call_or_question(view: View) -> Message:
    """A call with what is written; a question where a value is missing; a claim after a result."""
    if view.step and view.messages and view.messages[-1].get("role") == "tool":
        return say(CLAIM)
    take = _by_patterns(_requests(view), _answers(view))
    calls = [(tool, _arguments(_parameters(tool), take)) for tool in _likeliest(view)]
    is_missing = any("null" in json.dumps(arguments) for _, arguments in calls)
    return say(_QUESTION) if is_missing else call_each([tool for tool, _ in calls], lambda tool: calls[0][1])


def _once(take: Callable[[View], Take]) -> Policy:
    """One call with such values, then a claim."""
    return lambda view: say(CLAIM) if view.step else _called(view, _or_first(take(view)))


COPYING: Mapping[str, Policy] = {
    "likeliest tool, values by patterns": lambda view: _called(
        view, _or_first(_by_patterns(_requests(view), _answers(view)))
    ),
    "values by patterns, then a claim": _once(lambda view: _by_patterns(_requests(view), _answers(view))),
    "values by patterns, or a question": _call_or_question,
    "last values of earlier calls, then a claim": _once(
        lambda view: _by_history(view, lambda each: each[-1])
    ),
    "most frequent values, then a claim": _once(
        lambda view: _by_history(view, lambda each: Counter(each).most_common(1)[0][0])
    ),
    "first values, then a claim": _once(lambda view: _first),
}
"""By name; none of them follows a reference, a condition or a chain of calls."""
