"""Evals of agentv: each assertion about the trajectory of tools is a case."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.foreign.literal import (
    ForeignCase,
    NoGoldError,
    case_or_refusal,
    check_keys,
    list_of,
    named,
    object_of,
    objects_of,
    read_foreign_call,
    read_history,
)

_MODES: Mapping[str, dict[str, Any]] = {
    "any_order": {"also": "any"},
    "in_order": {"also": "any", "order": "listed"},
    "exact": {"order": "listed"},
    "superset": {"also": "any"},
    "subset": {},
}
"""What each mode means for calls that are not listed, and for the order."""
_ITEM_KEYS = ("tool", "args", "input", "args_match", "output", "max_duration_ms")


def agentv_cases(record: Mapping[str, Any]) -> list[ForeignCase]:
    """The tests of a file, once for each of their assertions about tools."""
    return [
        case
        for test in objects_of(record, "tests")
        for case in _cases({**test, "input": [*_messages(record), *_messages(test)]}, _assertions(record))
    ]


def _cases(test: Mapping[str, Any], shared: list[dict[str, Any]]) -> Iterator[ForeignCase]:
    assertions = [*shared, *_assertions(test)]
    about_tools = [each for each in assertions if _type(each) == "tool-trajectory"]
    others = ", ".join(dict.fromkeys(_type(each) for each in assertions if each not in about_tools))
    if not about_tools:
        yield NoGoldError(f"no assertion is about calls; it is judged by {others or 'its criteria'}")
    for assertion in about_tools:
        case = case_or_refusal(partial(_case, test, assertion))
        if isinstance(case, dict) and others:
            case["note"] = f"left out: {others}"
        yield case


def _case(test: Mapping[str, Any], assertion: Mapping[str, Any]) -> dict[str, Any]:
    mode = str(assertion.get("mode"))
    if mode not in _MODES:
        raise NoGoldError(f"the mode {mode!r} is not read; known: {', '.join(_MODES)}")
    for key in ("negate", "min_score"):
        if assertion.get(key) not in (None, False, 1):
            raise NoGoldError(f"{key!r} of an assertion cannot be said in a case")
    if "minimums" in assertion and "expected" in assertion:
        raise NoGoldError("both 'minimums' and 'expected' could say what is right")
    if mode == "any_order":
        minimums = object_of(assertion, "minimums")
        calls = [{"name": name, "times": f"{number}+"} for name, number in minimums.items() if number != 0]
    else:
        calls = [_call(item, assertion) for item in list_of(assertion, "expected")]
    if not calls:
        raise NoGoldError(f"{mode} lists no calls, so each reply would pass")
    if mode == "subset":
        calls = [{**call, "optional": True} for call in calls]
    if not test["input"]:
        raise NoGoldError("it has no input")
    return {**named(test.get("id")), "messages": read_history(test["input"]), "expect": calls, **_MODES[mode]}


def _call(entry: Any, assertion: Mapping[str, Any]) -> dict[str, Any]:
    """A call whose arguments are compared as `args_match` says: `exact` where it says nothing."""
    if not isinstance(entry, dict):
        return read_foreign_call(entry)
    item = as_object(entry)
    check_keys(item, _ITEM_KEYS, "a call")
    if "args" in item and "input" in item:
        raise NoGoldError("both 'args' and 'input' could be the arguments of a call")
    arguments = item.get("args", item.get("input"))
    mode = item.get("args_match", assertion.get("args_match", "exact"))
    if arguments in (None, "any") or mode == "ignore":
        return read_foreign_call(item.get("tool"))
    call = read_foreign_call({"name": item.get("tool"), "arguments": arguments})
    given = call.get("arguments", {})
    if isinstance(mode, list):
        if missing := [field for field in as_list(mode) if field not in given]:
            raise NoGoldError(f"args_match names {missing[0]!r}, which is not among the arguments")
        return {**call, "arguments": {field: given[field] for field in as_list(mode)}, "extra": True}
    if mode == "subset":
        return {**call, "arguments": {key: {"$maybe": value} for key, value in given.items()}}
    if mode not in ("exact", "superset"):
        raise NoGoldError(f"args_match {mode!r} is not read; known: exact, superset, subset, ignore, a list")
    return {**call, **({"extra": True} if mode == "superset" else {})}


def _assertions(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    holders = ((record, "assertions"), (record, "assert"), (object_of(record, "execution"), "evaluators"))
    return [assertion for held, key in holders for assertion in objects_of(held, key)]


def _type(assertion: Mapping[str, Any]) -> str:
    return str(assertion.get("type")).replace("_", "-")


def _messages(record: Mapping[str, Any]) -> list[Any]:
    """The input of a file or a test: a text, or messages."""
    value = record.get("input")
    return [{"role": "user", "content": value}] if isinstance(value, str) else list_of(record, "input")
