"""Reads JSON that others wrote: whatever stands in the wrong place counts as empty, and nothing raises."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

from wildtool.wire import loads

LONGEST_TEXT = 6_000
"""Characters of one message that are read; what people type is far shorter."""
DEEPEST = 12
MOST_RECORDS = 400


def as_object(value: object) -> dict[str, Any]:
    """The object with its text keys; an empty one for anything else."""
    if not isinstance(value, Mapping):
        return {}
    return {key: part for key, part in cast("Mapping[Any, Any]", value).items() if isinstance(key, str)}


def as_list(value: object) -> list[Any]:
    """The list; an empty one for anything else."""
    return list(cast("list[Any] | tuple[Any, ...]", value)) if isinstance(value, list | tuple) else []


def as_text(value: object) -> str:
    """A text, or the texts of content parts, as far as they are read; lone surrogates become `?`."""
    if isinstance(value, list):
        parts = [as_object(part).get("text") for part in as_list(cast("object", value))[:50]]
        value = "\n".join(part for part in parts if isinstance(part, str))
    if not isinstance(value, str):
        return ""
    return value[:LONGEST_TEXT].encode("utf-8", "replace").decode()


def is_plain(value: object) -> bool:
    """Whether it is a text, a finite number, a truth value or null."""
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) < 2**63
    return value is None or isinstance(value, str)


def is_sound(value: object, levels: int = 8) -> bool:
    """Whether it consists of plain values, lists and objects, nested no deeper than `levels`."""
    inner = [*as_list(value), *as_object(value).values()]
    return is_plain(value) or (
        levels > 0 and isinstance(value, Mapping | list) and all(is_sound(part, levels - 1) for part in inner)
    )


def read_json(text: object) -> Any:
    """The value of a JSON text, the text itself where it is none, None for anything but a text."""
    if not isinstance(text, str):
        return None
    try:
        return loads(text[:100_000].encode("utf-8", "replace"))
    except ValueError:
        return as_text(text)


def records(value: object) -> list[tuple[str, dict[str, Any]]]:
    """Every object inside a value in document order, each with the key that it (or its list) stands under."""
    return list(_records(value, "", 0, [MOST_RECORDS]))


def _records(value: object, key: str, depth: int, left: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > DEEPEST or left[0] <= 0:
        return
    left[0] -= 1
    if isinstance(value, Mapping):
        found = as_object(cast("object", value))
        yield key, found
        for name, part in found.items():
            yield from _records(part, name, depth + 1, left)
    elif isinstance(value, list):
        for part in as_list(cast("object", value))[:MOST_RECORDS]:
            yield from _records(part, key, depth + 1, left)
