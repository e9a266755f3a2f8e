"""Asks for the reasoning behind the calls of a training file, and checks that it leads to them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.aid.benchmark import with_text
from wildtool.aid.reasoning import with_heading
from wildtool.generate.core.parsing import reply_text
from wildtool.generate.training.maker import ReplyScript, TrainingMaker, role_instruction
from wildtool.training.procedures.agreement import agreement
from wildtool.training.procedures.rationales import reasoning_fault
from wildtool.training.procedures.records import named_records
from wildtool.training.procedures.supervised import SupervisedTurn, supervised_turns
from wildtool.types import Item, Message, Request, Role

CHECKER = "check"
_SHORT_THOUGHTS, _LONG_THOUGHTS = 100, 400
"""Words of reasoning, for estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RationaleSpec:
    """Which reasoning is wanted."""

    file: Path
    min_tokens: int = 30
    check: bool = True
    """Whether a model must reach the record's calls by the reasoning alone."""


@dataclass(frozen=True, slots=True)
class RecordTurn:
    """A turn of a named record."""

    record: str
    turn: SupervisedTurn


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a model thought before a turn."""

    text: str
    fault: str = ""
    """Why it is left out; empty if it is fit to be learned from."""
    checked: str = ""
    """What the check found, in words; empty without one."""


class RationaleMaker(TrainingMaker[Reasoning]):
    """An item is a turn with calls."""

    name = "rationales"
    title = "Reasoning before the calls of a training file"
    nothing = "no turn to reason about: no conversation has a reply with a call, and pairs are not read"

    def __init__(self, spec: RationaleSpec) -> None:
        super().__init__([spec.file])
        self.spec = spec
        self.roles: Mapping[str, Role] = (
            {CHECKER: Role("replies with the reasoning at hand", "")} if spec.check else {}
        )

    def settings(self) -> Sequence[Any]:
        """See TrainingMaker."""
        return [self.spec.min_tokens, self.spec.check]

    def planned(self) -> Iterator[Item]:
        """See TrainingMaker. Preference records have no turn to reason about."""
        for name, record in named_records(self.spec.file):
            if record.kind == "preference":
                continue
            for turn in supervised_turns(record, "calls"):
                place = RecordTurn(name, turn)
                yield Item(f"{name}, turn {turn.place}", (self.unit,), place, roles=tuple(self.roles))

    def script(self, item: Item) -> ReplyScript[Reasoning]:
        """See TrainingMaker."""
        return _reasoning_script(item.data.turn, self.spec)

    def fault(self, outcome: Reasoning) -> tuple[str, str] | None:
        """See TrainingMaker."""
        return (outcome.fault.partition(":")[0], outcome.fault) if outcome.fault else None

    def assumed_reply(self, item: Item, request: Request, *, most: bool) -> Message:
        """See TrainingMaker. Long reasoning makes the check's prompt long, too."""
        if request.role == CHECKER:
            return item.data.turn.gold_message
        words = _LONG_THOUGHTS if most else max(self.spec.min_tokens, _SHORT_THOUGHTS)
        return {"content": "1. a\n2. b\n3. c\n" + "thought " * words}


def _reasoning_script(turn: SupervisedTurn, spec: RationaleSpec) -> ReplyScript[Reasoning]:
    reply = yield Request(_shown_to_reasoner(turn))
    text = reply_text(reply.message)
    fault = "cut off" if reply.finish_reason == "length" else reasoning_fault(text, turn, spec.min_tokens)
    if fault or not spec.check:
        return Reasoning(text, fault)
    messages = with_text(turn.messages, with_heading(text))
    checked = yield Request(messages, turn.tools, role=CHECKER)
    found = agreement(checked.message, turn)
    return Reasoning(text, "" if found.right else "does not lead to the calls", found.reason)


def _shown_to_reasoner(turn: SupervisedTurn) -> list[Message]:
    shown = {
        "tools": [tool["function"] for tool in turn.tools],
        "conversation": turn.messages,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in turn.gold.calls],
    }
    return [
        {"role": "system", "content": role_instruction("reasoner")},
        {"role": "user", "content": json.dumps(shown, ensure_ascii=False)},
    ]
