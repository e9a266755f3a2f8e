"""A graph of tools: an edge joins two that take, or return and take, the same sort of thing; walks over it give sets.

After ToolFlow: tools are nodes; edges join those of which two parameters, or a return value and a parameter, are
described alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.toolcall.text.similarity import TfidfIndex

MIN_LINK_SIMILARITY = 0.6
"""From which likeness on two descriptions are of the same sort of thing."""
MAX_LINKS = 12
"""Neighbours of a tool at most, those most alike."""
_MOST_TEXTS = 20
"""Texts that one is joined to at most."""
_MOST_JOINED = 200
"""Pairs of tools that one pair of texts joins at most."""
_RESTART_SHARE = 0.2
"""How often a walk goes on from where it began."""
LinkKind = Literal["parameter", "result"]


@dataclass(frozen=True, slots=True)
class Link:
    """An edge, seen from one of its tools."""

    tool: int
    """Position of the other tool."""
    weight: float
    """From 0 to 1: by three tenths how alike the two are described, by seven how alike the tools are, since a parameter
    that everything has, such as a limit, says little."""
    kind: LinkKind
    """Whether two parameters are alike, or a return value and a parameter."""


class ToolGraph:
    """Tools with their related tools."""

    def __init__(self, functions: Sequence[Mapping[str, Any]]) -> None:
        """Args: functions: `{name, description, parameters, returns}`; what is missing counts for nothing."""
        self._names = [str(function.get("name")) for function in functions]
        self._about = TfidfIndex([f"{f.get('name')} {f.get('description')}" for f in functions])
        self._links = _links(functions, self._about)

    def links(self, tool: int) -> Sequence[Link]:
        """The tools related to one, most alike first."""
        return self._links[tool]

    def walk(self, size: int, draw: Random, start: int | None = None) -> list[int]:
        """A set of related tools: a random walk that prefers edges between similar tools.

        Without an edge to a new tool it continues from any tool; tools of one name are taken once.

        Args: start: the tool to begin with, any where it is None.
        """
        if not self._names:
            return []
        at = start if start is not None else draw.randrange(len(self._names))
        path, names = [at], {self._names[at]}
        while len(path) < size:
            at = path[0] if draw.random() < _RESTART_SHARE else at
            ahead = self._ahead(at, path, names)
            if ahead:
                at = draw.choices([link.tool for link in ahead], [link.weight for link in ahead])[0]
            elif (other := self._other(names, draw)) is not None:
                at = other
            else:
                break
            path.append(at)
            names.add(self._names[at])
        return path

    def _other(self, names: set[str], draw: Random) -> int | None:
        """Any tool of another name; None if there is none."""
        begin, count = draw.randrange(len(self._names)), len(self._names)
        places = ((begin + step) % count for step in range(count))
        return next((k for k in places if self._names[k] not in names), None)

    def _ahead(self, at: int, path: Sequence[int], names: set[str]) -> list[Link]:
        """Edges to new tools: from where the walk is, else from where it was last."""
        for tool in (at, *reversed(path)):
            ahead = [link for link in self._links[tool] if self._names[link.tool] not in names]
            if ahead:
                return ahead
        return []


def _links(functions: Sequence[Mapping[str, Any]], index: TfidfIndex) -> list[list[Link]]:
    takers: dict[str, list[int]] = {}
    givers: dict[str, list[int]] = {}
    for k, function in enumerate(functions):
        for text in _texts(as_schema(function.get("parameters"))):
            takers.setdefault(text, []).append(k)
        for text in _texts(as_schema(function.get("returns"))):
            givers.setdefault(text, []).append(k)
    texts = sorted({*takers, *givers})
    likeness = TfidfIndex(texts)
    by_tool: list[dict[int, Link]] = [{} for _ in functions]

    def join(sources: Sequence[int], other: Sequence[int], alike: float, kind: LinkKind) -> None:
        for a, b in _pairs(sources, other):
            weight = 0.3 * alike + 0.7 * index.similarity(a, b)
            for here, there in ((a, b), (b, a)):
                link = by_tool[here].get(there)
                if link is None or link.weight < weight:
                    by_tool[here][there] = Link(there, weight, kind)

    for k, text in enumerate(texts):
        pairs = [(k, 1.0)]
        for other, weight in [*pairs, *likeness.nearest(k, _MOST_TEXTS, MIN_LINK_SIMILARITY)]:
            if other >= k:
                join(takers.get(text, ()), takers.get(texts[other], ()), weight, "parameter")
            join(givers.get(text, ()), takers.get(texts[other], ()), weight, "result")
    return [
        sorted(links.values(), key=lambda link: (-link.weight, link.kind, link.tool))[:MAX_LINKS]
        for links in by_tool
    ]


def _texts(schema: Mapping[str, Any]) -> Iterator[str]:
    """What a tool's parameters, or the fields of its result, are called and described as; of objects in it too."""
    inner = as_schema(schema.get("items")) if schema.get("type") == "array" else schema
    for name, below in member_schemas(inner).items():
        yield f"{name} {below.get('description', '')}"
        fields = member_schemas(as_schema(below.get("items"))) or member_schemas(below)
        for field, leaf in fields.items():
            yield f"{field} {leaf.get('description', '')}"


def _pairs(sources: Sequence[int], other: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of different tools, all of them or, where there are many, each with the next ones of the other list."""
    if len(sources) * len(other) <= _MOST_JOINED:
        yield from ((a, b) for a in sources for b in other if a != b)
        return
    for k, a in enumerate(sources):
        for step in range(1, MAX_LINKS + 1):
            b = other[(k + step) % len(other)]
            if a != b:
                yield a, b
