"""The messages of a turn: the calls that are expected, their recorded results, and the answer."""

import json
from collections.abc import Sequence
from typing import Any

from wildtool.cases.records import CaseUnit, Slot
from wildtool.cases.samples import SampleCall, arguments_text, sample_calls
from wildtool.types import Message

CLOSING = "Done."
"""What a perfect model says where no call is due and the case names no text."""


def calls_reply(calls: Sequence[SampleCall], prefix: str) -> Message:
    """A reply that makes calls. Args: prefix: of their ids."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{prefix}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments_text(arguments)},
            }
            for number, (name, arguments) in enumerate(calls, 1)
        ],
    }


def recorded_result(call_id: str, value: Any) -> Message:
    """A recorded result as the model sees it: a text as it is, anything else as JSON."""
    return {"role": "tool", "tool_call_id": call_id, "content": result_content(value)}


def result_content(value: Any) -> str:
    """A recorded result as the content of a message."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def turn_messages(unit: CaseUnit) -> list[Message]:
    """A turn as later ones show it: its calls with their recorded results, where all have one, and the answer. Empty
    where nothing is recorded.
    """
    messages: list[Message] = []
    for step, batch in enumerate(batches(unit) or (), 1):
        if not all(slot.returns for slot, _ in batch):
            messages = []
            break
        reply = calls_reply([call for _, call in batch], f"{unit.turn}_{step}")
        messages.append(reply)
        for call, (slot, _) in zip(reply["tool_calls"], batch, strict=True):
            messages.append(recorded_result(call["id"], slot.returns[0]))
    return [*messages, *([{"role": "assistant", "content": unit.answer}] if unit.answer else [])]


def batches(unit: CaseUnit) -> list[list[tuple[Slot, SampleCall]]] | None:
    """The expected calls of a unit in the steps in which they can be made: in an order, a call is made in the step after
    one with a result. None where a call is not known."""
    calls = sample_calls(unit, unit.expectation.slots)
    if calls is None:
        return None
    if not unit.expectation.in_order and not any(slot.after for slot, _ in calls):
        return [calls] if calls else []
    steps: list[list[tuple[Slot, SampleCall]]] = []
    for slot, call in calls:
        # Each call with a result is seen before the next is made.
        if steps and not any(earlier.returns for earlier, _ in steps[-1]):
            steps[-1].append((slot, call))
        else:
            steps.append([(slot, call)])
    return steps
