"""One task of a session made by role models, from the user's words to the graph of its calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, GoldNode, Task, read_session
from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.benchmarks.wildtoolbench.stats.shapes import call_graph, left_out
from wildtool.findings import Finding, fault
from wildtool.sanitize import truncate_words
from wildtool.toolcall.graph import topology
from wildtool.toolcall.schema import member_schemas
from wildtool_data.make.core.parsing import (
    Action,
    Decision,
    read_decision,
    read_object,
    reply_text,
    strings_in,
)
from wildtool_data.make.core.plan import Lang, SessionPlan
from wildtool_data.make.core.role_prompts import NO_OWN_PROMPTS, OwnPrompts
from wildtool_data.make.core.roles import AttemptFailedError, RoleCoroutine, SessionRoles, voter_names
from wildtool_data.make.core.votes import checker_faults, majority_choice
from wildtool_data.make.graph.infer import dependency_lists, infer_edges
from wildtool_data.make.procedural.tool_sets import ToolSet
from wildtool_data.make.sessions.material import NO_MATERIAL, UserMaterial
from wildtool_data.make.sessions.proposals import ProposalRequest, Proposals, read_proposals
from wildtool_data.make.sessions.rules.context import DecisionContext, required
from wildtool_data.make.sessions.rules.decisions import DECISION_RULES
from wildtool_data.make.sessions.rules.final import TYPE_OF_TOPOLOGY, session_record_faults
from wildtool_data.make.sessions.rules.texts import (
    answer_faults,
    entities_in,
    parse_tool_results,
    question_faults,
    user_faults,
    vague_faults,
)
from wildtool_data.make.sessions.state import SessionState

MAX_TASK_DECISIONS = 14
"""Decisions of a task at most."""


@dataclass(frozen=True, slots=True)
class SessionJob:
    """What one session is made from."""

    plan: SessionPlan
    sets: tuple[ToolSet, ...]
    returns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Result schemas of the tools that have one."""
    avoid_near: Sequence[str] = ()
    """User texts that no task may be near to, in small letters and single spaces."""
    vote_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many have a vote in a role; one where it is not named."""
    earlier_tool_tasks: int = 0
    """Tasks of earlier sessions over the same set that were to be about one tool of it."""
    built_in: bool = False
    """Whether the sets are the built-in ones, one for each domain."""
    known_faults: frozenset[Finding] = frozenset()
    """Faults of what is not made here, such as the tools of a session that is continued; they refuse nothing."""
    users: int = 1
    """Models that take the user's role in turn."""
    material: UserMaterial = NO_MATERIAL
    """Scenarios and examples of the user's own."""
    own_prompts: OwnPrompts = NO_OWN_PROMPTS
    """Texts for roles in place of the shipped ones."""

    def user_of(self, t: int) -> str:
        """The name of the model that is the user in task `t`: each in its turn, at each position equally often."""
        return voter_names("user", self.users)[(self.plan.rank + t) % self.users]


