"""Compares inferred dependency graphs with labelled ones: precision and recall of edges by kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, Session, read_items
from wildtool.benchmarks.wildtoolbench.grounding import valueless_edges
from wildtool.toolcall.graph import heights
from wildtool_data.make.graph.infer import EdgeKind, infer_edges, reduced

EDGE_KINDS: tuple[EdgeKind, ...] = ("barrier", "argument", "logical")


@dataclass(slots=True)
class EdgeQuality:
    """Counts of edges; an edge is right if the other graph has it, of whatever kind."""

    inferred: int = 0
    right: int = 0
    labelled: int = 0
    found: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.inferred if self.inferred else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.labelled if self.labelled else 1.0


@dataclass(frozen=True, slots=True)
class InferenceReport:
    """What `measure` found."""

    kinds: Mapping[str, EdgeQuality]
    """By kind of edge; `between calls` joins argument and logical, `all` everything."""
    graphs: int
    equal: int
    """Graphs with exactly the labelled edges."""


def measure_inference(file: Path) -> InferenceReport:
    """Infers every executable graph of a session file and compares it with the written one."""
    kinds: dict[str, EdgeQuality] = {kind: EdgeQuality() for kind in (*EDGE_KINDS, "between calls", "all")}
    graphs = equal = 0
    for item in read_items(file):
        session = cast(Session, item.data)
        for t, task in enumerate(session.tasks):
            if heights(task.deps) is None or any(j >= i for i, d in enumerate(task.deps) for j in d):
                continue
            graphs += 1
            labelled = written_edges(session, t)
            inferred: dict[tuple[int, int], EdgeKind] = {
                (e.source, e.target): e.kind for e in infer_edges(session, t)
            }
            equal += labelled.keys() == inferred.keys()
            for pair, kind in inferred.items():
                for name in _names(kind):
                    kinds[name].inferred += 1
                    kinds[name].right += pair in labelled
            for pair, kind in labelled.items():
                for name in _names(kind):
                    kinds[name].labelled += 1
                    kinds[name].found += pair in inferred
    return InferenceReport(kinds, graphs, equal)


def written_edges(session: Session, t: int) -> dict[tuple[int, int], EdgeKind]:
    """The written edges of a task as (source, target), without those that others imply, by kind."""
    task = session.tasks[t]
    idle = set(valueless_edges(session, t))
    kinds: dict[tuple[int, int], EdgeKind] = {}
    for i, needed in enumerate(reduced(task.deps)):
        for j in needed:
            barrier = task.nodes[i].name in VIRTUAL or task.nodes[j].name in VIRTUAL
            kinds[j, i] = "barrier" if barrier else "logical" if (i, j) in idle else "argument"
    return kinds


def _names(kind: EdgeKind) -> tuple[str, ...]:
    return (kind, "all") if kind == "barrier" else (kind, "between calls", "all")
