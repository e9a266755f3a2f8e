"""Reads the Glaive function-calling set in its ChatML packing, where arguments are JSON in single quotes."""

from collections.abc import Mapping
from typing import Any

from wildtool.training.calls import calls_from
from wildtool.training.conversation import ConversationBuilder
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.sharegpt import conversation_turns, plain_text
from wildtool.training.record import RowError, TrainingRecord, observed_text
from wildtool.training.tools import tools_from


def read_glaive_chatml(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A dialogue; system turns repeat the columns `system_message` and `function_description`."""
    tools = tools_from(row.get("function_description"))
    builder = ConversationBuilder()
    turns = conversation_turns(row, "conversations", "from", "value")
    for role, value in turns:
        match role:
            case "system":
                continue
            case "human":
                builder.add_user(plain_text(value))
            case "gpt":
                builder.add_reply(plain_text(value))
            case "function-call":
                builder.add_reply(None, calls_from(value, builder, strict=True))
            case "function-response":
                builder.add_result(observed_text(value))
            case _:
                raise RowError("unknown-role", f"the role {role!r}"[:100])
    system = plain_text(row.get("system_message")).strip()
    if not system and turns and turns[0][0] == "system":
        system = plain_text(turns[0][1]).partition("{")[0].strip()
    system = system.removesuffix("-").rstrip()
    only_introduces = bool(tools.tools) and not options.keep_system
    return TrainingRecord(
        turns=builder.finish(),
        tools=tools.tools,
        given_tools=tools.given,
        unknown_types=tools.unknown_types,
        system=None if only_introduces else system or None,
        repairs=builder.repairs,
    )
