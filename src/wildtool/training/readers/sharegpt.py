"""Reads ShareGPT's shape as LLaMA-Factory has it: `conversations` with `from` and `value`; `tools` and `system`."""

import re
from collections.abc import Mapping
from typing import Any, cast

from wildtool.json_codec import as_object, as_objects
from wildtool.training.calls import calls_from
from wildtool.training.conversation import ConversationBuilder, check_not_blank
from wildtool.training.readers.options import ReadOptions
from wildtool.training.record import AssistantTurn, RowError, TrainingRecord, observed_text
from wildtool.training.tools import tools_from
from wildtool.training.writers.kept import KEPT_COLUMN, put_back

USER_ROLES = frozenset({"human", "user"})
REPLY_ROLES = frozenset({"gpt", "assistant"})
CALL_ROLES = frozenset({"function_call", "function-call", "tool_call", "tool call"})
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
    column = row.get("system")
    for turn in conversation_turns(row, "conversations", "from", "value"):
        role, value = turn
        if role == "system":
            builder.add_system(plain_text(value))
        elif role in CALL_ROLES:
            text, calls = split_call_text(value)
            builder.add_reply(text, calls_from(calls, builder, strict=strict))
        elif role in USER_ROLES:
            builder.add_user(plain_text(value))
        elif role in REPLY_ROLES:
            builder.add_reply(plain_text(value))
        elif role in RESULT_ROLES:
            builder.add_result(observed_text(value))
        else:
            raise RowError("unknown-role", f"the role {role!r}"[:100])
    is_pair = "chosen" in row and "rejected" in row
    turns = builder.finish(prompt=is_pair)
    numbered = builder.numbered
    chosen = _reply(row["chosen"], "chosen", builder, strict=strict) if is_pair else None
    builder.numbered = numbered
    rejected = _reply(row["rejected"], "rejected", builder, strict=strict) if is_pair else None
    check_pair(chosen, rejected)
    system = builder.system if builder.system is not None else system_text(column)
    return TrainingRecord(
        kind="preference" if is_pair else "sft",
        turns=turns,
        chosen=chosen,
        rejected=rejected,
        tools=tools.tools,
        given_tools=tools.given,
        unknown_types=tools.unknown_types,
        system=system or None,
        repairs=builder.repairs,
    )


def conversation_turns(
    row: Mapping[str, Any], column: str, role_key: str, text_key: str
) -> list[tuple[str, Any]]:
    """Role and content of every turn. Raises RowError where a turn has no role."""
    found: list[tuple[str, Any]] = []
    for about in as_objects(row.get(column)):
        role = about.get(role_key)
        if not isinstance(role, str):
            raise RowError("unknown-role", f"a turn of {column} has no {role_key}")
        found.append((role, about.get(text_key)))
    return found


def plain_text(value: Any) -> str:
    """A text, or the joined texts of a list of parts; an empty one for null.

    Raises:
        RowError: it is something else (`not-text`).
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        parts = [cast(dict[str, Any], part) for part in cast(list[Any], value) if isinstance(part, dict)]
        texts = [part.get("text") for part in parts if part.get("type") == "text"]
        if len(texts) == len(cast(list[Any], value)) and all(isinstance(text, str) for text in texts):
            return "".join(cast(list[str], texts))
    raise RowError("not-text", f"expected text, found {value!r}"[:200])


def system_text(value: Any) -> str | None:
    """A system text of a column. Raises RowError if it is no text."""
    return None if value is None else plain_text(value)


def split_call_text(value: Any) -> tuple[str | None, Any]:
    """The text beside calls and the calls: after a thinking block, or between a pair of tags."""
    if not isinstance(value, str):
        return None, value
    if found := _TAGGED.fullmatch(value):
        return found["text"].strip() or None, found["rest"]
    if found := _THOUGHT.fullmatch(value):
        return found["text"].strip() or None, found["rest"]
    return None, value


def _reply(turn: Any, name: str, builder: ConversationBuilder, *, strict: bool) -> AssistantTurn:
    about = as_object(turn)
    role, value = about.get("from"), about.get("value")
    if role in CALL_ROLES:
        text, calls = split_call_text(value)
        return AssistantTurn(text, tuple(calls_from(calls, builder, strict=strict)))
    if role not in REPLY_ROLES:
        raise RowError("unknown-role", f"{name} has the role {role!r}"[:100])
    reply = AssistantTurn(plain_text(value))
    check_not_blank(reply, name)
    return reply


def check_pair(chosen: AssistantTurn | None, rejected: AssistantTurn | None) -> None:
    """Raises RowError if two replies say the same."""
    if chosen is None or rejected is None:
        return
    same_calls = [(call.name, call.arguments) for call in chosen.calls] == [
        (call.name, call.arguments) for call in rejected.calls
    ]
    if same_calls and (chosen.calls or (chosen.text or "").strip() == (rejected.text or "").strip()):
        raise RowError("same-pair", "chosen and rejected are equal")
