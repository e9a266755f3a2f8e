"""Makes one task of a session after its plan: calls of the wanted shape, the user's words, the gold nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, SUBTYPES
from wildtool.generate.calls import Call, Given, Hidden, answer, entities, fill, mentions
from wildtool.generate.history import History, Mention, reference
from wildtool.generate.plan import TaskPlan
from wildtool.generate.tool_sets import MadeTool, Slot, ToolSet
from wildtool.generate.values import Values, spoken
from wildtool.generate.wording import Wording, can_omit

COREFERENTIAL, PARTIAL, LONG_RANGE = SUBTYPES
_LONGEST_CHAIN = 5
_DRAWN = 4
"""Tools of which the one that was called least is taken."""
_OPENED = 0.35
"""How often a text starts with a sentence about whom it is for."""
_FREE = frozenset(
    [
        "text",
        "title",
        "sentence",
        "code",
        "city",
        "person",
        "integer",
        "count",
        "number",
        "amount",
        "digits",
        "url",
    ]
)
"""Kinds of which any tool could return a value."""
Node = dict[str, Any]
Row = TypeVar("Row", bound=tuple[Any, ...])


class UnmakeableError(Exception):
    """This draw leads to no task of the planned kind; another may."""


@dataclass(frozen=True, slots=True)
class MadeTask:
    """A finished task."""

    text: str
    nodes: list[Node]
    type: str
    mentions: list[Mention]


class TaskMaker:
    """Draws tasks for one session."""

    def __init__(self, tools: ToolSet, values: Values, words: Wording, used: Mapping[str, int]) -> None:
        """Args: used: how often each tool was called in the set so far; those that were seldom come first."""
        self.tools = tools
        self._used = used
        self.values = values
        self.words = words
        self.draw = values.draw
        self.history = History()
        made = {tool.gives.key for tool in tools if tool.gives.key}
        wanted = {slot.key for tool in tools for slot in tool.slots if slot.kind == "id"}
        self._linked = [tool for tool in tools if tool.slots and tool.gives.key in made & wanted]
        """Tools that return an entity that some tool takes."""
        self._fitting: dict[tuple[int, str], list[tuple[MadeTool, Slot, Mention]]] = {}
        self._seen: dict[str, Mapping[str, Any]] = {}
        self._forced = False

    def make(self, plan: TaskPlan, t: int, attempt: int, *, forced: bool) -> MadeTask:
        """One draw of task `t`.

        Args:
            attempt: how often a draw was too much like a text of before.
            forced: where no tool needs an entity that another returns, lets a tool return any value that one needs.

        Raises:
            UnmakeableError: where this draw leads nowhere.
        """
        self._forced = forced
        if plan.group == "Chat":
            return self._chat(plan, t, attempt)
        if plan.group == "Clarify":
            return self._clarify(plan, t, attempt)
        shapes = {
            "": self._single,
            "parallel": self._parallel,
            "sequential": self._sequential,
            "mixed": self._mixed,
        }
        calls, joints = shapes[plan.topology](plan, t)
        if len({call.signature for call in calls}) < len(calls):
            raise UnmakeableError
        clauses = [self._clause(call) for call in calls]
        text = self._utter(self.words.join(clauses, joints), plan, attempt)
        nodes = [_node(k, call) for k, call in enumerate(calls)]
        needed = {j for call in calls for j in call.needs}
        ends = [k for k in range(len(calls)) if k not in needed]
        nodes.append(_final(len(nodes), self._summary(calls), ends, "tool"))
        type_ = {"": "Single-Tool"}.get(plan.topology, f"{plan.topology.capitalize()} Multi-Tool")
        return MadeTask(text, nodes, type_, self._mentions(calls, t))

    def _single(
        self, plan: TaskPlan, t: int, among: Sequence[MadeTool] | None = None
    ) -> tuple[list[Call], list[str]]:
        hidden = self._hidden(plan, t, among)
        tool = hidden[0] if hidden else self._seldom(among) if among else self._tool()
        return [self._call(tool, hidden and hidden[1])], []

    def _parallel(self, plan: TaskPlan, t: int) -> tuple[list[Call], list[str]]:
        calls = self._single(plan, t)[0]
        for _ in range(self.draw.choice((1, 1, 1, 2, 2, 3))):
            same = calls[0].tool if self.draw.random() < 0.3 else self._tool()
            calls.append(self._call(same, None))
        return calls, ["and"] * (len(calls) - 1)

    def _sequential(self, plan: TaskPlan, t: int) -> tuple[list[Call], list[str]]:
        calls = self._single(plan, t, None if self._forced else self._linked)[0]
        wanted = self.draw.choice((2, 2, 2, 3, 3, _LONGEST_CHAIN))
        while len(calls) < wanted:
            following = self._follow(calls, len(calls) - 1, may_force=len(calls) == 1)
            if following is None:
                break
            calls.append(following)
        return calls, ["then"] * (len(calls) - 1)

    def _mixed(self, plan: TaskPlan, t: int) -> tuple[list[Call], list[str]]:
        """A chain with a call beside it, or a call that two others build on."""
        calls, joints = self._sequential(plan, t)
        if self.draw.random() < 0.4:
            beside = self._follow(calls, 0, may_force=True)
            if beside is None:
                raise UnmakeableError
            return [calls[0], calls[1], beside], ["then", "and"]
        calls.append(self._call(self._tool(), None))
        return calls, [*joints, "and"]

    def _follow(self, calls: Sequence[Call], j: int, *, may_force: bool) -> Call | None:
        """A call that needs what call `j` returns: an entity, or else any value that a tool may return."""
        found = entities(calls[j], 0, self.words)
        links = [
            (tool, slot)
            for tool in self.tools
            for slot in tool.slots
            if found and slot.key == found[0].slot.key
        ]
        if links:
            tool, slot = self._seldom_of(links)
            mention = self.draw.choice(found)
            given: Given = {slot.key: (mention.value, reference(self.words, mention, slot.noun, far=False))}
        else:
            free = [
                (tool, slot)
                for tool in self.tools
                for slot in tool.slots
                if slot.kind in _FREE and not slot.members
            ]
            free = [(tool, slot) for tool, slot in free if slot.required and slot.key not in calls[j].result]
            if not free or not may_force or not self._forced or calls[j].tool.gives.listed:
                if may_force:
                    raise UnmakeableError
                return None
            tool, slot = self.draw.choice(free)
            value = self.values.of(slot.kind, (), slot.bounds)
            calls[j].result[slot.key] = value
            given = {slot.key: (value, self.words.phrase("returned", noun=slot.noun))}
        call = self._call(tool, None, given)
        call.needs.append(j)
        return call

    def _call(self, tool: MadeTool, hidden: Hidden | None, given: Given | None = None) -> Call:
        call = fill(tool, self.values, self.words, self.history, given=given or {}, hidden=hidden)
        answer(call, self.values, self._seen)
        return call

    def _tool(self) -> MadeTool:
        """A tool to start with: rather one that needs no id."""
        free = [
            tool
            for tool in self.tools
            if tool.slots and not any(s.kind == "id" and s.required for s in tool.slots)
        ]
        return self._seldom(
            free if free and self.draw.random() < 0.85 else [tool for tool in self.tools if tool.slots]
        )

    def _seldom(self, tools: Sequence[MadeTool]) -> MadeTool:
        """Of some drawn tools the one that was called least."""
        return self._seldom_of([(tool,) for tool in tools])[0]

    def _seldom_of(self, rows: Sequence[Row]) -> Row:
        """As `_seldom`, for rows that begin with a tool."""
        drawn = self.draw.choices(rows, k=_DRAWN)
        return min(drawn, key=lambda row: self._used.get(row[0].name, 0))

    def _hidden(
        self, plan: TaskPlan, t: int, among: Sequence[MadeTool] | None
    ) -> tuple[MadeTool, Hidden] | None:
        """A tool and what it takes from an earlier task, as the plan says; None for the first task."""
        if t == 0:
            return None
        if (t, plan.subtype) not in self._fitting:
            self._fitting[t, plan.subtype] = self._takers(plan.subtype, t)
        fitting = self._fitting[t, plan.subtype]
        if among is not None:
            fitting = [f for f in fitting if f[0] in among]
        if not fitting:
            raise UnmakeableError
        entity = [f for f in fitting if f[1].kind == "id"]
        tool, slot, mention = self._seldom_of(entity if entity and self.draw.random() < 0.6 else fitting)
        return tool, Hidden(
            slot, mention, plan.subtype == LONG_RANGE, plan.subtype == PARTIAL and mention.index is None
        )

    def _takers(self, subtype: str, t: int) -> list[tuple[MadeTool, Slot, Mention]]:
        """Tools with a slot for something that stands in the history where the subtype asks for it."""
        known = self.history.far(t) if subtype == LONG_RANGE else self.history.near(t)
        by_key: dict[str, list[Mention]] = {}
        for mention in known:
            by_key.setdefault(mention.slot.key, []).append(mention)
        fitting = [
            (tool, slot, mention)
            for tool in self.tools
            for slot in tool.slots
            for mention in by_key.get(slot.key, ())
            if slot.takes(mention.slot) or slot.kind == "id" == mention.slot.kind
        ]
        if subtype != PARTIAL:
            return fitting
        silent = [
            (tool, slot, mention)
            for tool, slot, mention in fitting
            if slot.required and mention.index is None and can_omit(tool, slot.key) and len(tool.slots) > 1
        ]
        return silent or fitting

    def _clause(self, call: Call) -> str:
        """What the user says for a call; that something stays as before is said more often than not."""
        clause = self.words.clause(call.tool, call.said, call.referred)
        for slot in call.unsaid:
            clause += self.words.phrase("before", noun=slot.noun) if self.draw.random() < 0.7 else ""
        return clause

    def _clarify(self, plan: TaskPlan, t: int, attempt: int) -> MadeTask:
        able = [tool for tool in self.tools if self._askable(tool, None)]
        # The last resort refers back by the question itself: another value than the one of before.
        apart = self._forced and t > 0
        hidden = None if apart else self._hidden(plan, t, able)
        if not able or (hidden and not self._askable(*hidden)):
            raise UnmakeableError
        tool = hidden[0] if hidden else self._seldom(able)
        call = self._call(tool, hidden and hidden[1])
        open_slots = self._askable(tool, hidden and hidden[1])
        if apart:
            open_slots = [
                slot for slot in open_slots if self.history.stands(slot.key, plan.subtype == LONG_RANGE, t)
            ]
            if not open_slots:
                raise UnmakeableError
        missing = self.draw.sample(open_slots, min(len(open_slots), self.draw.choice((1, 1, 2))))
        different = (
            "different" if not apart else "other_than_far" if plan.subtype == LONG_RANGE else "other_than"
        )
        replies: list[str] = []
        for slot in missing:
            call.marks.pop(slot.dotted, None)
            call.values[slot] = self.values.of(slot.kind, slot.members, slot.bounds)
            replies.append(self.words.literal(tool, slot, call.values[slot]))
            call.said.pop(slot.key, None)
            call.referred.add(slot.key)
            if self.history.knows(slot.key):
                call.said[slot.key] = self.words.phrase(different, noun=slot.noun)
        text = self._utter(self._clause(call), plan, attempt)
        answer(call, self.values, self._seen)
        nodes = self._questions(plan, tool, missing, replies)
        call.needs.append(len(nodes) - 1)
        nodes.append(_node(len(nodes), call))
        nodes.append(_final(len(nodes), self._summary([call]), [len(nodes) - 1], "tool"))
        return MadeTask(text, nodes, "Clarify", self._mentions([call], t))

    def _askable(self, tool: MadeTool, hidden: Hidden | None) -> list[Slot]:
        """Slots that the user can forget."""
        keys = [slot.key for slot in tool.slots]
        return [
            slot
            for slot in tool.slots
            if slot.required and slot.kind not in ("flag", "boolean") and keys.count(slot.key) == 1
            and not (hidden and slot == hidden.slot) and (slot.kind != "id" or tool.named)
        ]  # fmt: skip

    def _questions(
        self, plan: TaskPlan, tool: MadeTool, missing: list[Slot], replies: list[str]
    ) -> list[Node]:
        """One question, or two: the first reply gives only a part or nothing."""
        if plan.questions == 1:
            joined = (", " if self.words.lang == "en" else "、").join(replies)
            return [self._question(0, tool, missing, self.words.phrase("reply", value=joined))]
        first = (
            self.words.phrase("reply", value=replies[0]) if len(missing) > 1 else self.words.phrase("vague")
        )
        return [
            self._question(0, tool, missing, first),
            self._question(1, tool, missing[-1:], self.words.phrase("reply", value=replies[-1])),
        ]

    def _question(self, k: int, tool: MadeTool, missing: Sequence[Slot], reply: str) -> Node:
        arguments = {"tool_name": tool.name, "missing_required_parameters": [slot.dotted for slot in missing]}
        return {
            "idx": k,
            "action": {"name": ASK, "arguments": arguments},
            "observation": self.words.phrase("question", nouns=self.words.nouns(missing)),
            "user_input": reply,
            "dependency_list": [k - 1] if k else [],
        }

    def _chat(self, plan: TaskPlan, t: int, attempt: int) -> MadeTask:
        """A question that needs no tool; later ones are about what was said or seen before."""
        if t == 0:
            slots = [
                (tool, s)
                for tool in self.tools
                for s in tool.slots
                if s.kind not in ("flag", "boolean", "id")
            ]
            if not slots:
                raise UnmakeableError
            tool, slot = self.draw.choice(slots)
            value = self.values.of(slot.kind, slot.members, slot.bounds)
            asked, answered = self.words.chat(
                slot.kind,
                slot.noun,
                self.words.literal(tool, slot, value) if slot.kind != "enum" else str(value),
            )
            mention = Mention(slot, value, t)
        else:
            far = plan.subtype == LONG_RANGE
            known = self.history.far(t) if far else self.history.near(t)
            alone = [m for m in known if m.index is None]
            if not alone and not known:
                raise UnmakeableError
            mention = self.draw.choice(alone or known)
            asked, answered = self._recall(plan, mention, far=far)
            mention = Mention(mention.slot, mention.value, t)
        text = self._opened(asked, plan, attempt)
        return MadeTask(text, [_final(0, answered, [], "chat")], "Chat", [mention])

    def _recall(self, plan: TaskPlan, mention: Mention, *, far: bool) -> tuple[str, str]:
        noun = mention.slot.noun
        if mention.index is not None:
            noun = reference(self.words, mention, noun, far=far).removeprefix("the ")
        value = spoken(mention.value, "", self.words.lang)
        name = "recall_short" if plan.subtype == PARTIAL else "recall"
        if mention.slot.kind == "id":
            name = "recall_id"
        return self.words.pair(name + ("_far" if far else ""), noun=noun, value=value)

    def _utter(self, clause: str, plan: TaskPlan, attempt: int) -> str:
        return self._opened(self.words.request(clause, plan.tone), plan, attempt)

    def _opened(self, text: str, plan: TaskPlan, attempt: int) -> str:
        """The text, at times and whenever it was said before with sentences in front that make it another."""
        sentences = min(attempt, 3) or int(self.draw.random() < _OPENED)
        for _ in range(sentences):
            text = self.words.after(self.words.opener(), text)
        return text

    def _summary(self, calls: Sequence[Call]) -> str:
        return self.words.summary([(call.tool, call.result) for call in calls])

    def _mentions(self, calls: Sequence[Call], t: int) -> list[Mention]:
        return [mention for call in calls for mention in mentions(call, t, self.words)]


def _node(k: int, call: Call) -> Node:
    node: Node = {
        "idx": k,
        "action": {"name": call.tool.name, "arguments": call.arguments},
        "observation": call.result,
        "dependency_list": call.needs,
    }
    return {**node, "grounding": call.marks} if call.marks else node


def _final(k: int, text: str, needs: list[int], kind: str) -> Node:
    action = {"name": ANSWER, "arguments": {"answer_type": kind}}
    return {"idx": k, "action": action, "observation": text, "dependency_list": needs}
