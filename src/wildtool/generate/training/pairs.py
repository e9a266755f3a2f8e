"""Tries of a model at the turns of a training file, judged one by one: what preference pairs are made of."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from wildtool.generate.core.parsing import reply_text
from wildtool.generate.training.maker import ReplyScript, TrainingMaker, role_instruction
from wildtool.training.procedures.agreement import DISAGREEMENTS
from wildtool.training.procedures.judging import judged_material, judgement_of
from wildtool.training.procedures.pairs import NoPair, PairRules, Try, judged_try
from wildtool.training.procedures.records import named_records
from wildtool.training.procedures.supervised import SupervisedTurn, WhichTurns, supervised_turns
from wildtool.types import Item, Message, Request, Role

RetryStyle = Literal["plain", "feedback"]
"""Whether a later try is asked like the first, or is shown the one before and what was wrong."""
RETRY, CRITIC = "retry", "critic"
CRITICISED = "critic"
"""Error class of a text that the critic refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSpec:
    """Which pairs are wanted."""

    file: Path
    turns: WhichTurns = "calls"
    tries: int = 2
    retry: RetryStyle = "plain"
    critic: bool = False
    """Whether texts are judged, by the role `critic`; else turns with text are not asked."""
    rules: PairRules = field(default_factory=PairRules)
    """What becomes a pair; requests do not depend on it."""


@dataclass(frozen=True, slots=True)
class TurnTries:
    """What came of one supervised turn."""

    tries: tuple[Try, ...]
    """Those that were judged."""
    unjudged: int = 0
    """Replies that the critic gave no readable verdict on."""


class PairMaker(TrainingMaker[TurnTries]):
    """An item is a supervised turn."""

    name = "pairs"
    title = "Preference pairs from a model's failures"
    nothing = "no turn to try: no reply that is learned has a call; texts need --turns all and --critic NAME"

    def __init__(self, spec: PairSpec) -> None:
        super().__init__([spec.file])
        self.spec = spec
        self.roles: Mapping[str, Role] = {
            **({RETRY: Role("the same model, for its later tries", "")} if spec.tries > 1 else {}),
            **({CRITIC: Role("judges texts", "")} if spec.critic else {}),
        }

    def settings(self) -> Sequence[Any]:
        """See TrainingMaker."""
        return [self.spec.turns, self.spec.tries, self.spec.retry, self.spec.critic]

    def planned(self) -> Iterator[Item]:
        """See TrainingMaker."""
        for name, record in named_records(self.spec.file):
            for turn in supervised_turns(record, self.spec.turns):
                if turn.gold.calls or self.spec.critic:
                    yield Item(f"{name}, turn {turn.place}", (self.unit,), turn, roles=tuple(self.roles))

    def script(self, item: Item) -> ReplyScript[TurnTries]:
        """See TrainingMaker."""
        return _turn_script(item.data, self.spec)

    def fault(self, outcome: TurnTries) -> tuple[str, str] | None:
        """See TrainingMaker."""
        return None if outcome.tries else (str(NoPair.not_judged), "no reply of the critic can be read")

    def assumed_reply(self, item: Item, request: Request, *, most: bool) -> Message:
        """See TrainingMaker. Most is asked after wrong replies."""
        turn: SupervisedTurn = item.data
        if request.role == CRITIC:
            return {"content": json.dumps({"right": not most, "why": "It leaves out what matters."})}
        if most and turn.gold.calls:
            return {"content": json.dumps(turn.gold_message["tool_calls"])}
        return turn.gold_message


def _turn_script(turn: SupervisedTurn, spec: PairSpec) -> ReplyScript[TurnTries]:
    tries: list[Try] = []
    unjudged = 0
    for number in range(spec.tries):
        messages = turn.messages
        if spec.retry == "feedback" and tries:
            messages.append(_feedback(tries[-1]))
        reply = yield Request(messages, turn.tools, role=RETRY if number else "agent")
        found = judged_try(reply, turn)
        if found.right and not turn.gold.calls:
            verdict = yield Request(_shown_to_critic(turn, reply.message), role=CRITIC)
            judged = _criticised(found, verdict.message)
            if judged is None:
                unjudged += 1
                continue
            found = judged
        tries.append(found)
        if found.right:
            break
    return TurnTries(tuple(tries), unjudged)


def _feedback(last: Try) -> Message:
    """What a model is sent about its last try; never the right answer, or a right try would show nothing."""
    why = DISAGREEMENTS.get(last.error or "", last.why)
    calls = [{"name": call.name, "arguments": call.arguments} for call in last.reply.calls]
    said = json.dumps(calls, ensure_ascii=False) if calls else last.reply.text or "(nothing)"
    text = role_instruction("retry").replace("{why}", why).replace("{reply}", said)
    return {"role": "user", "content": text}


def _shown_to_critic(turn: SupervisedTurn, reply: Message) -> list[Message]:
    return [
        {"role": "system", "content": role_instruction(CRITIC)},
        {"role": "user", "content": judged_material(turn, reply_text(reply))},
    ]


def _criticised(found: Try, verdict: Message) -> Try | None:
    """A try as the critic judges it; None if the critic's answer cannot be read."""
    judgement = judgement_of(verdict)
    if judgement is None:
        return None
    right, why = judgement
    return replace(found, right=right, error=None if right else CRITICISED, why=why)
