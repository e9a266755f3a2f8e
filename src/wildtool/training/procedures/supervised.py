"""The turns of a training record that a model learns to say, each with what it is shown before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wildtool.training.record import (
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    TrainingRecord,
    TrainingTurn,
    UserTurn,
)
from wildtool.training.writers.openai import record_messages, reply_message
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
    if record.chosen is not None:
        turns = [SupervisedTurn(record, len(record.turns), record.chosen)]
    else:
        turns = [
            SupervisedTurn(record, place, turn)
            for place, turn in enumerate(record.turns)
            if isinstance(turn, AssistantTurn) and turn.learned
        ]
    if which == "first":
        return turns[:1]
    return [turn for turn in turns if turn.gold.calls] if which == "calls" else turns


def shown_messages(system: str | None, turns: Sequence[TrainingTurn]) -> list[Message]:
    """Turns as messages in OpenAI's shape, without further keys."""
    bare = TrainingRecord(turns=tuple(map(_without_extras, turns)), system=system or None)
    return list(record_messages(bare, said_message))


def said_message(turn: AssistantTurn) -> Message:
    """An assistant turn in OpenAI's shape, without further keys."""
    return reply_message(AssistantTurn(turn.text if turn.calls else turn.text or "", turn.calls))


def _without_extras(turn: TrainingTurn) -> TrainingTurn:
    match turn:
        case UserTurn(text=text):
            return UserTurn(text)
        case AssistantTurn():
            return turn
        case ResultTurn(results=results):
            return ResultTurn(tuple(ObservedResult(result.text) for result in results))
