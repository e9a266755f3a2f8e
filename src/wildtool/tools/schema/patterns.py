"""Patterns of JSON Schema: whether one can be checked, which texts follow it, and a text that does.

A pattern is read into a tree of the part of ECMA-262 that needs no backtracking. RE2 matches it, in time linear in the
text; samples are drawn from the tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from random import Random
from typing import Any, Literal

MAX_PATTERN_CHARACTERS = 500
MAX_REPEATS = 1_000
"""Highest count in braces, and highest product of nested ones, as in RE2."""
_MAX_DEPTH = 30
_LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]
"""Code points from, to (included), in order, not touching."""

_SETS: dict[str, Ranges] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": (
        (9, 13), (32, 32), (160, 160), (5760, 5760), (8192, 8202), (8232, 8233), (8239, 8239), (8287, 8287),
        (12288, 12288), (65279, 65279),
    ),
}  # fmt: skip
_LINE_ENDS: Ranges = ((10, 10), (13, 13), (8232, 8233))
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_ANCHORS = {"^": r"\A", "$": r"\z", "b": r"\b", "B": r"\B"}


class PatternError(Exception):
    """A pattern that cannot be checked; the message says which part of it, and why."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place: the start, the end, a word boundary, no word boundary."""

    kind: Literal["^", "$", "b", "B"]


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
    """A part several times."""

    part: "Part"
    least: int
    most: int | None
    """None for any number."""


Part = Chars | Anchor | Sequence | Choice | Repeat


@lru_cache(maxsize=4096)
def parse_pattern(pattern: str) -> Part:
    """The tree of a pattern.

    Raises PatternError for what is no pattern, is too large, or needs backtracking (back references, looking around).
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise PatternError(f"it has {len(pattern)} characters; at most {MAX_PATTERN_CHARACTERS} are read")
    parser = _Parser(pattern)
    part = parser.choice(0)
    if parser.at < len(pattern):
        raise PatternError(f"unmatched ) at {parser.at}")
    return part


@lru_cache(maxsize=256)
def check_pattern(pattern: str) -> Any:
    """The pattern compiled by RE2, for `follows`. Raises PatternError for one that cannot be checked."""
    # Imported here: commands that see no pattern start 8 ms sooner.
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(_as_re2(parse_pattern(pattern)), options)
    except re2.error as error:
        raise PatternError("its counts make it too large") from error


def follows(text: str, pattern: str) -> bool:
    """Whether a pattern occurs anywhere in a text, as JSON Schema means it. Raises PatternError."""
    return check_pattern(pattern).search(text.encode("utf-8", "replace").decode()) is not None


def _as_re2(part: Part) -> str:
    match part:
        case Chars(ranges):
            return f"[{_as_set(ranges)}]" if ranges else f"[^{_as_set(((0, _LAST),))}]"
        case Anchor(kind):
            return _ANCHORS[kind]
        case Sequence(parts):
            return "".join(map(_as_re2, parts))
        case Choice(parts):
            return f"(?:{'|'.join(map(_as_re2, parts))})"
        case Repeat(inner, lowest, most):
            return f"(?:{_as_re2(inner)}){{{lowest},{'' if most is None else most}}}"


def _as_set(ranges: Ranges) -> str:
    return "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def choice(self, depth: int) -> Part:
        if depth > _MAX_DEPTH:
            raise PatternError(f"groups lie more than {_MAX_DEPTH} deep")
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
        match char:
            case "(":
                self._group_head()
                part = self.choice(depth + 1)
                if not self._take(")"):
                    raise PatternError(f"the group at {start} is not closed")
                return part
            case "[":
                return self._set(start)
            case "\\":
                return self._escape(start)
            case "^" | "$":
                return Anchor(char)
            case ".":
                return Chars(_outside(_LINE_ENDS))
            case "*" | "+" | "?":
                raise PatternError(f"nothing to repeat at {start}")
            case _:
                return Chars(((ord(char), ord(char)),))

    def _group_head(self) -> None:
        if not self._take("?") or self._take(":"):
            return
        is_named = self.text.startswith("P<", self.at) or (
            self.text.startswith("<", self.at) and self.text[self.at + 1 : self.at + 2] not in ("=", "!")
        )
        end = self.text.find(">", self.at)
        if not is_named or end < 0:
            head = self.text[self.at : self.at + 2]
            raise PatternError(f"(?{head} at {self.at} is not read: it looks around, or changes rules")
        self.at = end + 1

    def _escape(self, start: int) -> Part:
        if self._take("b"):
            return Anchor("b")
        if self._take("B"):
            return Anchor("B")
        char = self.text[self.at : self.at + 1]
        if char.isdigit() and char != "0":
            raise PatternError(f"\\{char} at {start} is not read: it refers back")
        return Chars(self._escaped(start))

    def _escaped(self, start: int) -> Ranges:
        """The characters of an escape; the backslash is read already."""
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if not char:
            raise PatternError("it ends in a backslash")
        if char in "dDwWsS":
            ranges = _SETS[char.lower()]
            return ranges if char.islower() else _outside(ranges)
        if char in "xu":
            length = 2 if char == "x" else 4
            digits = self.text[self.at : self.at + length]
            if len(digits) < length or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
                raise PatternError(f"\\{char} at {start} takes {length} hex digits")
            self.at += length
            return ((int(digits, 16), int(digits, 16)),)
        if char not in _CONTROLS and char.isalnum():
            raise PatternError(f"\\{char} at {start} is not read")
        code = _CONTROLS.get(char, ord(char))
        return ((code, code),)

    def _set(self, start: int) -> Part:
        negated = self._take("^")
        members: list[tuple[int, int]] = []
        while not self._take("]"):
            low = self._member(start)
            following = self.text[self.at : self.at + 2]
            if len(following) == 2 and following[0] == "-" and following[1] != "]" and _is_single(low):
                self.at += 1
                high = self._member(start)
                if not _is_single(high) or high[0][0] < low[0][0]:
                    raise PatternError(f"a range in the set at {start} does not go up")
                low = ((low[0][0], high[0][0]),)
            members.extend(low)
        ranges = _joined(members)
        return Chars(_outside(ranges) if negated else ranges)

    def _member(self, start: int) -> Ranges:
        if self.at >= len(self.text):
            raise PatternError(f"the set at {start} is not closed")
        char = self.text[self.at]
        self.at += 1
        if char != "\\":
            return ((ord(char), ord(char)),)
        return ((8, 8),) if self._take("b") else self._escaped(self.at - 1)

    def _bounds(self) -> tuple[int, int | None] | None:
        """How often the last part is repeated; None if no count follows."""
        char = self.text[self.at : self.at + 1]
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(char)
        if bounds is not None:
            self.at += 1
        elif char == "{":
            bounds = self._braces()
        if bounds is None:
            return None
        # A lazy repeat occurs in the same texts.
        self._take("?")
        if self.text[self.at : self.at + 1] in ("*", "+", "?"):
            raise PatternError(f"a repeat of a repeat at {self.at}")
        return bounds

    def _braces(self) -> tuple[int, int | None]:
        inside, brace, _ = self.text[self.at + 1 :].partition("}")
        low, comma, high = inside.partition(",")
        if not brace or not _is_count(low) or (high and not _is_count(high)):
            raise PatternError(f"the brace at {self.at} is no count; write \\{{ for the character")
        lowest = int(low)
        most = (int(high) if high else None) if comma else lowest
        if lowest > MAX_REPEATS or (most is not None and not lowest <= most <= MAX_REPEATS):
            raise PatternError(f"the count at {self.at} must go up, to {MAX_REPEATS} at most")
        self.at += len(inside) + 2
        return lowest, most

    def _take(self, char: str) -> bool:
        matches = self.text.startswith(char, self.at)
        self.at += matches
        return matches


def _is_single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _joined(ranges: list[tuple[int, int]]) -> Ranges:
    """Ranges in order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def _outside(ranges: Ranges) -> Ranges:
    """All other characters."""

    def gaps() -> Iterator[tuple[int, int]]:
        low = 0
        for start, end in ranges:
            if low < start:
                yield low, start - 1
            low = end + 1
        if low <= _LAST:
            yield low, _LAST

    return tuple(gaps())


