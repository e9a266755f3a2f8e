"""Looks for a pattern in a text by following all its states at once: never more than states times characters."""

from collections.abc import Sequence as ListOf
from functools import lru_cache

from wildtool.generate.schema.patterns.reading import (
    WORD,
    Anchor,
    AnchorKind,
    Chars,
    Choice,
    Part,
    PatternError,
    Ranges,
    Repeat,
    Sequence,
    holds,
    read_part,
)

MOST_STATES = 2_000
MOST_WORK = 1_000_000
"""States times characters of a search; a text that takes more is not taken to follow the pattern."""
_MOST_KEPT = 20_000
"""States in the remembered steps from one set of states to the next."""


class Matcher:
    """A pattern ready to be looked for."""

    def __init__(self, part: Part) -> None:
        """Raises PatternError where it has too many states."""
        self._chars: list[Ranges] = []
        """Of each state the characters that lead on from it; empty for one that only branches."""
        self._next: list[list[int]] = []
        self._anchors: list[AnchorKind | None] = []
        self._end = self._state()
        self._start = self._build(part, self._end)
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._kept = 0

    def work(self, text: str) -> int:
        """What looking for it in a text takes at most, in states times characters."""
        return len(self._chars) * len(text)

    def found_in(self, text: str) -> bool:
        """Whether the pattern occurs anywhere in the text, as JSON Schema means it; never for a text that is too long."""
        if self.work(text) > MOST_WORK:
            return False
        states: frozenset[int] = frozenset()
        for at in range(len(text) + 1):
            # It may begin anywhere.
            reached = self._closure({*states, self._start}, text, at)
            if self._end in reached:
                return True
            if at < len(text):
                states = self._step(reached, text[at])
        return False

    def _step(self, states: frozenset[int], char: str) -> frozenset[int]:
        key = states, char
        known = self._steps.get(key)
        if known is None:
            code = ord(char)
            known = frozenset(
                state
                for k in states
                if self._chars[k] and holds(self._chars[k], code)
                for state in self._next[k]
            )
            self._kept += len(states) + len(known) + 1
            if self._kept < _MOST_KEPT:
                self._steps[key] = known
        return known

    def _closure(self, states: set[int], text: str, at: int) -> frozenset[int]:
        """All states that are reached without another character."""
        open_ = list(states)
        while open_:
            state = open_.pop()
            if self._chars[state] or not _stands(self._anchors[state], text, at):
                continue
            for following in self._next[state]:
                if following not in states:
                    states.add(following)
                    open_.append(following)
        return frozenset(states)

    def _state(
        self, chars: Ranges = (), following: ListOf[int] = (), anchor: AnchorKind | None = None
    ) -> int:
        if len(self._chars) >= MOST_STATES:
            raise PatternError(f"its counts make it too large (more than {MOST_STATES} states)")
        self._chars.append(chars)
        self._next.append(list(following))
        self._anchors.append(anchor)
        return len(self._chars) - 1

    def _build(self, part: Part, after: int) -> int:
        """Adds the states of a part that lead to `after`; gives the first."""
        match part:
            case Chars(ranges):
                # A set that holds nothing leads nowhere.
                return self._state(ranges, [after]) if ranges else self._state()
            case Anchor(kind):
                return self._state((), [after], kind)
            case Sequence(parts):
                for inner in reversed(parts):
                    after = self._build(inner, after)
                return after
            case Choice(parts):
                return self._state((), [self._build(inner, after) for inner in parts])
            case Repeat(inner, least, most):
                return self._repeat(inner, least, most, after)

    def _repeat(self, part: Part, least: int, most: int | None, after: int) -> int:
        if most is None:
            loop = self._state()
            self._next[loop] = [self._build(part, loop), after]
            after = loop
        else:
            for _ in range(most - least):
                after = self._state((), [self._build(part, after), after])
        for _ in range(least):
            first = self._build(part, after)
            if first == after:
                break  # nothing is to be repeated; inside each other such counts would multiply
            after = first
        return after


@lru_cache(maxsize=256)
def matcher(pattern: str) -> Matcher:
    """The pattern ready to be looked for. Raises PatternError."""
    return Matcher(read_part(pattern))


def _stands(anchor: AnchorKind | None, text: str, at: int) -> bool:
    match anchor:
        case None:
            return True
        case "^":
            return at == 0
        case "$":
            return at == len(text)
        case "b":
            return _at_edge(text, at)
        case "B":
            return not _at_edge(text, at)


def _at_edge(text: str, at: int) -> bool:
    before = at > 0 and holds(WORD, ord(text[at - 1]))
    behind = at < len(text) and holds(WORD, ord(text[at]))
    return before != behind
