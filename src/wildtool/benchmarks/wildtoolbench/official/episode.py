"""The published evaluator's episode of one task, and what it writes down at each step.

Section "Walk" and quirks Q18 to Q25 of the evaluator's specification. Where the original raises, `raised` says
with what, and the task is over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL, Session, cached_per_session
from wildtool.benchmarks.wildtoolbench.episode import GraphSteps, TaskEpisode, gold_run, with_observations
from wildtool.benchmarks.wildtoolbench.official.schedule import GraphStep, Schedule, ScheduleState
from wildtool.types import Message

EMPTY_REPLY_RESULT = "tool_calls and content are None or empty"
UNREADABLE_CALLS = "parse tool_calls failed"
NO_MATCH = "action name not in candidate_answer_function_list"
MAX_TRACKED_STATES = 20_000
"""States followed side by side after a question that narrows nothing (Q20); the original runs out of memory first."""
MAX_READY = 16
"""Ready nodes whose subsets are tried one by one then; beyond, the question is taken to narrow."""


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One reply as the episode judged it."""

    reply: Message
    correct: bool
    """The label of the step: its names (or its text) fitted."""
    matched: GraphStep = ()
    """Positions of the matched gold nodes, sorted by name; empty for a step that did not fit."""
    has_gold: bool = True
    """False where the original logs no gold data, which ends its scoring (Q26)."""


class OfficialEpisode(TaskEpisode):
    """State machine of one task under the published evaluator's rules."""

    quotes_texts = True

    def __init__(self, session: Session, task: int) -> None:
        super().__init__(session, task)
        self._names = [node.name for node in self._nodes]
        self.log: list[LoggedStep] = []
        self.raised: str | None = None
        """The exception the original ends with here, as `Type: text`."""
        self.raised_at: Message | None = None
        """The reply it raises at, which is not in the log."""
        self.reason: str | None = None
        """The original's reason of a name error."""
        self.name_correct = False
        self._asked = 0

    @cached_property
    def schedule(self) -> Schedule:
        """The steps that are accepted; no model need wait for them with its first reply."""
        return _schedule(self._session, self._task)

    @cached_property
    def _states(self) -> list[ScheduleState]:
        """Where the episode may stand."""
        return self.schedule.start()

    @cached_property
    def history_raised(self) -> str | None:
        """What the original raises while it builds the history of this task (Q06, Q17)."""
        return next(filter(None, (_steps(self._session, earlier)[1] for earlier in range(self._task))), None)

    @property
    def optimal(self) -> bool:
        """Whether the finished episode took the shortest path's number of steps."""
        return self.name_correct and len(self.log) == self.schedule.min_length

    def _history(self, session: Session, task: int) -> Sequence[Message]:
        return _history(session, task)

    def advance(self, reply: Message) -> None:
        calls = reply.get("tool_calls")
        if self.schedule.outside is not None:
            self._raise(reply, f"KeyError: {self.schedule.outside}")
        elif calls is not None and not isinstance(calls, list | dict | str):
            self._raise(reply, f"TypeError: object of type '{type(calls).__name__}' has no len()")
        elif calls:
            self._advance_calls(reply)
        else:
            self._advance_text(reply)

    @property
    def replies(self) -> Sequence[Message]:
        read = [step.reply for step in self.log]
        return read if self.raised_at is None else [*read, self.raised_at]

    def bound_replies(self) -> Iterator[tuple[Message, GraphStep]]:
        for step in self.log:
            calls, nodes = step.reply.get("tool_calls"), step.matched
            if calls and nodes:
                # Nodes of one name are taken in the order in which their results are (Q19).
                names = _read_calls(calls)[0]
                by_name = dict(zip(sorted(range(len(names)), key=names.__getitem__), nodes, strict=True))
                nodes = tuple(by_name[place] for place in range(len(names)))
            yield step.reply, nodes
        if self.raised_at is not None:
            yield self.raised_at, ()

    def _advance_text(self, reply: Message) -> None:
        step = len(self.log)
        if reply.get("content") in (None, ""):
            self._fail(reply, EMPTY_REPLY_RESULT, has_gold=False)
            return
        if step >= len(self._nodes):
            self._raise(reply, f"KeyError: {step}")
            return
        node = self._first_virtual()
        if node is None:
            self._fail(reply, NO_MATCH, has_gold=self._has_steps_left())
            return
        self.log.append(LoggedStep(reply, True, (node,)))
        if self._names[node] == ANSWER:
            self.name_correct = self.done = True
            return
        self._add_question(reply, node)
        self._asked |= 1 << node
        self._states = self._states_after_question(node)

    def _first_virtual(self) -> int | None:
        """The node that a text is taken for: the first question or answer among the possible steps, in path order."""
        ready = chain.from_iterable(map(self.schedule.ready, self._states))
        return next((node for node in ready if self._names[node] in VIRTUAL), None)

    def _states_after_question(self, node: int) -> list[ScheduleState]:
        """All states one step further: a question does not narrow the paths (Q20)."""
        following: dict[ScheduleState, None] = {}
        for state in self._states:
            if self.schedule.finished(state):
                following[state] = None
                continue
            if len(self.schedule.ready(state)) > MAX_READY or len(following) > MAX_TRACKED_STATES:
                return [
                    self.schedule.after(s, (node,)) for s in self._states if self.schedule.allows(s, (node,))
                ]
            following.update(
                (self.schedule.after(state, step), None) for step in self.schedule.accepted(state)
            )
        return list(following)

    def _has_steps_left(self) -> bool:
        return any(not self.schedule.finished(state) for state in self._states)

    def _advance_calls(self, reply: Message) -> None:
        step = len(self.log)
        try:
            names, ids = _read_calls(reply["tool_calls"])
        except (KeyError, TypeError, IndexError) as error:
            self._fail(reply, f"{UNREADABLE_CALLS}, error: {error}", has_gold=False)
            return
        if step >= len(self._nodes):
            self._fail(reply, f"current step: {step}, idx_list is None", has_gold=False)
            return
        try:
            names = sorted(names)
        except (TypeError, RecursionError) as error:
            self._raise(reply, f"{type(error).__name__}: {error}")
            return
        matched = self._match(names)
        if matched is None:
            self._fail(reply, NO_MATCH, has_gold=self._has_steps_left())
            return
        if any(self.schedule.finished(state) for state in self._states):
            # A path that ended earlier has no step of this number (Q20).
            self._raise(reply, "IndexError: list index out of range")
            return
        following = [
            self.schedule.after(state, matched)
            for state in self._states
            if self.schedule.allows(state, matched)
        ]
        self._states = list(dict.fromkeys(following))
        by_name = tuple(sorted(matched, key=lambda node: self._names[node]))
        self.log.append(LoggedStep(reply, True, by_name))
        # In the order of the sorted gold names, to call ids in written order (Q19).
        observed = zip(ids, (self._nodes[node] for node in by_name), strict=True)
        self._messages.append(with_observations(reply, observed))

    def _match(self, names: Sequence[Any]) -> GraphStep | None:
        if not all(isinstance(name, str) for name in names):
            return None
        return next(filter(None, (self.schedule.match(state, names) for state in self._states)), None)

    def _fail(self, reply: Message, reason: str, *, has_gold: bool) -> None:
        self.log.append(LoggedStep(reply, False, has_gold=has_gold))
        self.reason = reason
        self.done = True

    def _raise(self, reply: Message, error: str) -> None:
        self.raised = error
        self.raised_at = reply
        self.done = True

    def _gold(self, style: str) -> Message:
        state = next(
            (
                s
                for s in self._states
                if s.done & self._asked == self._asked and not self.schedule.finished(s)
            ),
            None,
        )
        if state is None:
            return {"role": "assistant", "content": "", "tool_calls": None}
        ready = self.schedule.ready(state)
        virtual = [node for node in ready if self._names[node] in VIRTUAL]
        real = [node for node in ready if node not in virtual]
        asks = [node for node in virtual if self._names[node] == ASK]
        if asks or not real:
            return self._gold_text((asks or virtual)[0])
        return self._gold_calls(real, style)


