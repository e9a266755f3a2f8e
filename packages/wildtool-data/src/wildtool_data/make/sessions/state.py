"""A session in progress: what was said and returned, and its record in the benchmark's format."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any

from rapidfuzz import fuzz, process

from wildtool.benchmarks.wildtoolbench.data import ASK, GoldNode, Task
from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.toolcall.text.similarity import fold_text
from wildtool.types import Tool
from wildtool_data.make.core.dedup import NEAR_DUPLICATE_SCORE
from wildtool_data.make.core.diversity import TaskBackground
from wildtool_data.make.core.plan import SessionPlan
from wildtool_data.make.procedural.sessions import RECORD_KEY_PREFIXES


@dataclass(slots=True)
class SessionState:
    """The state when a task begins; copied, so that another try starts from it. Members of its lists never change."""

    conversation: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    passages: list[SearchText] = field(default_factory=list[SearchText])
    entities: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    tasks: list[Task] = field(default_factory=list[Task])
    groundings: list[list[Mapping[str, str]]] = field(default_factory=list[list[Mapping[str, str]]])
    doubtful: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    candidates: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    """What was proposed for each task, the text it has among them; empty where nothing was. Each has its `text`, what was
    planned of it and, if there are any, its `plan`, its `difficulty` and the `rules` that it breaks; `picked` marks the
    one that the task has."""
    users: list[str] = field(default_factory=list[str])
    """Which of several models was the user in each task."""
    writer: TaskBackground | None = None
    """Who wrote the first message; None if nobody was planned."""

    def copy(self) -> "SessionState":
        """A state of its own."""
        return SessionState(*(copy(getattr(self, each.name)) for each in fields(self)))

    def record(self, plan: SessionPlan, tools: Sequence[Tool], date: str) -> dict[str, Any]:
        """The session so far in the benchmark's format. Args: date: its date line."""
        prefix = RECORD_KEY_PREFIXES[plan.lang]
        return {
            "id": f"made_{plan.seed.replace('/', '_')}",
            f"{prefix}_env_info": date,
            f"{prefix}_tools": list(tools),
            f"{prefix}_tasks": [task.text for task in self.tasks],
            f"{prefix}_answer_list": [
                [_node(i, node, mark) for i, (node, mark) in enumerate(zip(task.nodes, marks, strict=True))]
                for task, marks in zip(self.tasks, self.groundings, strict=True)
            ],
            f"{prefix}_task_types": [task.type for task in self.tasks],
            f"{prefix}_turn_subtypes": [task.subtype for task in self.tasks[1:]],
        }

    def is_near(self, text: str, avoid_near: Sequence[str]) -> bool:
        """Whether a text nearly repeats one of this session, or of others, which are folded already."""
        own = [fold_text(task.text) for task in self.tasks]
        return any(
            process.extractOne(
                fold_text(text), texts, scorer=fuzz.ratio, score_cutoff=NEAR_DUPLICATE_SCORE, processor=None
            )
            is not None
            for texts in (own, avoid_near)
        )


def _node(i: int, node: GoldNode, marks: Mapping[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "idx": i,
        "action": {"name": node.name, "arguments": node.arguments},
        "observation": node.observation,
        "dependency_list": list(node.deps),
    }
    if node.name == ASK:
        row["user_input"] = node.user_input
    return {**row, "grounding": dict(marks)} if marks else row
