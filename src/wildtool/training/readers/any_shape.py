"""Rows of conversations in any shape, as rows in OpenAI's shape: each row is told by its own keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes import Reading, ShapeError, read_answer, read_messages, read_record
from wildtool.shapes.keys import MESSAGES_KEYS, SYSTEM_KEYS, TOOLS_KEYS
from wildtool.shapes.messages import is_chat_message
from wildtool.shapes.padding import is_padded
from wildtool.shapes.records import check_nothing_is_hidden, tool_holders
from wildtool.training.record import RowError

_USED = frozenset(
    {
        *MESSAGES_KEYS,
        *TOOLS_KEYS,
        *SYSTEM_KEYS,
        "chosen",
        "rejected",
        "preferred_output",
        "non_preferred_output",
        "input",
        "output",
        "prompt",
        "completion",
        "request",
        "response",
    }
)
"""Columns that a conversation may be in."""
_SIDES = ("chosen", "rejected", "preferred_output", "non_preferred_output")
"""Columns of the two answers of a pair."""


@dataclass(frozen=True, slots=True)
class ReadShape:
    """A row in OpenAI's shape."""

    row: Mapping[str, Any]
    columns: frozenset[str]
    """The columns of the original row that were read."""
    lost: tuple[str, ...]
    """What OpenAI's shape has no place for, by name."""


def in_openai_shape(row: Mapping[str, Any]) -> ReadShape | None:
    """A row of another shape; None for one that OpenAI's reader takes as it is.

    Raises:
        RowError: it has no shape that is known.
    """
    reading = Reading()
    try:
        if _is_pair(row):
            return _read_pair(row, reading)
        if not _is_foreign(row):
            check_nothing_is_hidden(row, bool(row.get("tools")), _messages_of(row), reading)
            return None
        found = read_record(row, reading)
    except ShapeError as error:
        raise RowError("unknown-shape", str(error)) from error
    messages = found.messages
    if "messages" not in row and "completion" in row:
        # Trainers learn the completion alone.
        learned = read_record({"prompt": [], "completion": row["completion"]}, Reading()).messages
        context = len(messages) - len(learned)
        messages = [{"weight": 0, **message} for message in messages[:context]] + messages[context:]
    return ReadShape({"messages": messages, "tools": found.tools}, _USED & row.keys(), tuple(reading.lost))


def _read_pair(row: Mapping[str, Any], reading: Reading) -> ReadShape | None:
    """A prompt with two answers, each of any shape; None where all have OpenAI's. Raises ShapeError."""
    held = as_object(row.get("input")) or row
    check_nothing_is_hidden(held, bool(held.get("tools", row.get("tools"))), [{"role": "assistant"}], reading)
    read: dict[str, Any] = {}
    for key in _SIDES:
        if _is_other_shape(row.get(key)):
            read[key] = [read_answer(row[key], reading.at(f"`{key}`"))]
    for key in ("prompt", "messages"):
        if _is_other_shape(row.get(key)):
            read[key] = read_messages(row[key], reading.at(f"`{key}`"))
    return ReadShape({**row, **read}, _USED & row.keys(), tuple(reading.lost)) if read else None


def _is_other_shape(value: Any) -> bool:
    """Whether a message, or one in a list, has another shape than OpenAI's."""
    return not all(map(is_chat_message, as_objects(as_list(value) or [value])))


def _is_pair(row: Mapping[str, Any]) -> bool:
    """Whether a row is a prompt with a better and a worse answer."""
    return {"chosen", "rejected"} <= row.keys() or "preferred_output" in row


def _messages_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "messages" in row:
        return as_objects(row["messages"])
    return [*as_objects(row["prompt"]), *as_objects(row["completion"])]


def _is_foreign(row: Mapping[str, Any]) -> bool:
    """Whether a row has keys that OpenAI's reader does not know."""
    has_prompt = "prompt" in row and "completion" in row
    if not ("messages" in row or has_prompt) or any(row.get(key) for key in TOOLS_KEYS[1:]):
        return True
    if not row.get(TOOLS_KEYS[0]) and any(tool_holders(row)):
        return True
    return not all(map(is_chat_message, _messages_of(row))) or is_padded(as_objects(row.get(TOOLS_KEYS[0])))
