"""A reply as the columns of a row, in the record and in the cache, and back."""

import time
from collections.abc import Mapping
from typing import Any

from wildtool.types import Reply

REPLY_COLUMNS: Mapping[str, Any] = {
    "message": dict,
    "raw": str,
    "finish_reason": object,
    "usage": dict,
    "latency_s": (float, int),
    "attempts": int,
    "changes": list,
}
"""Columns with their types."""


def reply_columns(reply: Reply) -> dict[str, Any]:
    """A reply as it is recorded."""
    columns = {
        # Both forms: the text is the evidence, and the message spares every reader the wire format.
        "message": reply.message,
        "raw": reply.raw,
        "finish_reason": reply.finish_reason,
        "usage": dict(reply.usage),
        "latency_s": round(reply.latency_s, 6),
        "attempts": reply.attempts,
        "changes": list(reply.changes),
        "time": round(time.time(), 3),
    }
    # Seldom true, and a record without them is read alike.
    return columns | {name: True for name in ("cached", "batched") if getattr(reply, name)}


def check_columns(row: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
    """Raises KeyError or TypeError where a row has not these columns."""
    for name, kind in columns.items():
        if not isinstance(row[name], kind):
            raise TypeError(f"column {name} has the wrong type")


def reply_from_row(row: Mapping[str, Any]) -> Reply:
    """The reply in a row whose columns are checked."""
    return Reply(
        message=row["message"],
        raw=row["raw"],
        finish_reason=row["finish_reason"],
        usage=row["usage"],
        latency_s=row["latency_s"],
        attempts=row["attempts"],
        changes=tuple(row["changes"]),
        cached=bool(row.get("cached")),
        batched=bool(row.get("batched")),
    )
