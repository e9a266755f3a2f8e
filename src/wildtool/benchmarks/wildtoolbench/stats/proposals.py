"""What was proposed for the tasks of a generated set and picked of it, and what messages of Clarify tasks leave out."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ASK, Session
from wildtool.benchmarks.wildtoolbench.grounding import parameter_schemas
from wildtool.benchmarks.wildtoolbench.stats import shapes
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.stats.describe import count_metrics, share_metric
from wildtool.types import Metric

PLANNED = ("form", "tone", "length", "theme", "identity", "circumstances", "scenario")
"""What is planned of a proposed message; the last four of the first of a session."""


class ProposalCounts:
    """Counts what the records of a generated set say of the messages proposed for its tasks."""

    def __init__(self) -> None:
        self._proposed: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._picked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._difficulty: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Counts a record, and gives it back."""
        made_by = as_object(record.get("made_by"))
        for task in as_list(made_by.get("candidates")):
            for row in as_objects(task):
                self._count(self._proposed, row)
                if row.get("picked") is True:
                    self._count(self._picked, row)
        for task in as_objects(as_object(made_by.get("plan")).get("tasks")):
            if isinstance(task.get("difficulty"), str):
                self._difficulty[str(task.get("group"))][task["difficulty"]] += 1
        return record

    @staticmethod
    def _count(counts: Mapping[str, Counter[str]], row: Mapping[str, Any]) -> None:
        for name in PLANNED:
            if name in row:
                counts[name][str(row[name])] += 1

    def metrics(self) -> Iterator[Metric]:
        """For each value of each dimension, the share of the messages with it that were picked; planned difficulties."""
        for name in PLANNED:
            for value, count in self._proposed[name].items():
                yield share_metric(
                    f"picked of proposed messages, by {name}", value, self._picked[name][value], count
                )
        for group, counts in self._difficulty.items():
            yield from count_metrics(f"planned difficulty: {group}", counts)


def missing_values(sessions: Sequence[Session]) -> Iterator[Metric]:
    """How many Clarify tasks ask for all required values of the tools that they ask about, or for some."""
    kinds = Counter(
        shapes.left_out(task, parameter_schemas(session))
        for session in sessions
        for task in session.tasks
        if any(node.name == ASK for node in task.nodes)
    )
    yield from count_metrics("required values that are asked for", kinds)
