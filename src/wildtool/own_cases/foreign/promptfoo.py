"""Tests of promptfoo whose assertions are about tool calls."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.own_cases.foreign.literal import (
    ForeignCase,
    NoGoldError,
    case_or_refusal,
    check_keys,
    list_of,
    literal_arguments,
    object_of,
    objects_of,
    string_list,
)
from wildtool.shapes.reading import of_json

_PROMPT_FILE = re.compile(r"file://.*|\S+\.(txt|md|j2|jsonl?|ya?ml|csv|py|[cm]?[jt]s)(:\w+)?", re.DOTALL)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_TOOL_F1, _USED, _ARGUMENTS, _SEQUENCE = (
    "tool-call-f1",
    "trajectory:tool-used",
    "trajectory:tool-args-match",
    "trajectory:tool-sequence",
)
_TEXTS = {
    "contains": "says",
    "icontains": "says",
    "not-contains": "not_says",
    "not-icontains": "not_says",
    "regex": "says",
}
_FREE = ("latency", "cost", "is-valid-openai-tools-call", "not-is-valid-openai-tools-call")
"""Assertions that say nothing about which calls are right."""


def promptfoo_cases(record: Mapping[str, Any]) -> list[ForeignCase]:
    """The tests of a file, or of one of its rows, once for each prompt. Raises NoGoldError."""
    if isinstance(record.get("tests"), str):
        raise NoGoldError("its tests are in another file; give that file")
    tests = objects_of(record, "tests") if "tests" in record else [dict(record)]
    shared = object_of(record, "defaultTest")
    prompts = record.get("prompts") or [None]
    prompts = [prompts] if isinstance(prompts, str) else list_of({"prompts": prompts}, "prompts")
    tools = _tools(record)
    return [
        case_or_refusal(partial(_case, test, shared, prompt, tools)) for test in tests for prompt in prompts
    ]


def _case(test: Mapping[str, Any], shared: Mapping[str, Any], prompt: Any, tools: Any) -> dict[str, Any]:
    variables = {**object_of(shared, "vars"), **object_of(test, "vars")}
    assertions = [*objects_of(shared, "assert"), *objects_of(test, "assert")]
    case = {**_request(prompt, variables), **_expected(assertions)}
    return {**case, "tools": tools} if tools is not None else case


def _tools(record: Mapping[str, Any]) -> Any:
    """The tools of the first provider that has some; a path for those of a file."""
    for provider in as_objects(record.get("providers")):
        config = as_object(provider.get("config"))
        if not config:
            config = as_object(next((as_object(each).get("config") for each in provider.values()), None))
        tools = config.get("tools")
        if isinstance(tools, str):
            return tools.removeprefix("file://")
        if tools:
            return tools
    return None


def _request(prompt: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(prompt, dict):
        prompt = as_object(prompt).get("raw")
    if prompt is None:
        texts = [value for value in variables.values() if isinstance(value, str)]
        if len(texts) != 1:
            raise NoGoldError(
                "without prompts the user's text is not clear: it has not exactly one variable of text"
            )
        return {"input": texts[0]}
    if not isinstance(prompt, str) or "{%" in prompt or _PROMPT_FILE.fullmatch(prompt):
        raise NoGoldError(f"the prompt {str(prompt)[:60]!r} is a program or in another file; write it out")

    def value_of(matched: re.Match[str]) -> str:
        if matched[1] not in variables:
            raise NoGoldError(f"the prompt names the variable {matched[1]!r}, which the test has not")
        if isinstance(variables[matched[1]], list | dict):
            raise NoGoldError(
                f"the variable {matched[1]!r} is no text: promptfoo makes several tests of a list"
            )
        return str(variables[matched[1]])

    if "{{" in _VARIABLE.sub("", prompt):
        raise NoGoldError(
            f"the prompt {prompt[:60]!r} has an expression that promptfoo evaluates; write it out"
        )
    text = _VARIABLE.sub(value_of, prompt)
    messages = of_json(text)
    return {"messages": messages} if isinstance(messages, list) else {"input": text}


@dataclass(slots=True)
class _Expected:
    """What the assertions of a test say in our form."""

    slots: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    case: dict[str, Any] = field(default_factory=dict[str, Any])
    refused: list[str] = field(default_factory=list[str])
    """Kinds of assertions that no rule can judge."""
    names_all: bool = False
    """Whether an assertion names all calls, so that others are wrong."""

    def add(self, kind: str, value: Any, assertion: Mapping[str, Any]) -> None:
        """Adds what an assertion says. Raises NoGoldError where it cannot be said in a case."""
        held = as_object(value)
        if kind == _TOOL_F1:
            self._add_set(value, assertion)
        elif kind in (_USED, f"not-{_USED}"):
            for each in as_list(value) or [value]:
                self._add_used(each, is_forbidden=kind != _USED)
        elif kind == _ARGUMENTS:
            self.slots.append(_of_arguments(held))
        elif kind == _SEQUENCE:
            steps = as_list(held.get("steps")) or as_list(value)
            self.slots += [{"name": _name(step)} for step in _some(steps, kind)]
            self.case["order"] = "listed"
            self.names_all |= _mode(held, "in_order") == "exact"
        elif kind in _TEXTS and isinstance(value, str):
            pattern = value if kind == "regex" else re.escape(value)
            self.case.setdefault(_TEXTS[kind], []).append(
                value if "icontains" in kind else {"$pattern": pattern}
            )
        elif kind not in _FREE:
            self.refused.append(kind)

    def _add_set(self, value: Any, assertion: Mapping[str, Any]) -> None:
        if assertion.get("threshold", 1) != 1:
            raise NoGoldError(
                f"{_TOOL_F1} with a threshold below 1 is a share of names, and no case is right by it"
            )
        names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
        if not isinstance(names, list):
            raise NoGoldError(f"{_TOOL_F1} names no tools")
        self.slots += [{"name": _name(name), "times": "1+"} for name in as_list(names)]
        self.names_all = True

    def _add_used(self, value: Any, *, is_forbidden: bool) -> None:
        held = as_object(value)
        check_keys(held, ("name", "pattern", "min", "max"), _USED)
        if is_forbidden and ("min" in held or "max" in held):
            raise NoGoldError(f"not-{_USED} with a number of calls cannot be said in a case")
        if is_forbidden or held.get("max") == 0:
            self.case.setdefault("never", []).append(_name(value))
            return
        lowest, most = held.get("min", 1), held.get("max")
        times = f"{lowest}+" if most is None else f"{lowest}-{most}"
        self.slots.append({"name": _name(value), "times": times})


def _some(steps: list[Any], kind: str) -> list[Any]:
    if not steps:
        raise NoGoldError(f"{kind} names no tools")
    return steps


def _expected(assertions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What assertions about calls and texts say in our form. Raises NoGoldError where none is about calls."""
    expected = _Expected()
    for assertion in assertions:
        expected.add(str(assertion.get("type")), assertion.get("value"), assertion)
    judged, case = _without_repeated_names(expected.slots), expected.case
    refused = ", ".join(dict.fromkeys(expected.refused))
    if not judged and not expected.names_all and "never" not in case:
        raise NoGoldError(f"no assertion is about calls; it is judged by {refused or 'its texts alone'}")
    if judged or expected.names_all:
        case["expect"] = judged
    if judged and not expected.names_all:
        case["also"] = "any"
    return {**case, **({"note": f"left out: {refused}"} if refused else {})}


