"""Evidence that a value of a call is known only from what an earlier call of the task returned."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, cast

from wildtool.benchmarks.wildtoolbench.data import ASK, VIRTUAL, GoldNode, Session, Task
from wildtool.benchmarks.wildtoolbench.grounding import (
    Leaf,
    SearchText,
    flat_text,
    leaves,
    names_value,
    parameter_schemas,
)
from wildtool.toolcall.defaults import documented_default
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

    def known(self, i: int) -> list[SearchText]:
        """Texts, history and replies before node `i`."""
        replies = [n.user_input for n in self.task.nodes[:i] if n.name == ASK and n.user_input]
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
    known = reader.known(i)
    sources = _sources(reader, i, leaf, leaf.value)
    if sources:
        confidence = _confidence(reader, sources, leaf, known)
        j = sources[0]
        return [Edge(j, i, "argument", f"{leaf.path} stands in what node {j} returned", confidence)]
    if any(names_value(passage, leaf.value) for passage in known) or enum_of(leaf.schema):
        return []
    return [*_by_parts(reader, i, leaf, known), *_by_arithmetic(reader, i, leaf, known)]


def _confidence(
    reader: TaskEvidence, sources: Sequence[int], leaf: Leaf, known: Sequence[SearchText]
) -> float:
    if documented_default(leaf.schema) == leaf.value or any(names_value(p, leaf.value) for p in known):
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
    found = [j for j in reader.calls_before(i) if names_value(reader.observed[j], value)]
    found = [j for j in found if not _generic(leaf) or _key_agrees(nodes[j], leaf, value)]
    origins = [j for j in found if not names_value(SearchText.of(nodes[j].arguments), value)]
    return sorted(origins, key=lambda j: (not _key_agrees(nodes[j], leaf, value), j))


def _generic(leaf: Leaf) -> bool:
    """True for values that occur in many places by chance."""
    value = leaf.value
    if isinstance(value, str):
        return len(value) < 3 or bool(enum_of(leaf.schema))
    return isinstance(value, bool) or (isinstance(value, int) and abs(value) < 100)


def _by_parts(reader: TaskEvidence, i: int, leaf: Leaf, known: Sequence[SearchText]) -> Iterator[Edge]:
    """A value put together, such as a date and a time: the parts that only an observation has."""
    parts = _PARTS.split(leaf.value) if isinstance(leaf.value, str) else []
    for part in parts if len(parts) > 1 else ():
        if part.strip() and not any(names_value(passage, part) for passage in known):
            for j in _sources(reader, i, leaf, part)[:1]:
                evidence = f"a part of {leaf.path} stands in what node {j} returned"
                yield Edge(j, i, "argument", evidence, _ONE_SOURCE - _INEXACT)


def _by_arithmetic(reader: TaskEvidence, i: int, leaf: Leaf, known: Sequence[SearchText]) -> Iterator[Edge]:
    """A number that is an observed one plus or minus a said one, or the sum of two observed ones."""
    if isinstance(leaf.value, bool) or not isinstance(leaf.value, int | float):
        return
    wanted = Decimal(str(leaf.value))
    said = {number for passage in known[-2:] for number in passage.numbers if number}
    for j in reader.calls_before(i):
        numbers = reader.observed[j].numbers
        if any(wanted - number in numbers or wanted + number in numbers for number in said):
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
    return _plain_key(re.sub(r"\[\d+\]", "", leaf.path).rsplit(".", 1)[-1])


def _plain_key(name: str) -> str:
    """`articleIds`, `article_id` and `ArticleID` as one."""
    return re.sub(r"[^a-z0-9]", "", name.casefold()).removesuffix("s")
