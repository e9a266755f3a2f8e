"""Sessions of OpenCode, as `opencode export` prints them."""

from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.reading import Reading, part_type
from wildtool.shapes.sessions.base import FAILED_CALL, MESSAGES, TAKEN_BACK, other_keys

_SILENT = frozenset({"step-finish", "snapshot", "patch"})
"""Types of parts that say nothing to a model."""
_STEP = "step-start"
_TOOL_KEYS = frozenset(
    {"type", "tool", "callID", "state", "id", "sessionID", "messageID", "metadata", "time"}
)
_STATE_KEYS = frozenset(
    {"status", "input", "output", "error", "metadata", "title", "time", "attachments", "raw"}
)
_UNDONE = ("pending", "running")
"""States of a tool that has given nothing yet."""


def is_export(row: Mapping[str, Any]) -> bool:
    messages = as_objects(row.get(MESSAGES))
    return isinstance(row.get("info"), dict) and bool(messages) and messages[0].keys() >= {"info", "parts"}


def export_records(row: Mapping[str, Any], reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The conversation of a session without what its user has reverted."""
    reverted = as_object(as_object(row["info"]).get("revert")).get("messageID")
    messages: list[Any] = []
    is_reverted = False
    for value in as_list(row[MESSAGES]):
        info = as_object(as_object(value).get("info"))
        is_reverted = is_reverted or (reverted is not None and info.get("id") == reverted)
        if is_reverted:
            reading.lose(TAKEN_BACK)
        else:
            messages += _step_messages(value, reading)
    yield {MESSAGES: messages, "created": _seconds(as_object(row["info"]).get("time"))}


def _seconds(time: Any) -> float | None:
    created = as_object(time).get("created")
    return created / 1000 if isinstance(created, int | float) else None


def _step_messages(value: Any, reading: Reading) -> Iterator[Any]:
    """The messages of one entry: for each step of the model one, and the results of its calls."""
    entry, info = as_object(value), as_object(as_object(value).get("info"))
    around = {**other_keys(entry, ("info", "parts")), "role": info.get("role")}
    if not isinstance(entry.get("parts"), list):
        yield {**around, **{key: entry[key] for key in ("parts",) if key in entry}}
        return
    content: list[Any] = []
    results: list[Any] = []
    steps = 0
    for part in [*as_list(entry["parts"]), {"type": _STEP}]:
        held = as_object(part)
        kind = part_type(held)
        if kind == _STEP:
            if content:
                steps += 1
                yield {**around, "content": content}
                yield from results
            content, results = [], []
        elif kind == "tool":
            call, result = _tool_part(held)
            content.append(call)
            results += [] if result is None else [result]
        elif kind not in _SILENT and not held.get("ignored"):
            content.append(part)
    if not steps and info.get("error"):
        reading.lose(FAILED_CALL)
    elif not steps:
        yield {**around, "content": ""}


def _tool_part(part: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """The call that a part is, and its result where there is one."""
    state = as_object(part.get("state"))
    call = {
        **other_keys(part, _TOOL_KEYS),
        **other_keys(state, _STATE_KEYS),
        "type": "tool_call",
        "id": part.get("callID"),
        "name": part.get("tool"),
    }
    if "input" in state:
        call["arguments"] = state["input"]
    if state.get("status") in _UNDONE:
        return call, None
    result = {**other_keys(state, _STATE_KEYS), "role": "tool", "tool_call_id": part.get("callID")}
    given = next((state[key] for key in ("output", "error") if state.get(key) is not None), None)
    return call, result if given is None else {**result, "content": given}
