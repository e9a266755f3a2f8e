"""Reads ShareGPT's shape as LLaMA-Factory has it: `conversations` with `from` and `value`; `tools` and `system`."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from wildtool.json_codec import as_object
from wildtool.shapes.keys import ROLES_OF_CALLS
from wildtool.training.calls import calls_from
from wildtool.training.conversation import ConversationBuilder, check_not_blank
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.turns import (
    TurnAction,
    add_reply,
    add_result,
    add_system,
    add_user,
    conversation_turns,
    plain_text,
    read_turns,
)
from wildtool.training.record import AssistantTurn, RowError, TrainingRecord
from wildtool.training.tools import tools_from
from wildtool.training.writers.kept import KEPT_COLUMN, put_back

USER_ROLES = frozenset({"human", "user"})
REPLY_ROLES = frozenset({"gpt", "assistant"})
RESULT_ROLES = frozenset(
    {"tool", "function", "observation", "function-response", "tool_response", "tool response"}
)
_THOUGHT = re.compile(r"\s*<think>\n?(?P<text>.*?)\n?</think>\s*(?P<rest>[\[{].*)", re.DOTALL)
_TAGGED = re.compile(
    r"(?P<text>.*?)<tool_call>\s*(?P<rest>(?:(?!</?tool_call>).)*?)\s*</tool_call>\s*", re.DOTALL
)


def read_sharegpt(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A record with the words for roles that are usual in this shape."""
    record = _read(row, strict=False)
    return put_back(record, row) if KEPT_COLUMN in row else record


def read_glaive_toolcall(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """LLaMA-Factory's own demonstration set."""
    return _read(row, strict=True)


def _read(row: Mapping[str, Any], *, strict: bool) -> TrainingRecord:
    tools = tools_from(row.get("tools"))
    builder = ConversationBuilder(splits_results=True)
    read_turns(builder, conversation_turns(row, "conversations", "from", "value"), _ACTIONS[strict])
    is_pair = "chosen" in row and "rejected" in row
    system = builder.system if builder.system is not None else system_text(row.get("system"))
    return builder.record(
        tools,
        replies=(lambda name: _reply(row[name], name, builder, strict=strict)) if is_pair else None,
        system=system or None,
    )


def system_text(value: Any) -> str | None:
    """A system text of a column. Raises RowError if it is no text."""
    return None if value is None else plain_text(value)


def split_call_text(value: Any) -> tuple[str | None, Any]:
    """The text beside calls and the calls: after a thinking block, or between a pair of tags."""
    if not isinstance(value, str):
        return None, value
    if match := _TAGGED.fullmatch(value):
        return match["text"].strip() or None, match["rest"]
    if match := _THOUGHT.fullmatch(value):
        return match["text"].strip() or None, match["rest"]
    return None, value


def _reply(turn: Any, name: str, builder: ConversationBuilder, *, strict: bool) -> AssistantTurn:
    entry = as_object(turn)
    role, value = entry.get("from"), entry.get("value")
    if role in ROLES_OF_CALLS:
        text, calls = split_call_text(value)
        return AssistantTurn(text, tuple(calls_from(calls, builder, strict=strict)))
    if role not in REPLY_ROLES:
        raise RowError("unknown-role", f"{name} has the role {role!r}"[:100])
    reply = AssistantTurn(plain_text(value))
    check_not_blank(reply, name)
    return reply


def _add_calls(builder: ConversationBuilder, value: Any, *, strict: bool) -> None:
    text, calls = split_call_text(value)
    builder.add_reply(text, calls_from(calls, builder, strict=strict))


_ACTIONS: Mapping[bool, Mapping[str, TurnAction]] = {
    strict: {
        "system": add_system,
        **dict.fromkeys(ROLES_OF_CALLS, partial(_add_calls, strict=strict)),
        **dict.fromkeys(USER_ROLES, add_user),
        **dict.fromkeys(REPLY_ROLES, add_reply),
        **dict.fromkeys(RESULT_ROLES, add_result),
    }
    for strict in (False, True)
}
"""What is done with the turns of each role; of published sets arguments must be objects."""
