"""Makes one task of a session after its plan: calls of the wanted shape, the user's words, the gold nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK
from wildtool_data.make.core.plan import TaskPlan
from wildtool_data.make.procedural.calls import (
    DraftCall,
    HistoryReference,
    drawn_value,
    mentions,
    simulate_result,
)
from wildtool_data.make.procedural.history import History, Mention, reference
from wildtool_data.make.procedural.shapes import LONG_RANGE, PARTIAL, CallShapes, NoSuchTaskError
from wildtool_data.make.procedural.tool_sets import ParameterSlot, ToolSet, ToolSpec
from wildtool_data.make.procedural.values import ValueSampler, as_spoken
from wildtool_data.make.procedural.wording import Wording

_OPENER_SHARE = 0.35
"""How often a text starts with a sentence about whom it is for."""
AnswerNode = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DraftTask:
    """A finished task."""

    text: str
    nodes: list[AnswerNode]
    type: str
    mentions: list[Mention]


class TaskMaker:
    """Draws tasks for one session."""

    def __init__(self, tools: ToolSet, values: ValueSampler, words: Wording, used: Mapping[str, int]) -> None:
        """Args: used: how often each tool was called in the set so far; those that were seldom come first."""
        self.tools = tools
        self.values = values
        self.words = words
        self.draw = values.draw
        self.history = History(by_noun=any(tool.clause_from_name for tool in tools))
        self._asked: set[str] = set()
        """Keys of the values that the user was asked for in any task so far."""
        self._shapes = CallShapes(tools, values, words, self.history, used)

    def make(self, plan: TaskPlan, t: int, attempt: int, *, forced: bool) -> DraftTask:
        """One draw of task `t`.

        Args:
            attempt: how often a draw was too much like a text of before.
            forced: where no tool needs an entity that another returns, lets a tool return any value that one needs.

        Raises:
            NoSuchTaskError: where this draw leads nowhere.
        """
        self._shapes.forced = forced
        if plan.group == "Chat":
            return self._chat(plan, t, attempt)
        if plan.group == "Clarify":
            return self._clarify(plan, t, attempt)
        calls, joints = self._shapes.of(plan, t)
        clauses = [self._clause(call) for call in calls]
        text = self._utter(self.words.join(clauses, joints), plan, attempt)
        nodes = [_node(k, call) for k, call in enumerate(calls)]
        needed = {j for call in calls for j in call.needs}
        ends = [k for k in range(len(calls)) if k not in needed]
        nodes.append(_final(len(nodes), self._summary(calls), ends, "tool"))
        type_ = {"": "Single-Tool"}.get(plan.topology, f"{plan.topology.capitalize()} Multi-Tool")
        return DraftTask(text, nodes, type_, self._mentions(calls, t))

    def _clause(self, call: DraftCall) -> str:
        """What the user says for a call; that something stays as before is said more often than not."""
        clause = self.words.clause(call.tool, call.spoken, call.coreferences)
        for slot in call.ellipses:
            # A user who was just asked for the value must state it, or would rightly be asked again.
            say = call.tool.clause_from_name or slot.key in self._asked or self.draw.random() < 0.7
            clause += self.words.phrase("before", noun=slot.noun) if say else ""
        return clause

    def _clarify(self, plan: TaskPlan, t: int, attempt: int) -> DraftTask:
        able = [tool for tool in self.tools if self._askable(tool, None)]
        # The last resort refers back by the question itself: another value than the one of before.
        apart = self._shapes.forced and t > 0
        hidden = None if apart else self._shapes.history_reference(plan, t, able)
        if not able or (hidden and not self._askable(*hidden)):
            raise NoSuchTaskError
        tool = hidden[0] if hidden else self._shapes.least_called(able)
        call = self._shapes.call(tool, hidden and hidden[1])
        open_slots = self._askable(tool, hidden and hidden[1])
        if apart:
            far = plan.subtype == LONG_RANGE
            open_slots = [slot for slot in open_slots if self.history.has_in_range(slot.key, far, t)]
            if not open_slots:
                raise NoSuchTaskError
        missing = self.draw.sample(open_slots, min(len(open_slots), self.draw.choice((1, 1, 2))))
        different = (
            "different" if not apart else "other_than_far" if plan.subtype == LONG_RANGE else "other_than"
        )
        replies: list[str] = []
        for slot in missing:
            call.marks.pop(slot.dotted, None)
            call.values[slot] = drawn_value(slot, self.values, call.beside(slot))
            replies.append(self.words.literal(tool, slot, call.values[slot]))
            call.spoken.pop(slot.key, None)
            call.coreferences.add(slot.key)
            if self.history.knows(slot.key):
                call.spoken[slot.key] = self.words.phrase(different, noun=slot.noun)
        text = self._utter(self._clause(call), plan, attempt)
        simulate_result(call, self.values, self._shapes.seen)
        nodes = self._questions(plan, tool, missing, replies)
        self._asked |= {slot.key for slot in missing}
        call.needs.append(len(nodes) - 1)
        nodes.append(_node(len(nodes), call))
        nodes.append(_final(len(nodes), self._summary([call]), [len(nodes) - 1], "tool"))
        return DraftTask(text, nodes, "Clarify", self._mentions([call], t))

    def _askable(self, tool: ToolSpec, hidden: HistoryReference | None) -> list[ParameterSlot]:
        """Slots that the user can forget."""
        keys = [slot.key for slot in tool.slots]
        return [
            slot
            for slot in tool.slots
            if slot.required and slot.kind not in ("flag", "boolean") and keys.count(slot.key) == 1
            and "[]" not in slot.dotted
            and not (hidden and slot == hidden.slot)
            and (slot.kind != "id" or tool.clause_from_name)
        ]  # fmt: skip

    def _questions(
        self, plan: TaskPlan, tool: ToolSpec, missing: list[ParameterSlot], replies: list[str]
    ) -> list[AnswerNode]:
        """One question, or two: the first reply gives only a part or nothing."""
        if plan.questions == 1:
            joined = (", " if self.words.lang == "en" else "、").join(replies)
            return [self._question(0, tool, missing, self.words.phrase("reply", value=joined))]
        words = self.words
        first = words.phrase("reply", value=replies[0]) if len(missing) > 1 else words.phrase("vague")
        return [
            self._question(0, tool, missing, first),
            self._question(1, tool, missing[-1:], self.words.phrase("reply", value=replies[-1])),
        ]

    def _question(self, k: int, tool: ToolSpec, missing: Sequence[ParameterSlot], reply: str) -> AnswerNode:
        arguments = {"tool_name": tool.name, "missing_required_parameters": [slot.dotted for slot in missing]}
        return {
            "idx": k,
            "action": {"name": ASK, "arguments": arguments},
            "observation": self.words.phrase("question", nouns=self.words.nouns(missing)),
            "user_input": reply,
            "dependency_list": [k - 1] if k else [],
        }

    def _chat(self, plan: TaskPlan, t: int, attempt: int) -> DraftTask:
        """A question that needs no tool; later ones are about what was said or seen before."""
        if t == 0:
            every = (slot for tool in self.tools for slot in tool.slots)
            slots = [slot for slot in every if slot.kind not in ("flag", "boolean", "id")]
            if not slots:
                raise NoSuchTaskError
            slot = self.draw.choice(slots)
            value = drawn_value(slot, self.values)
            spoken = str(value) if slot.kind == "enum" else as_spoken(value, slot.kind, self.words.lang)
            question, answered = self.words.chat(slot.kind, slot.noun, spoken)
            mention = Mention(slot, value, t)
        else:
            far = plan.subtype == LONG_RANGE
            candidates = self.history.far(t) if far else self.history.near(t)
            alone = [m for m in candidates if m.index is None]
            if not candidates:
                raise NoSuchTaskError
            mention = self.draw.choice(alone or candidates)
            question, answered = self._recall(plan, mention, far=far)
            mention = Mention(mention.slot, mention.value, t)
        text = self._opened(question, plan, attempt)
        return DraftTask(text, [_final(0, answered, [], "chat")], "Chat", [mention])

    def _recall(self, plan: TaskPlan, mention: Mention, *, far: bool) -> tuple[str, str]:
        noun = mention.slot.noun
        if mention.index is not None:
            noun = reference(self.words, mention, noun, far=far).removeprefix("the ")
        value = as_spoken(mention.value, "", self.words.lang)
        name = "recall_short" if plan.subtype == PARTIAL else "recall"
        if mention.slot.kind == "id":
            name = "recall_id"
        return self.words.pair(name + ("_far" if far else ""), noun=noun, value=value)

    def _utter(self, clause: str, plan: TaskPlan, attempt: int) -> str:
        return self._opened(self.words.request(clause, plan.tone), plan, attempt)

    def _opened(self, text: str, plan: TaskPlan, attempt: int) -> str:
        """The text, at times and whenever it was said before with sentences in front that make it another."""
        sentences = min(attempt, 3) or int(self.draw.random() < _OPENER_SHARE)
        for _ in range(sentences):
            text = self.words.after(self.words.opener(), text)
        return text

    def _summary(self, calls: Sequence[DraftCall]) -> str:
        return self.words.summary([(call.tool, call.result) for call in calls])

    def _mentions(self, calls: Sequence[DraftCall], t: int) -> list[Mention]:
        return [mention for call in calls for mention in mentions(call, t, self.words)]


def _node(k: int, call: DraftCall) -> AnswerNode:
    node: AnswerNode = {
        "idx": k,
        "action": {"name": call.tool.name, "arguments": call.arguments},
        "observation": call.result,
        "dependency_list": call.needs,
    }
    return {**node, "grounding": call.marks} if call.marks else node


def _final(k: int, text: str, needs: list[int], kind: str) -> AnswerNode:
    action = {"name": ANSWER, "arguments": {"answer_type": kind}}
    return {"idx": k, "action": action, "observation": text, "dependency_list": needs}
