"""Values on their way between a script and the messages of a benchmark."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

_DEEPEST = 50
_LARGEST = 2**64
"""No integer is larger: a longer one is no number that any tool takes."""
MOST_ARGUMENT_CHARACTERS = 1_000_000
"""Of the arguments of one call."""


def json_value(value: Any, depth: int = 0) -> Any:
    """A script's value as JSON holds it: tuples are lists, whole numbers as keys are texts.

    Raises TypeError or ValueError, in words for the model, for one that JSON has nothing for.
    """
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise ValueError("it is a whole number of more than 64 bits")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"JSON has no {value}")
        return value
    if isinstance(value, list | tuple):
        return [json_value(each, depth + 1) for each in cast(Iterable[Any], value)]
    if isinstance(value, dict):
        items = cast(Mapping[Any, Any], value).items()
        return {_key(key): json_value(each, depth + 1) for key, each in items}
    raise TypeError(f"a {type(value).__name__} is no JSON value")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return json_value(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return str(json_value(key))
    raise TypeError(f"a key is a {type(key).__name__}; give a text")


def result_value(content: Any) -> Any:
    """What a call returns in a script: the value of a result that is JSON, else its text."""
    if not isinstance(content, str):
        return content
    try:
        return json_value(json.loads(content))
    except (ValueError, TypeError, RecursionError):
        return content


def text_places(value: Any, place: tuple[Any, ...] = ()) -> Iterable[tuple[Any, ...]]:
    """The places of all texts and numbers in a value."""
    if isinstance(value, dict):
        for key, each in cast(Mapping[str, Any], value).items():
            yield from text_places(each, (*place, key))
    elif isinstance(value, list):
        for number, each in enumerate(cast(list[Any], value)):
            yield from text_places(each, (*place, number))
    elif not isinstance(value, bool):
        yield place


def with_other_leaf(value: Any, place: tuple[Any, ...]) -> Any:
    """The value with another text or number at a place."""
    if not place:
        return f"{value}~" if isinstance(value, str) else "~" if value is None else value + 1
    first, *rest = place
    if isinstance(value, dict):
        its = cast(dict[str, Any], value)
        return {**its, first: with_other_leaf(its[first], tuple(rest))}
    its = list(cast(list[Any], value))
    its[first] = with_other_leaf(its[first], tuple(rest))
    return its
