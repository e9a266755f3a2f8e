"""Arguments of a gold call with one mistake each: those of any benchmark, and those that ACEBench's rules invite."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

from wildtool.benchmarks.acebench.fixed.calls import is_blank
from wildtool.toolcall.defaults import NO_DEFAULT, documented_default
from wildtool.toolcall.mutations import ArgumentMutation, value_mutants, with_value
from wildtool.toolcall.schema import ValuePath, argument_parts, as_schema, path_text, required_names

_NONSENSE = "zzyzx"
_HAN = re.compile("[㐀-鿿]")
_SWAPPABLE = re.compile(r"(\d)(?!\1)(\d)")
W = TypeVar("W", bound=tuple[str, Any, str])


def evenly_spaced(mutants: Iterable[W], most: int) -> Iterator[W]:
    """At most `most` mutants of each kind (their first part), evenly spread over all of that kind, in order."""
    kinds: dict[str, list[W]] = {}
    for mutant in mutants:
        kinds.setdefault(mutant[0], []).append(mutant)
    for paths in kinds.values():
        yield from paths[:: -(-len(paths) // most)]


def argument_mutants(arguments: dict[str, Any], parameters: Any) -> Iterator[ArgumentMutation]:
    """All single mistakes in a gold argument object.

    Args:
        parameters: the function's parameter schema, as written.
    """
    schema = as_schema(parameters)
    for kind, mutated, note in value_mutants(arguments, schema):
        # To leave out what is empty or a documented default anyway is right.
        if any(
            _needed(name, value, schema) or not is_blank(mutated.get(name))
            for name, value in (arguments | mutated).items()
            if mutated.get(name) != arguments.get(name)
        ):
            yield kind, mutated, note
    for name, value in arguments.items():
        if name not in required_names(schema) and _needed(name, value, schema):
            yield "optional argument left out", {k: v for k, v in arguments.items() if k != name}, name
    for path, value, part in argument_parts(arguments, schema):
        for kind, wrong in _wrong(value):
            yield kind, with_value(arguments, path, wrong), f"{path_text(path)}: {value!r} -> {wrong!r}"
        if isinstance(value, dict):
            yield from _of_object(arguments, path, cast(dict[str, Any], value), part)


def _needed(name: str, value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether an argument says something: it is required, or neither empty nor the documented default."""
    if name in required_names(schema):
        return True
    if is_blank(value):
        return False
    default = documented_default(as_schema(as_schema(schema.get("properties")).get(name)))
    return default is NO_DEFAULT or default != value


def _wrong(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield "digit added to a number", type(value)(f"{value}1") if "e" not in repr(value) else value * 3
    elif isinstance(value, str) and value:
        yield from _wrong_texts(value)


def _wrong_texts(value: str) -> Iterator[tuple[str, str]]:
    chinese = _HAN.search(value) is not None
    yield "text negated", f"不是{value}" if chinese else f"not {value}"
    yield (
        "text with something else behind",
        f"{value}和{_NONSENSE}" if chinese else f"{value} and {_NONSENSE}",
    )
    if value[0].isdigit():
        yield "digit put before a text", f"1{value}"
    if swap := _SWAPPABLE.search(value):
        swapped = value[: swap.start()] + swap[2] + swap[1] + value[swap.end() :]
        yield "swapped digits in a text", swapped
    words = value.split(" ")
    if len(words) > 1:
        yield "one word of a text changed", " ".join([*words[:-1], _NONSENSE])


def _of_object(
    arguments: dict[str, Any], path: ValuePath, value: dict[str, Any], schema: Mapping[str, Any]
) -> Iterator[ArgumentMutation]:
    for key, element in value.items():
        if _needed(key, element, schema) or key not in as_schema(schema.get("properties")):
            rest = {k: v for k, v in value.items() if k != key}
            yield ("key of an object left out", with_value(arguments, path, rest), f"{path_text(path)}.{key}")
    extra = {**value, "zz_unknown": 1}
    yield "key of an object invented", with_value(arguments, path, extra), f"{path_text(path)}.zz_unknown"
