"""The episode of a turn: one reply, or several where the case has the results of the calls."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from wildtool.episode import fields_with_calls, written_text
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.own_cases.assigning import best_pairs
from wildtool.own_cases.history import CLOSING, batches, calls_reply, recorded_result
from wildtool.own_cases.judging import MadeCall, compared_slots
from wildtool.own_cases.records import CaseUnit
from wildtool.toolcall.arguments import ArgumentsError, read_calls
from wildtool.types import Message, Request


class CaseEpisode:
    """A turn until the model answers without a call, or makes a call whose result is not recorded."""

    most_replies: float = 20
    """A turn ends after as many."""

    def __init__(self, unit: CaseUnit) -> None:
        self.unit = unit
        self.before: Sequence[Message] = unit.messages
        """What the model sees before its first reply."""
        self.replies: list[Message] = []
        self.calls: list[MadeCall] = []
        """Those of all replies."""
        self.unreadable = ""
        """Why a call of the last reply cannot be read."""
        self.unrecorded = ""
        """The tool whose call ended the turn, since its result is not recorded."""
        self._slots: dict[int, int] = {}
        """By call the slot whose result was shown."""
        self._shown: list[Message] = []
        """Replies and results of the turn so far."""
        self._ended = False

    @property
    def done(self) -> bool:
        return self._ended

    @property
    def text(self) -> str:
        """What the model said last."""
        return (written_text(self.replies[-1]) or "") if self.replies else ""

    @property
    def run(self) -> list[Message]:
        """The turn so far as later ones show it; its last calls may have no results."""
        if not self.replies or not self._ended:
            return self._shown
        last = self.replies[-1]
        calls = as_objects(last.get("tool_calls"))
        if not calls:
            return [*self._shown, {"role": "assistant", "content": last.get("content")}]
        return [*self._shown, {"role": "assistant", "content": last.get("content"), "tool_calls": calls}]

    def request(self) -> Request | None:
        if self.done:
            return None
        gold = self._gold_message()
        answer = None if gold is None else _always(gold)
        return Request([*self.before, *self._shown], self.unit.tools, gold=answer)

    def advance(self, reply: Message) -> None:
        if self.done:
            return
        self.replies.append(reply)
        try:
            calls = read_calls(reply)
        except ArgumentsError as error:
            self.unreadable = str(error)
            self._ended = True
            return
        first = len(self.calls)
        self.calls += calls
        entries = as_objects(reply.get("tool_calls"))
        sent = [{**call, "id": _id_of(call, first + place)} for place, call in enumerate(entries)]
        results = self._shown_results(reply, sent, first) if calls else None
        if results is None or len(self.replies) >= self.most_replies:
            self._ended = True
            return
        content: Any = reply.get("content")
        self._shown.append(
            {"role": "assistant", "content": content, "tool_calls": sent, **fields_with_calls(reply)}
        )
        self._shown += results

    def _shown_results(self, reply: Message, sent: Sequence[Message], first: int) -> list[Message] | None:
        """What the model sees of the results of its calls; None where the turn ends with them.

        Args:
            sent: the calls of the reply.
            first: number of the first of them in the turn.
        """
        results = self._results(first)
        if results is None:
            return None
        return [recorded_result(call["id"], value) for call, value in zip(sent, results, strict=True)]

    def _results(self, first: int) -> list[Any] | None:
        """The recorded results of the calls from a number on; None where one has none."""
        slots = self.unit.expectation.slots
        if not any(slot.returns for slot in slots):
            return None
        new = self.calls[first:]
        misfits = compared_slots(slots, new, self.unit.parameters)
        counts = Counter(self._slots.values())
        fits = [
            [not reason and counts[number] < slot.most for reason in row]
            for number, (slot, row) in enumerate(zip(slots, misfits, strict=True))
        ]
        pairs = best_pairs(slots, fits, len(new))
        results: list[Any] = []
        for place, (name, _) in enumerate(new):
            slot = slots[pairs[place]] if place in pairs else None
            if slot is None or not slot.returns:
                self.unrecorded = name
                return None
            self._slots[first + place] = pairs[place]
            results.append(slot.returns[0])
        return results

    def _gold_message(self) -> Message | None:
        """What a perfect model says now; None where that is not known."""
        unit = self.unit
        if unit.gold is not None and not self.replies:
            return unit.gold
        steps = batches(unit)
        if steps is None:
            return None
        if len(self.replies) < len(steps):
            batch = steps[len(self.replies)]
            return calls_reply([call for _, call in batch], f"{unit.turn}_{len(self.replies) + 1}")
        texts = [unit.answer] if unit.answer else [_text_of(words) for words in unit.expectation.says]
        return {"role": "assistant", "content": " ".join(filter(None, texts)) or CLOSING}


def _always(gold: Message) -> Callable[[str], Message]:
    return lambda style: gold


def _id_of(call: Message, number: int) -> str:
    call_id = call.get("id")
    return call_id if isinstance(call_id, str) and call_id else f"call_{number + 1}"


def _text_of(words: Any) -> str:
    """A text that fits one of `says`, where that is known."""
    if isinstance(words, str):
        return words
    for operand in as_object(words).values():
        return " ".join(map(str, as_list(operand))) or str(operand)
    return ""
