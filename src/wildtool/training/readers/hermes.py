"""Reads Hermes' shape: `<tools>` in the system text, calls and results in `<tool_call>` and `<tool_response>` blocks."""

import re
from collections.abc import Mapping
from typing import Any

from wildtool.json_codec import as_objects
from wildtool.training.calls import calls_from
from wildtool.training.conversation import ConversationBuilder
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.turns import (
    add_calls,
    add_system,
    add_user,
    conversation_turns,
    plain_text,
    read_turns,
)
from wildtool.training.record import TrainingCall, TrainingRecord, observed_text
from wildtool.training.tools import tools_from

_TOOLS = re.compile(r"<tools>(.*?)(?:</tools>|$)", re.DOTALL)
_CALL = re.compile(r"<tool_call>(.*?)(</tool_call>|$)", re.DOTALL)
_RESPONSE = re.compile(r"<tool_response>(.*?)(</tool_response>|$)", re.DOTALL)


def read_hermes(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """Conversations of `from` and `value`, or messages of `role` and `content`, with calls in tags."""
    if "conversations" in row:
        turns = conversation_turns(row, "conversations", "from", "value")
    else:
        turns = conversation_turns(row, "messages", "role", "content")
    system = turns[0][1] if turns and turns[0][0] == "system" else row.get("system")
    return _record(turns, row.get("tools"), plain_text(system), options)


def read_hermes_prompts(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A prompt and the calls that complete it."""
    turns = conversation_turns(row, "prompt", "role", "content")
    system = plain_text(turns[0][1] if turns and turns[0][0] == "system" else row.get("system"))
    if not turns:
        turns = [("user", row.get("user"))]
    tools = tools_from(row.get("tools") or _tools_in(system))
    builder = ConversationBuilder()
    read_turns(builder, turns, _ACTIONS)
    completion = row.get("completion")
    if isinstance(completion, str) and not completion.lstrip().startswith(("[", "{")):
        _add_reply(builder, completion)
    else:
        add_calls(builder, completion)
    return builder.record(tools, system=_kept_system(system, options))


def _record(turns: list[tuple[str, Any]], column: Any, system: str, options: ReadOptions) -> TrainingRecord:
    tools = tools_from(column)
    if not tools.tools:
        tools = tools_from(_tools_in(system))
    builder = ConversationBuilder()
    read_turns(builder, turns, _ACTIONS)
    return builder.record(tools, system=_kept_system(system, options))


def _tools_in(system: str) -> str:
    """The last block of tools that is not empty."""
    blocks = [block.strip() for block in _TOOLS.findall(system)]
    return next((block for block in reversed(blocks) if block), "")


def _kept_system(system: str, options: ReadOptions) -> str | None:
    return (system or None) if options.keep_system or "<tools>" not in system else None


def _add_reply(builder: ConversationBuilder, content: Any) -> None:
    """A reply: text, and the calls of its blocks."""
    text = plain_text(content)
    calls: list[TrainingCall] = []
    for match in _CALL.finditer(text):
        if not match[2]:
            builder.note_repair("missing-close-tag")
        calls += calls_from(match[1].strip(), builder, strict=True)
    if not calls:
        builder.add_reply(text)
        return
    before = text[: text.index("<tool_call>")].strip()
    builder.add_reply(before, calls)


def _add_results(builder: ConversationBuilder, content: Any) -> None:
    """The result of every block; the text itself if it has none."""
    text = observed_text(content)
    blocks = list(_RESPONSE.finditer(text))
    if any(not block[2] for block in blocks):
        builder.note_repair("missing-close-tag")
    for result in [block[1].strip() for block in blocks] or [text]:
        builder.add_result(result)


_ACTIONS = {
    "system": add_system,
    **dict.fromkeys(("human", "user"), add_user),
    **dict.fromkeys(("gpt", "assistant"), _add_reply),
    "tool": _add_results,
}
"""What is done with the turns of each role."""


def is_hermes(row: Mapping[str, Any]) -> bool:
    """Whether a row of `conversations` has tools in its system turn, or a column of them and `tool` turns."""
    turns = as_objects(row.get("conversations"))
    if turns and turns[0].get("from") == "system" and "<tools>" in str(turns[0].get("value")):
        return True
    return "tools" in row and any(turn.get("from") == "tool" for turn in turns)


def lists_tools_in_tags(row: Mapping[str, Any]) -> bool:
    """Whether the first of a row's `messages` is a system text with tools in tags."""
    messages = as_objects(row.get("messages"))
    first = messages[0] if messages else {}
    return first.get("role") == "system" and "<tools>" in str(first.get("content"))
