"""Evalsets and tests of Google's Agent Development Kit."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.own_cases.foreign.literal import (
    ForeignCase,
    NoGoldError,
    case_or_refusal,
    check_keys,
    named,
    object_of,
    objects_of,
    read_foreign_calls,
)

_MATCH_TYPES = ("EXACT", "IN_ORDER", "ANY_ORDER")


def adk_cases(record: Mapping[str, Any]) -> list[ForeignCase]:
    """The cases of an evalset, or of one of its entries; a conversation is a case."""
    entries = objects_of(record, "eval_cases") if "eval_cases" in record else [dict(record)]
    return [case_or_refusal(partial(_case, entry)) for entry in entries]


def with_match_type(case: dict[str, Any], config: Any) -> dict[str, Any]:
    """A case whose calls are compared as a `test_config.json` says: EXACT where it says nothing. Turns without gold calls
    take none under each of them.

    Args:
        config: what the file holds.

    Raises NoGoldError for another match_type.
    """
    metric = as_object(as_object(as_object(config).get("criteria")).get("tool_trajectory_avg_score"))
    match_type = metric.get("match_type", "EXACT")
    if match_type not in _MATCH_TYPES:
        raise NoGoldError(f"the match_type {match_type!r} is not read; known: {', '.join(_MATCH_TYPES)}")
    order = {"order": "any"} if match_type == "ANY_ORDER" else {}
    also = {} if match_type == "EXACT" else {"also": "any"}
    turns = [{**turn, **also} if turn.get("expect") else turn for turn in as_objects(case.get("turns"))]
    if "turns" in case:
        return {**case, **order, "turns": turns}
    return {**case, **order, **(also if case["expect"] else {})}


def adk_old_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row of an old `.test.json`. Raises NoGoldError."""
    query = record["query"]
    if not isinstance(query, str):
        raise NoGoldError("its query is no text")
    return {"input": query, "expect": _exact_calls(record["expected_tool_use"]), "order": "listed"}


def _case(entry: Mapping[str, Any]) -> dict[str, Any]:
    turns = [_turn(invocation) for invocation in objects_of(entry, "conversation")]
    if not any("expect" in turn for turn in turns):
        raise NoGoldError("no turn has intermediate_data with tool_uses, so there is no expectation")
    return {**named(entry.get("eval_id")), "turns": turns, "order": "listed"}


def _turn(invocation: Mapping[str, Any]) -> dict[str, Any]:
    asked = invocation.get("user_content")
    turn: dict[str, Any] = {"input": _text(asked)}
    if len([*_texts(asked)]) < len(as_list(as_object(asked).get("parts"))) or not turn["input"]:
        raise NoGoldError("a turn of the user has no text, or more than text")
    data = object_of(invocation, "intermediate_data")
    check_keys(data, ("tool_uses", "tool_responses", "intermediate_responses"), "intermediate_data")
    if "tool_uses" in data:
        calls = _exact_calls(data["tool_uses"])
        results = _results(data)
        for call in calls:
            if results.get(call["name"]):
                call["returns"] = results[call["name"]].pop(0)
        turn["expect"] = calls
    answer = _text(invocation.get("final_response"))
    return {**turn, **({"answer": answer} if answer else {})}


def _exact_calls(value: Any) -> list[dict[str, Any]]:
    """Calls whose arguments are all judged: {} means none here."""
    calls = read_foreign_calls(value)
    entries = as_list(value)
    for call, entry in zip(calls, entries, strict=False):
        if "arguments" not in call and any(as_object(entry).get(key) == {} for key in ("args", "tool_input")):
            call["arguments"] = {}
    return calls


def _results(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    results: dict[str, list[Any]] = {}
    for response in objects_of(data, "tool_responses"):
        results.setdefault(str(response.get("name")), []).append(response.get("response"))
    return results


def _text(content: Any) -> str:
    return "\n".join(_texts(content))


def _texts(content: Any) -> Iterator[str]:
    for part in as_objects(as_object(content).get("parts")):
        text = part.get("text")
        if isinstance(text, str):
            yield text
