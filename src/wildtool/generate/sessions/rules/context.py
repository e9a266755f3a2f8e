"""What is known when the planner decides, and what a decision does, as the rules for decisions see them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK
from wildtool.benchmarks.wildtoolbench.grounding import Leaf, Passage, leaves
from wildtool.generate.core.parsing import Action, Decision, Fault, texts
from wildtool.generate.core.plan import TaskPlan

Schemas = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Moment:
    """What is known when the planner decides."""

    schemas: Schemas
    """Parameters of each tool."""
    wanted: TaskPlan
    known: Sequence[Passage]
    """Date line, what user and assistant said, and what tools returned, so far."""
    calls: Sequence[Action] = ()
    """Made in this task."""
    decisions: Sequence[int] = ()
    """For each decision of this task that made calls, how many."""
    questions: int = 0
    """Asked in this task."""
    answered: frozenset[tuple[str, str]] = frozenset()
    """Tool and parameter that the user was asked for and gave."""
    after_result: bool = False

    def leaves(self, action: Action) -> list[Leaf]:
        return list(leaves(action.arguments, self.schemas.get(action.name, {})))


Rule = Callable[[Decision, Moment], Iterator[Fault]]


def real(decision: Decision, moment: Moment) -> Iterator[Action]:
    """The calls of known tools."""
    return (action for action in decision.actions if action.name in moment.schemas)


def asked(decision: Decision) -> list[tuple[Any, Sequence[str]]]:
    """The tool and the parameters of each question."""
    return [
        (action.arguments.get("tool_name"), texts(action.arguments.get("missing_required_parameters")))
        for action in decision.actions
        if action.name == ASK
    ]


def answers(decision: Decision, kind: str) -> bool:
    """Whether it is the answer of a type."""
    return any(a.name == ANSWER and a.arguments.get("answer_type") == kind for a in decision.actions)


def required(schema: Mapping[str, Any]) -> Sequence[str]:
    """The required parameters of a tool."""
    return texts(schema.get("required"))


def required_of(tool: str, moment: Moment) -> Sequence[str]:
    """The required parameters of a tool by its name."""
    return required(moment.schemas[tool])
