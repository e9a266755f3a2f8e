"""A session as far as it is made: what was said and returned, and its record in the benchmark's format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz import fuzz, process

from wildtool.benchmarks.wildtoolbench.data import ASK, Node, Task
from wildtool.benchmarks.wildtoolbench.grounding import Passage
from wildtool.generate.core.dedup import NEAR
from wildtool.generate.core.plan import SessionPlan, date_line
from wildtool.generate.procedural.sessions import PREFIXES
from wildtool.toolcall.text.similarity import plain
from wildtool.types import Tool


@dataclass(slots=True)
class State:
    """What stands when a task begins; copied, so that another try begins from it."""

    talk: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    known: list[Passage] = field(default_factory=list[Passage])
    entities: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    tasks: list[Task] = field(default_factory=list[Task])
    marks: list[list[Mapping[str, str]]] = field(default_factory=list[list[Mapping[str, str]]])
    doubtful: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def copy(self) -> "State":
        entities = {name: dict(fields) for name, fields in self.entities.items()}
        return State(
            list(self.talk),
            list(self.known),
            entities,
            list(self.tasks),
            list(self.marks),
            list(self.doubtful),
        )

    def record(self, plan: SessionPlan, tools: Sequence[Tool]) -> dict[str, Any]:
        """The session so far in the benchmark's format."""
        prefix = PREFIXES[plan.lang]
        return {
            "id": f"made_{plan.seed.replace('/', '_')}",
            f"{prefix}_env_info": date_line(plan),
            f"{prefix}_tools": list(tools),
            f"{prefix}_tasks": [task.text for task in self.tasks],
            f"{prefix}_answer_list": [
                [_node(i, node, mark) for i, (node, mark) in enumerate(zip(task.nodes, marks, strict=True))]
                for task, marks in zip(self.tasks, self.marks, strict=True)
            ],
            f"{prefix}_task_types": [task.type for task in self.tasks],
            f"{prefix}_turn_subtypes": [task.subtype for task in self.tasks[1:]],
        }

    def near(self, text: str, against: Sequence[str]) -> bool:
        """Whether a text is nearly one of this session or of others, which are plain already."""
        own = [plain(task.text) for task in self.tasks]
        return any(
            process.extractOne(plain(text), known, scorer=fuzz.ratio, score_cutoff=NEAR, processor=None)
            is not None
            for known in (own, against)
        )


def _node(i: int, node: Node, marks: Mapping[str, str]) -> dict[str, Any]:
    written: dict[str, Any] = {
        "idx": i,
        "action": {"name": node.name, "arguments": node.arguments},
        "observation": node.observation,
        "dependency_list": list(node.deps),
    }
    if node.name == ASK:
        written["user_input"] = node.user_input
    return {**written, "grounding": dict(marks)} if marks else written
