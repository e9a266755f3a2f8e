"""Calls of a task in their planned shape: one, several beside each other, a chain, or both."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from wildtool.benchmarks.wildtoolbench.data import SUBTYPES
from wildtool.json_codec import as_object
from wildtool.toolcall.schema import member_schemas
from wildtool_data.make.core.plan import TaskPlan
from wildtool_data.make.procedural.calls import (
    DraftCall,
    HistoryReference,
    LinkedValues,
    draft_call,
    entities,
    simulate_result,
)
from wildtool_data.make.procedural.history import History, Mention, reference
from wildtool_data.make.procedural.requests import spoken_name
from wildtool_data.make.procedural.tool_sets import ParameterSlot, ToolSet, ToolSpec, slot_of
from wildtool_data.make.procedural.values import ValueSampler
from wildtool_data.make.procedural.wording import Wording, can_omit

_, PARTIAL, LONG_RANGE = SUBTYPES
_LONGEST_CHAIN = 5
_DRAWN = 4
"""Tools of which the one that was called least is taken."""
_FREE = frozenset([
    "text", "title", "sentence", "code", "ticker", "city", "person", "integer", "count", "number", "amount", "digits",
    "url",
])  # fmt: skip
"""Kinds of which any tool could return a value."""
_NUMBERS = frozenset(["integer", "count", "number", "amount"])
Row = TypeVar("Row", bound=tuple[Any, ...])


class NoSuchTaskError(Exception):
    """This draw leads to no task of the planned kind; another may."""


class CallShapes:
    """Draws the calls of a task for one session, in the planned shape."""

    def __init__(
        self, tools: ToolSet, values: ValueSampler, words: Wording, history: History, used: Mapping[str, int]
    ) -> None:
        """Args: used: how often each tool was called in the set so far; those that were seldom come first."""
        self.tools = tools
        self.values = values
        self.words = words
        self.history = history
        self.draw = values.draw
        self.forced = False
        """Where no tool needs an entity that another returns, whether a tool may return any value that one needs."""
        self.seen: dict[str, Mapping[str, Any]] = {}
        """What was returned of each entity so far."""
        self._used = used
        returned = {tool.return_semantics.key for tool in tools if tool.return_semantics.key}
        keys = {slot.key for tool in tools for slot in tool.slots if slot.kind == "id"}
        self._linked = [tool for tool in tools if tool.slots and tool.return_semantics.key in returned & keys]
        """Tools that return an entity that some tool takes."""
        self._fitting: dict[tuple[int, str], list[tuple[ToolSpec, ParameterSlot, Mention]]] = {}

    def of(self, plan: TaskPlan, t: int) -> tuple[list[DraftCall], list[str]]:
        """The calls of task `t`, and how each but the first is joined to the one before.

        Raises NoSuchTaskError if this draw leads nowhere.
        """
        shapes = {
            "": self._single,
            "parallel": self._parallel,
            "sequential": self._sequential,
            "mixed": self._mixed,
        }
        calls, joints = shapes[plan.topology](plan, t)
        if len({call.signature for call in calls}) < len(calls):
            raise NoSuchTaskError
        return calls, joints

    def _single(
        self, plan: TaskPlan, t: int, among: Sequence[ToolSpec] | None = None
    ) -> tuple[list[DraftCall], list[str]]:
        hidden = self.history_reference(plan, t, among)
        tool = hidden[0] if hidden else self.least_called(among) if among else self._tool()
        return [self.call(tool, hidden and hidden[1])], []

    def _parallel(self, plan: TaskPlan, t: int) -> tuple[list[DraftCall], list[str]]:
        calls = self._single(plan, t)[0]
        for _ in range(self.draw.choice((1, 1, 1, 2, 2, 3))):
            next_tool = calls[0].tool if self.draw.random() < 0.3 else self._tool()
            calls.append(self.call(next_tool, None))
        return calls, ["and"] * (len(calls) - 1)

    def _sequential(self, plan: TaskPlan, t: int) -> tuple[list[DraftCall], list[str]]:
        calls = self._single(plan, t, None if self.forced else self._linked)[0]
        length = self.draw.choice((2, 2, 2, 3, 3, _LONGEST_CHAIN))
        while len(calls) < length:
            following = self._follow(calls, len(calls) - 1, may_force=len(calls) == 1)
            if following is None:
                break
            calls.append(following)
        return calls, ["then"] * (len(calls) - 1)

    def _mixed(self, plan: TaskPlan, t: int) -> tuple[list[DraftCall], list[str]]:
        """A chain with a call beside it, or a call that two others build on."""
        calls, joints = self._sequential(plan, t)
        if self.draw.random() < 0.4:
            beside = self._follow(calls, 0, may_force=True)
            if beside is None:
                raise NoSuchTaskError
            return [calls[0], calls[1], beside], ["then", "and"]
        calls.append(self.call(self._tool(), None))
        return calls, [*joints, "and"]

    def _follow(self, calls: Sequence[DraftCall], j: int, *, may_force: bool) -> DraftCall | None:
        """A call that needs what call `j` returns: an entity, or else any value that a tool may return."""
        # What the user said needs no call before it.
        values = [*calls[j].values.values()]
        mentions = [mention for mention in entities(calls[j], 0, self.words) if mention.value not in values]
        key = mentions[0].slot.key if mentions else None
        links = [(tool, slot) for tool in self.tools for slot in tool.slots if slot.key == key]
        if links:
            tool, slot = self._least_called_row(links)
            mention = self.draw.choice(mentions)
            said_as = reference(self.words, mention, slot.noun, far=False)
            linked: LinkedValues = {slot.key: (mention.value, said_as)}
        else:
            free = [
                (tool, slot)
                for tool in self.tools
                for slot in tool.slots
                if slot.required and slot.kind in _FREE and not slot.members
            ]
            forced = self._forced(calls[j], free) if may_force and self.forced else None
            if forced is None:
                if may_force:
                    raise NoSuchTaskError
                return None
            tool, slot, value = forced
            linked = {slot.key: (value, self.words.phrase("returned", noun=slot.noun))}
        call = self.call(tool, None, linked)
        call.needs.append(j)
        return call

    def _forced(
        self, call: DraftCall, free: Sequence[tuple[ToolSpec, ParameterSlot]]
    ) -> tuple[ToolSpec, ParameterSlot, Any] | None:
        """A slot that takes a value which the call returns, or is made to return where its results are not known."""
        result: Any = call.result
        if not isinstance(result, dict):
            return None
        facts = as_object(result)
        if call.tool.returns:
            values = {repr(value) for value in call.values.values()}
            fields = member_schemas(call.tool.returns)
            slots = {name: slot_of(fields.get(name, {}), (name,), required=True) for name in facts}
            fitting = [
                (tool, slot, facts[name])
                for tool, slot in free
                if (name := str(slot.path[-1])) in facts and slot.same_values(slots[name])
                if repr(facts[name]) not in values
            ]
            return self.draw.choice(fitting) if fitting else None
        able = [(tool, slot) for tool, slot in free if slot.key not in facts and _may_return(call.tool, slot)]
        if not able or call.tool.return_semantics.is_list:
            return None
        tool, slot = self.draw.choice(able)
        facts[slot.key] = self.values.of(slot.kind, (), slot.bounds)
        return tool, slot, facts[slot.key]

    def call(
        self, tool: ToolSpec, hidden: HistoryReference | None, linked: LinkedValues | None = None
    ) -> DraftCall:
        """A call of a tool with drawn values, and its result."""
        call = draft_call(tool, self.values, self.words, linked=linked or {}, hidden=hidden)
        simulate_result(call, self.values, self.seen)
        return call

    def _tool(self) -> ToolSpec:
        """A tool to start with: rather one that needs no id."""
        able = [tool for tool in self.tools if tool.slots]
        free = [tool for tool in able if not any(s.kind == "id" and s.required for s in tool.slots)]
        return self.least_called(free if free and self.draw.random() < 0.85 else able)

    def least_called(self, tools: Sequence[ToolSpec]) -> ToolSpec:
        """Of some drawn tools the one that was called least."""
        return self._least_called_row([(tool,) for tool in tools])[0]

    def _least_called_row(self, rows: Sequence[Row]) -> Row:
        """As `least_called`, for rows that begin with a tool."""
        if not rows:
            raise NoSuchTaskError
        drawn = self.draw.choices(rows, k=_DRAWN)
        return min(drawn, key=lambda row: self._used.get(row[0].name, 0))

    def history_reference(
        self, plan: TaskPlan, t: int, among: Sequence[ToolSpec] | None
    ) -> tuple[ToolSpec, HistoryReference] | None:
        """A tool and what it takes from an earlier task, as the plan says; None for the first task."""
        if t == 0:
            return None
        if (t, plan.subtype) not in self._fitting:
            self._fitting[t, plan.subtype] = self._takers(plan.subtype, t)
        fitting = self._fitting[t, plan.subtype]
        if among is not None:
            fitting = [f for f in fitting if f[0] in among]
        if not fitting:
            raise NoSuchTaskError
        entity = [f for f in fitting if f[1].kind == "id"]
        rows = entity if entity and self.draw.random() < 0.6 else fitting
        tool, slot, mention = self._least_called_row(rows)
        is_ellipsis = plan.subtype == PARTIAL and mention.index is None
        return tool, HistoryReference(slot, mention, plan.subtype == LONG_RANGE, is_ellipsis)

    def _takers(self, subtype: str, t: int) -> list[tuple[ToolSpec, ParameterSlot, Mention]]:
        """Tools with a slot for a value from the part of the history that the subtype asks for."""
        mentions = self.history.far(t) if subtype == LONG_RANGE else self.history.near(t)
        by_key: dict[str, list[Mention]] = {}
        for mention in mentions:
            by_key.setdefault(mention.slot.key, []).append(mention)
        fitting = [
            (tool, slot, mention)
            for tool in self.tools
            for slot in tool.slots
            for mention in by_key.get(slot.key, ())
            if slot.same_values(mention.slot)
        ]
        if subtype != PARTIAL:
            return fitting
        silent = [
            (tool, slot, mention)
            for tool, slot, mention in fitting
            if slot.required and mention.index is None and can_omit(tool, slot.key) and len(tool.slots) > 1
        ]
        return silent or fitting


def _may_return(tool: ToolSpec, slot: ParameterSlot) -> bool:
    """Whether a tool whose results are not known can give a value that another takes: it says that it is about such, and
    takes none of the kind itself unless that is a number."""
    if not tool.clause_from_name:
        # The built-in tools stay as they are: their sessions follow from the seed alone.
        return True
    function = tool.definition["function"]
    about = {
        word.rstrip("s") for word in spoken_name(f"{function['name']} {function['description']}").split()
    }
    noun = spoken_name(slot.noun).split()
    takes = any(slot.same_values(own) for own in tool.slots if own.kind not in _NUMBERS)
    return bool(noun) and noun[-1].rstrip("s") in about and not takes
