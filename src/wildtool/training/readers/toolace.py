"""Reads ToolACE: tools as a JSON list inside the system text, calls as `[Name(arg="x"), Other()]`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from wildtool.training.conversation import ConversationBuilder
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.turns import (
    TurnAction,
    add_user,
    conversation_turns,
    plain_text,
    read_turns,
)
from wildtool.training.record import RowError, TrainingCall, TrainingRecord, observed_text
from wildtool.training.texts import UnreadableTextError, first_list, parse_json, parse_value
from wildtool.training.tools import tools_from

_NAME = re.compile(r"""[^()\[\]"',=]+""")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def read_toolace(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A dialogue of `user`, `assistant` and `tool`."""
    text = plain_text(row.get("system"))
    calls = first_list(text)
    tools = tools_from(calls[0] if calls else None)
    names = [tool["function"]["name"] for tool in tools.tools]
    builder = ConversationBuilder()
    actions: Mapping[str, TurnAction] = {
        "user": add_user,
        "assistant": partial(_add_reply, names=names),
        "tool": _add_results,
    }
    read_turns(builder, conversation_turns(row, "conversations", "from", "value"), actions)
    system = text
    if calls:
        before, after = text[: calls[1]].strip(), text[calls[2] :].lstrip(". \t\r\n").rstrip()
        system = "\n\n".join(part for part in (before, after) if part) if options.keep_system else ""
    return builder.record(tools, system=system or None)


def _add_reply(builder: ConversationBuilder, content: Any, *, names: Sequence[str]) -> None:
    text = plain_text(content)
    calls = parse_bracket_calls(text, names)
    if not calls:
        builder.add_reply(text)
        return
    builder.add_reply(
        None, [TrainingCall(name, arguments, builder.next_call_id()) for name, arguments in calls]
    )


def _add_results(builder: ConversationBuilder, content: Any) -> None:
    for result in _results(content, builder.open_calls):
        builder.add_result(result)


def _results(value: Any, count: int) -> list[str]:
    """The results in a turn: of one call the text as it is, of several the entries of the list."""
    text = observed_text(value)
    if count < 2:
        return [text]
    try:
        entries = parse_json(text)
    except UnreadableTextError:
        return [text]
    if not isinstance(entries, list):
        return [text]
    return [observed_text(entry) for entry in cast(list[Any], entries)]


def parse_bracket_calls(text: str, names: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a text `[Name(arg=value, …), …]`; none if nothing in it looks like a call.

    Args:
        names: the record's tools, whose names may hold blanks and brackets.

    Raises:
        RowError: a call begins but cannot be read.
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return []
    # A name that begins with another one comes before it.
    longest = sorted(names, reverse=True)
    if _name_at(text, 1, longest) is None:
        return []
    return list(_calls(text, longest))


def _name_at(text: str, place: int, names: Sequence[str]) -> tuple[str, int] | None:
    """The name that begins at a place, and where its bracket opens."""
    place = _after_blanks(text, place)
    prefix = next((name for name in names if text.startswith(f"{name}(", place)), None)
    if prefix is not None:
        return prefix, place + len(prefix)
    match = _NAME.match(text, place)
    if match is None or not match[0].strip() or not text.startswith("(", match.end()):
        return None
    return match[0].strip(), match.end()


def _calls(text: str, names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    place = 1
    while True:
        position = _name_at(text, place, names)
        if position is None:
            raise RowError("unreadable-call", f"no call at character {place + 1}")
        name, opens = position
        closes = _closing(text, opens)
        yield name, _arguments(text[opens + 1 : closes])
        place = _after_blanks(text, closes + 1)
        if text.startswith(",", place):
            place += 1
            continue
        if not text.startswith("]", place):
            raise RowError("unreadable-call", f"expected a comma or ] at character {place + 1}")
        place = _after_blanks(text, place + 1)
        if place == len(text):
            return
        place = _after_blanks(text, place + text.startswith(",", place))
        if not text.startswith("[", place):
            raise RowError("unreadable-call", f"expected another list at character {place + 1}")
        place += 1


def _after_blanks(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _closing(text: str, opens: int) -> int:
    """The place of the bracket that closes another."""
    for place, depth, _ in _walk(text, opens):
        if depth == 0:
            return place
    raise RowError("unreadable-call", "brackets or quotes do not close")


def _walk(text: str, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Place, depth after it, and character of everything outside of quotes. Raises RowError where brackets differ."""
    open_brackets: list[str] = []
    quote = ""
    place = start
    while place < len(text):
        character = text[place]
        if quote:
            if character == "\\":
                place += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        else:
            if character in _CLOSING:
                open_brackets.append(_CLOSING[character])
            elif character in ")]}" and (not open_brackets or open_brackets.pop() != character):
                raise RowError("unreadable-call", "brackets do not match")
            yield place, len(open_brackets), character
        place += 1
    if quote:
        raise RowError("unreadable-call", "a quote does not close")


def _arguments(text: str) -> dict[str, Any]:
    cuts = [place for place, depth, character in _walk(text) if depth == 0 and character == ","]
    parts = [
        text[start + 1 : end].strip() for start, end in zip([-1, *cuts], [*cuts, len(text)], strict=True)
    ]
    if not parts[-1]:
        parts.pop()
    arguments: dict[str, Any] = {}
    for part in parts:
        name, sign, value = part.partition("=")
        if not sign or not name.strip():
            raise RowError("unreadable-call", f"expected name=value, found {part!r}"[:200])
        arguments[name.strip()] = _value(value.strip())
    return arguments


def _value(text: str) -> Any:
    try:
        return parse_value(text)[0]
    except UnreadableTextError:
        return text
