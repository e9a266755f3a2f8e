"""Writes messages as TRL reads them: arguments as objects, no null, the tool's name in each result."""

from collections.abc import Iterator
from typing import Any

from wildtool.training.record import AssistantTurn, TrainingRecord, spaced_json
from wildtool.training.writers.openai import record_messages
from wildtool.training.writers.options import WriteOptions

EARLIER_REPLIES = "learned replies before the last"
"""What is lost where a completion is the last reply alone."""


def trl_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A record as a line of a file for TRL's SFT or DPO trainer."""
    messages = list(record_messages(record, _reply, named_results=True))
    tools = spaced_json(record.tools) if options.tools_as_text else list(record.tools)
    if record.chosen is None or record.rejected is None:
        if options.prompt_completion:
            return {"prompt": messages[:-1], "completion": messages[-1:], "tools": tools}
        return {"messages": messages, "tools": tools}
    return {
        "prompt": messages,
        "chosen": [_reply(record.chosen)],
        "rejected": [_reply(record.rejected)],
        "tools": tools,
    }


def lost_in_trl(record: TrainingRecord, options: WriteOptions) -> Iterator[str]:
    """What of a record TRL's rows cannot say: which replies are learned."""
    replies = list(record.replies)
    if options.prompt_completion and record.kind == "sft":
        if any(turn.learned for turn in replies[:-1]):
            yield EARLIER_REPLIES
        replies = replies[-1:]
    if not all(turn.learned for turn in replies):
        yield "weight 0"


def _reply(turn: AssistantTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or "", **turn.extras}
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    return message
