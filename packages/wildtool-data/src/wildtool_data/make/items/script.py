"""The scripts of items: written in one go or played by roles, held to the rules, then judged."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list
from wildtool.toolcall.schema import as_schema
from wildtool_data.make.core.parsing import Action, RefusedReplyError, read_object, read_parts
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.core.roles import (
    AttemptFailedError,
    RoleCoroutine,
    RoleSession,
    ScriptResult,
    run_tries,
)
from wildtool_data.make.items.acebench_format import acebench_records
from wildtool_data.make.items.call_rules import CallContext, call_faults
from wildtool_data.make.items.item import DialogueTurn, GeneratedItem, MissingParameters, Speaker, Utterance
from wildtool_data.make.items.plan import IMPERFECT, ITEM_KINDS, GenerationMode, ItemPlan
from wildtool_data.make.items.role_replies import (
    RequestProblem,
    judge_opinions,
    parse_assistant_action,
    parse_messages,
    parse_role_calls,
    parse_text_reply,
)
from wildtool_data.make.items.rules import item_faults, rendered_profile
from wildtool_data.make.items.tool_catalog import ToolCatalog, ToolChoice
from wildtool_data.make.sessions.rules.texts import (
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
        self.passages: list[SearchText] = [SearchText.of(plan.time)] if plan.time else []
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

    def _add_utterance(self, speaker: Speaker, text: str) -> None:
        self.utterances.append(Utterance(speaker, text))
        self.conversation.append({speaker: text})
        self.passages.append(SearchText.of(text))

    def _user(self, block: str, t: int) -> RoleCoroutine[None]:
        plan, tool = self.plan, self.choice.targets[min(t, len(self.choice.targets) - 1)]
        request: dict[str, Any] = {"kind": plan.kind, "tool": tool.name}
        if self.choice.parameter:
            request["parameter"] = self.choice.parameter
        request |= {name: getattr(plan, name) for name in ("form", "tone", "length")}

        def read(text: str) -> tuple[str, Iterator[Finding]]:
            spoken = parse_text_reply(text, "U1")
            return spoken, user_faults(spoken, self.offered, plan.lang)

        # A user who answers has no plan but the assistant's question.
        visible = [entry for entry in self.conversation if "calls" not in entry]
        situation = {"conversation": visible, **({} if block == "reply" else {"wanted": request})}
        self._add_utterance("user", (yield from self.roles.ask("user", [block], situation, read)))

    def _act(self) -> RoleCoroutine[list[Action] | RequestProblem]:
        def read(text: str) -> tuple[list[Action] | RequestProblem, Iterable[Finding]]:
            act = parse_assistant_action(text, self.offered)
            if isinstance(act, RequestProblem):
                return act, _problem_faults(act, self.plan.lang)
            return act, call_faults(CallContext(act, self.offered, self.passages, self.plan.kind))

        return (yield from self.roles.ask("agent", ["act"], {"conversation": self.conversation}, read))

    def _answer(self, calls: Sequence[Action]) -> RoleCoroutine[None]:
        """What the tools return, and what the assistant makes of it."""
        plan = self.plan
        visible_calls = [{"name": call.name, "arguments": call.arguments} for call in calls]
        situation = {"conversation": self.conversation, "calls": visible_calls}

        def read_results(text: str) -> tuple[list[Any], list[Finding]]:
            return parse_tool_results(text, calls, lang=plan.lang, entities={}, returns=self.choice.returns)

        results = yield from self.roles.ask("tool", [], situation, read_results)
        self.conversation.append({"calls": visible_calls, "results": results})
        self.passages += [SearchText.of(call.arguments) for call in calls]
        heard = [*self.passages, *map(SearchText.of, results)]

        def read(text: str) -> tuple[str, Iterator[Finding]]:
            spoken = parse_text_reply(text, "G1")
            return spoken, answer_faults(spoken, results, heard, plan.lang)

        answer = yield from self.roles.ask("agent", ["answer"], {"conversation": self.conversation}, read)
        self._add_utterance("assistant", answer)


def _problem_faults(remark: RequestProblem, lang: Lang) -> Iterator[Finding]:
    lack = remark.fault
    names = lack.names if isinstance(lack, MissingParameters) else (lack.parameter,)
    if names:
        yield from question_faults(remark.text, names, lang)
    else:
        yield fault("G3", "`thought` names nothing that is missing.")


def write_item(plan: ItemPlan, choice: ToolChoice, roles: RoleSession) -> RoleCoroutine[GeneratedItem]:
    """One item. Raises AttemptFailedError if no reply of the writer keeps the rules."""
    kind = ITEM_KINDS[plan.kind]
    request: dict[str, Any] = {
        "kind": plan.kind,
        "tool": choice.targets[0].name,
        **({"parameter": choice.parameter} if kind.parameter_class else {}),
        **{name: getattr(plan, name) for name in ("form", "tone", "length")},
    }
    block = "atom" if kind.parameter_class else "single" if plan.kind == "irrelevant" else plan.kind

    def read(text: str) -> tuple[GeneratedItem, list[Finding]]:
        reply = read_object(text, "W1")
        talk, calls, alternatives, profile = read_parts(
            lambda: parse_messages(reply.get("messages")),
            lambda: parse_role_calls(reply.get("calls"), "W2"),
            lambda: _alternatives(reply.get("alternatives")),
            lambda: _profile(plan, reply.get("profile")),
        )
        item = assemble_item(plan, choice, (DialogueTurn(talk, tuple(calls), alternatives),), profile=profile)
        # The tool that is taken away must have been the right one.
        if plan.kind == "irrelevant" and calls[0].name != choice.targets[0].name:
            raise RefusedReplyError(fault("W3", f"The request must be for {choice.targets[0].name}."))
        return item, item_faults(item)

    return (yield from roles.ask("writer", [block], {"wanted": request}, read))


def assemble_item(
    plan: ItemPlan, choice: ToolChoice, turns: tuple[DialogueTurn, ...], **more: Any
) -> GeneratedItem:
    """An item over the offered tools; of an irrelevant one the right tool is taken away."""
    functions = [tool.definition["function"] for tool in choice.offered]
    if plan.kind == "irrelevant":
        name = choice.targets[0].name
        more["removed_tool"] = next(function for function in functions if function["name"] == name)
        functions = [function for function in functions if function["name"] != name]
    return GeneratedItem(plan, tuple(functions), turns, **more)


def _alternatives(entries: Any) -> tuple[tuple[Action, ...], ...]:
    """Other answers, each a list of calls; none if nothing is given."""
    if entries is not None and not isinstance(entries, list):
        raise RefusedReplyError(fault("W2", "`alternatives` is a list of lists of calls."))
    answers = as_list(entries)
    return tuple(map(tuple, read_parts(*(partial(parse_role_calls, calls, "W2") for calls in answers))))


def _profile(plan: ItemPlan, text: Any) -> str:
    if plan.kind != "preference":
        return ""
    profile = as_schema(text)
    if not all(as_schema(profile.get(part)) for part in ("basic_features", "user_history")):
        message = "`profile` has `basic_features` and `user_history`, both objects with something in them."
        raise RefusedReplyError(fault("W4", message))
    return rendered_profile(profile)


ITEM_PROMPTS = Path(__file__).parent / "prompts"
ITEM_ROLES: Mapping[str, str] = {
    "writer": "writes simple items in one go: what is said, and the calls",
    "user": "says the requests of dialogues, and replies to questions",
    "agent": "calls, asks for what is missing, points out what is wrong, words answers",
    "tool": "returns what the tools would",
    "judge": "votes on finished items; the further votes are of `judge 2`, `judge 3`, …",
}
MAX_ITEM_TRIES = 3
"""Attempts at an item, each with other tools."""


@dataclass(frozen=True, slots=True)
class ItemJob:
    """What an item is generated from."""

    plan: ItemPlan
    source: ToolCatalog | GeneratedItem
    """The tools; or an item made from something else, which is only checked."""
    judges: int
    """Number of votes; 0 for none."""
    agree: int
    """Votes for an item that keep it."""


@dataclass(frozen=True, slots=True)
class AcceptedItem:
    """An item that breaks no rule."""

    item: GeneratedItem
    votes: Sequence[Mapping[str, Any]]
    """Of each judge: its role as `judge`, `valid` (None if its reply could not be read), `where`, `reason`."""
    kept: bool
    """False if too few judges found it right: people decide."""


SCRIPTS_BY_MODE: Mapping[
    GenerationMode, Callable[[ItemPlan, ToolChoice, RoleSession], RoleCoroutine[GeneratedItem]]
] = {
    "written": write_item,
    "played": play_dialogue_item,
}


def item_script(job: ItemJob) -> RoleCoroutine[ScriptResult[AcceptedItem]]:
    """Makes one item: yields requests, returns what came of it."""

    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[AcceptedItem]:
        item = yield from _item(job, number, counters)
        votes = yield from _votes(item, job.judges, counters)
        return AcceptedItem(item, votes, sum(vote["valid"] is True for vote in votes) >= job.agree)

    return run_tries(MAX_ITEM_TRIES if isinstance(job.source, ToolCatalog) else 1, attempt)


def _item(job: ItemJob, attempt: int, counters: Counter[str]) -> RoleCoroutine[GeneratedItem]:
    """An item that breaks no rule. Raises AttemptFailedError."""
    plan, item = job.plan, job.source
    if isinstance(item, ToolCatalog):
        choice = item.choose(plan, attempt)
        situation = {"tools": [tool.definition["function"] for tool in choice.offered], "now": plan.time}
        roles = RoleSession(ITEM_PROMPTS, plan.lang, situation, counters)
        item = yield from SCRIPTS_BY_MODE[ITEM_KINDS[plan.kind].mode](plan, choice, roles)
    if faults := item_faults(item):
        list_of_faults = "; ".join(f"{fault.rule}: {fault.message}" for fault in faults[:5])
        raise AttemptFailedError(f"item {faults[0].rule}", list_of_faults)
    return item


def _votes(item: GeneratedItem, judges: int, counters: Counter[str]) -> RoleCoroutine[list[dict[str, Any]]]:
    """What all judges say of an item that breaks no rule."""
    rows = [{**row.question, "answer": row.answer["ground_truth"]} for row in acebench_records(item)]
    for record in rows:
        del record["id"]
    kind = item.plan.kind
    roles = RoleSession(ITEM_PROMPTS, item.plan.lang, {"kind": kind, "records": rows}, counters)
    block = kind if kind in (*IMPERFECT, "similar") else "calls"
    return (yield from judge_opinions(roles, judges, [block], {}))
