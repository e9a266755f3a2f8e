"""An agent item as the benchmark's files have it, and what playing it shows."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, cast

from wildtool.benchmark import accepts
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import AgentRecord, ItemData
from wildtool.benchmarks.acebench.sandbox import TOOL_ERRORS, Sandbox, as_json
from wildtool.benchmarks.acebench.sandbox.edition import ClassState
from wildtool.episode import gold_replies
from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.toolcall.call_syntax import CallExpression, write_calls
from wildtool.types import Item
from wildtool_data.make.agents.scenario import AgentScenario

FIRST_NUMBER = 1_000
"""Numbers below it are those of published records."""
_LOOKUPS = ("get_", "view_", "search_", "find_", "check_")


def written_call(name: str, /, **arguments: Any) -> CallExpression:
    """A call with arguments by name."""
    return CallExpression(name, {**arguments})


@dataclass(frozen=True, slots=True)
class AgentTask:
    """What an agent is to do, before it is played."""

    classes: tuple[str, ...]
    question: str
    """The request; of a multi-turn item who the simulated user is and what it wants."""
    config: Mapping[str, Mapping[str, Any]]
    """The start state, where it differs from the sandbox's own."""
    before: tuple[CallExpression, ...]
    """What must come first, such as a login."""
    groups: tuple[tuple[CallExpression, ...], ...]
    """The calls of each part of the task, in the order in which it is asked for."""

    @property
    def calls(self) -> tuple[CallExpression, ...]:
        """The gold run."""
        return *self.before, *(call for group in self.groups for call in group)


@dataclass(frozen=True, slots=True)
class AgentItem:
    """A whole agent item."""

    number: int
    scenario: AgentScenario
    task: AgentTask
    end_state: tuple[ClassState, ...]
    milestones: tuple[tuple[str, ...], ...]
    """Orders of the gold run that lead to the same end."""

    @property
    def id(self) -> str:
        return f"{self.scenario.kind}_{FIRST_NUMBER + self.number}"

    @property
    def question_line(self) -> Mapping[str, Any]:
        """Its line in the file of questions."""
        task = self.task
        return {
            "id": self.id,
            "question": task.question,
            "initial_config": task.config,
            "path": [],
            "function": list(self.scenario.functions[task.classes]),
            "involved_classes": list(task.classes),
        }

    @property
    def answer_line(self) -> Mapping[str, Any]:
        """Its line in the file of answers."""
        orders = [list(order) for order in self.milestones]
        milestones = orders[0] if len(orders) == 1 else orders
        return {"id": self.id, "ground_truth": list(self.end_state), "mile_stone": milestones}

    @property
    def benchmark_item(self) -> Item:
        """The item as the benchmark reads it."""
        scenario, task = self.scenario, self.task
        record = AgentRecord(
            self.id,
            scenario.kind,
            scenario.lang,
            FIRST_NUMBER + self.number,
            0,
            task.question,
            scenario.functions[task.classes],
            {name: dict(part) for name, part in task.config.items()},
            task.classes,
            self.end_state,
            self.milestones,
        )
        roles = ("user",) if scenario.multi_turn else ()
        data = ItemData((record,), scenario.edition)
        return Item(f"{scenario.lang}/{self.id}", ("0",), data, scenario.kind, scenario.lang, roles)


def played_item(number: int, scenario: AgentScenario, task: AgentTask) -> AgentItem | str:
    """The item of a task with the end state and the milestones that playing it gives, or why it makes none."""
    problem = _unplayable(scenario, task)
    if problem:
        return problem
    right = _end_state(scenario, task, task.calls)
    if right == _end_state(scenario, task, ()):
        return "the calls leave the sandbox as it was, so that nothing would be right without them"
    orders = tuple(
        tuple(write_calls([call]) for call in calls)
        for calls in _orders(task)
        if _end_state(scenario, task, calls) == right
    )
    item = AgentItem(number, scenario, task, tuple(right), orders)
    return _misjudged(item) or item


