"""Dependency graphs of gold calls, inferred: which call needs which, by what evidence, how surely.

Section 5.3 of the generation specification. An edge goes from an earlier node to a later one:

- *barrier*: a question and the answer stand alone in their step; certain.
- *argument*: a value of the later call is known only from the earlier call's observation.
- *logical*: no value flows, but one has to be done before the other (a condition, an order, a sum of results).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, cast

from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, GoldNode, Session, Task
from wildtool.benchmarks.wildtoolbench.grounding import (
    Leaf,
    SearchText,
    flat_text,
    leaves,
    names_value,
    parameter_schemas,
)
from wildtool.toolcall.defaults import documented_default
from wildtool.toolcall.graph import ancestors
from wildtool.toolcall.schema import enum_of

EdgeKind = Literal["barrier", "argument", "logical"]
ACCEPTED = 0.85
"""An edge at least this sure needs no review."""
_SAME_KEY = 0.97
_ONE_SOURCE = 0.92
_SEVERAL_SOURCES = 0.65
_KNOWN_ANYWAY = 0.25
LIKELY = 0.7
_INEXACT = 0.2
"""Subtracted if a value is a part, a sum or a difference of what the observation holds."""
_CODE = re.compile(r"[A-Z]{2,3}")
"""A country, a currency, a language: known from its name without a tool."""
_PARTS = re.compile(r"[,;，；、]|(?<=\d)[ T](?=\d)")


@dataclass(frozen=True, slots=True)
class Edge:
    """One dependency: node `target` needs node `source`."""

    source: int
    target: int
    kind: EdgeKind
    evidence: str
    """Why: the argument, and where its value occurs."""
    confidence: float
    """From 0 to 1."""
    by: Literal["auto"] = "auto"
    """Part of the record: nobody has looked at it yet."""

    @property
    def doubtful(self) -> bool:
        """True if a person should look."""
        return self.confidence < ACCEPTED


class TaskEvidence:
    """What can be known at each node of a task, apart from the calls of the task itself."""

    def __init__(self, session: Session, t: int) -> None:
        self.task = session.tasks[t]
        self.schemas = parameter_schemas(session)
        self.given = [
            SearchText.of(session.date),
            *_history(session.tasks[:t]),
            SearchText.of(self.task.text),
        ]
        self.observed = [SearchText.of(node.observation) for node in self.task.nodes]

    def passages(self, i: int) -> list[SearchText]:
        """Texts, history and replies before node `i`."""
        replies = [n.user_input for n in self.task.nodes[:i] if n.user_input]
        return [*self.given, *map(SearchText.of, replies)]

    def calls_before(self, i: int) -> list[int]:
        return [j for j in range(i) if self.task.nodes[j].name not in VIRTUAL]

    def leaves(self, i: int) -> list[Leaf]:
        node = self.task.nodes[i]
        return list(leaves(node.arguments, self.schemas.get(node.name, {})))


def _history(tasks: Iterable[Task]) -> Iterator[SearchText]:
    for task in tasks:
        yield SearchText.of(task.text)
        for node in task.nodes:
            yield SearchText.of(node.observation)
            yield SearchText.of(node.user_input or "")


def by_value(reader: TaskEvidence, i: int, leaf: Leaf) -> list[Edge]:
    """Edges for the calls whose observation gives a value."""
    passages = reader.passages(i)
    sources = _sources(reader, i, leaf, leaf.value)
    if sources:
        confidence = _confidence(reader, sources, leaf, passages)
        j = sources[0]
        return [Edge(j, i, "argument", f"{leaf.path} stands in what node {j} returned", confidence)]
    if any(names_value(passage, leaf.value) for passage in passages) or enum_of(leaf.schema):
        return []
    return [*_by_parts(reader, i, leaf, passages), *_by_arithmetic(reader, i, leaf, passages)]


def _confidence(
    reader: TaskEvidence, sources: Sequence[int], leaf: Leaf, passages: Sequence[SearchText]
) -> float:
    if documented_default(leaf.schema) == leaf.value or any(names_value(p, leaf.value) for p in passages):
        return _KNOWN_ANYWAY
    if isinstance(leaf.value, str) and _CODE.fullmatch(leaf.value):
        return _KNOWN_ANYWAY
    if _key_agrees(reader.task.nodes[sources[0]], leaf, leaf.value):
        return _SAME_KEY
    return _ONE_SOURCE if len(sources) == 1 else _SEVERAL_SOURCES


def _sources(reader: TaskEvidence, i: int, leaf: Leaf, value: Any) -> list[int]:
    """Earlier calls whose observation names the value, the likeliest first.

    A call that was itself given the value only echoes it and is no source; a generic value must stand
    under a like key.
    """
    nodes = reader.task.nodes
    sources = [j for j in reader.calls_before(i) if names_value(reader.observed[j], value)]
    sources = [j for j in sources if not _generic(leaf) or _key_agrees(nodes[j], leaf, value)]
    origins = [j for j in sources if not names_value(SearchText.of(nodes[j].arguments), value)]
    return sorted(origins, key=lambda j: not _key_agrees(nodes[j], leaf, value))


def _generic(leaf: Leaf) -> bool:
    """True for values that occur in many places by chance."""
    value = leaf.value
    if isinstance(value, str):
        return len(value) < 3 or bool(enum_of(leaf.schema))
    return isinstance(value, int) and abs(value) < 100


def _by_parts(reader: TaskEvidence, i: int, leaf: Leaf, passages: Sequence[SearchText]) -> Iterator[Edge]:
    """A value put together, such as a date and a time: the parts that only an observation has."""
    parts = _PARTS.split(leaf.value) if isinstance(leaf.value, str) else []
    for part in parts if len(parts) > 1 else ():
        if part.strip() and not any(names_value(passage, part) for passage in passages):
            for j in _sources(reader, i, leaf, part)[:1]:
                evidence = f"a part of {leaf.path} stands in what node {j} returned"
                yield Edge(j, i, "argument", evidence, _ONE_SOURCE - _INEXACT)


def _by_arithmetic(
    reader: TaskEvidence, i: int, leaf: Leaf, passages: Sequence[SearchText]
) -> Iterator[Edge]:
    """A number that is an observed one plus or minus a said one, or the sum of two observed ones."""
    if isinstance(leaf.value, bool) or not isinstance(leaf.value, int | float):
        return
    target = Decimal(str(leaf.value))
    spoken = {number for passage in passages[-2:] for number in passage.numbers if number}
    for j in reader.calls_before(i):
        numbers = reader.observed[j].numbers
        if any(target - number in numbers or target + number in numbers for number in spoken):
            evidence = f"{leaf.path} is a number node {j} returned, changed by one the user said"
            yield Edge(j, i, "argument", evidence, _ONE_SOURCE - _INEXACT)


def by_choice(reader: TaskEvidence, i: int, leaf: Leaf) -> Iterator[Edge]:
    """Like calls were made for several candidates, and this call takes one: it needs the results of all."""
    nodes = reader.task.nodes
    tried = [
        j
        for j in reader.calls_before(i)
        if nodes[j].name != nodes[i].name and not _generic(leaf) and _names_one(reader.leaves(j), leaf)
    ]
    if not _sources(reader, i, leaf, leaf.value):
        return
    for j in tried:
        like = [k for k in reader.calls_before(i) if nodes[k].name == nodes[j].name]
        if len(like) > 1 and tried == [j]:
            for k in like:
                evidence = f"{leaf.path} is one of those that nodes {', '.join(map(str, like))} were made for"
                yield Edge(k, i, "argument", evidence, LIKELY)


def _names_one(candidates: Iterable[Leaf], leaf: Leaf) -> bool:
    return any(other.value == leaf.value and _key(other) == _key(leaf) for other in candidates)


def _key_agrees(node: GoldNode, leaf: Leaf, value: Any) -> bool:
    """True if the observation has the value under a key that means the argument."""
    name = _key(leaf)
    return any(
        key and (key == name or name.endswith(key) or key.endswith(name))
        for key in map(_plain_key, _keys_of(node.observation, value))
    )


def _keys_of(observation: Any, value: Any, key: str = "") -> Iterator[str]:
    """The keys under which an observation has a value, elements of lists counting under the list's key."""
    if isinstance(observation, Mapping):
        for name, child in cast(Mapping[str, Any], observation).items():
            yield from _keys_of(child, value, name)
    elif isinstance(observation, list):
        for child in cast(list[Any], observation):
            yield from _keys_of(child, value, key)
    elif flat_text(observation) == flat_text(value):
        yield key


