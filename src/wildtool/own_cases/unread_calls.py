"""Calls that stand in a text, which nothing has read as calls."""

from collections.abc import Sequence

from wildtool.engine.score.reply_signs import format_of_text
from wildtool.types import Tool


def unread_call(text: str, tools: Sequence[Tool]) -> str:
    """What a text has in place of a call, in words; empty for a text without one."""
    name = format_of_text(text, lambda: tools)
    if name is None:
        return ""
    return "a call that is written as text" + (f" in the format {name}" if name else "")
