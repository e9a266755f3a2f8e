"""Texts that are added to the messages a model sees: at which step, and in which message."""

from collections.abc import Sequence
from typing import Any, cast

from wildtool.types import Message

_ANCHORS = ("user", "tool")
"""Roles of messages to which texts are added."""


class TurnCounter:
    """Counts how often the user has spoken in a unit, and the steps since."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._turn = self._start = 0

    def place(self, messages: Sequence[Message], step: int) -> tuple[int, int]:
        """Turn and step within it, both from 0, of a step of the unit. Messages of the user in a row are one turn."""
        users = [message.get("role") == "user" for message in messages]
        spoken = sum(now and not before for before, now in zip([False, *users], users, strict=False))
        if self._first is None:
            self._first = spoken
        if spoken - self._first > self._turn:
            self._turn, self._start = spoken - self._first, step
        return self._turn, step - self._start


def anchor(messages: Sequence[Message]) -> int:
    """The place of the last message of the user or a tool; the last message where there is none."""
    places = (place for place in reversed(range(len(messages))) if messages[place].get("role") in _ANCHORS)
    return next(places, len(messages) - 1)


def with_line(message: Message, text: str) -> Message:
    """A message with a text as a separate line at its end."""
    content: Any = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*cast(list[Any], content), {"type": "text", "text": text}]}
    return {**message, "content": f"{content}\n{text}" if content else text}


def with_text(messages: Sequence[Message], text: str) -> list[Message]:
    """Messages with a text as a separate line at the end of the last one of the user or a tool."""
    place = anchor(messages)
    return [*messages[:place], with_line(messages[place], text), *messages[place + 1 :]]
