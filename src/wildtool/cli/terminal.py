"""Writes to the terminal; hostile texts (model names, ids, reasons) arrive there as text and nothing else."""

import re
import sys

_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline; escape sequences begin so
    "\u200e\u200f\u2028-\u202e\u2066-\u2069"  # changes of line and direction, which forge what is seen
    "\ud800-\udfff]"  # lone surrogates, which no terminal can be sent
)
_BREAKS = re.compile(r"[\t\n]")


def plain(text: object) -> str:
    """A text as it may be shown: characters that act on a terminal become their escapes (`\\x1b`)."""
    return _HARMFUL.sub(lambda match: ascii(match[0])[1:-1], str(text))


def one_line(text: object, longest: int = 200) -> str:
    """A text as it may stand in a table or a list: plain, on one line, and not too long."""
    short = plain(_BREAKS.sub(" ", str(text)[: longest + 1]))
    return short if len(short) <= longest else short[: longest - 1] + "…"


def middle(text: object, longest: int) -> str:
    """A text on one line, with its middle left out where it is too long: what tells paths apart is their end."""
    short = one_line(text, 10_000)
    if len(short) <= longest:
        return short
    end = 2 * longest // 3
    return f"{short[: longest - end - 1]}…{short[-end:]}"


def say(text: str = "") -> None:
    """Prints a result."""
    print(plain(text))


def note(text: str) -> None:
    """Prints a remark beside the results, to the error stream."""
    print(plain(text), file=sys.stderr, flush=True)
