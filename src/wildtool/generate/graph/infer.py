"""Dependency graphs of gold calls, inferred: which call needs which, by what evidence, how surely.

Section 5.3 of the generation specification. An edge goes from an earlier node to a later one:

- *barrier*: a question and the answer stand alone in their step; certain.
- *argument*: a value of the later call is known only from the earlier call's observation.
- *logical*: no value flows, but one has to be done before the other (a condition, an order, a sum of results).
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, Session, Task
from wildtool.generate.graph.evidence import ACCEPTED, LIKELY, Edge, TaskEvidence, by_choice, by_value
from wildtool.toolcall.graph import ancestors

MIN_CONFIDENCE = 0.4
"""An edge less sure than this is left out."""

_BARRIER = 1.0
_LATER_WITHOUT_REASON = 0.4
_ORDER_WORDS = re.compile(
    r"\b(?:after (?:that|this)|afterwards|once|then (?=\w)|if)|之后|以后|然后|如果|要是|接着|随后"
)
_BESIDES = re.compile(r"\b(?:also|besides|too|additionally|as well|plus)\b|另外|还有|同时|顺便|也")
"""What follows such a word is independent of what was said before it."""
_READS = re.compile(
    r"(?:get|list|search|find|look|show|read|check|fetch|retrieve|query|count|view|track|start)", re.I
)


def infer_edges(session: Session, t: int, *, steps: Sequence[int] | None = None) -> list[Edge]:
    """The edges of task `t` of a session, whose written dependencies are not looked at.

    Args:
        steps: for each node the number of the decision it was made in, where that is known: calls of one
            decision are independent, and a call made later is at least suspected to need the one before.

    Returns:
        Edges without those that others imply, ordered by target and source.
    """
    task = session.tasks[t]
    found = {(e.source, e.target): e for e in _barriers(task)}
    reader = TaskEvidence(session, t)
    for i, node in enumerate(task.nodes):
        if node.name not in VIRTUAL:
            for edge in _into(reader, i, steps):
                if edge.confidence >= MIN_CONFIDENCE and (steps is None or steps[edge.source] < steps[i]):
                    found[edge.source, i] = edge
    needs = dependency_lists(found.values(), len(task.nodes))
    return [found[j, i] for i, needed in enumerate(needs) for j in needed]


def dependency_lists(edges: Iterable[Edge], nodes: int) -> list[tuple[int, ...]]:
    """For each node the positions it needs, without those that others imply."""
    deps: list[list[int]] = [[] for _ in range(nodes)]
    for edge in edges:
        deps[edge.target].append(edge.source)
    return reduced(deps)


def reduced(deps: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The transitive reduction of an acyclic graph."""
    needs = ancestors(deps)
    return [
        tuple(j for j in sorted(set(needed)) if not any(j in needs[k] for k in needed if k != j))
        for needed in deps
    ]


def _barriers(task: Task) -> Iterator[Edge]:
    """Everything before a question or the answer is needed by it, and it by everything after."""
    for i, node in enumerate(task.nodes):
        for j in range(i):
            if node.name in VIRTUAL or task.nodes[j].name in VIRTUAL:
                yield Edge(j, i, "barrier", "a question and the answer stand alone in their step", _BARRIER)


def _into(reader: TaskEvidence, i: int, steps: Sequence[int] | None) -> list[Edge]:
    """The edges from calls into call `i`, the surest of each source."""
    best: dict[int, Edge] = {}
    for leaf in reader.leaves(i):
        for edge in [*by_value(reader, i, leaf), *by_choice(reader, i, leaf)]:
            if edge.source not in best or best[edge.source].confidence < edge.confidence:
                best[edge.source] = edge
    kept = [edge for edge in best.values() if edge.confidence >= MIN_CONFIDENCE]
    kept.extend(_siblings(reader, i, kept))
    return kept or list(_by_order(reader, i, steps))


def _siblings(reader: TaskEvidence, i: int, edges: Sequence[Edge]) -> Iterator[Edge]:
    """Where a value was worked out from one call's result, the results of like calls were looked at too."""
    nodes = reader.task.nodes
    inexact = [edge for edge in edges if edge.confidence < ACCEPTED]
    taken = {edge.source for edge in edges}
    for edge in inexact:
        for j in reader.calls_before(i):
            if j not in taken and nodes[j].name == nodes[edge.source].name:
                yield Edge(j, i, "logical", f"a like call beside node {edge.source}", LIKELY)


def _by_order(reader: TaskEvidence, i: int, steps: Sequence[int] | None) -> Iterator[Edge]:
    """No value flows: the user's words, or the order in which an assistant worked, may still demand it."""
    before = reader.calls_before(i)
    if steps is not None:
        before = [j for j in before if steps[j] < steps[i]]
        before = [j for j in before if steps[j] == max(steps[k] for k in before)]
    if not before:
        return
    j = before[-1]
    nodes = reader.task.nodes
    if _asks_for_order(reader, i) and not _READS.match(nodes[j].name) and nodes[j].name != nodes[i].name:
        yield Edge(j, i, "logical", f"the user asks for an order, and node {j} changes something", LIKELY)
    elif steps is not None:
        evidence = f"made after node {j} though no value flows; may be parallel"
        yield Edge(j, i, "logical", evidence, _LATER_WITHOUT_REASON)


def _asks_for_order(reader: TaskEvidence, i: int) -> bool:
    """True if the user's last words on order can mean call `i`: the last one, with nothing added after them."""
    text = reader.task.text.casefold()
    last = max((match.end() for match in _ORDER_WORDS.finditer(text)), default=None)
    final = i == max(k for k, node in enumerate(reader.task.nodes) if node.name not in VIRTUAL)
    return final and last is not None and _BESIDES.search(text, last) is None