def _key(leaf: Leaf) -> str:
    """The name of the parameter that a leaf belongs to."""
    return _plain_key(re.sub(r"\[\d+\]", "", leaf.path).rpartition(".")[2])


def _plain_key(name: str) -> str:
    """`articleIds`, `article_id` and `ArticleID` as one."""
    return re.sub(r"[^a-z0-9]", "", name.casefold()).removesuffix("s")


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
    edges = {(e.source, e.target): e for e in _barriers(task)}
    reader = TaskEvidence(session, t)
    for i, node in enumerate(task.nodes):
        if node.name not in VIRTUAL:
            for edge in _into(reader, i, steps):
                if steps is None or steps[edge.source] < steps[i]:
                    edges[edge.source, i] = edge
    needs = dependency_lists(edges.values(), len(task.nodes))
    return [edges[j, i] for i, needed in enumerate(needs) for j in needed]


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
    confident = [edge for edge in best.values() if edge.confidence >= MIN_CONFIDENCE]
    confident.extend(_siblings(reader, i, confident))
    return confident or list(_by_order(reader, i, steps))


def _siblings(reader: TaskEvidence, i: int, edges: Sequence[Edge]) -> Iterator[Edge]:
    """Where a value was worked out from one call's result, the results of like calls were looked at too."""
    nodes = reader.task.nodes
    inexact = [edge for edge in edges if edge.confidence < ACCEPTED]
    sources = {edge.source for edge in edges}
    for edge in inexact:
        for j in reader.calls_before(i):
            if j not in sources and nodes[j].name == nodes[edge.source].name:
                yield Edge(j, i, "logical", f"a like call beside node {edge.source}", LIKELY)


def _by_order(reader: TaskEvidence, i: int, steps: Sequence[int] | None) -> Iterator[Edge]:
    """No value flows: the user's words, or the order in which an assistant worked, may still demand it."""
    before = reader.calls_before(i)
    if steps is not None:
        before = [j for j in before if steps[j] < steps[i]]
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
