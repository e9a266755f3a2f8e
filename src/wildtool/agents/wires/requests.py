"""What the readers of all wires share: which keys of a request mean what, texts in parts, and tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from wildtool.agents.wires.base import Asked
from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.shapes import Reading
from wildtool.shapes.keys import FUNCTION, TEXT_TYPES
from wildtool.types import Tool

Read = Callable[[Mapping[str, Any], str], Asked]


def refusing(read: Read) -> Read:
    """A reader that raises ValueError for what the readers of shapes refuse."""

    def checked_read(body: Mapping[str, Any], path: str) -> Asked:
        try:
            return read(body, path)
        except DataError as error:
            raise ValueError(str(error)) from error

    return checked_read


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKeys:
    """What the keys of a wire's requests mean; any other key is counted as lost."""

    structure: frozenset[str]
    """Keys that its reader reads: model, messages, tools."""
    sampling: frozenset[str]
    """Keys that say how the model samples, thinks, and chooses tools."""
    silent: frozenset[str] = frozenset()
    """Keys that a model does not notice: names of users, caches, what is stored."""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keys without which the request cannot be understood or answered, with the reason."""

    def sampling_of(self, body: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
        """What a request sets of sampling. Raises ShapeError for a key that is refused."""
        sampling: dict[str, Any] = {}
        for key, value in body.items():
            if value is None or key in self.structure or key in self.silent:
                continue
            if key in self.sampling:
                sampling[key] = value
            elif key in self.refused and value:
                reading.at(f"`{key}`").fail(self.refused[key])
            elif key not in self.refused:
                reading.lose(f"key {key} of a request")
        return sampling


def text_in(holder: Mapping[str, Any], key: str, reading: Reading) -> str:
    """A text under a key. Raises ShapeError for anything else."""
    value = holder.get(key)
    if not isinstance(value, str):
        reading.fail(f"`{key}` must be a text, found {_short(value)}")
    return value


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
    return "\n".join(texts_of({key: content}, key, reading))


def texts_of(holder: Mapping[str, Any], key: str, reading: Reading) -> list[str]:
    """The texts of the parts under a key; other parts are counted. Raises ShapeError for what is no part."""
    texts: list[str] = []
    for number, entry in enumerate(list_in(holder, key, reading)):
        here = reading.at(f"{key}[{number}]")
        part = object_in(entry, here)
        kind = part.get("type", "text")
        if kind in TEXT_TYPES:
            texts.append(text_in(part, "text", here))
        else:
            lose_part(part, reading)
    return texts


def lose_part(part: Mapping[str, Any], reading: Reading) -> None:
    """Counts a part of a message that is left out, by its type or its first key."""
    reading.lose(f"part {part.get('type') or next(iter(part), 'without keys')}")


def function_tool(definition: Mapping[str, Any], schema_key: str, reading: Reading) -> Tool:
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
    for key, value in definition.items():
        if key not in ("type", "name", "description", "strict", schema_key) and value is not None:
            reading.lose(f"key {key} of a tool")
    return {"type": FUNCTION, FUNCTION: function}


def tool_names(tools: list[Tool]) -> list[str]:
    """The names under which tools are offered."""
    return [as_object(tool.get(FUNCTION)).get("name", "") for tool in tools]
