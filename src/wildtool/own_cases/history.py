"""The messages of a turn: the calls that are expected, their recorded results, and the answer."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from wildtool.own_cases.records import CaseUnit, Slot
from wildtool.own_cases.samples import SampleCall, arguments_text, sample_calls
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
    steps = batches(unit) or []
    is_recorded = all(slot.returns for batch in steps for slot, _ in batch)
    calls = [message for step in _calls_with_results(unit, steps) for message in step] if is_recorded else []
    return [*calls, *_answer(unit)]


def gold_messages(unit: CaseUnit) -> list[Message]:
    """What is right in a turn, as far as its case says it, up to the last message of the assistant: the recorded reply,
    or the calls up to one without a result, and the answer. Empty where nothing is said."""
    if unit.gold is not None:
        return [unit.gold]
    messages: list[Message] = []
    for reply, *results in _calls_with_results(unit, batches(unit) or []):
        messages.append(reply)
        if len(results) < len(reply["tool_calls"]):
            return messages
        messages += results
    answer = _answer(unit)
    while messages and not answer and messages[-1]["role"] == "tool":
        messages.pop()
    return [*messages, *answer]


def _calls_with_results(
    unit: CaseUnit, steps: Sequence[Sequence[tuple[Slot, SampleCall]]]
) -> Iterator[list[Message]]:
    """For each step its reply and the results that are recorded."""
    for step, batch in enumerate(steps, 1):
        reply = calls_reply([call for _, call in batch], f"{unit.turn}_{step}")
        ids = [call["id"] for call in reply["tool_calls"]]
        slots = zip(ids, batch, strict=True)
        yield [reply, *(recorded_result(id_, slot.returns[0]) for id_, (slot, _) in slots if slot.returns)]


def _answer(unit: CaseUnit) -> list[Message]:
    return [{"role": "assistant", "content": unit.answer}] if unit.answer else []


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
