"""Reads a pattern into a tree: what JSON Schemas of tools use of ECMA-262, and nothing that needs going back."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

LONGEST = 500
"""Characters of a pattern at most."""
MOST_REPEATS = 1_000
"""Highest count in braces."""
_DEEPEST = 30
_LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]
"""Code points from, to (included), in order and apart."""
AnchorKind = Literal["^", "$", "b", "B"]

DIGIT: Ranges = ((48, 57),)
WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE: Ranges = (
    (9, 13), (32, 32), (160, 160), (5760, 5760), (8192, 8202), (8232, 8233), (8239, 8239), (8287, 8287),
    (12288, 12288), (65279, 65279),
)  # fmt: skip
_LINE_ENDS: Ranges = ((10, 10), (13, 13), (8232, 8233))
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}


class PatternError(Exception):
    """A pattern that is not read; the message says which part, and why."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place: the beginning, the end, at a word's edge, not at a word's edge."""

    kind: AnchorKind


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part again and again."""

    part: "Part"
    least: int
    most: int | None
    """None for any number."""


Part = Chars | Anchor | Sequence | Choice | Repeat


@lru_cache(maxsize=4096)
def read_part(text: str) -> Part:
    """The tree of a pattern.

    Raises PatternError for what is no pattern, is too large, or needs going back (back references, looking around).
    """
    if len(text) > LONGEST:
        raise PatternError(f"it has {len(text)} characters; at most {LONGEST} are read")
    reader = _Reader(text)
    part = reader.choice(0)
    if reader.at < len(text):
        raise PatternError(f"unmatched ) at {reader.at}")
    return part


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def choice(self, depth: int) -> Part:
        if depth > _DEEPEST:
            raise PatternError(f"groups lie more than {_DEEPEST} deep")
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self, depth: int) -> Part:
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            part = self._atom(depth)
            bounds = self._bounds()
            parts.append(part if bounds is None else Repeat(part, *bounds))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _atom(self, depth: int) -> Part:
        start, char = self.at, self.text[self.at]
        self.at += 1
        if char == "(":
            self._group_head()
            part = self.choice(depth + 1)
            if not self._take(")"):
                raise PatternError(f"the group at {start} is not closed")
            return part
        if char == "[":
            return self._set(start)
        if char == "\\":
            return self._escape(start)
        if char in ("^", "$"):
            return Anchor("^" if char == "^" else "$")
        if char == ".":
            return Chars(outside(_LINE_ENDS))
        if char in "*+?":
            raise PatternError(f"nothing to repeat at {start}")
        return Chars(((ord(char), ord(char)),))

    def _group_head(self) -> None:
        if not self._take("?"):
            return
        if self._take(":"):
            return
        named = self.text.startswith("P<", self.at) or (
            self.text.startswith("<", self.at) and self.text[self.at + 1 : self.at + 2] not in ("=", "!")
        )
        end = self.text.find(">", self.at)
        if not named or end < 0:
            raise PatternError(
                f"(?{self.text[self.at : self.at + 2]} at {self.at} is not read: it looks around, or changes rules"
            )
        self.at = end + 1

    def _escape(self, start: int) -> Part:
        char = self.text[self.at : self.at + 1]
        if char in ("b", "B"):
            self.at += 1
            return Anchor("b" if char == "b" else "B")
        if char.isdigit() and char != "0":
            raise PatternError(f"\\{char} at {start} is not read: it refers back")
        return Chars(self._escaped(start))

    def _escaped(self, start: int) -> Ranges:
        """What an escape stands for; the backslash is read already."""
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if not char:
            raise PatternError("it ends in a backslash")
        if char in "dDwWsS":
            ranges = {"d": DIGIT, "w": WORD, "s": SPACE}[char.lower()]
            return ranges if char.islower() else outside(ranges)
        if char in _CONTROLS:
            return ((_CONTROLS[char], _CONTROLS[char]),)
        if char in "xu":
            length = 2 if char == "x" else 4
            digits = self.text[self.at : self.at + length]
            if len(digits) < length or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
                raise PatternError(f"\\{char} at {start} takes {length} hex digits")
            self.at += length
            return ((int(digits, 16), int(digits, 16)),)
        if char.isalnum():
            raise PatternError(f"\\{char} at {start} is not read")
        return ((ord(char), ord(char)),)

    def _set(self, start: int) -> Part:
        negated = self._take("^")
        found: list[tuple[int, int]] = []
        while not self._take("]"):
            low = self._member(start)
            if self._range_follows() and len(low) == 1 and low[0][0] == low[0][1]:
                self.at += 1
                high = self._member(start)
                if len(high) != 1 or high[0][0] != high[0][1] or high[0][0] < low[0][0]:
                    raise PatternError(f"a range in the set at {start} does not go up")
                low = ((low[0][0], high[0][0]),)
            found.extend(low)
        ranges = together(found)
        return Chars(outside(ranges) if negated else ranges)

    def _range_follows(self) -> bool:
        rest = self.text[self.at : self.at + 2]
        return rest.startswith("-") and len(rest) == 2 and rest[1] != "]"

    def _member(self, start: int) -> Ranges:
        if self.at >= len(self.text):
            raise PatternError(f"the set at {start} is not closed")
        char = self.text[self.at]
        self.at += 1
        if char != "\\":
            return ((ord(char), ord(char)),)
        if self._take("b"):
            return ((8, 8),)
        return self._escaped(self.at - 1)

    def _bounds(self) -> tuple[int, int | None] | None:
        """How often what was read is repeated; None where nothing says so."""
        char = self.text[self.at : self.at + 1]
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(char)
        if bounds is not None:
            self.at += 1
        elif char == "{":
            bounds = self._braces()
        if bounds is None:
            return None
        # A lazy repeat finds the same texts.
        self._take("?")
        if self.text[self.at : self.at + 1] in ("*", "+", "?"):
            raise PatternError(f"a repeat of a repeat at {self.at}")
        return bounds

    def _braces(self) -> tuple[int, int | None] | None:
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : end].partition(",") if end > 0 else ("", "", "")
        if not _is_count(low) or (high and not _is_count(high)):
            raise PatternError(f"the brace at {self.at} is no count; write \\{{ for the character")
        least = int(low)
        most = (int(high) if high else None) if comma else least
        if least > MOST_REPEATS or (most is not None and not least <= most <= MOST_REPEATS):
            raise PatternError(f"the count at {self.at} must go up, to {MOST_REPEATS} at most")
        self.at = end + 1
        return least, most

    def _take(self, char: str) -> bool:
        if self.text[self.at : self.at + 1] != char:
            return False
        self.at += 1
        return True


def _is_count(text: str) -> bool:
    return 0 < len(text) <= 6 and text.isascii() and text.isdigit()


def together(ranges: list[tuple[int, int]]) -> Ranges:
    """Ranges in order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def outside(ranges: Ranges) -> Ranges:
    """All other characters."""
    return tuple(_gaps(ranges))


def _gaps(ranges: Ranges) -> Iterator[tuple[int, int]]:
    low = 0
    for start, end in ranges:
        if low < start:
            yield low, start - 1
        low = end + 1
    if low <= _LAST:
        yield low, _LAST


def holds(ranges: Ranges, code: int) -> bool:
    """Whether a character is in a set."""
    return any(low <= code <= high for low, high in ranges)


def overlap(one: Ranges, other: Ranges) -> bool:
    """Whether some character is in both sets."""
    return any(low <= end and start <= high for low, high in one for start, end in other)
