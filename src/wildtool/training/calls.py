"""Calls as data sets write them: objects, lists of them, and texts of either."""

from collections.abc import Callable
from typing import Any, cast

from wildtool.shapes import Reading, ShapeError, read_call
from wildtool.training.conversation import ConversationBuilder
from wildtool.training.record import RowError, TrainingCall, spaced_json
from wildtool.training.texts import UnreadableTextError, parse_or_reject, parse_value


def calls_from(value: Any, builder: ConversationBuilder, *, strict: bool) -> list[TrainingCall]:
    """The calls in a value: one object, a list, or a text that holds either.

    Args:
        strict: whether arguments must be an object, as in the published sets; a user's own file may have others on
            purpose.

    Raises:
        RowError: there is none, or one cannot be read (`unreadable-call`).
    """
    if isinstance(value, str):
        value, repair = parse_or_reject(value, "unreadable-call")
        if repair:
            builder.note_repair(repair)
    entries = cast(list[Any], value) if isinstance(value, list) else [value]
    if not entries:
        raise RowError("unreadable-call", "an empty list of calls")
    return [call_from(entry, builder.next_call_id, strict=strict) for entry in entries]


def call_from(entry: Any, next_id: Callable[[], str], *, strict: bool) -> TrainingCall:
    """One call, in any shape that `wildtool.shapes` reads. Raises RowError."""
    try:
        call = read_call(entry, Reading())
    except ShapeError as error:
        raise RowError("unreadable-call", str(error)) from error
    number = next_id()
    return TrainingCall(call.name, arguments_from(call.arguments, strict=strict), call.id or number)


def arguments_from(value: Any, *, strict: bool) -> Any:
    """Arguments as an object where they are one, or the text of one; else as they are. Raises RowError if `strict`."""
    if isinstance(value, dict):
        return cast(Any, value)
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            held = parse_value(value)[0]
        except UnreadableTextError:
            held = None
        if isinstance(held, dict):
            return cast(Any, held)
    if strict:
        raise RowError("unreadable-call", f"the arguments are no object: {spaced_json(value)[:100]}")
    return value
