"""Writes messages as TRL reads them: arguments as objects, no null, the tool's name in each result."""

from collections.abc import Iterator, Sequence
from typing import Any

from wildtool.training.record import (
    AssistantTurn,
    ResultTurn,
    TrainingCall,
    TrainingRecord,
    UserTurn,
    spaced_json,
)
from wildtool.training.writers.options import WriteOptions


def trl_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A record as a line of a file for TRL's SFT or DPO trainer."""
    messages = list(_messages(record))
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
            yield "learned replies before the last"
        replies = replies[-1:]
    if not all(turn.learned for turn in replies):
        yield "weight 0"


def _messages(record: TrainingRecord) -> Iterator[dict[str, Any]]:
    if record.system is not None:
        yield {"role": "system", "content": record.system, **record.system_extras}
    calls: Sequence[TrainingCall] = ()
    for turn in record.turns:
        match turn:
            case UserTurn():
                yield {"role": "user", "content": turn.text, **turn.extras}
            case AssistantTurn():
                calls = turn.calls
                yield _reply(turn)
            case ResultTurn():
                for call, result in zip(calls, turn.results, strict=True):
                    yield {
                        "role": "tool",
                        "tool_call_id": call.id,
                        "content": result.text,
                        **result.extras,
                        "name": call.name,
                    }


def _reply(turn: AssistantTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or "", **turn.extras}
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    return message
