"""Finds patterns on which a backtracking matcher could hang. Ours is RE2, but generated tools are used elsewhere too."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from wildtool.tools.schema import patterns

_MANY = 8
"""A count from which on a repeat is treated as a loop; smaller ones are written out."""
_MAX_POSITIONS = 400
_MAX_STEPS = 3_000


def pattern_risk(pattern: str) -> str:
    """Why a backtracking matcher could hang on a pattern; empty if it cannot.

    It cannot if in each loop the next character decides how to go on: then a text is read in one way only.

    Raises PatternError for a pattern that cannot be checked.
    """
    positions = _Positions()
    positions.span(patterns.parse_pattern(pattern))
    steps = positions.follow
    if len(positions.chars) > _MAX_POSITIONS or sum(map(len, steps.values())) > _MAX_STEPS:
        return "it is too large to tell whether other checkers hang on it; make it simpler"
    for following in steps.values():
        if any(_overlap(positions.chars[p], positions.chars[q]) for p, q in combinations(following, 2)):
            return "a repeat in it can take one text in several ways, on which other checkers hang; make it simpler"
    return ""


@dataclass(frozen=True, slots=True)
class _Span:
    """The positions at which a part can begin and end."""

    empty: bool = True
    """Whether it can take no character."""
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Positions:
    """The characters of a pattern in order, and inside loops which can follow which (Glushkov's automaton)."""

    chars: list[patterns.Ranges] = field(default_factory=list[patterns.Ranges])
    follow: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """A position is listed twice if there are two ways to it."""
    loops: int = 0
    """Loops around what is looked at."""

    def span(self, part: patterns.Part) -> _Span:
        match part:
            case patterns.Chars(ranges):
                own = frozenset({len(self.chars)})
                self.chars.append(ranges)
                return _Span(False, own, own)
            case patterns.Anchor():
                return _Span()
            case patterns.Sequence(parts):
                return self._in_order(map(self.span, parts))
            case patterns.Choice(parts):
                spans = [self.span(inner) for inner in parts]
                return _Span(
                    any(span.empty for span in spans),
                    frozenset[int]().union(*(span.first for span in spans)),
                    frozenset[int]().union(*(span.last for span in spans)),
                )
            case patterns.Repeat(inner, lowest, most) if most is not None and most < _MANY:
                return self._in_order(self._copies(inner, lowest, most))
            case patterns.Repeat(inner, lowest):
                self.loops += 1
                span = self.span(inner)
                self._join(span.last, span.first)
                self.loops -= 1
                return _Span(span.empty or lowest == 0, span.first, span.last)

    def _copies(self, part: patterns.Part, lowest: int, most: int) -> Iterable[_Span]:
        for k in range(most):
            count = len(self.chars)
            span = self.span(part)
            if len(self.chars) == count:
                return  # nothing is repeated; inside each other such counts would multiply
            yield _Span(span.empty or k >= lowest, span.first, span.last)
            if len(self.chars) > _MAX_POSITIONS:
                return

    def _in_order(self, spans: Iterable[_Span]) -> _Span:
        joined = _Span()
        for span in spans:
            self._join(joined.last, span.first)
            joined = _Span(
                joined.empty and span.empty,
                joined.first | span.first if joined.empty else joined.first,
                joined.last | span.last if span.empty else span.last,
            )
        return joined

    def _join(self, last: Iterable[int], first: Iterable[int]) -> None:
        if self.loops:
            for position in last:
                self.follow.setdefault(position, []).extend(first)


def _overlap(ranges: patterns.Ranges, other: patterns.Ranges) -> bool:
    """Whether both sets have a character in common."""
    return any(low <= end and start <= high for low, high in ranges for start, end in other)
