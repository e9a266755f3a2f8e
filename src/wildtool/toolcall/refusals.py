"""How simulated tools refuse a call: by raising, so that each tool reads as its checks and then what it does."""

from collections.abc import Sequence
from typing import Any


class RefusedCallError(Exception):
    """A simulated tool refuses a call; the text says why."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.also: dict[str, Any] = {}
        """What the call's result says before the reason."""


def refuse_if(condition: object, text: str) -> None:
    """Raises RefusedCallError where a condition holds."""
    if condition:
        raise RefusedCallError(text)


def missing_arguments(function: str, names: Sequence[str]) -> str:
    """What Python says of a call that lacks arguments: `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`."""
    quoted = list(map(repr, names))
    listing = " and ".join(quoted) if len(quoted) < 3 else f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
    plural = "s" if len(names) > 1 else ""
    return f"{function}() missing {len(names)} required positional argument{plural}: {listing}"
