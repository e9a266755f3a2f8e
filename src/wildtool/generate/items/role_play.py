"""Dialogues, which a user, an assistant and tools play in turn: two requests or more, or one that has to be mended."""

from collections.abc import Sequence
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import Passage
from wildtool.generate.core.parsing import Action, Fault
from wildtool.generate.core.roles import Cast, LostError, Talk
from wildtool.generate.items.call_rules import Calls, call_faults
from wildtool.generate.items.item import MadeItem, Missing, Said, Speaker, Turn
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.role_replies import Remark, read_act, read_text
from wildtool.generate.items.single_pass import assembled
from wildtool.generate.items.tool_catalog import Choice
from wildtool.generate.sessions.rules.texts import answer_faults, question_faults, read_results, user_faults

MOST_QUESTIONS = 2
"""Questions of the assistant before it calls."""


def played_item(plan: ItemPlan, choice: Choice, cast: Cast) -> Talk[MadeItem]:
    """One item. Raises LostError where it comes to nothing."""
    dialogue = _Dialogue(plan, choice, cast)
    if plan.turns > 1:
        return (yield from dialogue.requests())
    return (yield from dialogue.faulty())


class _Dialogue:
    """A dialogue as far as it is played."""

    def __init__(self, plan: ItemPlan, choice: Choice, cast: Cast) -> None:
        self.plan = plan
        self.choice = choice
        self.cast = cast
        self.talk: list[Said] = []
        """Since the last call."""
        self.seen: list[dict[str, Any]] = []
        """Everything said and done, as the roles see it."""
        self.known: list[Passage] = [Passage.of(plan.time)] if plan.time else []
        self.offered = {tool.name: tool.definition["function"]["parameters"] for tool in choice.offered}

    def requests(self) -> Talk[MadeItem]:
        """A dialogue of several requests, each answered by a call."""
        turns: list[Turn] = []
        for t in range(self.plan.turns):
            yield from self._user("first" if t == 0 else self.plan.kind, t)
            for _ in range(MOST_QUESTIONS + 1):
                act = yield from self._act()
                if not isinstance(act, Remark):
                    break
                self._say("assistant", act.text)
                yield from self._user("reply", t)
            else:
                raise LostError("no call", f"turn {t}: no call after {MOST_QUESTIONS} questions")
            turns.append(Turn(tuple(self.talk), tuple(act)))
            self.talk = []
            if t + 1 < self.plan.turns:
                yield from self._answer(act)
        return assembled(self.plan, self.choice, tuple(turns))

    def faulty(self) -> Talk[MadeItem]:
        """A request that lacks something or has it wrong, the assistant's remark, the values, the call."""
        yield from self._user(self.plan.kind, 0)
        remark = yield from self._act()
        if not isinstance(remark, Remark) or remark.kind != self.plan.kind:
            raise LostError(
                f"not {self.plan.kind}", f"the assistant did not find the request {self.plan.kind}"
            )
        request = tuple(self.talk)
        self._say("assistant", remark.text)
        yield from self._user("reply", 0)
        act = yield from self._act()
        if isinstance(act, Remark):
            raise LostError("not mended", f"the assistant still finds the request {self.plan.kind}")
        mended = tuple(self.talk[len(request) :])
        turns = (Turn(request, tuple(act)),)
        return assembled(self.plan, self.choice, turns, fault=remark.fault, mended=mended)

    def _say(self, who: Speaker, text: str) -> None:
        self.talk.append(Said(who, text))
        self.seen.append({who: text})
        self.known.append(Passage.of(text))

    def _user(self, block: str, t: int) -> Talk[None]:
        plan, tool = self.plan, self.choice.targets[min(t, len(self.choice.targets) - 1)]
        wanted: dict[str, Any] = {"kind": plan.kind, "tool": tool.name}
        if self.choice.parameter:
            wanted["parameter"] = self.choice.parameter
        wanted |= {name: getattr(plan, name) for name in ("form", "tone", "length")}

        def read(text: str) -> tuple[str | None, list[Fault]]:
            said, faults = read_text(text, "U1")
            return said, faults or list(user_faults(said, self.offered, plan.lang))

        # A user who answers has no plan but the assistant's question.
        situation = {"conversation": self._spoken(), **({} if block == "reply" else {"wanted": wanted})}
        self._say("user", (yield from self.cast.ask("user", [block], situation, read)))

    def _spoken(self) -> list[dict[str, Any]]:
        return [entry for entry in self.seen if "calls" not in entry]

    def _act(self) -> Talk[list[Action] | Remark]:
        def read(text: str) -> tuple[list[Action] | Remark | None, list[Fault]]:
            act, faults = read_act(text, self.offered)
            if act is None or faults:
                return None, faults
            if isinstance(act, Remark):
                return act, list(_remark_faults(act))
            return act, call_faults(Calls(act, self.offered, self.known, self.plan.kind))

        return (yield from self.cast.ask("agent", ["act"], {"conversation": self.seen}, read))

    def _answer(self, calls: Sequence[Action]) -> Talk[None]:
        """What the tools return, and what the assistant makes of it."""
        plan = self.plan
        shown = [{"name": call.name, "arguments": call.arguments} for call in calls]
        situation = {"conversation": self.seen, "calls": shown}
        results = yield from self.cast.ask(
            "tool",
            [],
            situation,
            lambda text: read_results(text, calls, lang=plan.lang, entities={}, returns=self.choice.returns),
        )
        self.seen.append({"calls": shown, "results": results})
        self.known += [Passage.of(call.arguments) for call in calls]
        heard = [*self.known, *map(Passage.of, results)]

        def read(text: str) -> tuple[str | None, list[Fault]]:
            said, faults = read_text(text, "G1")
            return said, faults or list(answer_faults(said, results, heard))

        self._say(
            "assistant", (yield from self.cast.ask("agent", ["answer"], {"conversation": self.seen}, read))
        )


def _remark_faults(remark: Remark) -> list[Fault]:
    fault = remark.fault
    if isinstance(fault, Missing) and not fault.names:
        return [Fault("G3", "`thought` names nothing that is missing.")]
    names = fault.names if isinstance(fault, Missing) else (fault.parameter,)
    return list(question_faults(remark.text, names))
