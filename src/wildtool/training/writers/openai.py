"""Writes messages in OpenAI's shape, for fine-tuning and for preferences, and as TRL reads them."""

from collections.abc import Callable, Iterator, Sequence
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


def openai_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A record as a line of a file in OpenAI's shape."""
    messages = list(record_messages(record, reply_message))
    tools = {} if options.for_upload and not record.tools else {"tools": list(record.tools)}
    if not record.pair:
        return {"messages": messages, **tools}
    preferred, other = map(reply_message, record.pair.values())
    return {
        "input": {"messages": messages, **tools},
        "preferred_output": [preferred],
        "non_preferred_output": [other],
    }


def record_messages(
    record: TrainingRecord, reply: Callable[[AssistantTurn], dict[str, Any]], *, named_results: bool = False
) -> Iterator[dict[str, Any]]:
    """The messages of a record; of a preference record those of its prompt.

    Args:
        reply: writes an assistant turn.
        named_results: whether each result has the name of its tool.
    """
    if record.system is not None:
        yield {"role": "system", "content": record.system, **record.system_extras}
    calls: Sequence[TrainingCall] = ()
    for turn in record.turns:
        match turn:
            case UserTurn():
                yield {"role": "user", "content": turn.text, **turn.extras}
            case AssistantTurn():
                calls = turn.calls
                yield reply(turn)
            case ResultTurn():
                for call, result in zip(calls, turn.results, strict=True):
                    message = {"role": "tool", "tool_call_id": call.id, "content": result.text}
                    name = {"name": call.name} if named_results else {}
                    yield {**message, **result.extras, **name}


def reply_message(turn: AssistantTurn) -> dict[str, Any]:
    """An assistant turn as a message."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_text},
            }
            for call in turn.calls
        ]
    if not turn.learned:
        message["weight"] = 0
    return {**message, **turn.extras}


EARLIER_REPLIES = "learned replies before the last"
"""What is lost where a completion is the last reply alone."""


def trl_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A record as a line of a file for TRL's SFT or DPO trainer."""
    reply = _reply_with_text if options.arguments_as_text else _reply
    messages = list(record_messages(record, reply, named_results=True))
    tools = spaced_json(record.tools) if options.tools_as_text else list(record.tools)
    if record.pair:
        pair = {name: [reply(turn)] for name, turn in record.pair.items()}
        return {"prompt": messages, **pair, "tools": tools}
    if options.prompt_completion:
        return {"prompt": messages[:-1], "completion": messages[-1:], "tools": tools}
    return {"messages": messages, "tools": tools}


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


def _reply_with_text(turn: AssistantTurn) -> dict[str, Any]:
    """A reply as `_reply` writes it, with arguments as JSON text."""
    message = _reply(turn)
    for call, written in zip(turn.calls, message.get("tool_calls", ()), strict=True):
        written["function"]["arguments"] = call.arguments_text
    return message