def _of_arguments(held: Mapping[str, Any]) -> dict[str, Any]:
    check_keys(held, ("name", "pattern", "args", "arguments", "mode", "defaults", "ignore"), _ARGUMENTS)
    if "args" in held and "arguments" in held:
        raise NoGoldError("both 'args' and 'arguments' could be the arguments of a call")
    arguments = held.get("args", held.get("arguments"))
    call: dict[str, Any] = {"name": _name(held), "times": "1+"}
    if arguments is None:
        return call
    if not isinstance(arguments, dict):
        raise NoGoldError(f"the arguments of {call['name']} are no object")
    literal = literal_arguments(as_object(arguments))
    for key, default in object_of(held, "defaults").items():
        literal[key] = {"$maybe": literal.get(key, {"$is": default})}
    partial = _mode(held, "partial") == "partial"
    ignored = string_list(held, "ignore")
    ignore = {"ignore": ignored} if ignored else {}
    return {**call, "arguments": literal, **({"extra": True} if partial else {}), **ignore}


def _mode(held: Mapping[str, Any], usual: str) -> str:
    """How an assertion compares. Raises NoGoldError for a way that is not known."""
    mode = held.get("mode", usual)
    if mode not in (usual, "exact"):
        raise NoGoldError(f"the mode {mode!r} is not read; known: {usual}, exact")
    return mode


def _name(value: Any) -> str:
    """The name or pattern of a tool. Raises NoGoldError."""
    if isinstance(value, str) and value:
        return value
    held = as_object(value)
    name = held.get("name", held.get("pattern"))
    if not isinstance(name, str) or not name:
        raise NoGoldError("an assertion names no tool")
    return name


def _without_repeated_names(slots: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls without names that another assertion gives with arguments."""
    with_arguments = {slot["name"] for slot in slots if "arguments" in slot}
    return [slot for slot in slots if "arguments" in slot or slot["name"] not in with_arguments]
