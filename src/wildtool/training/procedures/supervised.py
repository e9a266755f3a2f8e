"""The turns of a training record that a model learns to say, each with what it is shown before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wildtool.training.record import AssistantTurn, ResultTurn, TrainingRecord, TrainingTurn, UserTurn
from wildtool.types import Message, Tool

WhichTurns = Literal["calls", "all", "first"]
"""Supervised turns with calls, all of them, or the first of each record."""


@dataclass(frozen=True, slots=True)
class SupervisedTurn:
    """A turn that a model learns to say."""

    record: TrainingRecord
    place: int
    """Its place among the turns of the record, from 0."""
    gold: AssistantTurn
    """What the record says there."""

    @property
    def prompt(self) -> Sequence[TrainingTurn]:
        """The turns before it."""
        return self.record.turns[: self.place]

    @property
    def messages(self) -> list[Message]:
        """What a model is shown: the system text and the turns before, in OpenAI's shape."""
        return shown_messages(self.record.system, self.prompt)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the record."""
        return self.record.tools

    @property
    def gold_message(self) -> Message:
        """The right reply in OpenAI's shape."""
        return said_message(self.gold)


def supervised_turns(record: TrainingRecord, which: WhichTurns = "all") -> list[SupervisedTurn]:
    """The supervised turns of a record in order; of a preference record the chosen reply."""
    if record.kind == "preference":
        chosen = [] if record.chosen is None else [SupervisedTurn(record, len(record.turns), record.chosen)]
        found = chosen
    else:
        found = [
            SupervisedTurn(record, place, turn)
            for place, turn in enumerate(record.turns)
            if isinstance(turn, AssistantTurn) and turn.learned
        ]
    if which == "first":
        return found[:1]
    return [turn for turn in found if turn.gold.calls] if which == "calls" else found


def shown_messages(system: str | None, turns: Sequence[TrainingTurn]) -> list[Message]:
    """Turns as messages in OpenAI's shape."""
    messages: list[Message] = [{"role": "system", "content": system}] if system else []
    ids: list[str] = []
    for turn in turns:
        match turn:
            case UserTurn(text=text):
                messages.append({"role": "user", "content": text})
            case AssistantTurn():
                messages.append(said_message(turn))
                ids = [call.id for call in turn.calls]
            case ResultTurn(results=results):
                messages += [
                    {"role": "tool", "tool_call_id": call_id, "content": result.text}
                    for call_id, result in zip(ids, results, strict=False)
                ]
    return messages


def said_message(turn: AssistantTurn) -> Message:
    """An assistant turn in OpenAI's shape."""
    if not turn.calls:
        return {"role": "assistant", "content": turn.text or ""}
    calls: list[dict[str, Any]] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments_text},
        }
        for call in turn.calls
    ]
    return {"role": "assistant", "content": turn.text, "tool_calls": calls}
