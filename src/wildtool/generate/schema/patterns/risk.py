"""Tells patterns that other checkers could hang on: where one text can be read in ever more ways as it grows.

Not needed for our own matching, but tools that we make are used elsewhere. A pattern is risky where its position
automaton (Glushkov) can go from a position back to itself on one text in two ways: then the number of readings grows
exponentially with the length (the condition EDA of Weber and Seidl, "On the degree of ambiguity of finite automata").
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Sequence_
from dataclasses import dataclass
from typing import TypeVar

from wildtool.generate.schema.patterns.reading import (
    Anchor,
    Chars,
    Choice,
    Part,
    Ranges,
    Repeat,
    Sequence,
    overlap,
    read_part,
)

_MANY = 8
"""A count from which on a repeat is looked at as one without end."""
_MOST_POSITIONS = 400
_MOST_STEPS = 3_000
_MOST_RING_STEPS = 300
Place = TypeVar("Place")


@dataclass(frozen=True, slots=True)
class _Span:
    """Positions of a part: where it can begin and end, each as often as there are ways."""

    empty: bool
    first: Counter[int]
    last: Counter[int]


class _Positions:
    def __init__(self) -> None:
        self.chars: list[Ranges] = []
        self.follow: Counter[tuple[int, int]] = Counter()

    def span(self, part: Part) -> _Span:
        match part:
            case Chars(ranges):
                self.chars.append(ranges)
                own = Counter({len(self.chars) - 1: 1})
                return _Span(empty=False, first=own, last=own)
            case Anchor():
                return _Span(empty=True, first=Counter(), last=Counter())
            case Sequence(parts):
                whole = _Span(empty=True, first=Counter(), last=Counter())
                for inner in parts:
                    whole = self._after(whole, self.span(inner))
                return whole
            case Choice(parts):
                spans = [self.span(inner) for inner in parts]
                return _Span(
                    any(span.empty for span in spans),
                    sum((span.first for span in spans), Counter[int]()),
                    sum((span.last for span in spans), Counter[int]()),
                )
            case Repeat(inner, least, most):
                return self._repeat(inner, least, most)

    def _after(self, one: _Span, other: _Span) -> _Span:
        self._join(one.last, other.first)
        return _Span(
            one.empty and other.empty,
            one.first + other.first if one.empty else one.first,
            one.last + other.last if other.empty else other.last,
        )

    def _repeat(self, part: Part, least: int, most: int | None) -> _Span:
        if most is not None and most < _MANY:
            whole = _Span(empty=True, first=Counter(), last=Counter())
            for k in range(most):
                known = len(self.chars)
                span = self.span(part)
                if len(self.chars) == known:
                    break  # nothing is to be repeated; inside each other such counts would multiply
                whole = self._after(whole, _Span(span.empty or k >= least, span.first, span.last))
                if len(self.chars) > _MOST_POSITIONS:
                    break
            return whole
        span = self.span(part)
        self._join(span.last, span.first)
        return _Span(span.empty or least == 0, span.first, span.last)

    def _join(self, last: Counter[int], first: Counter[int]) -> None:
        for p, ways in last.items():
            for q, more in first.items():
                self.follow[p, q] += ways * more


def risk(pattern: str) -> str:
    """Why other checkers could hang on a pattern; empty where they cannot.

    Raises PatternError for a pattern that is not read.
    """
    positions = _Positions()
    positions.span(read_part(pattern))
    if len(positions.chars) > _MOST_POSITIONS or len(positions.follow) > _MOST_STEPS:
        return "it is too large to tell whether other checkers hang on it; make it simpler"
    if any(_ambiguous(ring, positions) for ring in _rings(positions)):
        return (
            "a repeat in it can take one text in several ways, on which other checkers hang; make it simpler"
        )
    return ""


def _rings(positions: _Positions) -> list[set[int]]:
    """Sets of positions of which each leads to each."""
    onward = _onward(positions.follow)
    reached = {p: _reached({p}, onward) for p in onward}
    rings: list[set[int]] = []
    placed: set[int] = set()
    for p in onward:
        if p not in placed and p in reached[p]:
            ring = {q for q in reached[p] if p in reached.get(q, set())}
            rings.append(ring)
            placed |= ring
    return rings


def _ambiguous(ring: set[int], positions: _Positions) -> bool:
    """Whether two ways lead around in a ring on one text."""
    edges = {edge: ways for edge, ways in positions.follow.items() if edge[0] in ring and edge[1] in ring}
    if any(ways > 1 for ways in edges.values()):
        return True
    if len(edges) > _MOST_RING_STEPS:
        return True
    pairs = [
        ((p, q), (r, s))
        for p, r in edges
        for q, s in edges
        if overlap(positions.chars[r], positions.chars[s])
    ]
    same = {(p, p) for p in ring}
    apart = _reached(same, _onward(pairs)) & _reached(same, _onward((there, here) for here, there in pairs))
    return any(p != q for p, q in apart)


def _onward(edges: Iterable[tuple[Place, Place]]) -> dict[Place, list[Place]]:
    found: dict[Place, list[Place]] = {}
    for here, there in edges:
        found.setdefault(here, []).append(there)
    return found


def _reached(starts: set[Place], onward: Mapping[Place, Sequence_[Place]]) -> set[Place]:
    """Where at least one step from the starts leads."""
    found: set[Place] = set()
    open_ = list(starts)
    while open_:
        for place in onward.get(open_.pop(), ()):
            if place not in found:
                found.add(place)
                open_.append(place)
    return found
