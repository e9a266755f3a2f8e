"""What the records of settings share: rules of a field, and the check that a value keeps them."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from functools import cache
from itertools import pairwise
from math import inf
from os import PathLike
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from wildtool.api.words import option_of, words_of_the_caller
from wildtool.errors import UsageError

Headers = Mapping[str, str] | Sequence[str]
"""Headers by name, or each as `NAME=VALUE`; a secret is `env:` and the name of a variable."""
_WORDS: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    Path: "a path",
    Callable: "a function",
}
"""What a value of each type is, in messages."""


def setting(default: Any = None, **rules: Any) -> Any:
    """A field of a record.

    Args:
        default: what holds where nothing is set.
        rules: `min` and `max` (the value may be either), `above` (it may not be this one); and texts, which messages
            repeat: `needs` (another setting), `not_with` (others, each with why or an empty text), `not_empty` (what to
            give instead of an empty text), `role` and `only_mode` (what a benchmark must have).
    """
    return field(default=default, metadata=rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingGroup:
    """Settings of one subject. Values are checked when a record is made: it raises UsageError, which names the field."""

    def __post_init__(self) -> None:
        with words_of_the_caller():
            for each in fields(self):
                check_value(each, getattr(self, each.name))


def check_value(its: "Field[Any]", value: Any) -> None:
    """Raises UsageError for a value that a field cannot have."""
    option = option_of(its.name)
    if not fits(value, its.type):
        raise UsageError(f"{option} is {shown(value)}; it must be {phrase(its.type)}")
    if value is None:
        return
    if isinstance(value, int | float):
        _check_number(option, value, its.metadata)
    if "not_empty" in its.metadata and not str(value).strip():
        raise UsageError(f"{option} is empty; {its.metadata['not_empty']}")


def _check_number(option: str, value: float, rules: Mapping[str, Any]) -> None:
    low, high, above = (rules.get(name) for name in ("min", "max", "above"))
    unit = f" of {rules['unit']}" if "unit" in rules else ""
    if above is not None and not above < value < inf:
        raise UsageError(f"{option} is {value:g}; it must be a number{unit} above {above}")
    if low is not None and isinstance(value, float) and not low <= value < inf:
        raise UsageError(f"{option} is {value:g}; it must be a number from {low}")
    if low is not None and value < low:
        raise UsageError(f"{option} is {value:g}; it must be at least {low}")
    if high is not None and value > high:
        raise UsageError(f"{option} is {value:,}; it must be at most {high:,}")


def kinds(hint: Any) -> tuple[Any, ...]:
    """The types that a value may have, without None."""
    parts = get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,)
    return tuple(part for part in parts if part is not NoneType)


def choices(hint: Any) -> tuple[str, ...]:
    """The words that a value may be; empty where it is no choice."""
    return tuple(word for kind in kinds(hint) if get_origin(kind) is Literal for word in get_args(kind))


def is_flag(hint: Any) -> bool:
    """Whether a value is true or false."""
    return hint is bool


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has one of the types of a hint; true is no number. What lists hold counts where it is texts."""
    return (value is None and allows_none(hint)) or any(_is_of(value, kind) for kind in kinds(hint))


def _is_of(value: Any, kind: Any) -> bool:
    shape = get_origin(kind) or kind
    if shape is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if shape in (int, float):
        return isinstance(value, (int, float) if shape is float else int) and not isinstance(value, bool)
    if shape is Path:
        return isinstance(value, PathLike)
    if (
        shape in (Any, inspect.Parameter.empty)
        or not inspect.isclass(shape)
        or getattr(shape, "_is_protocol", False)
    ):
        return True
    if issubclass(shape, Mapping):
        held = cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else {7: None}
        is_texts = get_args(kind)[1:] != (str,) or all(isinstance(each, str) for each in held.values())
        return is_texts and all(isinstance(key, str) for key in held)
    if shape is Sequence:
        held_list = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else None
        is_texts = get_args(kind) != (str,) or all(isinstance(each, str) for each in held_list or ())
        return held_list is not None and is_texts
    return isinstance(value, shape)


def phrase(hint: Any) -> str:
    """What a value must be, in words."""
    return " or ".join(dict.fromkeys(words for kind in kinds(hint) for words in _phrases(kind)))


def _phrases(kind: Any) -> Sequence[str]:
    shape = get_origin(kind) or kind
    if shape is Literal:
        return [f'"{word}"' for word in get_args(kind)]
    if shape in _WORDS:
        return [_WORDS[shape]]
    if inspect.isclass(shape) and issubclass(shape, Mapping):
        return ["a dictionary"]
    if shape is Sequence:
        return ["a list of texts" if get_args(kind) == (str,) else "a list"]
    return [f"a {getattr(shape, '__name__', shape)}"]


def allows_none(hint: Any) -> bool:
    """Whether a value may be None."""
    return NoneType in get_args(hint)


def shown(value: Any) -> str:
    """A value in a message."""
    text = str(value) if isinstance(value, StrEnum) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


@cache
def field_docs(record: type) -> dict[str, str]:
    """The sentence under each field of a class, by its name; empty where the source is not at hand."""
    try:
        (defined,) = ast.parse(dedent(inspect.getsource(record))).body
    except (OSError, TypeError, ValueError):
        return {}
    body = cast(ast.ClassDef, defined).body
    docs: dict[str, str] = {}
    for each, after in pairwise(body):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            text = after.value if isinstance(after, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                docs[each.target.id] = " ".join(text.value.split())
    return docs
