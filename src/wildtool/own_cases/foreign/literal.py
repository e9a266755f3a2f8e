"""Calls and values of other forms in the words of ours."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.own_cases.form import ARGUMENT_SPELLINGS, NAME_SPELLINGS
from wildtool.own_cases.matching import holds_matcher
from wildtool.shapes import Reading
from wildtool.shapes.keys import ID_KEYS
from wildtool.shapes.messages import read_messages
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.types import Message

TEXT_KEYS = (
    "input",
    "query",
    "question",
    "prompt",
    "user",
    "user_input",
    "user_message",
    "utterance",
    "request",
)
"""What other forms call the request of the user."""
_NAMES = ("name", *NAME_SPELLINGS)
_ARGUMENTS = ("arguments", *ARGUMENT_SPELLINGS)
_BESIDE = (
    *ID_KEYS,
    "type",
    "index",
    "step",
    "description",
    "reasoning",
    "reason",
    "note",
    "comment",
    "output",
    "result",
    "response",
    "metadata",
    "schema",
)
"""Keys of a call that say nothing of what is right."""


class NoGoldError(ValueError):
    """A record that cannot be judged by rule; the message says why."""


ForeignCase = dict[str, Any] | NoGoldError
"""A case as our form writes it, or why there is none."""


def case_or_refusal(read: Callable[[], dict[str, Any]]) -> ForeignCase:
    """What a reader gives, or why it refuses."""
    try:
        return read()
    except NoGoldError as error:
        return error


def named(name: Any) -> dict[str, Any]:
    """The id of a case by what another form calls it; none for what is no name."""
    text = str(name).strip() if isinstance(name, str | int) else ""
    return {"id": text.replace(" ", "-")} if text else {}


def object_of(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under a key; an empty one where there is none. Raises NoGoldError for what is no object."""
    value = record.get(key)
    if not isinstance(value, dict | None):
        raise NoGoldError(f"{key!r} is no object: {str(value)[:60]!r}")
    return as_object(value)


def list_of(record: Mapping[str, Any], key: str) -> list[Any]:
    """The list under a key; an empty one where there is none. Raises NoGoldError for what is no list."""
    value = record.get(key)
    if not isinstance(value, list | None):
        raise NoGoldError(f"{key!r} is no list: {str(value)[:60]!r}")
    return as_list(value)


def string_list(record: Mapping[str, Any], key: str) -> list[str]:
    """The texts of a list, or one alone; none where there is no such key. Raises NoGoldError for anything else."""
    texts = [record[key]] if isinstance(record.get(key), str) else list_of(record, key)
    if odd := [text for text in texts if not isinstance(text, str) or not text]:
        raise NoGoldError(f"{key!r} is no list of texts: {str(odd[0])[:60]!r}")
    return texts


def objects_of(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list; none where there is no such key. Raises NoGoldError for what is no list of objects: nothing
    of it is passed over."""
    entries = list_of(record, key)
    if odd := [entry for entry in entries if not isinstance(entry, dict)]:
        raise NoGoldError(f"{key!r} is no list of objects: {str(odd[0])[:60]!r}")
    return as_objects(entries)


def check_keys(held: Mapping[str, Any], known: Collection[str], what: str) -> None:
    """Raises NoGoldError for a key that is not read, since it could say what is right. Args: what: has the keys."""
    if unknown := [key for key in held if key not in known]:
        raise NoGoldError(f"{unknown[0]!r} of {what} is not read; known: {', '.join(known)}")


def read_history(messages: Any) -> list[Message]:
    """Messages of any shape in OpenAI's. Raises NoGoldError."""
    try:
        return read_messages(messages, Reading())
    except DataError as error:
        raise NoGoldError(f"its messages cannot be read: {error}") from error


def literal_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without matchers: what other forms write means itself."""
    return {key: {"$is": value} if holds_matcher(value) else value for key, value in arguments.items()}


def read_foreign_call(value: Any) -> dict[str, Any]:
    """A call of another form as `{name}` or `{name, arguments}`. Raises NoGoldError."""
    if isinstance(value, str) and value:
        return {"name": value}
    held = as_object(value)
    if isinstance(held.get("function"), dict):
        check_keys(held, ("function", *_BESIDE), "a call")
        return read_foreign_call(held["function"])
    names = [key for key in _NAMES if isinstance(held.get(key), str) and held[key]]
    argument_keys = [key for key in _ARGUMENTS if held.get(key) is not None]
    if len(names) != 1 or len(argument_keys) > 1:
        raise NoGoldError(
            f"a call with the keys {', '.join(held) or 'none'}: its name or arguments are not clear"
        )
    if unclear := [key for key in held if key not in (*_NAMES, *_ARGUMENTS, *_BESIDE)]:
        raise NoGoldError(f"a call of {held[names[0]]}: what {unclear[0]!r} says of it is not clear")
    call = {"name": held[names[0]]}
    arguments = _arguments(held[argument_keys[0]]) if argument_keys else {}
    # Other forms write {} where they judge the name alone.
    return {**call, "arguments": literal_arguments(arguments)} if arguments else call


def _arguments(value: Any) -> dict[str, Any]:
    """Arguments as an object or as its text. Raises NoGoldError."""
    if isinstance(value, dict):
        return as_object(value)
    try:
        return read_arguments(value)
    except ArgumentsError as error:
        raise NoGoldError(f"the arguments of a call cannot be read: {error}") from error


def read_foreign_calls(value: Any) -> list[dict[str, Any]]:
    """The calls of a list, or one call alone; null is none. Raises NoGoldError."""
    if value is None or value in ("", "none"):
        return []
    if isinstance(value, bool):
        raise NoGoldError(f"it says {str(value).lower()}: whether a tool is called, and not which")
    if isinstance(value, int | float):
        raise NoGoldError(f"it says {value}: how many calls, and not which")
    entries: list[Any] = as_list(value) if isinstance(value, list) else [value]
    return [read_foreign_call(entry) for entry in entries]
