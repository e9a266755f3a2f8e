"""Tasks of tau-bench and tau2-bench: the actions that are listed, in any order, beside calls that only look things up."""

from collections.abc import Mapping
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.foreign.literal import NoGoldError, named, objects_of, read_foreign_call

_PARTS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
"""The parts of the simulated user's instructions, in the order in which they are read as one request."""
_ACTION_KEYS = ("name", "arguments", "kwargs")


def tau2_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A task. Raises NoGoldError where it lists no action of the assistant."""
    criteria = as_object(record.get("evaluation_criteria")) or record
    actions = [
        action
        for action in objects_of(criteria, "actions")
        if action.get("requestor", "assistant") == "assistant"
    ]
    if not actions:
        raise NoGoldError(
            "it lists no action of the assistant; its end state is judged in its own simulation"
        )
    if as_object(record.get("initial_state")).get("message_history"):
        raise NoGoldError("it begins within a conversation that its own simulation continues")
    return {
        **named(record.get("id")),
        "input": _request(record),
        "expect": [_call(action) for action in actions],
        "also": "any",
        "note": "read as one request: the instructions of its simulated user, and the actions of the whole task",
    }


def _request(record: Mapping[str, Any]) -> str:
    instructions = as_object(record.get("user_scenario")).get("instructions", record.get("instruction"))
    parts = [record.get("ticket") or instructions]
    if isinstance(parts[0], dict):
        parts = [as_object(parts[0]).get(key) for key in _PARTS]
    text = "\n".join(part for part in parts if isinstance(part, str) and part)
    if not text:
        raise NoGoldError("its user_scenario has no instructions")
    return text


def _call(action: Mapping[str, Any]) -> dict[str, Any]:
    call = read_foreign_call({key: action[key] for key in _ACTION_KEYS if key in action})
    if not isinstance(action.get("compare_args"), list):
        return call
    compared = as_list(action["compare_args"])
    arguments = {key: value for key, value in call.pop("arguments", {}).items() if key in compared}
    return {**call, **({"arguments": arguments, "extra": True} if arguments else {})}
