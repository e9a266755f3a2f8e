"""Compares the arguments of a call with gold by meaning; rules and examples: `docs/fixed-values.md`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, cast

from wildtool.json_codec import as_list
from wildtool.toolcall.arguments import MAX_ARGUMENT_DEPTH, ArgumentsError, read_bounded_json
from wildtool.toolcall.schema import (
    as_schema,
    branch_for,
    enum_of,
    fits_types,
    required_names,
    schema_types,
    without_reference,
)

MAX_ARGUMENT_DIFFERENCES = 20
"""Differences reported at most."""
MAX_SET_MEMBERS = 50
"""Members of an array that is compared in any order; a longer one is compared in its own."""
MAX_SET_CHARACTERS = 200
"""Characters of such a member."""
_TOLERANCE = 1e-12
"""Relative: accepts a difference in the last bit of a decimal number, but in no written digit."""
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class ArgumentDifference:
    """One place where a prediction differs from gold in meaning."""

    path: str
    """Where, such as `a.b[0]`; empty for the value itself."""
    rule: str
    """The rule that decided: missing, extra, type, enum, boolean, number, length, depth, or the kind of text."""
    gold: Any
    """None if gold has no value there."""
    predicted: Any
    """The raw value, which may be huge; None if the prediction has none there."""
    message: str
    """One line for people, clipped and safe to print."""


def compare_arguments(
    gold: Mapping[str, Any], predicted: Mapping[str, Any], parameters: Mapping[str, Any]
) -> list[ArgumentDifference]:
    """Differences in meaning between the arguments of two calls of one tool; empty if there are none.

    Args:
        gold, predicted: decoded arguments.
        parameters: the tool's JSON schema of its parameters; may be malformed.
    """
    if _identical(gold, predicted, MAX_ARGUMENT_DEPTH):
        return []  # whatever their schema says
    root = as_schema(parameters)
    schema = without_reference(root, root)
    return list(islice(_objects(gold, predicted, schema, root, "", 0), MAX_ARGUMENT_DIFFERENCES))


def _values(
    gold: Any, predicted: Any, schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int
) -> Iterator[ArgumentDifference]:
    schema = branch_for(gold, without_reference(schema, root), root)
    if any(_identical(gold, member) for member in enum_of(schema)):
        if not _identical(gold, predicted):
            yield _difference(path, "enum", gold, predicted, "is another member than")
    elif depth > MAX_ARGUMENT_DEPTH:
        yield _difference(
            path, "depth", gold, predicted, f"is nested deeper than {MAX_ARGUMENT_DEPTH} levels beside"
        )
    elif isinstance(gold, Mapping) and isinstance(predicted, Mapping):
        yield from _objects(
            cast("Mapping[str, Any]", gold),
            cast("Mapping[str, Any]", predicted),
            schema,
            root,
            path,
            depth + 1,
        )
    elif isinstance(gold, list) and isinstance(predicted, list):
        yield from _arrays(
            cast("list[Any]", gold), cast("list[Any]", predicted), schema, root, path, depth + 1
        )
    elif isinstance(gold, str) and isinstance(predicted, str):
        if gold != predicted and (rule := _differing_rule(gold, predicted, schema, path)):
            yield _difference(path, rule, gold, predicted, "does not mean")
    elif not _same_scalar(gold, predicted) and not _same_in_declared_type(gold, predicted, schema):
        rule = _kind(gold) if _kind(gold) == _kind(predicted) else "type"
        yield _difference(path, rule, gold, predicted, "is not")


def _differing_rule(gold: str, predicted: str, schema: Mapping[str, Any], path: str) -> str | None:
    from wildtool.toolcall.text.equivalence import differing_rule  # costly, and most texts are equal

    return differing_rule(gold, predicted, _use(schema, path))


def _use(schema: Mapping[str, Any], path: str) -> str:
    """Name and description of a parameter, as the rules of texts take them."""
    return f"{path.rpartition('.')[2].partition('[')[0]}: {schema.get('description') or ''}"


def _objects(
    gold: Mapping[str, Any],
    predicted: Mapping[str, Any],
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    path: str,
    depth: int,
) -> Iterator[ArgumentDifference]:
    properties = as_schema(schema.get("properties"))
    needed = required_names(schema)
    for key in (*gold, *(key for key in predicted if key not in gold)):
        optional = key in properties and key not in needed
        place = f"{path}.{_name(key)}" if path else _name(key)
        gold_value, predicted_value = (_member(side, key, optional) for side in (gold, predicted))
        below = without_reference(as_schema(properties.get(key, schema.get("additionalProperties"))), root)
        if gold_value is not _ABSENT and predicted_value is not _ABSENT:
            yield from _values(gold_value, predicted_value, below, root, place, depth)
        elif gold_value is not _ABSENT:
            if not (optional and _is_default(gold_value, below, root, depth)):
                yield ArgumentDifference(
                    place, "missing", gold_value, None, f"{place}: {_show(gold_value)} is missing"
                )
        elif predicted_value is not _ABSENT and not (
            optional and _is_default(predicted_value, below, root, depth)
        ):
            message = f"{place}: {_show(predicted_value)} was not asked for"
            yield ArgumentDifference(place, "extra", None, predicted_value, message)


def _member(side: Mapping[str, Any], key: str, optional: bool) -> Any:
    """The value of a key; null counts as absent for an optional one."""
    value = side.get(key, _ABSENT)
    return _ABSENT if optional and value is None else value


def _is_default(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> bool:
    from wildtool.toolcall.defaults import NO_DEFAULT, documented_default  # costly, and seldom needed

    default = documented_default(schema)
    return default is not NO_DEFAULT and next(_values(default, value, schema, root, "", depth), None) is None


def _arrays(
    gold: Sequence[Any],
    predicted: Sequence[Any],
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    path: str,
    depth: int,
) -> Iterator[ArgumentDifference]:
    if len(gold) != len(predicted):
        yield _difference(path, "length", gold, predicted, "is of another length than")
        return
    items = {"description": schema.get("description"), **as_schema(schema.get("items"))}
    if gold != predicted and _are_sets(gold, predicted, schema, path):
        predicted = _in_order_of(gold, predicted, items, root, path, depth)
    schemas = chain(map(as_schema, as_list(schema.get("prefixItems"))), repeat(items))
    for position, (entry, other, below) in enumerate(zip(gold, predicted, schemas, strict=False)):
        yield from _values(entry, other, below, root, f"{path}[{position}]", depth)


def _are_sets(gold: Sequence[Any], predicted: Sequence[Any], schema: Mapping[str, Any], path: str) -> bool:
    """Whether the schema says that arrays are sets; few members, each short, as each is compared with each."""
    from wildtool.toolcall.text.roles import is_set  # costly, and most arrays are equal

    members = (*gold, *predicted)
    return (
        len(members) <= 2 * MAX_SET_MEMBERS
        and all(
            len(member) <= MAX_SET_CHARACTERS
            if isinstance(member, str)
            else not isinstance(member, list | dict)
            for member in members
        )
        and is_set(_use(schema, path), schema.get("uniqueItems") is True)
    )


def _in_order_of(
    gold: Sequence[Any],
    predicted: Sequence[Any],
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    path: str,
    depth: int,
) -> Sequence[Any]:
    """The members of a predicted set in the order of the gold ones that they equal; unchanged if one equals none."""
    spare = list(predicted)
    ordered: list[Any] = []
    for entry in gold:
        place = next(
            (
                place
                for place, other in enumerate(spare)
                if next(_values(entry, other, schema, root, path, depth), None) is None
            ),
            None,
        )
        if place is None:
            return predicted
        ordered.append(spare.pop(place))
    return ordered


def _same_in_declared_type(gold: Any, predicted: Any, schema: Mapping[str, Any]) -> bool:
    """Whether gold breaks its schema (a text for a value or the reverse) and the prediction has it in the right type."""
    types = schema_types(schema)
    if (
        fits_types(gold, types)
        or not fits_types(predicted, types)
        or isinstance(gold, str) == isinstance(predicted, str)
    ):
        return False
    text, value = (gold, predicted) if isinstance(gold, str) else (predicted, gold)
    try:
        return _identical(read_bounded_json(text), value)
    except ArgumentsError:
        return False


def _identical(gold: Any, predicted: Any, most_levels: float = math.inf) -> bool:
    """Equality of JSON values: numbers by value, texts character by character.

    Args:
        most_levels: how deep lists and objects may be nested within these; deeper ones are not identical.
    """
    if isinstance(gold, str) or isinstance(predicted, str):
        return gold == predicted
    if isinstance(gold, list) and isinstance(predicted, list):
        ours, theirs = cast("list[Any]", gold), cast("list[Any]", predicted)
        if most_levels < 0 or len(ours) != len(theirs):
            return False
        return all(_identical(*pair, most_levels - 1) for pair in zip(ours, theirs, strict=True))
    if isinstance(gold, dict) and isinstance(predicted, dict):
        ours, theirs = cast("dict[str, Any]", gold), cast("dict[str, Any]", predicted)
        if most_levels < 0 or ours.keys() != theirs.keys():
            return False
        return all(_identical(ours[key], theirs[key], most_levels - 1) for key in ours)
    return _same_scalar(gold, predicted)


def _same_scalar(gold: Any, predicted: Any) -> bool:
    if _kind(gold) != _kind(predicted):
        return False
    return _same_number(gold, predicted) if _kind(gold) == "number" else gold is predicted


def _same_number(gold: float, predicted: float) -> bool:
    if _integer(gold) and _integer(predicted):
        return gold == predicted
    if gold != gold:
        return predicted != predicted
    if max(abs(gold), abs(predicted)) > 2**53:
        return gold == predicted
    return math.isclose(gold, predicted, rel_tol=_TOLERANCE)


def _integer(number: float) -> bool:
    return isinstance(number, int) or number.is_integer()


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    return "array" if isinstance(value, list) else "object" if isinstance(value, dict) else "other"


def _difference(path: str, rule: str, gold: Any, predicted: Any, relation: str) -> ArgumentDifference:
    message = f"{path or 'value'}: {_show(predicted)} {relation} {_show(gold)} ({rule})"
    return ArgumentDifference(path, rule, gold, predicted, message)


def _name(key: object) -> str:
    """A key for use in a path: short, and without characters that cannot be encoded."""
    return str(key)[:60].encode("utf-8", "backslashreplace").decode("utf-8")


def _show(value: Any) -> str:
    if isinstance(value, str):
        excerpt = repr(value[:60]).encode("utf-8", "backslashreplace").decode("utf-8")
        return excerpt if len(value) <= 60 else f"{excerpt}… ({len(value):,} characters)"
    if isinstance(value, int) and value.bit_length() > 200:
        return "an integer of more than 60 digits"
    if isinstance(value, list | dict):
        return f"{_kind(value)} of {len(cast('list[Any]', value))}"
    return "null" if value is None else repr(value)[:60]
