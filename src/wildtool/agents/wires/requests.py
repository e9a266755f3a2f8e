"""What the readers of all wires share: which keys of a request mean what, texts in parts, and tools."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from wildtool.json_codec import as_object, as_objects
from wildtool.models.openai_messages import ARGUMENTS_WRAPPER, openai_call
from wildtool.shapes import Reading
from wildtool.shapes.keys import FUNCTION, TEXT_TYPES
from wildtool.shapes.results import text_of_result
from wildtool.types import Tool

_SILENT = frozenset(
    {
        "cache_control",
        "client_metadata",
        "include",
        "labels",
        "metadata",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "serviceTier",
        "store",
        "stream_options",
        "user",
    }
)
"""Keys of requests that a model does not notice: names of users, caches, what is stored."""
_LONGEST_NAME = 60
"""Characters of a name that an agent gives, in names of what is lost."""
ERROR_MARK = "mark that a result is an error"
"""Counted for each result that the wire marks as one of a call that failed."""
_KEYS_OF_TEXTS = frozenset({"type", "text", "annotations", "cache_control", "logprobs"})
"""Keys of a part with a text that say nothing to a model, or whose value is read."""


def sampling_of(
    body: Mapping[str, Any], read: frozenset[str], refused: Mapping[str, str], reading: Reading
) -> dict[str, Any]:
    """What a request sets of how the model samples, thinks and chooses tools: every key of it that has no other meaning.

    Args:
        read: keys that a wire's reader reads.
        refused: keys without which the request cannot be understood or answered, with the reason.

    Raises:
        ShapeError: one of these is set.
    """
    sampling: dict[str, Any] = {}
    for key, value in body.items():
        if value is None or key in read or key in _SILENT:
            continue
        if key not in refused:
            sampling[key] = value
        elif value:
            reading.at(f"`{key}`").fail(refused[key])
    return sampling


def text_in(holder: Mapping[str, Any], key: str, reading: Reading) -> str:
    """A text under a key. Raises ShapeError for anything else."""
    value = holder.get(key)
    if not isinstance(value, str):
        reading.fail(f"`{key}` must be a text, found {_short(value)}")
    return value


def flag_in(holder: Mapping[str, Any], key: str, reading: Reading) -> bool:
    """Whether a key is true; no where it is missing or null. Raises ShapeError for anything but true and false."""
    value = holder.get(key)
    if value is not None and not isinstance(value, bool):
        reading.fail(f"`{key}` must be true or false, found {_short(value)}")
    return value is True


def list_in(holder: Mapping[str, Any], key: str, reading: Reading) -> list[Any]:
    """A list under a key; an empty one where the key is missing or null. Raises ShapeError for anything else."""
    value = holder.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        reading.fail(f"`{key}` must be a list, found {_short(value)}")
    return cast(list[Any], value)


def object_in(value: Any, reading: Reading) -> dict[str, Any]:
    """A value that is an object. Raises ShapeError for any other."""
    if not isinstance(value, dict):
        reading.fail(f"expected an object, found {_short(value)}")
    return cast(dict[str, Any], value)


def _short(value: Any) -> str:
    return str(value)[:80] if value is not None else "none"


def joined_text(content: Any, reading: Reading, key: str = "content") -> str:
    """The text of a message that is a text, null, or parts; texts of several parts are lines of their own, as servers
    join them. Parts that are no text are counted. Raises ShapeError for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part_texts({key: content}, key, reading))


def part_texts(holder: Mapping[str, Any], key: str, reading: Reading) -> list[str]:
    """The texts of the parts under a key; other parts are counted. Raises ShapeError for what is no part."""
    texts: list[str] = []
    for number, entry in enumerate(list_in(holder, key, reading)):
        here = reading.at(f"{key}[{number}]")
        part = object_in(entry, here)
        if item_kind(part, "text" if "text" in part else "") in TEXT_TYPES:
            texts.append(text_in(part, "text", here))
            lose_keys(part, _KEYS_OF_TEXTS, "a text", here)
        else:
            lose_part(part, here)
    return texts


def lose_keys(held: Mapping[str, Any], read: Collection[str], noun: str, reading: Reading) -> None:
    """Counts each key of something that the chat shape has no place for. Args: read: keys that are not counted."""
    for key, value in held.items():
        if key not in read and value is not None:
            reading.lose(f"key {key[:_LONGEST_NAME]} of {noun}")


def shown_result(value: Any, reading: Reading) -> str:
    """What a tool gave: a text as it is, parts joined as those of messages, all else as JSON."""
    parts = as_objects(value)
    if parts and all(isinstance(part.get("type"), str) for part in parts):
        return joined_text(value, reading)
    return text_of_result(value, reading)


def lose_part(part: Mapping[str, Any], reading: Reading) -> None:
    """Counts a part of a message that is left out, by its type or its first key."""
    reading.lose(f"part {item_kind(part, next(iter(part), 'without keys'))}")


def item_kind(entry: Mapping[str, Any], default: str) -> str:
    """What an entry says it is, cut where that is long. Args: default: for one that does not say it."""
    return str(entry.get("type") or default)[:_LONGEST_NAME]


def offered_tool(definition: Mapping[str, Any], schema_key: str, reading: Reading) -> Tool:
    """A tool in OpenAI's shape, its schema as it stands. What this shape has no place for is counted.

    Args:
        definition: name, description and schema beside each other.
        schema_key: the key of the schema.

    Raises:
        ShapeError: it has no name.
    """
    function: dict[str, Any] = {"name": text_in(definition, "name", reading)}
    if definition.get("description") is not None:
        function["description"] = definition["description"]
    if definition.get(schema_key) is not None:
        function["parameters"] = definition[schema_key]
    # Not to be strict is what the chat shape means by default.
    if definition.get("strict"):
        function["strict"] = definition["strict"]
    lose_keys(definition, ("type", "name", "description", "strict", schema_key), "a tool", reading)
    return {"type": FUNCTION, FUNCTION: function}


def earlier_call(id_: str, entry: Mapping[str, Any], arguments_key: str, reading: Reading) -> dict[str, Any]:
    """An earlier call in OpenAI's shape.

    Args:
        entry: what holds its name and its arguments, a text or an object.
        arguments_key: the key of the arguments.

    Raises:
        ShapeError: it has no name.
    """
    arguments = entry.get(arguments_key)
    held = as_object(arguments)
    if held.keys() == {ARGUMENTS_WRAPPER} and isinstance(held[ARGUMENTS_WRAPPER], str):
        # They were no object, and were wrapped in the answer.
        arguments = held[ARGUMENTS_WRAPPER]
    return openai_call(id_, text_in(entry, "name", reading), {} if arguments is None else arguments)
