"""Texts that follow a pattern, for gold values and for telling that there is one at all."""

from random import Random

from wildtool.generate.schema.patterns.matching import MOST_WORK, matcher
from wildtool.generate.schema.patterns.reading import (
    Anchor,
    Chars,
    Choice,
    Part,
    Ranges,
    Repeat,
    Sequence,
    holds,
    read_part,
)

_TRIES = 40
_MORE = 4
"""Repeats beyond the least that are drawn at most, outermost."""
_MOST_WORK = MOST_WORK // 5
"""States times characters of all tries."""
_MOST_PARTS = 5_000
"""Parts of a pattern that are written for a text at most."""
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ .:/,"


def sample(pattern: str, draw: Random) -> str | None:
    """A text that follows a pattern, without blank ends where there is one; None where none was found.

    Raises PatternError for a pattern that is not read.
    """
    part, found = read_part(pattern), matcher(pattern)
    work, blank = 0, None
    for _ in range(_TRIES):
        text = _Writer(draw).text(part, _MORE)
        work += found.work(text)
        if work > _MOST_WORK:
            break
        if found.found_in(text):
            if text and text == text.strip():
                return text
            blank = text
    return blank


class _Writer:
    """Writes one text."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.left = _MOST_PARTS

    def text(self, part: Part, more: int) -> str:
        """A text for a part, cut short where it would take too many parts.

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
            case Repeat(inner, least, most):
                highest = least + more if most is None else min(most, least + more)
                count = self.draw.randint(least, highest)
                # Fewer inside each other, or their number would multiply.
                return "".join(self.text(inner, more // 2) for _ in range(count) if self.left > 0)


def _char(ranges: Ranges, draw: Random) -> str:
    plain = [char for char in _PLAIN if holds(ranges, ord(char))]
    if plain:
        # Letters and digits where there are some: values are said by people.
        return draw.choice([char for char in plain if char.isalnum()] or plain)
    if not ranges:
        return ""
    low, high = draw.choice(ranges)
    code = draw.randint(low, high)
    return chr(code) if not 0xD800 <= code <= 0xDFFF else ""
