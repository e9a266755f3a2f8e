"""Rows of conversations in any shape, as rows in OpenAI's shape: each row is told by its own keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wildtool.json_codec import as_list, as_objects
from wildtool.sets.prepare.record import RowError
from wildtool.shapes import Reading, ShapeError, read_messages, read_record
from wildtool.shapes.keys import MESSAGES_KEYS, SYSTEM_KEYS, TOOLS_KEYS
from wildtool.shapes.padding import is_padded
from wildtool.shapes.reading import part_type

_USED = frozenset(
    {
        *MESSAGES_KEYS,
        *TOOLS_KEYS,
        *SYSTEM_KEYS,
        "input",
        "output",
        "prompt",
        "completion",
        "request",
        "response",
    }
)
"""Columns that a conversation may stand in."""

_OF_OPENAI = frozenset({"text", "image_url", "input_audio", "file"})
"""Types of parts that OpenAI's own reader knows; it refuses what is no text."""


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
    if not _is_foreign(row):
        return None
    reading = Reading()
    try:
        found = read_record(row, reading)
    except ShapeError as error:
        raise RowError("unknown-shape", str(error)) from error
    messages = found.messages
    if "messages" not in row and "completion" in row:
        # Trainers learn the completion alone.
        context = len(messages) - len(read_messages(row["completion"], Reading()))
        messages = [{"weight": 0, **message} for message in messages[:context]] + messages[context:]
    return ReadShape({"messages": messages, "tools": found.tools}, _USED & row.keys(), tuple(reading.lost))


def _is_foreign(row: Mapping[str, Any]) -> bool:
    """Whether a row has keys that OpenAI's reader does not know."""
    if "chosen" in row or "preferred_output" in row:
        return False
    has_prompt = "prompt" in row and "completion" in row
    if not ("messages" in row or has_prompt) or any(row.get(key) for key in TOOLS_KEYS[1:]):
        return True
    messages = (
        as_objects(row["messages"])
        if "messages" in row
        else [*as_objects(row["prompt"]), *as_objects(row["completion"])]
    )
    return any(map(_is_foreign_message, messages)) or is_padded(as_objects(row.get(TOOLS_KEYS[0])))


def _is_foreign_message(message: Mapping[str, Any]) -> bool:
    if message.get("role") == "environment" or (
        "role" not in message and {"type", "kind", "lc"} & message.keys()
    ):
        return True
    if "parts" in message or any(message.get(key) for key in ("functions", "function_calls", "tools")):
        return True
    if any(isinstance(call, str) for call in as_list(message.get("tool_calls"))):
        return True
    return any(part_type(part) not in _OF_OPENAI for part in as_objects(message.get("content")))
