"""Sessions of pi: lines that are a tree, of which the branch to the last line is the conversation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.shapes.reading import Reading, part_type
from wildtool.shapes.sessions.base import FAILED_CALL, MESSAGES, TAKEN_BACK, other_keys

_SILENT = frozenset({"session", "model_change", "thinking_level_change", "label", "session_info"})
"""Types of lines that say nothing to a model."""
_ABOUT = frozenset(
    {"api", "provider", "model", "usage", "stopReason", "responseId", "errorMessage", "details", "timestamp"}
)
"""Keys about a message."""


def is_session_head(row: Mapping[str, Any]) -> bool:
    """Whether a row begins a session of pi."""
    return part_type(row) == "session" and {"version", "id", "cwd"} <= row.keys()


def branch_of(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Mapping[str, Any]:
    """The conversation of a session as a record."""
    return {MESSAGES: list(_messages(_branch(rows, reading), reading))}


def _branch(rows: Sequence[Mapping[str, Any]], reading: Reading) -> list[Mapping[str, Any]]:
    """The lines from the first to the last one, by what each follows; what is on other branches was taken back."""
    by_id = {str(row["id"]): row for row in rows if "id" in row and not is_session_head(row)}
    branch: dict[str, Mapping[str, Any]] = {}
    place = next(reversed(by_id), None)
    while place in by_id and place not in branch:
        branch[place] = by_id[place]
        place = str(by_id[place].get("parentId"))
    for row in rows:
        if "id" not in row:
            reading.lose("line without an id")
    for id_, row in by_id.items():
        if id_ not in branch and part_type(row) == "message":
            reading.lose(TAKEN_BACK)
    return list(reversed(branch.values()))


def _messages(lines: Iterable[Mapping[str, Any]], reading: Reading) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        kind = part_type(line)
        if kind != "message":
            if kind not in _SILENT:
                reading.lose(f"line of type {kind}")
            continue
        message = as_object(line.get("message"))
        if message.get("stopReason") in ("error", "aborted") and not as_list(message.get("content")):
            reading.lose(FAILED_CALL)
            continue
        unknown = other_keys(line, ("type", "id", "parentId", "timestamp", "message"))
        yield {**unknown, **other_keys(message, _ABOUT), "timestamp": line.get("timestamp")}
