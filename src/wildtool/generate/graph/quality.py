"""Compares inferred dependency graphs with labelled ones: precision and recall of edges by kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, Session, read_items
from wildtool.benchmarks.wildtoolbench.grounding import idle_edges
from wildtool.generate.graph.evidence import Kind
from wildtool.generate.graph.infer import infer, reduced
from wildtool.toolcall.graph import heights

KINDS: tuple[Kind, ...] = ("barrier", "argument", "logical")


@dataclass(slots=True)
class Quality:
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
class Report:
    """What `measure` found."""

    kinds: Mapping[str, Quality]
    """By kind of edge; `between calls` joins argument and logical, `all` everything."""
    graphs: int
    equal: int
    """Graphs with exactly the labelled edges."""


def measure(file: Path) -> Report:
    """Infers every executable graph of a session file and compares it with the written one."""
    kinds: dict[str, Quality] = {kind: Quality() for kind in (*KINDS, "between calls", "all")}
    graphs = equal = 0
    for item in read_items(file):
        session = cast(Session, item.data)
        for t, task in enumerate(session.tasks):
            if heights(task.deps) is None or any(j >= i for i, d in enumerate(task.deps) for j in d):
                continue
            graphs += 1
            labelled = labels(session, t)
            inferred: dict[tuple[int, int], Kind] = {(e.source, e.target): e.kind for e in infer(session, t)}
            equal += labelled.keys() == inferred.keys()
            for pair, kind in inferred.items():
                for name in _names(kind):
                    kinds[name].inferred += 1
                    kinds[name].right += pair in labelled
            for pair, kind in labelled.items():
                for name in _names(kind):
                    kinds[name].labelled += 1
                    kinds[name].found += pair in inferred
    return Report(kinds, graphs, equal)


def labels(session: Session, t: int) -> dict[tuple[int, int], Kind]:
    """The written edges of a task as (source, target), without those that others imply, by kind."""
    task = session.tasks[t]
    idle = set(idle_edges(session, t))
    kinds: dict[tuple[int, int], Kind] = {}
    for i, needed in enumerate(reduced(task.deps)):
        for j in needed:
            barrier = task.nodes[i].name in VIRTUAL or task.nodes[j].name in VIRTUAL
            kinds[j, i] = "barrier" if barrier else "logical" if (i, j) in idle else "argument"
    return kinds


def _names(kind: Kind) -> tuple[str, ...]:
    return (kind, "all") if kind == "barrier" else (kind, "between calls", "all")
