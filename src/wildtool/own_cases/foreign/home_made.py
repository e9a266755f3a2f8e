"""Home-made rows, a question beside the tools that are expected; and the goldens of deepeval."""

import re
from collections.abc import Mapping
from typing import Any

from wildtool.engine.score.formatting import counted
from wildtool.json_codec import as_object
from wildtool.own_cases.foreign.literal import TEXT_KEYS, NoGoldError, literal_arguments, read_foreign_calls
from wildtool.own_cases.form import ARGUMENT_SPELLINGS
from wildtool.shapes.reading import of_json

CALLS_KEYS = (
    "expected_tools",
    "expected_tool_calls",
    "expected_tool",
    "expected_calls",
    "expectedTools",
    "expectedToolCalls",
    "expectedTool",
    "expected_trajectory",
    "expected_function",
    "expected_functions",
    "expected_function_calls",
)
_ARGUMENTS_KEYS = (
    "expected_args",
    "expected_arguments",
    "expected_params",
    "expected_parameters",
    "expectedArgs",
    "expectedArguments",
    "expectedParams",
)
_JUDGES = re.compile("expect|forbid|never|exclude|assert|must_?not|not_?call", re.IGNORECASE)
"""Occurs in names of columns that say what is right."""
_KEPT = ("id", "tools", "system", "tags")


def home_made_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a home-made file. Raises NoGoldError where its gold is a count, a boolean, or not clear."""
    keys = [key for key in CALLS_KEYS if key in record]
    others = [key for key in record if _JUDGES.search(key) and key not in (*CALLS_KEYS, *_ARGUMENTS_KEYS)]
    left_out = ", ".join(key for key in others if record[key])
    argument_keys = [key for key in _ARGUMENTS_KEYS if record.get(key) is not None]
    for several in (keys, argument_keys):
        if len(several) > 1:
            raise NoGoldError(f"both {several[0]!r} and {several[1]!r} could say what is expected")
    calls = read_foreign_calls(record[keys[0]])
    if argument_keys:
        calls = _with_arguments(calls, argument_keys[0], of_json(record[argument_keys[0]]))
    elif not any("arguments" in call for call in calls):
        _check_no_other_arguments(record)
    order = {"order": "listed"} if keys[0] == "expected_trajectory" else {}
    note = {"note": f"left out: {left_out}"} if left_out else {}
    return {**_request(record), "expect": calls, **order, **note}


def _with_arguments(calls: list[dict[str, Any]], key: str, arguments: Any) -> list[dict[str, Any]]:
    """The one call of a row with the arguments beside it. Raises NoGoldError where they are not clear."""
    if not isinstance(arguments, dict):
        raise NoGoldError(f"{key!r} is no object: {str(arguments)[:60]!r}")
    if len(calls) != 1 or "arguments" in calls[0]:
        number = counted(len(calls), "call")
        raise NoGoldError(f"{key!r} beside {number}: which call they belong to is not clear")
    return [{**calls[0], "arguments": literal_arguments(as_object(arguments))}] if arguments else calls


def _check_no_other_arguments(record: Mapping[str, Any]) -> None:
    """Raises NoGoldError for a row that may hold the arguments of its call under a key that is not read."""
    for key in ("arguments", *ARGUMENT_SPELLINGS):
        if key not in TEXT_KEYS and isinstance(of_json(record.get(key)), dict) and of_json(record[key]):
            names = ", ".join(_ARGUMENTS_KEYS)
            raise NoGoldError(
                f"{key!r} of the row is not read, and its call has no arguments; expected one of {names}"
            )


def deepeval_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A golden of deepeval: other calls may be made besides. Raises NoGoldError."""
    if record.get("expected_tools") is None:
        raise NoGoldError("it has no expected_tools")
    calls = read_foreign_calls(record["expected_tools"])
    return {**_request(record), "expect": calls, **({"also": "any"} if calls else {})}


def _request(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a row asks, with the keys that mean the same in our form. Raises NoGoldError."""
    settings = {
        key: str(record[key]) if key == "id" else record[key] for key in _KEPT if record.get(key) is not None
    }
    keys = [key for key in ("messages", *TEXT_KEYS) if record.get(key) is not None]
    if len(keys) != 1:
        raise NoGoldError(f"what is asked is not clear: {' and '.join(map(repr, keys)) or 'nothing'}")
    (key,) = keys
    if key == "messages":
        return {**settings, "messages": record[key]}
    if not isinstance(record[key], str):
        raise NoGoldError(f"{key!r} is no text")
    return {**settings, "input": record[key]}
