"""How simulated tools refuse a call: by raising, so that each tool reads as its checks and then what it does."""

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