# Samples --------------------------------------------------------------------------------------------

_TRIES = 40
_MORE = 4
"""Repeats beyond the least that are drawn at most, outermost."""
_MAX_PARTS = 5_000
"""Parts of a pattern that are written for a text at most."""
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ .:/,"


def sample(pattern: str, draw: Random) -> str | None:
    """A text that follows a pattern, without blank ends if possible; None if none was found. Raises PatternError."""
    blank = None
    for _ in range(_TRIES):
        text = _Writer(draw).text(parse_pattern(pattern), _MORE)
        if follows(text, pattern):
            if text and text == text.strip():
                return text
            blank = text
    return blank


class _Writer:
    """Writes one text."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.left = _MAX_PARTS

    def text(self, part: Part, more: int) -> str:
        """A text for a part, cut short if it would take too many parts.

        Args: more: repeats beyond the least at most.
        """
        self.left -= 1
        match part:
            case Chars(ranges):
                return _char(ranges, self.draw)
            case Anchor():
                return ""
            case Sequence(parts):
                return "".join(self.text(inner, more) for inner in parts)
            case Choice(parts):
                return self.text(self.draw.choice(parts), more)
            case Repeat(inner, lowest, most):
                highest = lowest + more if most is None else min(most, lowest + more)
                count = self.draw.randint(lowest, highest)
                # Fewer inside each other, or their number would multiply.
                return "".join(self.text(inner, more // 2) for _ in range(count) if self.left > 0)


@lru_cache
def _plain_of(ranges: Ranges) -> list[str]:
    """Letters and digits if there are some, since people say these values; else other characters that they type."""
    plain = [char for char in _PLAIN if any(low <= ord(char) <= high for low, high in ranges)]
    return [char for char in plain if char.isalnum()] or plain


def _char(ranges: Ranges, draw: Random) -> str:
    if plain := _plain_of(ranges):
        return draw.choice(plain)
    if not ranges:
        return ""
    low, high = draw.choice(ranges)
    code = draw.randint(low, high)
    return chr(code) if not 0xD800 <= code <= 0xDFFF else ""
