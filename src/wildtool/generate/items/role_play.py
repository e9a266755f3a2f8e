"""Dialogues of the roles user, agent and tool: several requests, or one that must be corrected."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding, fault
from wildtool.generate.core.parsing import Action
from wildtool.generate.core.plan import Lang
from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, RoleSession
from wildtool.generate.items.call_rules import CallContext, call_faults
from wildtool.generate.items.item import DialogueTurn, GeneratedItem, MissingParameters, Speaker, Utterance
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.role_replies import RequestProblem, parse_assistant_action, parse_text_reply
from wildtool.generate.items.single_pass import assemble_item
from wildtool.generate.items.tool_catalog import ToolChoice
from wildtool.generate.sessions.rules.texts import (
    answer_faults,
    parse_tool_results,
    question_faults,
    user_faults,
)

MAX_DIALOGUE_QUESTIONS = 2
"""Questions of the assistant before it calls."""


def play_dialogue_item(
    plan: ItemPlan, choice: ToolChoice, roles: RoleSession
) -> RoleCoroutine[GeneratedItem]:
    """One item. Raises AttemptFailedError."""
    dialogue = _Dialogue(plan, choice, roles)
    if plan.turns > 1:
        return (yield from dialogue.requests())
    return (yield from dialogue.faulty())


class _Dialogue:
    """A dialogue in progress."""

    def __init__(self, plan: ItemPlan, choice: ToolChoice, roles: RoleSession) -> None:
        self.plan = plan
        self.choice = choice
        self.roles = roles
        self.utterances: list[Utterance] = []
        """Since the last call."""
        self.conversation: list[dict[str, Any]] = []
        """Everything said and done, as the roles see it."""
        self.known: list[SearchText] = [SearchText.of(plan.time)] if plan.time else []
        self.offered = {tool.name: tool.definition["function"]["parameters"] for tool in choice.offered}

    def requests(self) -> RoleCoroutine[GeneratedItem]:
        """A dialogue of several requests, each answered by a call."""
        turns: list[DialogueTurn] = []
        for t in range(self.plan.turns):
            yield from self._user("first" if t == 0 else self.plan.kind, t)
            for _ in range(MAX_DIALOGUE_QUESTIONS + 1):
                act = yield from self._act()
                if not isinstance(act, RequestProblem):
                    break
                self._add_utterance("assistant", act.text)
                yield from self._user("reply", t)
            else:
                detail = f"turn {t}: no call after {MAX_DIALOGUE_QUESTIONS} questions"
                raise AttemptFailedError("no call", detail)
            turns.append(DialogueTurn(tuple(self.utterances), tuple(act)))
            self.utterances = []
            if t + 1 < self.plan.turns:
                yield from self._answer(act)
        return assemble_item(self.plan, self.choice, tuple(turns))

    def faulty(self) -> RoleCoroutine[GeneratedItem]:
        """A request that lacks something or has it wrong, the assistant's remark, the values, the call."""
        yield from self._user(self.plan.kind, 0)
        remark = yield from self._act()
        if not isinstance(remark, RequestProblem) or remark.kind != self.plan.kind:
            detail = f"the assistant did not find the request {self.plan.kind}"
            raise AttemptFailedError(f"not {self.plan.kind}", detail)
        request = tuple(self.utterances)
        self._add_utterance("assistant", remark.text)
        yield from self._user("reply", 0)
        act = yield from self._act()
        if isinstance(act, RequestProblem):
            raise AttemptFailedError("not mended", f"the assistant still finds the request {self.plan.kind}")
        mended = tuple(self.utterances[len(request) :])
        turns = (DialogueTurn(request, tuple(act)),)
        return assemble_item(self.plan, self.choice, turns, fault=remark.fault, correction=mended)

    def _add_utterance(self, who: Speaker, text: str) -> None:
        self.utterances.append(Utterance(who, text))
        self.conversation.append({who: text})
        self.known.append(SearchText.of(text))

    def _user(self, block: str, t: int) -> RoleCoroutine[None]:
        plan, tool = self.plan, self.choice.targets[min(t, len(self.choice.targets) - 1)]
        wanted: dict[str, Any] = {"kind": plan.kind, "tool": tool.name}
        if self.choice.parameter:
            wanted["parameter"] = self.choice.parameter
        wanted |= {name: getattr(plan, name) for name in ("form", "tone", "length")}

        def read(text: str) -> tuple[str, Iterator[Finding]]:
            said = parse_text_reply(text, "U1")
            return said, user_faults(said, self.offered, plan.lang)

        # A user who answers has no plan but the assistant's question.
        visible = [entry for entry in self.conversation if "calls" not in entry]
        situation = {"conversation": visible, **({} if block == "reply" else {"wanted": wanted})}
        self._add_utterance("user", (yield from self.roles.ask("user", [block], situation, read)))

    def _act(self) -> RoleCoroutine[list[Action] | RequestProblem]:
        def read(text: str) -> tuple[list[Action] | RequestProblem, Iterable[Finding]]:
            act = parse_assistant_action(text, self.offered)
            if isinstance(act, RequestProblem):
                return act, _problem_faults(act, self.plan.lang)
            return act, call_faults(CallContext(act, self.offered, self.known, self.plan.kind))

        return (yield from self.roles.ask("agent", ["act"], {"conversation": self.conversation}, read))

    def _answer(self, calls: Sequence[Action]) -> RoleCoroutine[None]:
        """What the tools return, and what the assistant makes of it."""
        plan = self.plan
        shown = [{"name": call.name, "arguments": call.arguments} for call in calls]
        situation = {"conversation": self.conversation, "calls": shown}

        def read_results(text: str) -> tuple[list[Any], list[Finding]]:
            return parse_tool_results(text, calls, lang=plan.lang, entities={}, returns=self.choice.returns)

        results = yield from self.roles.ask("tool", [], situation, read_results)
        self.conversation.append({"calls": shown, "results": results})
        self.known += [SearchText.of(call.arguments) for call in calls]
        heard = [*self.known, *map(SearchText.of, results)]

        def read(text: str) -> tuple[str, Iterator[Finding]]:
            said = parse_text_reply(text, "G1")
            return said, answer_faults(said, results, heard, plan.lang)

        answer = yield from self.roles.ask("agent", ["answer"], {"conversation": self.conversation}, read)
        self._add_utterance("assistant", answer)


def _problem_faults(remark: RequestProblem, lang: Lang) -> Iterator[Finding]:
    lack = remark.fault
    names = lack.names if isinstance(lack, MissingParameters) else (lack.parameter,)
    if names:
        yield from question_faults(remark.text, names, lang)
    else:
        yield fault("G3", "`thought` names nothing that is missing.")
