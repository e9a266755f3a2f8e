"""Reads BitAgent's, ToolGen's and Roborovski's sets."""

from collections.abc import Mapping
from typing import Any, cast

from wildtool.training.calls import calls_from
from wildtool.training.conversation import ConversationBuilder, check_not_blank
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.sharegpt import check_pair, conversation_turns, plain_text
from wildtool.training.record import AssistantTurn, RowError, TrainingCall, TrainingRecord, observed_text
from wildtool.training.texts import UnreadableTextError, parse_value
from wildtool.training.tools import tools_from

SPECIAL_TOKENS = "special-tokens"
"""Note: the set teaches tokens that a model must be given first."""


def read_bitagent(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A conversation and tools, both as JSON text."""
    tools = tools_from(row.get("tools"))
    held = row.get("conversation")
    if isinstance(held, str):
        try:
            held = parse_value(held)[0]
        except UnreadableTextError as error:
            raise RowError("unreadable-line", f"conversation: {error}") from error
    builder = ConversationBuilder()
    for role, value in conversation_turns({"conversation": held}, "conversation", "role", "content"):
        match role:
            case "system":
                builder.add_system(plain_text(value))
            case "user":
                builder.add_user(plain_text(value))
            case "assistant":
                builder.add_reply(plain_text(value))
            case "tool call":
                builder.add_reply(None, calls_from(value, builder, strict=True))
            case "tool response":
                builder.add_result(observed_text(value))
            case _:
                raise RowError("unknown-role", f"the role {role!r}"[:100])
    return TrainingRecord(
        turns=builder.finish(),
        tools=tools.tools,
        given_tools=tools.given,
        unknown_types=tools.unknown_types,
        system=builder.system or None,
        repairs=builder.repairs,
    )


def read_toolgen(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A chat in which tools are tokens; `loss: false` marks what is not learned."""
    builder = ConversationBuilder()
    turns = row.get("conversations")
    entries = cast(list[Any], turns) if isinstance(turns, list) else []
    for (role, value), turn in zip(
        conversation_turns(row, "conversations", "role", "content"), entries, strict=True
    ):
        match role:
            case "system":
                builder.add_system(plain_text(value))
            case "user":
                builder.add_user(plain_text(value))
            case "assistant":
                builder.add_reply(plain_text(value), learned=turn.get("loss") is not False)
            case _:
                raise RowError("unknown-role", f"the role {role!r}"[:100])
    return TrainingRecord(
        turns=builder.finish(),
        system=builder.system or None,
        repairs=builder.repairs,
        notes=(SPECIAL_TOKENS,),
    )


def read_roborovski_dpo(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A question with a better and a worse call of one tool; every column is a Python literal.

    With `--kind sft` the better call with its result and answer.
    """
    tools = tools_from(row.get("tool"))
    if not tools.tools:
        raise RowError("bad-tools", "no tool")
    name = tools.tools[0]["function"]["name"]
    arguments = _arguments(row.get("tool_call_accepted"))
    if arguments is None:
        raise RowError("unreadable-call", f"tool_call_accepted: {row.get('tool_call_accepted')!r}"[:200])
    builder = ConversationBuilder()
    builder.add_user(plain_text(row.get("question")))
    good = AssistantTurn(None, (TrainingCall(name, arguments, builder.next_call_id()),))
    is_pair = options.kind != "sft"
    bad = None
    if is_pair:
        worse = _arguments(row.get("tool_call_rejected"))
        if worse is None:
            bad = AssistantTurn(plain_text(row.get("tool_call_rejected")))
            check_not_blank(bad, "tool_call_rejected")
        else:
            bad = AssistantTurn(None, (TrainingCall(name, worse, good.calls[0].id),))
        check_pair(good, bad)
    else:
        builder.add_reply(None, good.calls)
        if (result := row.get("call_result_accepted")) is not None:
            builder.add_result(_text(result))
        if (answer := row.get("agent_output_accepted")) is not None:
            builder.add_reply(plain_text(answer))
    return TrainingRecord(
        kind="preference" if is_pair else "sft",
        turns=builder.finish(prompt=is_pair),
        chosen=good if is_pair else None,
        rejected=bad,
        tools=tools.tools,
        given_tools=tools.given,
        unknown_types=tools.unknown_types,
        repairs=builder.repairs,
    )


def _arguments(value: Any) -> dict[str, Any] | None:
    """The object in a column; None if there is none."""
    if isinstance(value, str):
        try:
            value = parse_value(value)[0]
        except UnreadableTextError:
            return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _text(value: Any) -> str:
    """A result without the quotes of its literal."""
    try:
        held = parse_value(value)[0] if isinstance(value, str) else value
    except UnreadableTextError:
        held = value
    return observed_text(held if isinstance(held, str) else value)
