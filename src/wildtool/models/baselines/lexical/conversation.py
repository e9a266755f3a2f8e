"""Cuts a message list into the user's turns, and finds values in the results of their calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from wildtool.models.baselines.lexical.reading import (
    as_list,
    as_object,
    as_text,
    is_plain,
    read_json,
    records,
)
from wildtool.models.baselines.lexical.words import stems, words

_DATE_LINE = re.compile(r"\d{4}-\d{2}-\d{2}")
_QUESTION_END = re.compile(r"[?？][\s\W]*$")
_ORDINALS = ((r"\b(?:second|2nd)\b|第二", 1), (r"\b(?:third|3rd)\b|第三", 2), (r"\blast\b|最后", -1))


@dataclass(slots=True)
class Call:
    """One call of a tool and what came back."""

    name: str
    arguments: dict[str, Any]
    result: Any = None
    """The observation as a JSON value, or its text."""


@dataclass(slots=True)
class Turn:
    """One wish of the user: its texts (answers to questions included) and what was done for it."""

    texts: list[str]
    replies: list[str] = field(default_factory=list[str])
    calls: list[Call] = field(default_factory=list[Call])

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


@dataclass(slots=True)
class Conversation:
    """A message list, read."""

    today: date | None
    turns: list[Turn]
    """In order; the last one is running."""

    @property
    def current(self) -> Turn:
        return self.turns[-1]

    @property
    def question(self) -> str:
        """What the assistant asked before the last text; empty if nothing."""
        return self.current.replies[-1] if len(self.current.texts) > 1 else ""

    def calls(self) -> list[Call]:
        """All calls, the newest first."""
        return [call for turn in reversed(self.turns) for call in reversed(turn.calls)]


def read_conversation(messages: Sequence[object]) -> Conversation:
    """Reads messages of any quality; there is always a running turn, perhaps with an empty text."""
    today: date | None = None
    turns = [Turn([])]
    open_calls: dict[str, Call] = {}
    for message in map(as_object, messages):
        role, text = message.get("role"), as_text(message.get("content"))
        if role == "system":
            today = today or _date_line(text)
        elif role == "user":
            _hear(turns, text)
        elif role == "tool":
            if call := open_calls.pop(as_text(message.get("tool_call_id")), None):
                call.result = read_json(message.get("content"))
        elif role == "assistant":
            _watch(turns[-1], message, text, open_calls)
    return Conversation(today, turns)


def _hear(turns: list[Turn], text: str) -> None:
    """A text answers the question before it if nothing was called in its turn; else it is a new wish."""
    last = turns[-1]
    if last.replies and not last.calls and _QUESTION_END.search(last.replies[-1]):
        last.texts.append(text)
    else:
        turns.append(Turn([text]))


def _watch(turn: Turn, message: dict[str, Any], text: str, open_calls: dict[str, Call]) -> None:
    calls = as_list(message.get("tool_calls"))
    if not calls and text:
        turn.replies.append(text)
    for item in map(as_object, calls):
        function = as_object(item.get("function"))
        if isinstance(name := function.get("name"), str):
            call = Call(name, as_object(read_json(function.get("arguments"))))
            turn.calls.append(call)
            open_calls[as_text(item.get("id"))] = call


def _date_line(text: str) -> date | None:
    found = _DATE_LINE.search(text)
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def from_results(name: str, calls: Sequence[Call], text: str) -> Any:
    """The value of a key that fits a parameter's name in what calls (newest first) returned; else None.

    Where several records have one, those count that share most words with the user's text, of these the newest
    call's, and of these the one that an ordinal names, else the first.
    """
    said = {*words(text)}
    found: list[tuple[int, int, Any]] = []
    for age, call in enumerate(calls):
        for container, record in records(call.result):
            for key, value in record.items():
                if isinstance(value, str | int) and is_plain(value) and _fits(name, key, container):
                    found.append((-len(said & _words_of(record)), age, value))
    best = min((place for *place, _ in found), default=None)
    equal = [value for *place, value in found if place == best]
    at = next((at for pattern, at in _ORDINALS if re.search(pattern, text, re.IGNORECASE)), 0)
    return equal[at] if equal and at < len(equal) else next(iter(equal), None)


def _fits(name: str, key: str, container: str) -> bool:
    """Whether a key is the end of a parameter's name; a mere `id` takes the name of what holds it along."""
    wanted, own = stems(name), stems(key)
    own = (*stems(container), *own) if own == ("id",) else own
    return bool(own) and wanted[-len(own) :] == own


def _words_of(record: dict[str, Any]) -> set[str]:
    return {word for value in record.values() if is_plain(value) for word in words(str(value)[:200])}
