"""The published evaluator's comparison of one argument with gold: types, then values (sections 6.3 and 6.4).

Quirks Q11 to Q21. Where the original raises (unknown types, gold that is not iterable, objects against scalars)
these functions raise the same kind of exception and `official_normal` names it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from wildtool.benchmarks.acebench.check import short_repr

WANTED_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("string", "any"), str),
    # Numbers are integers: with a gold integer no other float passes (Q12).
    **dict.fromkeys(("integer", "int", "number"), int),
    "float": float,
    "boolean": bool,
    **dict.fromkeys(("array", "tuple", "list", "list(string)", "list(enum)", "objectArray"), list),
    **dict.fromkeys(("dict", "object"), dict),
    # A type that no decoded value has.
    "enum": enumerate,
}
"""The Python type that a value of each declared type must have."""
_WITH_INNER_TYPE = frozenset({"array", "tuple", "list(string)", "list(enum)", "object", "objectArray"})
_IGNORED = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})
_WORDS = {"true": True, "false": False}


class ArgumentFault(NamedTuple):
    """Why a call fails."""

    error: str
    """The evaluator's error type."""
    reason: str


def check_argument(value: Any, gold: Any, schema: Mapping[str, Any]) -> ArgumentFault | None:
    """What is wrong with one top-level argument, or None.

    Args:
        value: as decoded from the reply.
        gold: the gold value, from JSON.
        schema: the parameter's entry in the function's `properties`.

    Raises:
        KeyError, TypeError, AttributeError, OverflowError: where the original raises (Q33).
    """
    declared = schema["type"]
    wanted = WANTED_TYPES[declared]
    inner = _inner_type(declared, schema)
    if declared == "tuple" and type(value) is tuple:
        value = list(cast(tuple[Any, ...], value))
    if declared == "float" and type(value) is int:
        value = float(value)
    fits, variable = _type_fits(value, gold, wanted, inner)
    if not fits:
        return ArgumentFault(
            "type_error", f"expected {declared} like {short_repr(gold)}, got {short_repr(value)}"
        )
    if variable:
        return None
    return _compare(value, gold, wanted, inner, declared)


def _inner_type(declared: str, schema: Mapping[str, Any]) -> type | None:
    if declared not in _WITH_INNER_TYPE:
        return None
    try:
        named = schema["items"]["type"]
    except (KeyError, TypeError, IndexError):
        # No `items`, or none that names a type.
        named = next((kind for kind in ("string", "enum") if kind in declared), "dict")
    return WANTED_TYPES[named]


def _type_fits(value: Any, gold: Any, wanted: type, inner: type | None) -> tuple[bool, bool]:
    """Whether the type passes, and whether gold is of another type than declared, which ends the check (Q12)."""
    variable = gold != "" and type(gold) is not wanted
    if isinstance(value, str):
        value = _WORDS.get(value, value)
    nested_fault = False
    if type(value) is wanted:
        # Each item of gold is an alternative; only lists among them are looked into.
        if inner is None or any(
            type(item) is not list or all(_type_fits(element, item, inner, None)[0] for element in value)
            for item in gold
        ):
            return True, variable
        nested_fault = True
    if gold != "" and (type(value) is type(gold) or gold == value):
        return not nested_fault, True
    return False, variable


def _compare(value: Any, gold: Any, wanted: type, inner: type | None, declared: str) -> ArgumentFault | None:
    """The value check by declared type; numbers and booleans have none (Q11)."""
    if wanted is dict:
        return _compare_objects(value, gold)
    if wanted is list and inner is dict:
        return _compare_object_lists(value, gold, declared)
    if value == gold:
        return None
    if wanted is list:
        if _normalised_texts(value) != _normalised_texts(gold):
            return ArgumentFault(
                "value_error:list/tuple", f"expected {short_repr(gold)}, got {short_repr(value)}"
            )
    elif wanted is str and normalised(gold) not in normalised(value):
        return ArgumentFault("value_error:string", f"{short_repr(value)} does not contain {short_repr(gold)}")
    return None


def normalised(text: str) -> str:
    """Lower case, without blanks and the characters `,./-_*^`, with one kind of quotation mark."""
    return text.translate(_IGNORED).lower()


def _normalised_texts(values: Sequence[Any]) -> list[Any]:
    return [normalised(value) if isinstance(value, str) else value for value in values]


def _compare_object_lists(values: Sequence[Any], gold: Sequence[Any], declared: str) -> ArgumentFault | None:
    """Object by object, by position (Q19)."""
    if len(values) != len(gold):
        error = "value_error:dict_items" if declared == "objectArray" else "value_error:list_dict_count"
        return ArgumentFault(error, f"expected {len(gold)} objects, got {len(values)}")
    if declared == "objectArray":
        raise TypeError("dict_checker() missing 1 required positional argument: 'func_name'")
    faults = (_compare_objects(value, wanted) for value, wanted in zip(values, gold, strict=True))
    return next((fault for fault in faults if fault), None)


def _compare_objects(value: Any, gold: Any) -> ArgumentFault | None:
    """The same keys (Q17), and each rendered gold value contained in the rendered value (Q16)."""
    if not isinstance(value, dict):
        return ArgumentFault("value_error", f"expected an object, got {short_repr(value)}")
    found = cast(dict[Any, Any], value)
    if len(found) != len(gold.keys()) or any(key not in gold for key in found):
        return ArgumentFault(
            "value_error", f"expected the keys {short_repr(list(gold))}, got {short_repr(list(found))}"
        )
    for key, element in found.items():
        if isinstance(element, str):
            element = _WORDS.get(element, element)
        wanted = gold[key]
        if isinstance(wanted, dict):
            if fault := _compare_objects(element, wanted):
                return fault
        elif not (isinstance(element, str) and element == wanted) and _rendered(wanted) not in _rendered(
            element
        ):
            return ArgumentFault(
                "value_error",
                f"{short_repr(key)}: the text of {short_repr(element)} does not contain {short_repr(wanted)}",
            )
    return None


def _rendered(value: Any) -> str:
    # Texts inside lists are not normalised, so blanks in them can hardly be matched (Q1).
    return normalised(value) if isinstance(value, str) else str(value)
