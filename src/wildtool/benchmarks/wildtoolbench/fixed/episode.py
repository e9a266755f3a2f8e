"""The corrected episode of one task: calls bound to gold calls by name and arguments, any legal schedule accepted.

The "C:" lines of the evaluator's specification. The first fault ends the task; `fault` says what it was.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.benchmarks.wildtoolbench import error_classes
from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL, GoldNode, Session, cached_per_session
from wildtool.benchmarks.wildtoolbench.episode import TaskEpisode, gold_run, with_observations
from wildtool.benchmarks.wildtoolbench.official.schedule import GraphStep
from wildtool.json_codec import as_objects
from wildtool.tool_formats.any_format import calls_in_text
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.toolcall.compare import ArgumentDifference, compare_arguments
from wildtool.toolcall.graph import bit_masks, ready
from wildtool.toolcall.schema import as_schema
from wildtool.toolcall.text.unseen import is_unseen
from wildtool.types import Message

# Orders of the gold calls -----------------------------------------------------------------------------

MAX_EXPLORED_STATES = 100_000
"""States visited in search of a shortest schedule; more need dozens of questions that nothing orders."""


class FixedSchedule:
    """The legal steps of one gold graph."""

    def __init__(self, names: Sequence[str], deps: Sequence[Sequence[int]]) -> None:
        self.names = tuple(names)
        self._masks = bit_masks(deps)
        self._all = (1 << len(names)) - 1
        for position, name in enumerate(names):
            if name == ANSWER:
                calls = sum(1 << i for i, other in enumerate(names) if other != ANSWER)
                self._masks[position] |= calls
        self.shortest = self._shortest() if names.count(ANSWER) == 1 else []
        """The steps of one shortest schedule; empty where the graph has none (a cycle, no answer node, two answers)."""

    def ready_calls(self, fulfilled: int) -> list[int]:
        """Calls that may be made now, ascending."""
        return [node for node in ready(self._masks, fulfilled) if self.names[node] not in VIRTUAL]

    def ready_text(self, fulfilled: int) -> list[int]:
        """Questions and answers that may be given now, ascending."""
        return [node for node in ready(self._masks, fulfilled) if self.names[node] in VIRTUAL]

    def finished(self, fulfilled: int) -> bool:
        return fulfilled == self._all

    def _steps(self, fulfilled: int) -> list[GraphStep]:
        """Steps worth trying on a shortest schedule: one question or answer, or all ready calls at once."""
        calls = tuple(self.ready_calls(fulfilled))
        return [(node,) for node in self.ready_text(fulfilled)] + ([calls] if calls else [])

    def _shortest(self) -> list[GraphStep]:
        """Breadth first over sets of executed nodes; making more ready calls in a step never makes the rest longer."""
        paths: dict[int, tuple[int, GraphStep] | None] = {0: None}
        frontier = [0]
        while frontier:
            following: list[int] = []
            for fulfilled in frontier:
                for step in self._steps(fulfilled):
                    after = fulfilled
                    for node in step:
                        after |= 1 << node
                    if after not in paths and len(paths) < MAX_EXPLORED_STATES:
                        paths[after] = (fulfilled, step)
                        following.append(after)
            frontier = following
        steps: list[GraphStep] = []
        back = paths.get(self._all)
        while back is not None:
            steps.append(back[1])
            back = paths[back[0]]
        return steps[::-1]


_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？\n]+|[^.!?。！？\n]+")
_CLOSING = " \t\r\n\"'`*_~)]）】」』”’"
"""Characters that may follow the question mark of a last question."""
_MAX_QUESTION_CHARACTERS = 10_000
"""Characters at the end of a reply."""

_RULE_CLASSES = {
    "type": error_classes.PARAM_TYPE,
    "missing": error_classes.PARAM_TYPE,
    "extra": error_classes.PARAM_HALLUCINATION,
}
"""Error class by rule of a value difference; every other rule is a wrong value."""


@dataclass(frozen=True, slots=True)
class TaskFault:
    """What ended a task."""

    error: str
    """Error class, from `faults`."""
    reason: str
    differences: tuple[ArgumentDifference, ...] = ()
    node: int | None = None
    """The gold call that the differences are from."""


@dataclass(frozen=True, slots=True)
class BoundStep:
    """One reply as the episode judged it."""

    reply: Message
    nodes: GraphStep
    """Gold nodes it did, in written order of the calls; empty for the faulty reply."""


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    id: str | None
    """None where the endpoint gave null."""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


class _Matching:
    """A largest matching of calls and gold calls, by augmenting paths."""

    def __init__(self, likely: Sequence[Sequence[int]], equal: Callable[[int, int], bool]) -> None:
        """Args:
        likely: for each call the gold calls to try, in order.
        equal: whether the arguments of a call are those of a gold call.
        """
        self.calls: dict[int, int] = {}
        """The call of each gold call that has one."""
        self._likely = likely
        self._equal = equal
        self._known: dict[tuple[int, int], bool] = {}

    def place(self, call: int, tried: set[int]) -> bool:
        """Finds a gold call for a call, if need be another one for those placed before. Args: tried: in vain so far."""
        for node in self._likely[call]:
            if node not in tried and self._fits(call, node):
                tried.add(node)
                if node not in self.calls or self.place(self.calls[node], tried):
                    self.calls[node] = call
                    return True
        return False

    def _fits(self, call: int, node: int) -> bool:
        if (call, node) not in self._known:
            self._known[call, node] = self._equal(call, node)
        return self._known[call, node]


class FixedEpisode(TaskEpisode):
    """State machine of one task under the corrected rules."""

    quotes_texts = False

    def __init__(self, session: Session, task: int) -> None:
        super().__init__(session, task)
        self._tools = _parameters(session)
        self.schedule = fixed_schedule(session, task)
        self.log: list[BoundStep] = []
        self.done_mask = 0
        """Executed gold nodes as a bit mask."""
        self.fault: TaskFault | None = None
        if not self.schedule.shortest:
            self.fault = TaskFault(
                error_classes.UNUSABLE_GOLD, "the gold graph has a cycle or not exactly one answer node"
            )
        self.done = self.fault is not None or self.schedule.finished(self.done_mask)

    @property
    def correct(self) -> bool:
        return self.fault is None and self.schedule.finished(self.done_mask)

    @property
    def optimal(self) -> bool:
        """Correct in as few steps as the graph allows."""
        return self.correct and len(self.log) == len(self.schedule.shortest)

    @property
    def progress(self) -> int:
        """Gold nodes done before the first fault."""
        return self.done_mask.bit_count()

    @property
    def asked_back(self) -> bool:
        """Whether the last reply of a correct task is a question: it ends with one, and at least half of it is one."""
        text = _reply_text(self.log[-1].reply.get("content")).strip()
        sentences = _SENTENCE.findall(text[-_MAX_QUESTION_CHARACTERS:].rstrip(_CLOSING))
        length = sum(len(sentence) for sentence in sentences if sentence[-1] in "?？")
        return bool(sentences) and sentences[-1][-1] in "?？" and 2 * length >= len(text)

    def _history(self, session: Session, task: int) -> Sequence[Message]:
        return _history(session, task)

    def advance(self, reply: Message) -> None:
        if reply.get("tool_calls"):
            self._advance_calls(reply)
        else:
            self._advance_text(reply)

    @property
    def replies(self) -> Sequence[Message]:
        return [step.reply for step in self.log]

    def bound_replies(self) -> Iterator[tuple[Message, GraphStep]]:
        for step in self.log:
            yield step.reply, step.nodes

    def _advance_text(self, reply: Message) -> None:
        words = self.schedule.ready_text(self.done_mask)
        text = _reply_text(reply.get("content"))
        empty = is_unseen(text)
        if empty or not words:
            error, reason = error_classes.classify_text(self._nodes, self._done_nodes(), empty=empty)
            self._fail(reply, TaskFault(error, reason))
            return
        if calls := calls_in_text(text, self._session.sent_tools):
            error, reason = error_classes.classify_call(
                self._nodes, self._done_nodes(), calls[0].name, self._tools
            )
            self._fail(reply, TaskFault(error, f"{reason}, as text that is no native call"))
            return
        self._mark_done(reply, (words[0],))
        if self._nodes[words[0]].name == ASK:
            self._add_question(reply, words[0])

    def _advance_calls(self, reply: Message) -> None:
        calls = _read_calls(reply["tool_calls"])
        if isinstance(calls, TaskFault):
            self._fail(reply, calls)
            return
        ready = self.schedule.ready_calls(self.done_mask)
        fault = self._unavailable_call(calls, ready)
        bound = {} if fault else self._bind(calls, ready)
        if fault is None and len(bound) < len(calls):
            fault = self._argument_fault(next(call for i, call in enumerate(calls) if i not in bound), ready)
        if fault is not None:
            self._fail(reply, fault)
            return
        ids = [call.id if call.id is not None else self._id(bound[i]) for i, call in enumerate(calls)]
        observed = [(id_, self._nodes[bound[i]]) for i, id_ in enumerate(ids)]
        self._messages.append(with_observations(_with_ids(reply, ids), observed))
        self._mark_done(reply, tuple(bound[i] for i in range(len(calls))))

    def _unavailable_call(self, calls: Sequence[_Call], ready: Sequence[int]) -> TaskFault | None:
        """The first call for which there is no ready gold call of its name left; arguments do not matter here."""
        remaining = Counter(self._nodes[node].name for node in ready)
        for call in calls:
            if remaining[call.name] == 0:
                return TaskFault(
                    *error_classes.classify_call(self._nodes, self._done_nodes(), call.name, self._tools)
                )
            remaining[call.name] -= 1
        return None

    def _bind(self, calls: Sequence[_Call], ready: Sequence[int]) -> dict[int, int]:
        """Assigns calls to ready gold calls of their name with equal arguments, as many as can be."""
        likely = [self._likely(call, ready) for call in calls]
        matching = _Matching(likely, lambda call, node: not self._differences(calls[call], node))
        for call in range(len(calls)):
            matching.place(call, set())
        return {call: node for node, call in matching.calls.items()}

    def _likely(self, call: _Call, ready: Sequence[int]) -> list[int]:
        """Gold calls of the same name; equal ones first, which spares comparing by meaning."""
        candidates = [node for node in ready if self._nodes[node].name == call.name]
        if len(candidates) < 2:
            return candidates
        return sorted(candidates, key=lambda node: self._nodes[node].arguments != call.arguments)

    def _differences(self, call: _Call, node: int) -> list[ArgumentDifference]:
        return gold_differences(self._nodes[node], call.arguments, self._tools.get(call.name, {}))

    def _argument_fault(self, call: _Call, ready: Sequence[int]) -> TaskFault:
        """The fault of a call whose arguments fit no ready gold call: its differences from the nearest one."""
        candidates = [(self._differences(call, n), n) for n in ready if self._nodes[n].name == call.name]
        differing = [candidate for candidate in candidates if candidate[0]]
        if not differing:
            return TaskFault(error_classes.REDUNDANT, f"called {call.name} twice with the same arguments")
        nearest, node = min(differing, key=lambda candidate: len(candidate[0]))
        error = min(
            (_RULE_CLASSES.get(d.rule, error_classes.PARAM_VALUE) for d in nearest),
            key=error_classes.ALL.index,
        )
        return TaskFault(error, f"{call.name}: {nearest[0].message}", tuple(nearest), node)

    def _mark_done(self, reply: Message, nodes: GraphStep) -> None:
        for node in nodes:
            self.done_mask |= 1 << node
        self.log.append(BoundStep(reply, nodes))
        self.done = self.schedule.finished(self.done_mask)

    def _fail(self, reply: Message, fault: TaskFault) -> None:
        self.log.append(BoundStep(reply, ()))
        self.fault = fault
        self.done = True

    def _done_nodes(self) -> list[int]:
        return [node for node in range(len(self._nodes)) if self.done_mask >> node & 1]

    def _gold(self, style: str) -> Message:
        words = self.schedule.ready_text(self.done_mask)
        if words:
            return self._gold_text(words[0])
        return self._gold_calls(self.schedule.ready_calls(self.done_mask), style)


def gold_differences(
    node: GoldNode, arguments: Mapping[str, Any], parameters: Mapping[str, Any]
) -> list[ArgumentDifference]:
    """How a call's arguments differ from a gold call's; each with alternatives from the nearest of its values.

    Args: parameters: the schema of the tool's parameters.
    """
    differences = compare_arguments(node.arguments, arguments, parameters)
    if not (differences and node.alternatives):
        return differences
    gold = dict(node.arguments)
    for name, values in node.alternatives.items():
        # One argument at a time: of all of them only so many differences are listed.
        present = {name: arguments[name]} if name in arguments else {}
        ways = [{name: gold[name]} if name in gold else {}, *({name: value} for value in values)]
        gold |= min(ways, key=lambda way: len(compare_arguments(way, present, parameters)))
    return compare_arguments(gold, arguments, parameters)


def _with_ids(reply: Message, ids: Sequence[str]) -> Message:
    """The reply itself, or where ids were null the same with ids, so that observations can name their call."""
    calls: list[dict[str, Any]] = reply["tool_calls"]
    if all(call["id"] is not None for call in calls):
        return reply
    return {**reply, "tool_calls": [{**call, "id": id_} for call, id_ in zip(calls, ids, strict=True)]}


def _reply_text(content: Any) -> str:
    """The text of a reply: a text, or the texts of a list of content parts; anything else says nothing."""
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in as_objects(content)]
    return " ".join(text for text in texts if isinstance(text, str))


@cached_per_session
def fixed_schedule(session: Session, task: int) -> FixedSchedule:
    """The legal schedules of a task."""
    gold = session.tasks[task]
    return FixedSchedule([node.name for node in gold.nodes], gold.deps)


@cached_per_session
def _history(session: Session, task: int) -> Sequence[Message]:
    """An earlier task as it is shown."""
    schedule = fixed_schedule(session, task)
    steps = schedule.shortest or [(node,) for node in range(len(schedule.names))]
    return gold_run(session, task, steps, quote_texts=False)


@cached_per_session
def _parameters(session: Session) -> dict[str, Mapping[str, Any]]:
    """For each tool name its parameter schema; an unreadable one counts as empty."""
    functions = [tool["function"] for tool in session.sent_tools]
    return {function["name"]: as_schema(function.get("parameters")) for function in functions}


def _read_calls(calls: Any) -> list[_Call] | TaskFault:
    """The calls of a reply, or why they cannot be read."""
    if not isinstance(calls, list):
        return TaskFault(
            error_classes.UNREADABLE, f"tool_calls is {type(calls).__name__}, not a list of calls"
        )
    read: list[_Call] = []
    for number, entry in enumerate(as_objects(calls)):
        if not isinstance(entry.get("function"), dict):
            return TaskFault(error_classes.UNREADABLE, f"call {number} has no function object")
        described: dict[str, Any] = entry["function"]
        name, id_ = described.get("name"), entry.get("id")
        is_named = "id" in entry and isinstance(id_, str | None)
        if not isinstance(name, str) or not is_named:
            return TaskFault(error_classes.UNREADABLE, f"call {number} has no {'name' if is_named else 'id'}")
        try:
            arguments = read_arguments(described.get("arguments"), empty_ok=True)
        except ArgumentsError as error:
            return TaskFault(error_classes.UNREADABLE, f"arguments of {name[:80]}: {error}")
        read.append(_Call(name, id_, arguments))
    return read
