"""What the review must know of a data format: reading and writing items, their parts, their rules."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wildtool.findings import Finding
from wildtool.json_codec import as_list, as_object

PartKind = Literal[
    "user text", "call", "argument", "observation", "question", "reply", "answer", "tool", "edges",
    "edge kinds", "type", "subtype", "alternatives", "date", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ItemPart:
    """A part of an item that people read and change."""

    field: str
    """JSON pointer."""
    kind: PartKind
    task: int | None = None
    """The task it belongs to, from 0; None for what all tasks share."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What queues filter by and samples are drawn by."""

    strata: tuple[tuple[str, str], ...]
    """Type and subtype of each task."""
    domain: str = ""
    lang: str = ""
    confidence: float = 1.0
    """Of its maker, from 0 to 1: that of the least sure edge, or the share of judges that accepted the item."""
    judged: bool = False
    """Whether models have judged it."""
    twin: str = ""
    """What it shares with the same item in another language; empty if there is none."""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A dependency between two nodes of a task, as written, as inferred, or both."""

    source: int
    target: int
    written: bool
    inferred: bool
    kind: str = ""
    """Of an inferred edge: `barrier`, `argument` or `logical`."""
    set_kind: str = ""
    """What the item itself says, one of `EDGE_KINDS`; empty if it says nothing."""
    evidence: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """The dependency graph of one task."""

    nodes: tuple[str, ...]
    """Names of the calls, the questions and the answer."""
    edges: tuple[GraphEdge, ...]
    orders: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """Valid orders, each a list of steps with the nodes made together; the first `MAX_ORDERS`, the shortest one first."""
    more_orders: bool = False
    min_depth: int | None = None
    """Steps of the shortest order; None if there is none."""
    derived_type: str = ""
    """The type that the graph of calls has."""


MAX_ORDERS = 20


@dataclass(frozen=True, slots=True)
class RawItem:
    """An item as it is in a file."""

    id: str
    content: Any
    """JSON."""
    made_by: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its generator says about its making."""


class ReviewFormat(ABC):
    """A data format as the review sees it. All methods are pure except those that take a path."""

    name: str
    """The name of the benchmark that runs it."""
    file_name: str
    """What a release in this format is called: a file, or a folder."""

    @abstractmethod
    def read(self, path: Path) -> Iterator[RawItem]:
        """The items of a set. Raises DataError naming file and line."""

    def reviewers(self, path: Path) -> int:
        """How many people have to review each item before it is released, as the set says; 2 where it says nothing.

        Raises as `read`.
        """
        return 2

    @abstractmethod
    def write(self, contents: Iterable[Any], out: Path) -> None:
        """Writes items as `wildtool run --data` reads them. Raises OSError."""

    @abstractmethod
    def check(self, content: Any) -> list[Finding]:
        """Everything that the rules find in an item, each with the JSON pointer of its part. Never raises."""

    @abstractmethod
    def facets(self, content: Any) -> Facets:
        """What queues filter by. Never raises."""

    def use(self, place: Path) -> str:
        """The command that plays a release, or makes something of it.

        Args:
            place: its file or folder of items.
        """
        return f"wildtool run {self.name} --data {place} --model NAME"

    def parts(self, content: Any) -> list[ItemPart]:
        """The parts that people read and change. Never raises."""
        return [ItemPart("", "other")]

    def task_count(self, content: Any) -> int:
        """The number of tasks that build on each other."""
        return 1

    def first_stale_task(self, content: Any, field: str) -> int:
        """The first task that an edit of this part may have made wrong; `task_count` if there is none."""
        return self.task_count(content)

    def task_of(self, content: Any, field: str) -> int | None:
        """The task that a part belongs to; None for what all tasks share."""
        return None

    def graphs(self, content: Any) -> list[TaskGraph]:
        """The dependency graph of each task; empty if the format has none, or the item cannot be read."""
        return []

    def written_edges(self, content: Any) -> list[frozenset[tuple[int, int]]]:
        """For each task its dependencies as written, as (source, target). Never raises."""
        return []

    def user_texts(self, content: Any) -> Sequence[str]:
        """What the user says, task by task."""
        return []


def confidence_of(made_by: Any) -> tuple[float, bool]:
    """How sure an item's maker is of it, and whether judges voted on it."""
    making = as_object(made_by)
    edges = [as_object(edge).get("confidence") for edge in as_list(making.get("review"))]
    sure = [float(value) for value in edges if isinstance(value, int | float)]
    votes = [as_object(vote).get("valid") for vote in as_list(making.get("votes"))]
    if votes:
        sure.append(sum(vote is True for vote in votes) / len(votes))
    return min(sure, default=1.0), bool(votes)
