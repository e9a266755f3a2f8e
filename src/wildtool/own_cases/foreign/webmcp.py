"""Evals of webmcp-evals, whose matchers are those of ours, and tests of MCPJam."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from wildtool.json_codec import as_object, values_inside
from wildtool.own_cases.foreign.home_made import home_made_case
from wildtool.own_cases.foreign.literal import (
    ForeignCase,
    NoGoldError,
    case_or_refusal,
    check_keys,
    list_of,
    named,
    objects_of,
    read_history,
)


def webmcp_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """An eval of webmcp-evals: its calls in the listed order but for those of `unordered`. Raises NoGoldError."""
    labels: Iterator[str] = (f"call_{number}" for number in range(1, 10_000))
    calls: list[dict[str, Any]] = []
    _add_nodes(list_of(record, "expectedCall"), labels, calls, before=[])
    return {**named(record.get("name")), "messages": read_history(record["messages"]), "expect": calls}


def _add_nodes(
    nodes: list[Any], labels: Iterator[str], calls: list[dict[str, Any]], *, before: list[str]
) -> list[str]:
    """Adds the calls of nodes that follow each other. Gives the labels of the last.

    Args:
        before: the labels of the calls that the first must come after.
    """
    for node in nodes:
        held = as_object(node)
        if "unordered" in held:
            members = _group(held, "unordered")
            ends = [_add_nodes([member], labels, calls, before=before) for member in members]
            before = [label for end in ends for label in end]
        elif "ordered" in held:
            before = _add_nodes(_group(held, "ordered"), labels, calls, before=before)
        else:
            call = {**_call(held), "as": next(labels)}
            calls.append({**call, "after": before} if before else call)
            # A call that may be left out is waited for by none.
            before = before if held.get("optional") else [call["as"]]
    return before


def _group(held: Mapping[str, Any], key: str) -> list[Any]:
    """The members of a group. Raises NoGoldError for one without any, and for what is beside them."""
    check_keys(held, (key,), "a group")
    members = list_of(held, key)
    if not members:
        raise NoGoldError(f"{key!r} lists no calls")
    return members


def _call(held: Mapping[str, Any]) -> dict[str, Any]:
    name, arguments = held.get("functionName"), held.get("arguments")
    if not isinstance(name, str) or not name:
        raise NoGoldError("a call has no functionName")
    check_keys(held, ("functionName", "arguments", "optional", "mockOutput"), f"a call of {name}")
    if any("$type" in as_object(value) for value in values_inside(arguments)):
        raise NoGoldError("the matcher $type has no counterpart; write $any, $pattern or a bound")
    return {
        "name": name,
        **({"arguments": arguments} if arguments else {}),
        **({"optional": True} if held.get("optional") else {}),
        **({"returns": held["mockOutput"]} if "mockOutput" in held else {}),
    }


def mcpjam_cases(record: Mapping[str, Any]) -> list[ForeignCase]:
    """The tests of a file of MCPJam, or one test."""
    tests = objects_of(record, "tests") if "tests" in record else [dict(record)]
    return [case_or_refusal(partial(_mcpjam_case, test)) for test in tests]


def _mcpjam_case(test: Mapping[str, Any]) -> dict[str, Any]:
    """A test, whose calls may be made beside others; a negative one takes none. Raises NoGoldError."""
    is_negative = test.get("isNegativeTest", False)
    if not isinstance(is_negative, bool):
        raise NoGoldError(f"isNegativeTest is true or false, not {is_negative!r}")
    case = home_made_case({"expectedToolCalls": [], **test} if is_negative else test)
    if bool(case["expect"]) == is_negative:
        raise NoGoldError(f"isNegativeTest is {is_negative}, and {len(case['expect'])} calls are expected")
    runs = test.get("runs", 1)
    return {**case, **({"repeat": runs} if runs != 1 else {})}