class TaskScript:
    """One try of a task."""

    def __init__(
        self,
        job: SessionJob,
        roles: SessionRoles,
        state: SessionState,
        t: int,
        draw: Random,
        *,
        first: bool = False,
        text: str = "",
    ) -> None:
        """Args:
        first: whether it is the first try, whose tools follow from the plan alone.
        text: what the user says; empty if the user's role is to write that.
        """
        self.job = job
        self.roles = roles
        self.state = state
        self.t = t
        self.task_plan = job.plan.tasks[t]
        self.lang: Lang = job.plan.lang
        self.draw = draw
        self.first = first
        self.nodes: list[GoldNode] = []
        self.steps: list[int] = []
        self.groundings: list[Mapping[str, str]] = []
        self.text = text
        self.proposed: list[dict[str, Any]] = []
        self.user = job.user_of(t)
        self.context = DecisionContext(roles.schemas, self.task_plan, state.passages)

    def play(self, *, relabel: bool) -> RoleCoroutine[None]:
        """Plays the task to its end and adds it to the state."""
        if not self.text:
            self.text = yield from self._user_task()
            self.roles.record_user_words(self.text)
        self._add_utterance("user", self.text)
        for step in range(MAX_TASK_DECISIONS):
            decision = yield from self._decide()
            name = decision.actions[0].name
            if name == ANSWER:
                yield from self._answer(decision.actions[0], step)
                self._finish(relabel=relabel)
                return
            if name == ASK:
                yield from self._question(decision.actions[0], step)
            else:
                yield from self._call(decision, step)
        raise AttemptFailedError("limit", f"task {self.t}: no end after {MAX_TASK_DECISIONS} decisions")

    def _add_utterance(self, speaker: str, text: str) -> None:
        self.state.conversation.append({speaker: text})
        self.state.passages.append(SearchText.of(text))

    def _visible_conversation(self) -> list[dict[str, Any]]:
        """What user and assistant see of the conversation."""
        return [entry for entry in self.state.conversation if "calls" not in entry]

    def _user_task(self) -> RoleCoroutine[str]:
        roles, job = self.roles, self.job
        backgrounds = () if self.t else job.plan.backgrounds
        request = ProposalRequest(
            self.task_plan, self.t, self.lang, backgrounds, self.state.writer, job.material.scenarios
        )
        tool = self._target(request.kind) if request.kind in ("single", "clarify") else ""
        situation = {
            "conversation": self._visible_conversation(),
            "wanted": request.wanted(tool, roles.schemas),
        }
        block, examples = job.material.shown(job.plan, self.t)
        blocks = [*request.blocks, *([block] if block else [])]
        proposals = yield from roles.ask(
            "user",
            blocks,
            {**situation, **examples},
            lambda text: self._read_proposals(text, request),
            voter=self.user,
        )
        text = yield from self._choose(proposals.accepted, situation)
        self.proposed = proposals.picked(text)
        if background := request.background(proposals.places[text]):
            self.state.writer = background
        return text

    def _choose(self, texts: Sequence[str], situation: Mapping[str, Any]) -> RoleCoroutine[str]:
        """The best of the proposed messages, by the judges; of a later task one that needs the conversation."""
        roles = self.roles
        while texts:
            best = texts[0]
            if len(texts) > 1:
                best = yield from majority_choice(
                    roles, self.job.vote_counts.get("judge", 1), {**situation, "candidates": texts}, texts
                )
            if not self.t or not (yield from self._checker_faults("alone", {"message": best})):
                return best
            texts = [text for text in texts if text != best]
        detail = f"task {self.t}: what was proposed is clear without the conversation"
        raise AttemptFailedError("checker alone", detail)

    def _read_proposals(self, text: str, request: ProposalRequest) -> tuple[Proposals, Sequence[Finding]]:
        proposals = read_proposals(text, request, self._message_faults)
        return proposals, proposals.faults

    def _message_faults(self, message: str) -> list[Finding]:
        """What is wrong with a proposed message, whatever the others are."""
        faults = user_faults(message, self.roles.schemas, self.lang)
        if wrong := [finding for finding in faults if finding.level == "error"]:
            return wrong
        excerpt = repr(truncate_words(message, 80))
        if self.state.is_near(message, self.job.avoid_near):
            return [fault("C3", f"{excerpt} is nearly a request that was there before.")]
        return list(self.job.material.copy_faults(message))

    def _target(self, kind: str) -> str:
        """The tool that a task of one call is about; a question needs one that requires something."""
        schemas = self.roles.schemas
        names = [name for name, schema in schemas.items() if kind == "single" or required(schema)]
        if not names:
            detail = "no tool of this session requires a parameter, so nothing can be asked for"
            raise AttemptFailedError("tools", detail)
        if not self.first:
            return self.draw.choice(names)
        # Tools of a set take turns over its sessions and their tasks, so that each is asked for equally often.
        turn = self.job.earlier_tool_tasks + sum(task.names_a_tool for task in self.job.plan.tasks[: self.t])
        return sorted(names)[turn % len(names)]

    def _decide(self) -> RoleCoroutine[Decision]:
        def read(text: str) -> tuple[Decision, list[Finding]]:
            decision = read_decision(text)
            return decision, list(DECISION_RULES.findings(decision, self.context))

        def check(decision: Decision) -> RoleCoroutine[list[Finding]]:
            if decision.actions[0].name in (ASK, ANSWER):
                return []
            decided = {"plan": decision.plan, "calls": _calls_as_json(decision.actions)}
            return (yield from self._checker_faults("decision", {**situation, "decision": decided}))

        situation = {"conversation": self.state.conversation}
        return (yield from self.roles.ask("planner", [], situation, read, check))

    def _checker_faults(self, subject: str, material: Mapping[str, Any]) -> RoleCoroutine[list[Finding]]:
        return checker_faults(self.roles, self.job.vote_counts.get("checker", 1), subject, material)

    def _question(self, action: Action, step: int) -> RoleCoroutine[None]:
        roles, moment = self.roles, self.context
        tool = str(action.arguments["tool_name"])
        names = strings_in(action.arguments["missing_required_parameters"])
        properties = member_schemas(roles.schemas[tool])
        missing = [{"name": name, **properties.get(name, {})} for name in names]
        question = yield from roles.ask(
            "agent",
            ["ask"],
            {"conversation": self._visible_conversation(), "missing": missing},
            lambda text: (text, question_faults(text, names, self.lang)),
        )
        self._add_utterance("assistant", question)
        vague = moment.questions + 1 < self.task_plan.questions
        reply = yield from roles.ask(
            "user",
            ["vague reply" if vague else "reply"],
            {"conversation": self._visible_conversation()},
            lambda text: self._read_reply(text, vague=vague),
            voter=self.user,
        )
        roles.record_user_words(reply)
        self._add_utterance("user", reply)
        self._add(GoldNode(ASK, action.arguments, question, (), reply), step, {})
        answered = frozenset((tool, name) for name in (() if vague else names))
        self.context = replace(
            moment, questions=moment.questions + 1, answered=moment.answered | answered, after_result=False
        )

    def _read_reply(self, text: str, *, vague: bool) -> tuple[str, list[Finding]]:
        reply = reply_text({"content": read_object(text, "A2").get("text")})
        faults = [
            *user_faults(reply, self.roles.schemas, self.lang),
            *self.job.material.copy_faults(reply),
        ]
        return reply, [*faults, *vague_faults(reply)] if vague else faults

    def _call(self, decision: Decision, step: int) -> RoleCoroutine[None]:
        roles, state = self.roles, self.state
        calls = _calls_as_json(decision.actions)
        situation = {"conversation": state.conversation, "calls": calls, "facts": state.entities}

        def read(text: str) -> tuple[list[Any], list[Finding]]:
            return parse_tool_results(
                text, decision.actions, lang=self.lang, entities=state.entities, returns=self.job.returns
            )

        def check(results: list[Any]) -> RoleCoroutine[list[Finding]]:
            rows = [{**call, "result": result} for call, result in zip(calls, results, strict=True)]
            material = {"conversation": state.conversation, "results": rows}
            return (yield from self._checker_faults("results", material))

        results = yield from roles.ask("tool", [], situation, read, check)
        state.conversation.append({"calls": calls, "results": results})
        for action, result in zip(decision.actions, results, strict=True):
            marks = {path: f"derived: {reason}" for path, reason in action.derived.items()}
            self._add(GoldNode(action.name, action.arguments, result, ()), step, marks)
            state.passages.extend((SearchText.of(action.arguments), SearchText.of(result)))
            for name, fields in entities_in(result):
                state.entities[name] = {**state.entities.get(name, {}), **fields}
        self.context = replace(
            self.context,
            calls=[*self.context.calls, *decision.actions],
            decisions=[*self.context.decisions, len(decision.actions)],
            after_result=True,
        )

    def _answer(self, action: Action, step: int) -> RoleCoroutine[None]:
        roles = self.roles
        block = "answer" if action.arguments["answer_type"] == "tool" else "chat"
        results = [node.observation for node in self.nodes if node.name != ASK]
        conversation = self.state.conversation if block == "answer" else self._visible_conversation()
        answer = yield from roles.ask(
            "agent",
            [block],
            {"conversation": conversation},
            lambda text: (text, answer_faults(text, results, self.state.passages, self.lang)),
        )
        self._add_utterance("assistant", answer)
        self._add(GoldNode(ANSWER, action.arguments, answer, ()), step, {})

    def _add(self, node: GoldNode, step: int, marks: Mapping[str, str]) -> None:
        self.nodes.append(node)
        self.steps.append(step)
        self.groundings.append(marks)

    def _finish(self, *, relabel: bool) -> None:
        """Infers the graph, holds the task to its kind, and the session so far to the rules of the format."""
        roles, state = self.roles, self.state
        state.tasks.append(Task(self.text, tuple(self.nodes), "Chat", self.task_plan.subtype))
        state.groundings.append(self.groundings)
        state.candidates.append(self.proposed)
        state.users.append(self.user)
        session = read_session(state.record(self.job.plan, roles.tools, roles.date), "session")
        edges = infer_edges(session, self.t, steps=self.steps)
        needs = dependency_lists(edges, len(self.nodes))
        linked = tuple(replace(node, deps=deps) for node, deps in zip(self.nodes, needs, strict=True))
        task = Task(self.text, linked, "", self.task_plan.subtype)
        actual = TYPE_OF_TOPOLOGY[topology(call_graph(task))]
        if any(node.name == ASK for node in linked):
            actual = "Clarify"
        planned = TYPE_OF_TOPOLOGY.get(self.task_plan.topology, self.task_plan.group)
        if actual != planned:
            # Both are of several calls: P24 refuses calls of another group.
            if not relabel:
                raise AttemptFailedError("type", f"task {self.t}: wanted {planned}, the calls are {actual}")
            roles.counters[f"relabelled {planned} as {actual}"] += 1
        if self.task_plan.missing == "all" and actual == "Clarify":
            self._check_missing(task, relabel=relabel)
        state.tasks[-1] = replace(task, type=actual)
        record = state.record(self.job.plan, roles.tools, roles.date)
        faults = session_record_faults(record, self.t, self.job.known_faults)
        if faults:
            detail = "; ".join(finding.message for finding in faults[:5])
            raise AttemptFailedError(f"session {faults[0].rule}", detail)
        state.doubtful += [{"task": self.t, **asdict(edge)} for edge in edges if edge.doubtful]

    def _check_missing(self, task: Task, *, relabel: bool) -> None:
        """Holds a Clarify task to a message without any required value: all of them were asked for."""
        if left_out(task, self.roles.schemas) == "all":
            return
        if not relabel:
            detail = f"task {self.t}: wanted a message without any required value, and not all were asked for"
            raise AttemptFailedError("type", detail)
        self.roles.counters["relabelled Clarify without all as Clarify without some"] += 1


def _calls_as_json(actions: Iterable[Action]) -> list[dict[str, Any]]:
    return [{"name": action.name, "arguments": action.arguments} for action in actions]