def _read_calls(calls: Any) -> tuple[list[Any], list[Any]]:
    """Names and ids of calls as the original reads them; whatever is missing raises."""
    names: list[Any] = []
    ids: list[Any] = []
    for call in calls:
        ids.append(call["id"])
        names.append(call["function"]["name"])
        _ = call["function"]["arguments"]
    return names, ids


@cached_per_session
def _schedule(session: Session, task: int) -> Schedule:
    gold = session.tasks[task]
    return Schedule([node.name for node in gold.nodes], gold.deps)


@cached_per_session
def _history(session: Session, task: int) -> Sequence[Message]:
    """An earlier task as it is shown."""
    return gold_run(session, task, _steps(session, task)[0], quote_texts=True)


@cached_per_session
def _steps(session: Session, task: int) -> tuple[GraphSteps, str | None]:
    """The steps in which an earlier task is shown, and what the original raises instead, if it does."""
    gold = session.tasks[task]
    schedule = _schedule(session, task)
    steps = schedule.first_shortest()
    if steps is None:
        raised = "IndexError: list index out of range"
        if schedule.outside is not None:
            raised = f"KeyError: {schedule.outside}"
        return [(node,) for node in range(len(gold.nodes))], raised
    mixed = [step for step in steps if len(step) > 1 and any(gold.nodes[n].name in VIRTUAL for n in step)]
    if not mixed:
        return steps, None
    return [part for step in steps for part in _split_step(session, task, step)], "AssertionError: "


def _split_step(session: Session, task: int, step: GraphStep) -> list[GraphStep]:
    """A step with virtual nodes cut up: questions first, then the calls, then the answer."""
    names = [node.name for node in session.tasks[task].nodes]
    asks = [(n,) for n in step if names[n] == ASK]
    calls = tuple(n for n in step if names[n] not in VIRTUAL)
    answers = [(n,) for n in step if names[n] == ANSWER]
    return [*asks, *([calls] if calls else []), *answers]