def start_problem(scenario: AgentScenario, task: AgentTask) -> str:
    """Why the sandbox cannot begin in the start state of a task; empty if it can."""
    phone = task.config.get("BaseApi", {})
    for name, value in phone.items():
        if not isinstance(value, bool):
            return f"BaseApi.{name} is true or false, not {value!r}"
    try:
        Sandbox(scenario.edition, task.classes, task.config)
    except (DataError, *TOOL_ERRORS) as error:
        return str(error)
    return ""


def results(scenario: AgentScenario, task: AgentTask) -> list[Any]:
    """What the calls of a task return, as JSON, up to the first that raises."""
    sandbox = Sandbox(scenario.edition, task.classes, task.config)
    returned: list[Any] = []
    for call in task.calls:
        try:
            returned.append(as_json(sandbox.call(call.name, cast(Any, call.arguments))))
        except TOOL_ERRORS:
            # Playing the task says what is wrong with this call.
            break
    return returned


def _unplayable(scenario: AgentScenario, task: AgentTask) -> str:
    """Why the gold run cannot be played: a call that is not offered, fails, or changes nothing though it should."""
    if task.classes not in scenario.functions:
        return f"no episode of {scenario.kind} has the classes {', '.join(task.classes)}"
    if not task.calls:
        return "there is no call"
    offered = {function["name"] for function in scenario.functions[task.classes]}
    sandbox = Sandbox(scenario.edition, task.classes, task.config)
    for calls in (task.before, *task.groups):
        start = sandbox.saved()
        for call in calls:
            if problem := _failure(sandbox, call, offered):
                return problem
        if calls and calls is not task.before and sandbox.saved() == start:
            return f"{write_calls(list(calls))} changes nothing, so nobody could see whether it was done"
    return ""


def _failure(sandbox: Sandbox, call: CallExpression, offered: Collection[str]) -> str:
    """Makes a call; gives why it does not work, or does nothing though it is no lookup."""
    written = write_calls([call])
    if call.name not in offered or not sandbox.tools(call.name):
        return f"{call.name} is no tool of this sandbox"
    before = sandbox.saved()
    try:
        result = as_object(sandbox.call(call.name, cast(Any, call.arguments)))
    except TOOL_ERRORS as error:
        return f"{written} raises {type(error).__name__}: {error}"
    if result.get("status") is False:
        return f"{written} fails: {result.get('message')}"
    if not call.name.startswith(_LOOKUPS) and sandbox.saved() == before:
        return f"{written} changes nothing"
    return ""


def _orders(task: AgentTask) -> Iterator[tuple[CallExpression, ...]]:
    """The orders in which the parts of a task could be done, that of the request first."""
    for groups in permutations(task.groups):
        yield *task.before, *(call for group in groups for call in group)


def _end_state(
    scenario: AgentScenario, task: AgentTask, calls: tuple[CallExpression, ...]
) -> list[ClassState]:
    sandbox = Sandbox(scenario.edition, task.classes, task.config)
    for call in calls:
        try:
            sandbox.call(call.name, cast(Any, call.arguments))
        except TOOL_ERRORS:
            # Another order than that of the request, which then leads to another end.
            break
    return sandbox.saved()


def _misjudged(item: AgentItem) -> str:
    """Why a sound evaluator would be wrong about an item: gold is refused, or a mistake passes; empty if neither."""
    made = item.benchmark_item
    for mode in ("text", "fc"):
        for profile in ("official", "fixed"):
            rules = ACEBENCH.in_mode(mode).rules(profile)
            gold = gold_replies(rules.episode(made, "0"))
            if gold is None or not accepts(rules, made, "0", gold):
                return f"the gold run is refused by the {profile} rules in mode {mode}"
    fixed = ACEBENCH.rules("fixed")
    for mutant in fixed.mutants(made):
        if accepts(fixed, made, "0", mutant.replies):
            return f"a mistake would pass: {mutant.kind} ({mutant.note})"
    return ""
