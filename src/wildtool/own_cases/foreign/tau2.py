"""Tasks of tau-bench and tau2-bench: the actions that are listed, in any order, beside calls that only look things up."""

from collections.abc import Mapping
from typing import Any

from wildtool.json_codec import as_object
from wildtool.own_cases.foreign.literal import NoGoldError, list_of, named, objects_of, read_foreign_call

_PARTS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
"""The parts of the simulated user's instructions, in the order in which they are read as one request."""
_BESIDE_CALL = ("action_id", "requestor", "info", "compare_args")
"""Keys of an action that are not of its call."""


def tau2_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A task. Raises NoGoldError where it lists no action of the assistant."""
    criteria = as_object(record.get("evaluation_criteria")) or record
    actions = [action for action in objects_of(criteria, "actions") if _requestor(action) == "assistant"]
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


def _requestor(action: Mapping[str, Any]) -> str:
    """Who makes the call of an action."""
    requestor = action.get("requestor") or "assistant"
    if requestor not in ("assistant", "user"):
        raise NoGoldError(f"the requestor {requestor!r} is not read; known: assistant, user")
    return requestor


def _call(action: Mapping[str, Any]) -> dict[str, Any]:
    call = read_foreign_call({key: value for key, value in action.items() if key not in _BESIDE_CALL})
    if action.get("compare_args") is None:
        return call
    given = call.pop("arguments", {})
    compared = list_of(action, "compare_args")
    if missing := [key for key in compared if key not in given]:
        raise NoGoldError(f"compare_args names {missing[0]!r}, which is not among the arguments")
    arguments = {key: given[key] for key in compared}
    return {**call, **({"arguments": arguments, "extra": True} if arguments else {})}
