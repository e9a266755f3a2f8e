"""Turns of a row as most layouts have them: a list of objects with a word for the role, and what each word means."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from wildtool.json_codec import as_objects
from wildtool.training.calls import calls_from
from wildtool.training.conversation import ConversationBuilder
from wildtool.training.record import RowError, observed_text

TurnAction = Callable[[ConversationBuilder, Any], None]
"""What the content of a turn adds to a conversation."""


def conversation_turns(
    row: Mapping[str, Any], column: str, role_key: str, text_key: str
) -> list[tuple[str, Any]]:
    """Role and content of every turn. Raises RowError where a turn has no role."""
    turns: list[tuple[str, Any]] = []
    for entry in as_objects(row.get(column)):
        role = entry.get(role_key)
        if not isinstance(role, str):
            raise RowError("unknown-role", f"a turn of {column} has no {role_key}")
        turns.append((role, entry.get(text_key)))
    return turns


def read_turns(
    builder: ConversationBuilder, turns: Iterable[tuple[str, Any]], actions: Mapping[str, TurnAction]
) -> None:
    """Adds turns to a conversation.

    Args:
        turns: role and content of each.
        actions: by role, what its turns add. Raises RowError for any other role.
    """
    for role, content in turns:
        if role not in actions:
            raise RowError("unknown-role", f"the role {role!r}"[:100])
        actions[role](builder, content)


def add_system(builder: ConversationBuilder, content: Any) -> None:
    """A system text. Raises RowError, as the next ones do for what is no text."""
    builder.add_system(plain_text(content))


def add_user(builder: ConversationBuilder, content: Any) -> None:
    """A text of the user."""
    builder.add_user(plain_text(content))


def add_reply(builder: ConversationBuilder, content: Any) -> None:
    """A text of the assistant."""
    builder.add_reply(plain_text(content))


def add_calls(builder: ConversationBuilder, content: Any) -> None:
    """Calls of a published set, whose arguments must be objects."""
    builder.add_reply(None, calls_from(content, builder, strict=True))


def add_result(builder: ConversationBuilder, content: Any) -> None:
    """The result of a call, in any form."""
    builder.add_result(observed_text(content))


def plain_text(value: Any) -> str:
    """A text, or the joined texts of a list of parts; an empty one for null.

    Raises:
        RowError: it is something else (`not-text`).
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        parts = [cast(dict[str, Any], part) for part in cast(list[Any], value) if isinstance(part, dict)]
        texts = [part.get("text") for part in parts if part.get("type") == "text"]
        if len(texts) == len(cast(list[Any], value)) and all(isinstance(text, str) for text in texts):
            return "".join(cast(list[str], texts))
    raise RowError("not-text", f"expected text, found {value!r}"[:200])
