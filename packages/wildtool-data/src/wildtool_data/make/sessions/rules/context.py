"""What is known when the planner decides, and what a decision does, as the rules for decisions see them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK
from wildtool.benchmarks.wildtoolbench.grounding import Leaf, SearchText, leaves
from wildtool_data.make.core.parsing import Action, Decision, strings_in
from wildtool_data.make.core.plan import TaskPlan

_PLACEHOLDER = re.compile(
    r"unknown|n/?a|none|null|tbd|to be determined|x{3,}|\?+|your[_ ].*|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}"
    r"|未知|待定|不详|无",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"(?:^|_)ids?$|[a-z]Ids?$|ID$|timestamp|uuid|token", re.ASCII)
Schemas = Mapping[str, Mapping[str, Any]]
"""Parameters of each tool."""


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """What is known when the planner decides."""

    schemas: Schemas
    """Parameters of each tool."""
    plan: TaskPlan
    passages: Sequence[SearchText]
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


def known_calls(decision: Decision, context: DecisionContext) -> Iterator[Action]:
    """The calls of known tools."""
    return (action for action in decision.actions if action.name in context.schemas)


def questions_in(decision: Decision) -> list[tuple[Any, Sequence[str]]]:
    """The tool and the parameters of each question."""
    return [
        (action.arguments.get("tool_name"), strings_in(action.arguments.get("missing_required_parameters")))
        for action in decision.actions
        if action.name == ASK
    ]


def gives_answer(decision: Decision, kind: str) -> bool:
    """Whether it is the answer of a type."""
    return any(a.name == ANSWER and a.arguments.get("answer_type") == kind for a in decision.actions)


def required(schema: Mapping[str, Any]) -> Sequence[str]:
    """The required parameters of a tool."""
    return strings_in(schema.get("required"))


def required_of(tool: str, context: DecisionContext) -> Sequence[str]:
    """The required parameters of a tool by its name."""
    return required(context.schemas[tool])


def is_placeholder(text: str) -> bool:
    """Whether a value says that there is none."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def is_system_identifier(leaf: Leaf) -> bool:
    """Whether a value is an identifier, which only a system can give."""
    name = re.split(r"[.\[\]]", leaf.path.rstrip("]0123456789["))[-1]
    return _IDENTIFIER.search(name) is not None
